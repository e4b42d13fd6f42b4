//! The file with pins, tags and notes, in ramus's own directory.
//!
//! `annotations.jsonl` has one JSON object a line. Writers hold a lock, write a new file beside the old
//! one and rename it, so readers always see a whole file. A line that cannot be read is reported and
//! stays as it is when the file is written again.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use ramus_core::annotation::{Annotation, AnnotationTarget, Annotations};
use serde::{Deserialize, Serialize};

use crate::disk::{self, WriteError};
use crate::error::PathError;
use crate::state_dir::StateDir;

/// A larger file is not one that ramus wrote.
const MAX_FILE_BYTES: u64 = 32 * 1024 * 1024;
/// How many sessions and messages can be annotated.
const MAX_ANNOTATIONS: usize = 50_000;

/// The contents of the file.
#[derive(Debug, Default)]
pub struct StoredAnnotations {
    pub annotations: Annotations,
    /// What is wrong with the file, by line.
    pub problems: Vec<PathError>,
    /// The lines that could not be read, as they are.
    unreadable: Vec<String>,
}

/// Why annotations were not written.
#[derive(Debug, thiserror::Error)]
pub enum AnnotationWriteError {
    #[error(transparent)]
    Read(#[from] PathError),
    #[error(transparent)]
    Write(#[from] WriteError),
    #[error("{MAX_ANNOTATIONS} sessions and messages are annotated already")]
    TooMany,
    #[error("the notes and tags would take more than {} MB together", MAX_FILE_BYTES >> 20)]
    TooLarge,
}

// A line with other fields, as a later version may write them, is kept unchanged and reported.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct StoredLine {
    session: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    annotation: Annotation,
}

impl StateDir {
    fn annotations_path(&self) -> PathBuf {
        self.path().join("annotations.jsonl")
    }

    /// Reads all annotations; without a file there are none.
    pub fn read_annotations(&self) -> Result<StoredAnnotations, PathError> {
        let path = self.annotations_path();
        let file = match disk::open_regular(&path) {
            Err(error) if disk::is_missing(&error.source) => {
                return Ok(StoredAnnotations::default());
            }
            file => file?,
        };
        let mut bytes = Vec::new();
        let read = file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes);
        read.map_err(|error| PathError::new(&path, error))?;
        if bytes.len() as u64 > MAX_FILE_BYTES {
            let too_large = format!("it is larger than {} MB", MAX_FILE_BYTES >> 20);
            return Err(PathError::new(&path, io::Error::other(too_large)));
        }
        let text = String::from_utf8(bytes)
            .map_err(|_| PathError::new(&path, io::Error::other("it is not UTF-8")))?;
        Ok(parse_annotations(&path, &text))
    }

    /// Changes the annotations while no other process does.
    pub fn change_annotations<R>(
        &self,
        change: impl FnOnce(&mut Annotations) -> R,
    ) -> Result<R, AnnotationWriteError> {
        let _lock = self.lock_file("annotations.lock")?;
        let mut stored = self.read_annotations()?;
        let before = stored.annotations.clone();
        let result = change(&mut stored.annotations);
        if stored.annotations == before {
            return Ok(result);
        }
        if stored.annotations.len() > MAX_ANNOTATIONS.max(before.len()) {
            return Err(AnnotationWriteError::TooMany);
        }
        let text = stored.to_text();
        // It could not be read again.
        if text.len() as u64 > MAX_FILE_BYTES {
            return Err(AnnotationWriteError::TooLarge);
        }
        self.replace_annotations(&text)?;
        Ok(result)
    }

    fn replace_annotations(&self, text: &str) -> Result<(), WriteError> {
        let path = self.annotations_path();
        let beside = path.with_extension("jsonl.new");
        // A process that was killed may have left one.
        disk::remove_file(&beside)?;
        let file = disk::create_file(&beside)?;
        disk::write_bytes(&beside, &file, text.as_bytes())?;
        disk::sync_file(&beside, &file)?;
        fs::rename(&beside, &path).map_err(|source| WriteError::new(&path, source))?;
        disk::sync_parent_dir(&path)
    }
}

impl StoredAnnotations {
    fn to_text(&self) -> String {
        let mut text = String::new();
        for (target, annotation) in self.annotations.iter() {
            let AnnotationTarget { session, message } = target.clone();
            let line = StoredLine { session, message, annotation: annotation.clone() };
            text += &serde_json::to_string(&line).expect("strings and flags are JSON");
            text.push('\n');
        }
        for line in &self.unreadable {
            text += line;
            text.push('\n');
        }
        text
    }
}

fn parse_annotations(path: &Path, text: &str) -> StoredAnnotations {
    let mut stored = StoredAnnotations::default();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        match serde_json::from_str::<StoredLine>(line) {
            Ok(StoredLine { session, message, annotation }) => {
                stored.annotations.merge(AnnotationTarget { session, message }, annotation);
            }
            Err(error) => {
                let problem = format!("line {number} is not an annotation: {error}");
                stored.problems.push(PathError::new(path, io::Error::other(problem)));
                stored.unreadable.push(line.to_owned());
            }
        }
    }
    stored
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test_state() -> (testkit::TestHome, StateDir) {
        let home = testkit::TestHome::new();
        let state = StateDir::new(home.path().join("state"));
        (home, state)
    }

    fn pin(state: &StateDir, session: &str) {
        let target = AnnotationTarget { session: session.to_owned(), message: None };
        let pinned = Annotation { pinned: true, ..Annotation::default() };
        state.change_annotations(|all| all.merge(target, pinned)).unwrap();
    }

    #[test]
    fn annotations_are_read_as_they_were_written() {
        let (_home, state) = test_state();
        assert!(state.read_annotations().unwrap().annotations.is_empty());
        let target = AnnotationTarget { session: "s".into(), message: Some("m".into()) };
        let annotation = Annotation {
            pinned: true,
            tags: ["a".to_owned()].into(),
            note: "first line\nsecond \"line\"".into(),
            changed: Some("2026-01-01T00:00:00Z".into()),
        };
        state.change_annotations(|all| all.set(target.clone(), annotation.clone())).unwrap();
        let read = state.read_annotations().unwrap();
        assert_eq!(read.annotations.get(&target), Some(&annotation));
        assert!(read.problems.is_empty());
    }

    #[test]
    fn a_line_that_cannot_be_read_is_reported_and_kept() {
        let (_home, state) = test_state();
        pin(&state, "good");
        let path = state.annotations_path();
        let good = fs::read_to_string(&path).unwrap();
        let odd = "{\"session\":\"s\",\"annotation\":{\"colour\":\"red\"}}";
        let later = "{\"session\":\"s\",\"agent\":\"a\",\"annotation\":{\"pinned\":true}}";
        fs::write(&path, format!("{{broken\n\n{good}{odd}\n{later}\n")).unwrap();
        let read = state.read_annotations().unwrap();
        assert_eq!(read.annotations.len(), 1);
        let problems: Vec<String> =
            read.problems.iter().map(|problem| problem.source.to_string()).collect();
        assert!(problems[0].starts_with("line 1 is not an annotation"), "{problems:?}");
        assert!(problems[1].starts_with("line 4 is not an annotation"), "{problems:?}");
        pin(&state, "other");
        let text = fs::read_to_string(&path).unwrap();
        assert!([odd, later, "{broken\n"].iter().all(|line| text.contains(line)), "{text}");
        assert_eq!(state.read_annotations().unwrap().annotations.len(), 2);
    }

    #[test]
    fn a_file_that_is_no_text_is_refused_and_never_overwritten() {
        let (_home, state) = test_state();
        pin(&state, "good");
        let path = state.annotations_path();
        fs::write(&path, [0xff, 0xfe, 0x00]).unwrap();
        assert!(state.read_annotations().unwrap_err().source.to_string().contains("UTF-8"));
        assert!(
            state
                .change_annotations(|all| all.set(
                    AnnotationTarget { session: "s".into(), message: None },
                    Annotation { pinned: true, ..Annotation::default() },
                ))
                .is_err()
        );
        assert_eq!(fs::read(&path).unwrap(), [0xff, 0xfe, 0x00]);
    }

    #[test]
    fn nothing_is_written_that_could_not_be_read_again() {
        let (_home, state) = test_state();
        pin(&state, "good");
        let target = AnnotationTarget { session: "s".into(), message: None };
        let note = "x".repeat(MAX_FILE_BYTES as usize);
        let long = Annotation { note, ..Annotation::default() };
        let refused = state.change_annotations(|all| all.set(target, long));
        assert!(matches!(refused, Err(AnnotationWriteError::TooLarge)), "{refused:?}");
        assert_eq!(state.read_annotations().unwrap().annotations.len(), 1);
    }

    #[test]
    fn writers_at_the_same_time_lose_nothing() {
        let (_home, state) = test_state();
        std::thread::scope(|scope| {
            for writer in 0..8 {
                let state = state.clone();
                scope.spawn(move || {
                    for n in 0..5 {
                        pin(&state, &format!("{writer}-{n}"));
                    }
                });
            }
        });
        assert_eq!(state.read_annotations().unwrap().annotations.len(), 40);
    }
}

//! The prompts that the client notes in `history.jsonl`. It never deletes them, so they outlive the
//! sessions they were typed in.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind};
use std::path::{Path, PathBuf};

use ramus_core::query::{Query, TextKind};
use ramus_core::time::Time;
use serde::Deserialize;

use crate::error::PathError;
use crate::place::{Project, is_encoded};

/// One prompt as the client noted it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotedPrompt {
    pub text: String,
    pub time: Option<Time>,
    /// The directory it was typed in.
    pub project: Option<String>,
    /// The session it was typed in.
    pub session: String,
    /// Line number in the file, from 1.
    pub line: u32,
}

impl NotedPrompt {
    /// Whether it was typed in the directory that a project stands for.
    pub fn is_of(&self, project: &str) -> bool {
        self.project.as_ref().is_some_and(|path| is_encoded(project, path))
    }

    /// Whether it is what is looked for.
    pub fn fits(&self, query: &Query) -> bool {
        query.wants(TextKind::Prompt)
            && self.time.is_none_or(|time| query.is_in_time(time))
            && query.find(&self.text).is_some()
    }
}

/// The prompts of sessions that have no file any more.
#[derive(Debug, Default)]
pub struct LostPrompts {
    /// The newest first.
    pub prompts: Vec<NotedPrompt>,
    pub problems: Vec<PathError>,
}

/// A session of which nothing but its prompts is left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoneSession {
    pub id: String,
    pub project: Option<String>,
    /// The oldest first.
    pub prompts: Vec<NotedPrompt>,
}

impl LostPrompts {
    /// Reads the prompts of sessions that are not among the projects of these Claude directories.
    ///
    /// A prompt that names no session is left out: its session may still be there.
    pub fn read(roots: &[PathBuf], projects: &[Project]) -> Self {
        let files = projects.iter().flat_map(|project| &project.files);
        let known: HashSet<&str> = files.map(|file| &*file.id).collect();
        let mut lost = Self::default();
        for root in roots {
            if let Err(problem) = read_prompts(root, &known, &mut lost.prompts) {
                lost.problems.push(problem);
            }
        }
        lost.prompts.sort_by_key(|prompt| std::cmp::Reverse((prompt.time, prompt.line)));
        lost
    }

    /// Puts the prompts of each session together, the session that was used last first.
    pub fn sessions(self) -> Vec<GoneSession> {
        let mut sessions: Vec<GoneSession> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        for prompt in self.prompts {
            let at = *places.entry(prompt.session.clone()).or_insert_with(|| {
                let (id, project) = (prompt.session.clone(), prompt.project.clone());
                sessions.push(GoneSession { id, project, prompts: Vec::new() });
                sessions.len() - 1
            });
            sessions[at].prompts.push(prompt);
        }
        sessions.iter_mut().for_each(|session| session.prompts.reverse());
        sessions
    }
}

impl GoneSession {
    /// Returns when its first and its last prompt were sent.
    pub fn times(&self) -> (Option<Time>, Option<Time>) {
        let time = |prompt: Option<&NotedPrompt>| prompt.and_then(|prompt| prompt.time);
        (time(self.prompts.first()), time(self.prompts.last()))
    }
}

/// Reads the prompts noted in a Claude directory whose session is not known, oldest first; a line
/// that is no note is passed over.
fn read_prompts(
    root: &Path,
    known: &HashSet<&str>,
    prompts: &mut Vec<NotedPrompt>,
) -> Result<(), PathError> {
    let path = root.join("history.jsonl");
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(source) => return Err(PathError::new(&path, source)),
    };
    for (number, line) in (1..).zip(BufReader::new(file).split(b'\n')) {
        let line = line.map_err(|source| PathError::new(&path, source))?;
        prompts.extend(noted_prompt(&line, number, known));
    }
    Ok(())
}

/// A line of `history.jsonl`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Note<'a> {
    #[serde(borrow)]
    display: Cow<'a, str>,
    timestamp: Option<i64>,
    #[serde(borrow)]
    project: Option<Cow<'a, str>>,
    #[serde(borrow)]
    session_id: Option<Cow<'a, str>>,
}

fn noted_prompt(line: &[u8], number: u32, known: &HashSet<&str>) -> Option<NotedPrompt> {
    let note: Note<'_> = serde_json::from_slice(line).ok()?;
    let session = note.session_id.filter(|session| !known.contains(&**session))?;
    (!note.display.is_empty()).then(|| NotedPrompt {
        text: note.display.into_owned(),
        time: note.timestamp.map(Time::from_millis),
        project: note.project.map(Cow::into_owned),
        session: session.into_owned(),
        line: number,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_that_is_a_prompt_of_a_lost_session_is_one() {
        let home = testkit::Home::new();
        let roots = [home.claude()];
        assert_eq!(LostPrompts::read(&roots, &[]).prompts, []);
        let lines = [
            r#"{"display":"one","timestamp":1000,"project":"/p","sessionId":"s"}"#,
            "{ half",
            "",
            r#"{"display":"","sessionId":"s"}"#,
            r#"{"display":"nowhere typed"}"#,
            r#"{"display":"two","timestamp":2000,"sessionId":"s"}"#,
        ];
        std::fs::write(home.claude().join("history.jsonl"), lines.join("\n")).unwrap();
        let lost = LostPrompts::read(&roots, &[]);
        assert!(lost.problems.is_empty());
        let [newest, oldest] = &lost.prompts[..] else { panic!("{lost:?}") };
        assert_eq!((&*newest.text, newest.line), ("two", 6));
        assert_eq!((&*oldest.text, oldest.line), ("one", 1));
        assert_eq!(oldest.time, Some(Time::from_millis(1000)));
        assert!(oldest.is_of("-p") && !newest.is_of("-p"));
        let [session] = &lost.sessions()[..] else { panic!("one session") };
        assert_eq!((&*session.id, session.prompts.len()), ("s", 2));
        let millis = |millis| Some(Time::from_millis(millis));
        assert_eq!(session.times(), (millis(1000), millis(2000)));
    }
}

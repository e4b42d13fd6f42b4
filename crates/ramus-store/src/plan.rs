//! Turns a request into the exact steps that will be applied.
//!
//! `ramus_core::edit` decides which records a session gets; this module decides which files
//! that changes. A plan contains everything, so what is shown and what is applied cannot differ.

mod files;
mod fix;
mod fork;
mod merge;
mod session;
mod unpack;

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ramus_core::edit::{EditRefusal, NewLine};
use ramus_core::history::History;
use ramus_core::ids::RecordUuid;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::claude_dir::HistoryFile;
use crate::error::PathError;
use crate::overlay;
use crate::read::RecordReader;
use crate::regular_file;
use crate::stamp::{Stamp, StampHasher};
use crate::stored::StoredBytes;

pub use files::{FileRestore, plan_restore_files};
pub use fix::{fix_summary, plan_fix, plan_line_end};
pub use fork::{ForkDestination, fork_as, plan_fork};
pub use merge::{MergeInput, plan_merge, write_merge_brief};
pub use session::{TitleError, check_title, plan_goto, plan_rename, plan_trash};
pub use unpack::{PlacedSession, UnpackTo, is_uuid, unpack};

/// Why no plan could be made.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The histories do not allow it.
    #[error(transparent)]
    Refused(#[from] EditRefusal),
    #[error(transparent)]
    Read(#[from] PathError),
}

/// What will be done to files, step by step.
#[derive(Clone, Debug)]
pub struct WritePlan {
    pub what: OperationKind,
    /// The session that is changed or created.
    pub session: String,
    pub file: PathBuf,
    /// The Claude directory that contains the file.
    pub root: Option<PathBuf>,
    /// One sentence for the log.
    pub words: String,
    pub steps: Vec<PlanStep>,
    /// Where the client must resume afterwards.
    pub resume: Option<RecordUuid>,
    /// How many messages before that point Claude Code will not load.
    pub left_out: u32,
    /// How many background agents have not reported by that point. Claude Code adds a note about them.
    pub unreported: u32,
    pub undoes: Option<u64>,
}

/// The kinds of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OperationKind {
    Goto,
    Fork,
    Merge,
    Rename,
    Trash,
    Restore,
    RestoreFiles,
    Fix,
    /// The client's settings.
    Settings,
    Unpack,
    Undo,
}

impl OperationKind {
    /// Returns its stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Goto => "goto",
            Self::Fork => "fork",
            Self::Merge => "merge",
            Self::Rename => "rename",
            Self::Trash => "trash",
            Self::Restore => "restore",
            Self::RestoreFiles => "restore-files",
            Self::Fix => "fix",
            Self::Settings => "settings",
            Self::Unpack => "unpack",
            Self::Undo => "undo",
        }
    }
}

/// One change to one file.
#[derive(Clone, Debug)]
pub enum PlanStep {
    /// Complete lines at the end of a session.
    AppendLines { file: PathBuf, before: Stamp, bytes: Vec<u8> },
    /// A file that does not exist yet.
    CreateFile { file: PathBuf, content: NewContent },
    /// A hard link to a file that never changes.
    HardLink { from: PathBuf, to: PathBuf },
    /// New content for a file; the old file goes to the trash. `before` is `None` if there was none.
    ReplaceFile { file: PathBuf, before: Option<Stamp>, content: NewContent },
    /// A move, to the trash if `to` is `None`. `before` is what the file must contain; `None`: anything.
    MoveFile { from: PathBuf, to: Option<PathBuf>, before: Option<Stamp> },
    /// A session from the trash that the client has created again; the client's lines are appended.
    RejoinTrashed { from: PathBuf, file: PathBuf },
    /// Removes lines that were appended to a session; `wanted` is what remains.
    RemoveLines { file: PathBuf, before: Stamp, wanted: Stamp, modified: FileTime },
    /// Removes a directory that an operation created, if it is empty.
    RemoveEmptyDir { dir: PathBuf },
}

/// What a file will contain.
#[derive(Clone, Debug)]
pub enum NewContent {
    Bytes(Vec<u8>),
    /// The same as another file.
    Copy(PathBuf),
    /// Bytes that are kept elsewhere, such as in an archive.
    Stored(Arc<dyn StoredBytes>),
    /// The beginning of another file, which must still match the stamp.
    Beginning {
        path: PathBuf,
        stamp: Stamp,
    },
    /// Some content followed by bytes.
    Joined(Box<Self>, Vec<u8>),
    /// Some content with its own permissions instead of those of the replaced file, and optionally with
    /// its modification time.
    WithMode {
        content: Box<Self>,
        mode: u32,
        modified: Option<FileTime>,
    },
    /// Lines copied from sessions, and new ones.
    Lines {
        sources: Vec<(PathBuf, Stamp)>,
        lines: Vec<NewLine>,
    },
}

/// A file's time, to the nanosecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileTime(pub u64, pub u32);

impl NewContent {
    /// Passes the content on piece by piece.
    pub fn for_each_piece<E: From<PathError>>(
        &self,
        each: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        match self {
            Self::Bytes(bytes) => each(bytes),
            Self::WithMode { content, .. } => content.for_each_piece(each),
            Self::Joined(content, bytes) => {
                content.for_each_piece(each)?;
                each(bytes)
            }
            Self::Copy(path) => read_file_pieces(path, u64::MAX, each),
            Self::Stored(stored) => {
                let mut piece = 0;
                while let Some(bytes) = stored.piece(piece)? {
                    each(&bytes)?;
                    piece += 1;
                }
                Ok(())
            }
            Self::Beginning { path, stamp } => {
                let mut stamper = StampHasher::default();
                read_file_pieces(path, stamp.len, &mut |bytes| {
                    stamper.update(bytes);
                    each(bytes)
                })?;
                if stamper.finish() == *stamp {
                    return Ok(());
                }
                let changed = io::Error::new(io::ErrorKind::InvalidData, "it has changed");
                Err(PathError::new(path, changed).into())
            }
            Self::Lines { sources, lines } => {
                let mut open = sources
                    .iter()
                    .map(|(path, _)| RecordReader::open(path))
                    .collect::<Result<Vec<_>, _>>()?;
                for line in lines {
                    match line {
                        NewLine::Made(bytes) => each(bytes)?,
                        NewLine::Copied(line) => {
                            let record = open[line.source()].read_record(line.span())?;
                            let mut bytes = line.splice.apply_to(&record);
                            drop(record);
                            bytes.push(b'\n');
                            each(&bytes)?;
                        }
                    }
                }
                Ok(())
            }
        }
    }
}

/// How much of a file is read at a time.
const PIECE_BYTES: usize = 1024 * 1024;

fn read_file_pieces<E: From<PathError>>(
    path: &Path,
    len: u64,
    each: &mut dyn FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let error = |source| PathError::new(path, source);
    let mut file = overlay::open(path).map_err(error)?.take(len);
    let mut piece = Vec::with_capacity(PIECE_BYTES);
    loop {
        piece.clear();
        file.by_ref().take(PIECE_BYTES as u64).read_to_end(&mut piece).map_err(error)?;
        if piece.is_empty() {
            return Ok(());
        }
        each(&piece)?;
    }
}

impl WritePlan {
    /// Returns sentences about what Claude Code will not load and what it will add.
    pub fn resume_notes(&self) -> impl Iterator<Item = String> {
        let left_out = match self.left_out {
            0 => None,
            1 => Some("1 message before it is".to_owned()),
            many => Some(format!("{many} messages before it are")),
        };
        let unreported = match self.unreported {
            0 => None,
            1 => Some("1 background agent has".to_owned()),
            many => Some(format!("{many} background agents have")),
        };
        let left_out =
            left_out.map(|words| format!("{words} not loaded when Claude Code resumes there"));
        let unreported = unreported
            .map(|words| format!("{words} not reported there; Claude Code adds a note about that"));
        left_out.into_iter().chain(unreported)
    }

    /// Returns how many bytes are appended to the session file.
    pub fn appended_bytes(&self) -> u64 {
        let added = self.steps.iter().map(|step| match step {
            PlanStep::AppendLines { bytes, .. } => bytes.len() as u64,
            _ => 0,
        });
        added.sum()
    }
}

/// A session with everything around it that planning needs.
#[derive(Clone, Copy, Debug)]
pub struct SessionContext<'a> {
    /// The Claude directory. `None`: the file is outside of one.
    pub root: Option<&'a Path>,
    /// The directory of its project.
    pub dir: &'a Path,
    /// The files of its project.
    pub files: &'a [HistoryFile],
    pub file: &'a HistoryFile,
    pub history: &'a History,
    pub title: &'a str,
    /// The start of its id that means no other session.
    pub short_id: &'a str,
}

impl SessionContext<'_> {
    /// Returns the stamp of the part that was read. What was appended since is not included.
    fn stamp_read_part(&self) -> Result<Stamp, PathError> {
        stamp_history(&self.file.path, self.history)
    }
}

fn stamp_history(path: &Path, history: &History) -> Result<Stamp, PathError> {
    let len = history.session.facts().bytes;
    regular_file::open_for_reading(path)
        .and_then(|file| Stamp::of_prefix(&file, len))
        .map_err(|source| PathError::new(path, source))
}

/// Returns the shell command that resumes a session in Claude Code.
pub fn resume_command(session: &str) -> String {
    let words = resume_args(session).map(|word| shell_quoted(&word));
    format!("claude {}", words.collect::<Vec<_>>().join(" "))
}

/// Returns the arguments that make Claude Code resume a session. Any file name can be an id: one that begins like an
/// option must not become one.
pub fn resume_args(session: &str) -> impl Iterator<Item = String> {
    let words = match session.starts_with('-') {
        true => vec![format!("--resume={session}")],
        false => vec!["--resume".to_owned(), session.to_owned()],
    };
    words.into_iter()
}

/// Quotes a word for a shell if necessary.
pub fn shell_quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Makes a new random id.
pub fn new_id() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// Makes an id that is always the same for the same text, and unlike all others.
pub fn seeded_id(text: &str) -> String {
    let hash = Sha256::digest(text.as_bytes());
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash[..16]);
    uuid::Builder::from_random_bytes(bytes).into_uuid().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_a_shell_are_words_to_it() {
        assert_eq!(resume_command("0a1b-2c3d"), "claude --resume 0a1b-2c3d");
        assert_eq!(resume_command("x;touch y"), "claude --resume 'x;touch y'");
        assert_eq!(resume_command("--model"), "claude '--resume=--model'");
        assert_eq!(shell_quoted("it's $HOME"), r"'it'\''s $HOME'");
        assert_eq!(
            (shell_quoted(""), shell_quoted("~root")),
            ("''".to_owned(), "'~root'".to_owned())
        );
    }
}

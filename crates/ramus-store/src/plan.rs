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

use ramus_core::edit::{NewLine, Refusal};
use ramus_core::history::History;
use ramus_core::name::{Name, short_id};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::PathError;
use crate::place::HistoryFile;
use crate::read::Bodies;
use crate::regular;
use crate::stamp::{Stamp, Stamper};

pub use files::{FileBack, restore_files};
pub use fix::{end_line, fix, fix_words};
pub use fork::{Destination, fork, fork_as};
pub use merge::{Conversation, merge, merge_brief};
pub use session::{TitleError, goto, rename, title, trash};
pub use unpack::{PlacedSession, UnpackTo, unpack};

/// Why no plan could be made.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The histories do not allow it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    Read(#[from] PathError),
}

impl PlanError {
    /// Turns it into an error of the caller, which writes the text for a refusal.
    pub fn explained<E: From<PathError>>(self, refused: impl FnOnce(&Refusal) -> E) -> E {
        match self {
            Self::Refused(refusal) => refused(&refusal),
            Self::Read(error) => error.into(),
        }
    }
}

/// What will be done to files, step by step.
#[derive(Clone, Debug)]
pub struct Plan {
    pub what: What,
    /// The session that is changed or created.
    pub session: String,
    pub file: PathBuf,
    /// The Claude directory that contains the file.
    pub root: Option<PathBuf>,
    /// One sentence for the log.
    pub words: String,
    pub steps: Vec<Step>,
    /// Where the client must resume afterwards.
    pub resume: Option<Name>,
    /// How many messages before that point Claude Code will not load.
    pub left_out: u32,
    /// How many background agents have not reported by that point. Claude Code adds a note about them.
    pub unreported: u32,
    pub undoes: Option<u64>,
}

/// The kinds of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    Goto,
    Fork,
    Merge,
    Rename,
    Trash,
    Restore,
    RestoreFiles,
    Fix,
    Unpack,
    Undo,
}

impl What {
    /// Returns its stable name.
    pub fn word(self) -> &'static str {
        match self {
            Self::Goto => "goto",
            Self::Fork => "fork",
            Self::Merge => "merge",
            Self::Rename => "rename",
            Self::Trash => "trash",
            Self::Restore => "restore",
            Self::RestoreFiles => "restore-files",
            Self::Fix => "fix",
            Self::Unpack => "unpack",
            Self::Undo => "undo",
        }
    }
}

/// One change to one file.
#[derive(Clone, Debug)]
pub enum Step {
    /// Complete lines at the end of a session.
    Append { file: PathBuf, before: Stamp, bytes: Vec<u8> },
    /// A file that does not exist yet.
    Make { file: PathBuf, content: Content },
    /// A hard link to a file that never changes.
    Link { from: PathBuf, to: PathBuf },
    /// New content for a file; the old file goes to the trash. `before` is `None` if there was none.
    Put { file: PathBuf, before: Option<Stamp>, content: Content },
    /// A move, to the trash if `to` is `None`. `before` is what the file must contain; `None`: anything.
    Move { from: PathBuf, to: Option<PathBuf>, before: Option<Stamp> },
    /// A session from the trash that the client has created again; the client's lines are appended.
    Join { from: PathBuf, file: PathBuf },
    /// Removes lines that were appended to a session; `wanted` is what remains.
    Cut { file: PathBuf, before: Stamp, wanted: Stamp, modified: Moment },
    /// Removes a directory that an operation created, if it is empty.
    Tidy { dir: PathBuf },
}

/// What a file will contain.
#[derive(Clone, Debug)]
pub enum Content {
    Bytes(Vec<u8>),
    /// The same as another file.
    Copy(PathBuf),
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
        modified: Option<Moment>,
    },
    /// Lines copied from sessions, and new ones.
    Lines {
        sources: Vec<(PathBuf, Stamp)>,
        lines: Vec<NewLine>,
    },
}

/// A file's time, to the nanosecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moment(pub u64, pub u32);

impl Content {
    /// Passes the content on piece by piece.
    pub fn read<E: From<PathError>>(
        &self,
        each: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        match self {
            Self::Bytes(bytes) => each(bytes),
            Self::WithMode { content, .. } => content.read(each),
            Self::Joined(content, bytes) => {
                content.read(each)?;
                each(bytes)
            }
            Self::Copy(path) => read_pieces(path, u64::MAX, each),
            Self::Beginning { path, stamp } => {
                let mut stamper = Stamper::default();
                read_pieces(path, stamp.len, &mut |bytes| {
                    stamper.add(bytes);
                    each(bytes)
                })?;
                if stamper.stamp() == *stamp {
                    return Ok(());
                }
                let changed = io::Error::new(io::ErrorKind::InvalidData, "it was changed since");
                Err(PathError::new(path, changed).into())
            }
            Self::Lines { sources, lines } => {
                let mut open = sources
                    .iter()
                    .map(|(path, _)| Bodies::open(path))
                    .collect::<Result<Vec<_>, _>>()?;
                for line in lines {
                    match line {
                        NewLine::Made(bytes) => each(bytes)?,
                        NewLine::Copied { source, span, splice } => {
                            let mut bytes = splice.apply(&open[*source].bytes(*span)?);
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
const PIECE: usize = 1024 * 1024;

fn read_pieces<E: From<PathError>>(
    path: &Path,
    len: u64,
    each: &mut dyn FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let error = |source| PathError::new(path, source);
    let mut file = regular::open(path).map_err(error)?.take(len);
    let mut piece = Vec::with_capacity(PIECE);
    loop {
        piece.clear();
        file.by_ref().take(PIECE as u64).read_to_end(&mut piece).map_err(error)?;
        if piece.is_empty() {
            return Ok(());
        }
        each(&piece)?;
    }
}

impl Plan {
    /// Returns sentences about what Claude Code will not load and what it will add.
    pub fn resume_words(&self) -> impl Iterator<Item = String> {
        let left_out = match self.left_out {
            0 => None,
            1 => Some("1 message that is read before it is".to_owned()),
            many => Some(format!("{many} messages that are read before it are")),
        };
        let unreported = match self.unreported {
            0 => None,
            1 => Some("1 background agent has".to_owned()),
            many => Some(format!("{many} background agents have")),
        };
        let left_out =
            left_out.map(|words| format!("{words} not part of what Claude Code resumes there"));
        let unreported = unreported
            .map(|words| format!("{words} not reported there; Claude Code adds a note about that"));
        left_out.into_iter().chain(unreported)
    }

    /// Returns how many bytes are appended to the session file.
    pub fn appended_bytes(&self) -> u64 {
        let added = self.steps.iter().map(|step| match step {
            Step::Append { bytes, .. } => bytes.len() as u64,
            _ => 0,
        });
        added.sum()
    }
}

/// A session with everything around it that planning needs.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The Claude directory. `None`: the file is outside of one.
    pub root: Option<&'a Path>,
    /// The directory of its project.
    pub dir: &'a Path,
    /// The files of its project.
    pub files: &'a [HistoryFile],
    pub file: &'a HistoryFile,
    pub history: &'a History,
    pub title: &'a str,
}

impl Subject<'_> {
    /// Returns the stamp of the part that was read. What was appended since is not included.
    fn stamp(&self) -> Result<Stamp, PathError> {
        stamp(&self.file.path, self.history)
    }
}

fn stamp(path: &Path, history: &History) -> Result<Stamp, PathError> {
    let len = history.session.facts().bytes;
    regular::open(path)
        .and_then(|file| Stamp::of(&file, len))
        .map_err(|source| PathError::new(path, source))
}

/// Returns the short form of an id.
fn short(id: &str) -> &str {
    short_id(id)
}

/// Returns the shell command that resumes a session in Claude Code.
pub fn resume_command(session: &str) -> String {
    format!("claude --resume {}", quoted(session))
}

/// Quotes a word for a shell if necessary.
pub fn quoted(word: &str) -> String {
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
        assert_eq!(quoted("it's $HOME"), r"'it'\''s $HOME'");
        assert_eq!((quoted(""), quoted("~root")), ("''".to_owned(), "'~root'".to_owned()));
    }
}

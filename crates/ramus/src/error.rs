//! Errors of commands: a message, its cause and hints.

use ramus_app::files_at::FileLookupError;
use ramus_app::time_text::TimeError;
use ramus_app::{AddressError, ChangeError};
use std::fmt;
use std::io;

/// A command that could not be carried out.
#[derive(Debug)]
pub(crate) struct CommandError {
    pub(crate) kind: ErrorKind,
    pub(crate) error: anyhow::Error,
    pub(crate) hints: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorKind {
    /// The request is not possible.
    User,
    /// The reader closed our output, which is not an error.
    BrokenPipe,
    /// Nothing was found: exit code 1, and no message beyond the one given.
    Nothing,
}

impl CommandError {
    pub(crate) fn user_error(message: impl fmt::Display) -> Self {
        Self { kind: ErrorKind::User, error: anyhow::anyhow!("{message}"), hints: Vec::new() }
    }

    pub(crate) fn nothing_found(message: impl fmt::Display) -> Self {
        Self { kind: ErrorKind::Nothing, ..Self::user_error(message) }
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

impl From<io::Error> for CommandError {
    fn from(error: io::Error) -> Self {
        // ERROR_PIPE_NOT_CONNECTED: the reader of a pipe is gone, which the standard library has no kind for.
        let is_disconnected = cfg!(windows) && error.raw_os_error() == Some(233);
        let kind = if error.kind() == io::ErrorKind::BrokenPipe || is_disconnected {
            ErrorKind::BrokenPipe
        } else {
            ErrorKind::User
        };
        Self { kind, error: error.into(), hints: Vec::new() }
    }
}

impl From<serde_json::Error> for CommandError {
    fn from(error: serde_json::Error) -> Self {
        io::Error::from(error).into()
    }
}

impl From<ramus_store::PathError> for CommandError {
    fn from(error: ramus_store::PathError) -> Self {
        Self { kind: ErrorKind::User, error: error.into(), hints: Vec::new() }
    }
}

impl From<AddressError> for CommandError {
    fn from(error: AddressError) -> Self {
        let kind = match error {
            AddressError::EmptySession => ErrorKind::Nothing,
            _ => ErrorKind::User,
        };
        let hints = error.hint().map(str::to_owned).into_iter().collect();
        Self { kind, error: error.into(), hints }
    }
}

impl From<TimeError> for CommandError {
    fn from(error: TimeError) -> Self {
        Self::user_error(error).with_hint(TimeError::HINT)
    }
}

impl From<ChangeError> for CommandError {
    fn from(error: ChangeError) -> Self {
        let hints = error.hint().into_iter().collect();
        match error {
            ChangeError::Read(error) => error.into(),
            error => Self { kind: ErrorKind::User, error: error.into(), hints },
        }
    }
}

impl From<FileLookupError> for CommandError {
    fn from(error: FileLookupError) -> Self {
        let (kind, hint) = match error {
            FileLookupError::Ambiguous { .. } => (ErrorKind::User, Some("use more of the path")),
            FileLookupError::NotNamed(_) => {
                let hint = "`ramus files ADDRESS --all` lists all files";
                (ErrorKind::Nothing, Some(hint))
            }
            _ => (ErrorKind::Nothing, None),
        };
        let hints = hint.map(str::to_owned).into_iter().collect();
        Self { kind, error: error.into(), hints }
    }
}

impl From<ramus_web::ServeError> for CommandError {
    fn from(error: ramus_web::ServeError) -> Self {
        let is_address = matches!(error, ramus_web::ServeError::Listen { .. });
        let error = Self { kind: ErrorKind::User, error: error.into(), hints: Vec::new() };
        match is_address {
            true => error.with_hint("use --port or --listen to choose another address"),
            false => error,
        }
    }
}

impl From<ramus_store::apply::ApplyError> for CommandError {
    fn from(error: ramus_store::apply::ApplyError) -> Self {
        Self { kind: ErrorKind::User, error: error.into(), hints: Vec::new() }
    }
}

impl From<ramus_archive::ArchiveError> for CommandError {
    fn from(error: ramus_archive::ArchiveError) -> Self {
        use ramus_archive::ArchiveError;
        let hint = match &error {
            ArchiveError::NotAnArchive(_) => Some("set RAMUS_ARCHIVE to use another file"),
            ArchiveError::Newer(_) => Some("use the newer ramus"),
            ArchiveError::Older(_) => {
                Some("an administrator brings it up to date with `ramus archive init`")
            }
            ArchiveError::Policy(_) => Some("docs/team.md describes archive.toml"),
            ArchiveError::NotInitialized(_) => Some("`ramus archive init` prepares it"),
            ArchiveError::NotShareable(_) => Some(
                "use --archive postgres://… or RAMUS_ARCHIVE to choose a server; see docs/team.md",
            ),
            ArchiveError::Full(_) => {
                Some("free some space, then run the command again to continue")
            }
            ArchiveError::Locked(_) => Some("wait until the other program has finished"),
            ArchiveError::Damaged { .. } => Some("`ramus archive verify` lists damaged files"),
            ArchiveError::NoGeneration { .. } => {
                Some("`ramus archive list SESSION` lists generations")
            }
            _ => None,
        };
        let hints = hint.map(str::to_owned).into_iter().collect();
        Self { kind: ErrorKind::User, error: error.into(), hints }
    }
}

impl From<ramus_archive::SessionLookupError> for CommandError {
    fn from(error: ramus_archive::SessionLookupError) -> Self {
        use ramus_archive::SessionLookupError;
        match error {
            SessionLookupError::Archive(error) => error.into(),
            SessionLookupError::None(_) => {
                Self::user_error(error).with_hint("`ramus archive list` lists archived sessions")
            }
            SessionLookupError::Several { .. } => {
                Self::user_error(error).with_hint("use more characters of the id")
            }
        }
    }
}

impl From<ramus_store::output_tree::OutputTreeError> for CommandError {
    fn from(error: ramus_store::output_tree::OutputTreeError) -> Self {
        let is_full = matches!(error, ramus_store::output_tree::OutputTreeError::NotEmpty(_));
        let error = Self { kind: ErrorKind::User, error: error.into(), hints: Vec::new() };
        if is_full { error.with_hint("use --force to write to it anyway") } else { error }
    }
}

impl From<ramus_store::claude_dir::ClaudeDirError> for CommandError {
    fn from(error: ramus_store::claude_dir::ClaudeDirError) -> Self {
        let error = Self { kind: ErrorKind::User, error: error.into(), hints: Vec::new() };
        error
            .with_hint("use --claude-dir DIR with the directory that contains `projects`")
            .with_hint("no history yet? Run `ramus demo` to create a sample")
    }
}

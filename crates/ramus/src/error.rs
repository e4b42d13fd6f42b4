//! What went wrong, for a person: a message, its cause, and what to do next.

use ramus_app::files_at::FileError;
use ramus_app::when::TimeError;
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
    /// What was asked for cannot be done.
    User,
    /// Nobody reads our output any more; that is no error.
    BrokenPipe,
    /// Nothing was found: exit code 1, and no message beyond the one given.
    Nothing,
}

impl CommandError {
    pub(crate) fn user(message: impl fmt::Display) -> Self {
        Self { kind: ErrorKind::User, error: anyhow::anyhow!("{message}"), hints: Vec::new() }
    }

    pub(crate) fn nothing(message: impl fmt::Display) -> Self {
        Self { kind: ErrorKind::Nothing, ..Self::user(message) }
    }

    pub(crate) fn hinted(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

impl From<io::Error> for CommandError {
    fn from(error: io::Error) -> Self {
        let kind = if error.kind() == io::ErrorKind::BrokenPipe {
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
        Self::user(error).hinted(TimeError::HINT)
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

impl From<FileError> for CommandError {
    fn from(error: FileError) -> Self {
        let (kind, hint) = match error {
            FileError::Ambiguous { .. } => (ErrorKind::User, Some("give more of the path")),
            FileError::NotNamed(_) => {
                let hint = "`ramus files ADDRESS --all` lists the files it knew";
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
            true => error.hinted("`--port` takes another port, `--listen` another address"),
            false => error,
        }
    }
}

impl From<ramus_store::apply::ApplyError> for CommandError {
    fn from(error: ramus_store::apply::ApplyError) -> Self {
        Self { kind: ErrorKind::User, error: error.into(), hints: Vec::new() }
    }
}

impl From<ramus_store::tree::TreeError> for CommandError {
    fn from(error: ramus_store::tree::TreeError) -> Self {
        let is_full = matches!(error, ramus_store::tree::TreeError::NotEmpty(_));
        let error = Self { kind: ErrorKind::User, error: error.into(), hints: Vec::new() };
        if is_full { error.hinted("`--force` writes into it all the same") } else { error }
    }
}

impl From<ramus_store::place::PlaceError> for CommandError {
    fn from(error: ramus_store::place::PlaceError) -> Self {
        let error = Self { kind: ErrorKind::User, error: error.into(), hints: Vec::new() };
        error
            .hinted("give the directory that holds `projects` with `--claude-dir DIR`")
            .hinted("no history yet? `ramus demo` writes a sample to look at")
    }
}

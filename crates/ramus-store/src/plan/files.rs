//! Plans to restore files of the user's project.

use std::path::{Path, PathBuf};

use super::{Content, Plan, Step, What};
use crate::disk;
use crate::error::PathError;
use crate::stamp::Stamp;

/// A project file with the content it should get.
#[derive(Clone, Debug)]
pub struct FileBack {
    pub path: PathBuf,
    /// `None`: the file should not exist.
    pub content: Option<Content>,
}

/// Plans to restore or remove files. `session` and `file` are where their contents were read from.
pub fn restore_files(
    session: &str,
    file: &Path,
    root: Option<&Path>,
    words: String,
    files: Vec<FileBack>,
) -> Result<Plan, PathError> {
    let step = |FileBack { path, content }: FileBack| {
        let before = match disk::exists(&path)? {
            true => Some(Stamp::at(&path).map_err(|source| PathError::new(&path, source))?),
            false => None,
        };
        Ok(match content {
            Some(content) => Step::Put { file: path, before, content },
            None => Step::Move { from: path, to: None, before },
        })
    };
    Ok(Plan {
        what: What::RestoreFiles,
        session: session.to_owned(),
        file: file.to_owned(),
        root: root.map(Path::to_owned),
        words,
        steps: files.into_iter().map(step).collect::<Result<_, PathError>>()?,
        resume: None,
        left_out: 0,
        unreported: 0,
        undoes: None,
    })
}

//! Plans that put files of a project back.

use std::path::{Path, PathBuf};

use super::{Content, Plan, Step, What};
use crate::disk;
use crate::error::PathError;
use crate::stamp::Stamp;

/// A file of a project as it is to be.
#[derive(Clone, Debug)]
pub struct FileBack {
    pub path: PathBuf,
    /// `None`: it is not to be there.
    pub content: Option<Content>,
}

/// Plans to put files back, or away; `session` and `file` are those that they were read from.
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

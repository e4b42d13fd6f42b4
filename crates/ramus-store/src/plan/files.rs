//! Plans to restore files of the user's project.

use std::path::{Path, PathBuf};

use super::{NewContent, OperationKind, PlanStep, WritePlan};
use crate::disk;
use crate::error::PathError;
use crate::stamp::Stamp;

/// A project file with the content it should get.
#[derive(Clone, Debug)]
pub struct FileRestore {
    pub path: PathBuf,
    /// `None`: the file should not exist.
    pub content: Option<NewContent>,
}

/// Plans to restore or remove files. `session` and `file` are where their contents were read from.
pub fn plan_restore_files(
    session: &str,
    file: &Path,
    root: Option<&Path>,
    words: String,
    files: Vec<FileRestore>,
) -> Result<WritePlan, PathError> {
    let step = |FileRestore { path, content }: FileRestore| {
        let before = match disk::path_exists(&path)? {
            true => Some(Stamp::of_file(&path).map_err(|source| PathError::new(&path, source))?),
            false => None,
        };
        Ok(match content {
            Some(content) => PlanStep::ReplaceFile { file: path, before, content },
            None => PlanStep::MoveFile { from: path, to: None, before },
        })
    };
    Ok(WritePlan {
        what: OperationKind::RestoreFiles,
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

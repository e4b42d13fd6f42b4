//! Plans to restore files of a project to their state at a message.

use std::path::Path;

use ramus_core::edit::{ChangeDetail, FileRestoration, RestoredFile};
use ramus_core::files::FileState;
use ramus_core::files::restore::RestoreAction;
use ramus_store::files_at::FilesAt;
use ramus_store::on_disk::read_text;

use super::{ChangeError, PlannedChange};
use crate::workspace::Workspace;

pub(super) fn plan_restore_files(
    workspace: &Workspace,
    files: &mut FilesAt,
    only: Option<&str>,
    outside: bool,
) -> Result<PlannedChange, ChangeError> {
    if !Path::new(&files.moment.cwd).is_dir() {
        return Err(ChangeError::NoDirectory(files.moment.cwd.clone()));
    }
    let is_wanted = |file: &&FileState| only.map_or(!file.only_read, |path| file.path == path);
    let wanted: Vec<FileState> = files.files.iter().filter(is_wanted).cloned().collect();
    let (back, plan) = files.plan_restore(&wanted, outside)?;
    let left = back.left.iter().map(|(file, why)| (FileState::clone(file), *why)).collect();
    let mut restoration =
        FileRestoration { cwd: files.moment.cwd.clone(), changes: Vec::new(), left };
    let Some(plan) = plan else { return Err(ChangeError::FilesAsTheyWere(restoration)) };
    for change in back.changes {
        let then = match change.action {
            RestoreAction::Delete => Some(String::new()),
            _ => files.file_bytes(change.file).and_then(|bytes| String::from_utf8(bytes).ok()),
        };
        restoration.changes.push(RestoredFile {
            file: change.file.clone(),
            action: change.action,
            current_text: read_text(Path::new(&change.file.path)),
            restored_text: then,
        });
    }
    Ok(PlannedChange::new(workspace, plan, ChangeDetail::RestoreFiles(restoration)))
}

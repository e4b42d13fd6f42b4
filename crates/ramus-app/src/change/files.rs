//! Files of a project, put back as they were at a message.

use std::path::Path;

use ramus_core::edit::{ChangeDetail, FileRestoration, RestoredFile};
use ramus_core::files::FileState;
use ramus_core::files::restore::How;
use ramus_store::files_at::FilesAt;
use ramus_store::on_disk::text_at;

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
    let (back, plan) = files.put_back(&wanted, outside)?;
    let left = back.left.iter().map(|(file, why)| (FileState::clone(file), *why)).collect();
    let mut restoration =
        FileRestoration { cwd: files.moment.cwd.clone(), changes: Vec::new(), left };
    let Some(plan) = plan else { return Err(ChangeError::FilesAsTheyWere(restoration)) };
    for change in back.changes {
        let then = match change.how {
            How::Delete => Some(String::new()),
            _ => files.bytes(change.file).and_then(|bytes| String::from_utf8(bytes).ok()),
        };
        restoration.changes.push(RestoredFile {
            file: change.file.clone(),
            how: change.how,
            now: text_at(Path::new(&change.file.path)),
            then,
        });
    }
    Ok(PlannedChange::new(workspace, plan, ChangeDetail::RestoreFiles(restoration)))
}

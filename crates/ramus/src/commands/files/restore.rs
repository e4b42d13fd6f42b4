//! Restores files on disk to their state at a message.

use ramus_app::{ChangeError, ChangeRequest, Workspace};
use ramus_render::Line;
use ramus_render::files::left_line;

use super::{FilesArgs, Point, find_named_file};
use crate::confirm::{WriteArgs, confirm_and_apply};
use crate::env;
use crate::error::CommandError;
use crate::ui::Ui;

pub(super) fn put_back(
    ui: &mut Ui,
    workspace: &Workspace,
    args: &FilesArgs,
    point: &mut Point,
) -> Result<(), CommandError> {
    let only = args.path.as_ref().map(|path| find_named_file(point, path)).transpose()?;
    let only = only.as_ref().map(|file| &*file.path);
    let request = ChangeRequest::RestoreFiles { files: point, only, outside: args.outside };
    let change = match workspace.plan_change(request, env::current_time()) {
        Err(ChangeError::FilesAsTheyWere(files)) => {
            for (file, why) in &files.left {
                ui.print_message(&left_line(file, *why, &files.cwd));
            }
            ui.print_message(&Line::plain("Nothing to restore: all files are unchanged."));
            return Ok(());
        }
        planned => planned?,
    };
    let write = WriteArgs { dry_run: args.dry_run, yes: args.yes, force: false };
    confirm_and_apply(ui, "ramus.files.restore/1", &write, &change)
}

use ramus_app::{ChangeRequest, OpenedSession};

use crate::args::Global;
use crate::confirm::{WriteArgs, confirm_and_apply};
use crate::env;
use crate::error::CommandError;
use crate::ui::Ui;

/// Move a session away, with its agents and file backups
///
/// Nothing is deleted: it goes to the trash of ramus, and `ramus undo` brings it back.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  ramus trash 3f9a\n  ramus log\n  ramus undo")]
pub(crate) struct TrashArgs {
    session: String,
    #[command(flatten)]
    write: WriteArgs,
}

pub(crate) fn trash(ui: &mut Ui, global: &Global, args: &TrashArgs) -> Result<(), CommandError> {
    let workspace = env::workspace_for(ui, global, &args.session)?;
    let found = workspace.resolve_address(&args.session)?.file;
    let site = OpenedSession::read_session(&workspace, found)?;
    let change =
        workspace.plan_change(ChangeRequest::Trash { site: &site }, env::current_time())?;
    confirm_and_apply(ui, "ramus.trash/1", &args.write, &change)
}

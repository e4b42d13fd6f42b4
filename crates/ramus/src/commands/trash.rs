use ramus_app::{ChangeRequest, Site};

use crate::args::Global;
use crate::env;
use crate::error::CommandError;
use crate::perform::{WriteArgs, perform};
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
    let found = workspace.address(&args.session)?.file;
    let site = Site::read(&workspace, found)?;
    let change = workspace.plan(ChangeRequest::Trash { site: &site }, env::now())?;
    perform(ui, "ramus.trash/1", &args.write, &change)
}

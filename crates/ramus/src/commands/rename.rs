use ramus_app::{ChangeError, ChangeRequest, OpenedSession};
use ramus_store::plan;

use crate::args::Global;
use crate::confirm::{WriteArgs, confirm_and_apply};
use crate::env;
use crate::error::CommandError;
use crate::ui::Ui;

/// Give a session a title
///
/// Adds the line that `/rename` of Claude Code adds. That is safe while the session is open.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  ramus rename 3f9a \"The teapot, second try\"")]
pub(crate) struct RenameArgs {
    session: String,
    title: String,
    #[command(flatten)]
    write: WriteArgs,
}

pub(crate) fn rename(ui: &mut Ui, global: &Global, args: &RenameArgs) -> Result<(), CommandError> {
    // A title that cannot be one is refused before anything is looked for.
    let title = plan::check_title(&args.title).map_err(ChangeError::from)?;
    let workspace = env::workspace_for(ui, global, &args.session)?;
    let found = workspace.resolve_address(&args.session)?.file;
    let site = OpenedSession::read_session(&workspace, found)?;
    let change =
        workspace.plan_change(ChangeRequest::Rename { site: &site, title }, env::current_time())?;
    confirm_and_apply(ui, "ramus.rename/1", &args.write, &change)
}

use ramus_app::{ChangeError, ChangeRequest, OpenedSession};
use ramus_store::plan;

use crate::args::Global;
use crate::completion;
use crate::confirm::{WriteArgs, confirm_and_apply};
use crate::env;
use crate::error::CommandError;
use crate::ui::Ui;

/// Rename a session
///
/// Appends the same line as `/rename` in Claude Code, which is safe while the session is open.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramus rename 7ea9 'Teapot, first version'")]
pub(crate) struct RenameArgs {
    /// The session
    #[arg(add = completion::sessions())]
    session: String,
    /// The new title
    title: String,
    #[command(flatten)]
    write: WriteArgs,
}

pub(crate) fn rename(ui: &mut Ui, global: &Global, args: &RenameArgs) -> Result<(), CommandError> {
    // An invalid title is refused before anything is read.
    let title = plan::check_title(&args.title).map_err(ChangeError::from)?;
    let workspace = env::workspace_for(ui, global, &args.session)?;
    let found = workspace.resolve_address(&args.session)?.file;
    let opened = OpenedSession::read_session(&workspace, found)?;
    let change = workspace
        .plan_change(ChangeRequest::Rename { opened: &opened, title }, env::current_time())?;
    confirm_and_apply(ui, "ramus.rename/1", &args.write, &change)
}

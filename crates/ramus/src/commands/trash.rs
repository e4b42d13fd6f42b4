use ramus_app::{ChangeRequest, OpenedSession};

use crate::args::Global;
use crate::completion;
use crate::confirm::{WriteArgs, confirm_and_apply};
use crate::env;
use crate::error::CommandError;
use crate::ui::Ui;

/// Move a session to the trash, with its agents and file backups
///
/// Nothing is deleted. `ramus undo` brings the session back. Several sessions are moved one by one, and each
/// can be undone by itself.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramus trash 7ea9
  ramus undo")]
pub(crate) struct TrashArgs {
    /// Sessions; `-` reads them from standard input
    #[arg(value_name = "SESSION", required = true, add = completion::sessions())]
    sessions: Vec<String>,
    #[command(flatten)]
    write: WriteArgs,
}

pub(crate) fn trash(ui: &mut Ui, global: &Global, args: &TrashArgs) -> Result<(), CommandError> {
    for session in env::expand_addresses(&args.sessions)? {
        trash_session(ui, global, &args.write, &session)?;
    }
    Ok(())
}

fn trash_session(
    ui: &mut Ui,
    global: &Global,
    write: &WriteArgs,
    session: &str,
) -> Result<(), CommandError> {
    let workspace = env::workspace_for(ui, global, session)?;
    let found = workspace.resolve_address(session)?.file;
    let opened = OpenedSession::read_session(&workspace, found)?;
    let change =
        workspace.plan_change(ChangeRequest::Trash { opened: &opened }, env::current_time())?;
    confirm_and_apply(ui, "ramus.trash/1", write, &change)
}

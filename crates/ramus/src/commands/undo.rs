use ramus_app::{ChangeError, ChangeRequest, NewSessionAt, OpenedSession, Workspace};
use ramus_core::history::History;
use ramus_core::resume::ResumeRule;
use ramus_core::session::Session;
use ramus_render::change::recovery_lines;
use ramus_store::apply::{RecoveredJournal, UnfinishedOperation, recover_operations};
use ramus_store::journal::Journal;

use crate::args::Global;
use crate::completion;
use crate::confirm::{WriteArgs, confirm_and_apply};
use crate::env;
use crate::error::CommandError;
use crate::ui::Ui;

/// Undo the last operation
///
/// Restores every byte, mode and date of the files that the operation changed. If the session has
/// continued since then, use `--fork` to make a new session from the state before the operation.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramus undo
  ramus undo 1
  ramus undo 1 --fork")]
pub(crate) struct UndoArgs {
    /// The operation number from `ramus log` [default: the last operation]
    #[arg(add = completion::operations())]
    op: Option<u64>,
    /// Make a new session from the state before the operation
    #[arg(long, requires = "op")]
    fork: bool,
    #[command(flatten)]
    write: WriteArgs,
}

/// Restore an earlier version of a session
///
/// ramus backs up a session before each operation that changes it. This command brings back one of
/// these versions, and backs up the current one first. A session in the trash is restored with all its
/// files.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramus restore 7ea9
  ramus restore 7ea9 --at 1")]
pub(crate) struct RestoreArgs {
    /// The session, which may be in the trash
    #[arg(add = completion::sessions())]
    session: String,
    /// Restore the version from before operation OP of `ramus log` [default: the newest version that differs from the current one]
    #[arg(long, value_name = "OP", add = completion::operations())]
    at: Option<u64>,
    #[command(flatten)]
    write: WriteArgs,
}

pub(crate) fn undo(ui: &mut Ui, global: &Global, args: &UndoArgs) -> Result<(), CommandError> {
    let workspace = env::workspace_to_fill(ui, global);
    let journal = read_journal(ui)?;
    if let (true, Some(op)) = (args.fork, args.op) {
        return fork_before(ui, &workspace, &journal, op, &args.write);
    }
    let request = ChangeRequest::Undo { journal: &journal, op: args.op };
    let change = workspace.plan_change(request, env::current_time())?;
    confirm_and_apply(ui, "ramus.undo/1", &args.write, &change)
}

pub(crate) fn restore(
    ui: &mut Ui,
    global: &Global,
    args: &RestoreArgs,
) -> Result<(), CommandError> {
    let workspace = env::workspace_to_fill(ui, global);
    let journal = read_journal(ui)?;
    let session = match workspace.resolve_address(&args.session) {
        Ok(address) => address.file.file.id,
        // It may be gone; the journal knows it still.
        Err(error) => session_in_journal(&journal, &args.session).ok_or(error)?,
    };
    let request = ChangeRequest::Restore { journal: &journal, session: &session, at: args.at };
    let change = workspace.plan_change(request, env::current_time())?;
    confirm_and_apply(ui, "ramus.restore/1", &args.write, &change)
}

fn session_in_journal(journal: &Journal, text: &str) -> Option<String> {
    let mut ids: Vec<&str> = journal
        .operations
        .iter()
        .map(|operation| &*operation.session)
        .filter(|session| text.len() >= 4 && session.starts_with(text))
        .collect();
    ids.sort_unstable();
    ids.dedup();
    match ids[..] {
        [id] => Some(id.to_owned()),
        _ => None,
    }
}

/// Makes a session from the state before an operation; the file still begins with it.
fn fork_before(
    ui: &mut Ui,
    workspace: &Workspace,
    journal: &Journal,
    op: u64,
    args: &WriteArgs,
) -> Result<(), CommandError> {
    let operation = journal.operation(op).ok_or_else(|| ChangeError::unknown_operation(op))?;
    let gone = || {
        CommandError::user_error(format!("the state before operation {op} no longer exists"))
            .with_hint(format!("run `ramus restore {} --at {op}` to restore it", operation.session))
    };
    let backup = operation.backup.as_ref().ok_or_else(gone)?;
    let bytes = backup.read_bytes()?;
    let found = workspace.resolve_address(&operation.file.to_string_lossy())?.file;
    let opened = OpenedSession::read_session(workspace, found)?;
    let mut session = Session::default();
    session.push(&bytes);
    session.finish_last_line();
    let leaf = History::new(session, ResumeRule::Client).branches.resume.ok_or_else(gone)?.leaf;
    let to = NewSessionAt::default();
    let request = ChangeRequest::Fork { opened: &opened, node: leaf, to };
    let change = workspace.plan_change(request, env::current_time())?;
    confirm_and_apply(ui, "ramus.undo/1", args, &change)
}

/// Reads the journal, and reports what happened to interrupted operations.
pub(crate) fn read_journal(ui: &Ui) -> Result<Journal, CommandError> {
    let RecoveredJournal { journal, notes, unfinished } = recover_operations(&env::state_dir())?;
    let unfinished = unfinished.iter().map(|UnfinishedOperation { op, why }| (*op, why.as_str()));
    recovery_lines(&notes, unfinished).iter().for_each(|line| ui.print_message(line));
    Ok(journal)
}

use ramus_app::{ChangeError, ChangeRequest, NewSessionAt, Site, Workspace};
use ramus_core::history::History;
use ramus_core::resume::Rule;
use ramus_core::session::Session;
use ramus_render::change::recovery_lines;
use ramus_store::apply::{Recovered, Unfinished, recover};
use ramus_store::journal::Journal;

use crate::args::Global;
use crate::env;
use crate::error::CommandError;
use crate::perform::{WriteArgs, perform};
use crate::ui::Ui;

/// Take back what ramus did last
///
/// Every byte, mode and date is as it was before. That works while nothing came after the
/// operation; otherwise `--fork` makes a new session of the state before it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  ramus undo\n  ramus undo 7\n  ramus undo 7 --fork")]
pub(crate) struct UndoArgs {
    /// The number of the operation, as `ramus log` shows it [default: the last one]
    op: Option<u64>,
    /// Make a new session of the state before the operation
    #[arg(long, requires = "op")]
    fork: bool,
    #[command(flatten)]
    write: WriteArgs,
}

/// Bring back an earlier version of a session
///
/// Before each operation ramus keeps a copy. What is there now is kept as well. A session in the
/// trash comes back with all its files.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  ramus restore 3f9a\n  ramus restore 3f9a --at 7")]
pub(crate) struct RestoreArgs {
    session: String,
    /// As it was before that operation [default: the newest version that is not there now]
    #[arg(long, value_name = "OP")]
    at: Option<u64>,
    #[command(flatten)]
    write: WriteArgs,
}

pub(crate) fn undo(ui: &mut Ui, global: &Global, args: &UndoArgs) -> Result<(), CommandError> {
    let workspace = env::workspace(ui, global)?;
    let journal = journal(ui)?;
    if let (true, Some(op)) = (args.fork, args.op) {
        return fork_before(ui, &workspace, &journal, op, &args.write);
    }
    let request = ChangeRequest::Undo { journal: &journal, op: args.op };
    let change = workspace.plan(request, env::now())?;
    perform(ui, "ramus.undo/1", &args.write, &change)
}

pub(crate) fn restore(
    ui: &mut Ui,
    global: &Global,
    args: &RestoreArgs,
) -> Result<(), CommandError> {
    let workspace = env::workspace(ui, global)?;
    let journal = journal(ui)?;
    let session = match workspace.address(&args.session) {
        Ok(address) => address.file.file.id,
        // It may be gone; the journal knows it still.
        Err(error) => known(&journal, &args.session).ok_or(error)?,
    };
    let request = ChangeRequest::Restore { journal: &journal, session: &session, at: args.at };
    let change = workspace.plan(request, env::now())?;
    perform(ui, "ramus.restore/1", &args.write, &change)
}

fn known(journal: &Journal, text: &str) -> Option<String> {
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

/// Makes a session of what was resumed before an operation: its file still begins with it.
fn fork_before(
    ui: &mut Ui,
    workspace: &Workspace,
    journal: &Journal,
    op: u64,
    args: &WriteArgs,
) -> Result<(), CommandError> {
    let operation = journal.operation(op).ok_or_else(|| ChangeError::unknown_operation(op))?;
    let gone = || {
        CommandError::user(format!("what was there before operation {op} is not there any more"))
            .hinted(format!("`ramus restore {} --at {op}` brings it back", operation.session))
    };
    let backup = operation.backup.as_ref().ok_or_else(gone)?;
    let bytes = backup.bytes()?;
    let found = workspace.address(&operation.file.to_string_lossy())?.file;
    let site = Site::read(workspace, found)?;
    let mut session = Session::default();
    session.push(&bytes);
    session.end();
    let leaf = History::new(session, Rule::Client).branches.resume.ok_or_else(gone)?.leaf;
    let to = NewSessionAt::default();
    let request = ChangeRequest::Fork { site: &site, node: leaf, to };
    let change = workspace.plan(request, env::now())?;
    perform(ui, "ramus.undo/1", args, &change)
}

/// Reads the journal, and tells what became of operations that were interrupted.
pub(crate) fn journal(ui: &Ui) -> Result<Journal, CommandError> {
    let Recovered { journal, notes, unfinished } = recover(&env::state())?;
    let unfinished = unfinished.iter().map(|Unfinished { op, why }| (*op, why.as_str()));
    recovery_lines(&notes, unfinished).iter().for_each(|line| ui.say(line));
    Ok(journal)
}

use ramus_core::time::Time;
use ramus_render::json::{Answer, Log, LogEntry};
use ramus_render::{Label, Line};
use ramus_store::apply::{UnfinishedOperation, set_aside_unfinished};
use ramus_store::journal::Operation;
use ramus_store::undo::is_in_roots;

use crate::args::Global;
use crate::commands::undo::read_journal;
use crate::env::{self, LocalClock};
use crate::error::CommandError;
use crate::table::{Table, cell};
use crate::ui::Ui;

/// Show operations, newest first
///
/// An operation is a change that ramus made to a history. Its number, OP, is what `ramus undo` and
/// `ramus restore --at` take.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramus log
  ramus log --everywhere       also those in other Claude directories")]
pub(crate) struct LogArgs {
    /// Give up operations that were interrupted and can be neither finished nor undone
    ///
    /// ramus recovers interrupted operations by itself. If it cannot, because their files were changed or
    /// deleted meanwhile, this marks them as given up. Their files stay as they are and are listed.
    #[arg(long)]
    repair: bool,
}

pub(crate) fn log(ui: &mut Ui, global: &Global, args: &LogArgs) -> Result<(), CommandError> {
    // The log exists without sessions: all of them may be in the trash.
    let workspace = env::workspace_to_fill(ui, global);
    if args.repair {
        give_up_unfinished(ui)?;
    }
    let journal = read_journal(ui)?;
    let here = journal.operations.iter().rev();
    let here: Vec<&Operation> = here
        .filter(|operation| global.everywhere || is_in_roots(operation, workspace.claude_roots()))
        .collect();
    if ui.json {
        let operations = here.iter().copied().map(log_entry).collect();
        ui.print_json(&Answer::new("ramus.log/1", Log { operations }))?;
    }
    if here.is_empty() {
        return Err(CommandError::nothing_found("no operations yet"));
    }
    if ui.json {
        return Ok(());
    }
    let (clock, short_ids) = (LocalClock::new(), workspace.short_ids());
    let mut table = Table::new(&[">OP", "WHEN", "WHAT", "SESSION", "?STATE", "*"]);
    for operation in here {
        let is_in_effect = operation.is_done() && operation.undone_by.is_none();
        let label = if is_in_effect { Label::Active } else { Label::Abandoned };
        let when = Time::parse(operation.at.as_bytes()).map(|time| clock.short_time(time));
        table.row(vec![
            cell(operation.op.to_string(), Label::Strong),
            cell(when.unwrap_or_default(), Label::Time),
            cell(operation.what.as_str(), Label::Branch),
            cell(short_ids.shorten_id(&operation.session), Label::Id),
            cell(operation.state_text(), label),
            Line::plain(&operation.words),
        ]);
    }
    ui.start_pager();
    for line in table.lines(ui.width) {
        ui.print_line(&line)?;
    }
    Ok(())
}

/// Sets operations aside that were interrupted and cannot be finished.
fn give_up_unfinished(ui: &mut Ui) -> Result<(), CommandError> {
    let given_up = set_aside_unfinished(&env::state_dir())?;
    for UnfinishedOperation { op, why } in &given_up {
        ui.print_message(&Line::plain(&format!("Gave up operation {op}: {why}")));
    }
    if given_up.is_empty() {
        ui.print_message(&Line::new("No unfinished operations.", Label::Active));
    }
    Ok(())
}

fn log_entry(operation: &Operation) -> LogEntry {
    LogEntry {
        op: operation.op,
        at: operation.at.clone(),
        operation: operation.what.as_str(),
        session: operation.session.clone(),
        file: operation.file.display().to_string(),
        words: operation.words.clone(),
        done: operation.is_done(),
        undone_by: operation.undone_by,
        undoes: operation.undoes,
        backup: operation.backup.as_ref().map(|backup| backup.copy.display().to_string()),
    }
}

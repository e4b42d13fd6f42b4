use ramus_core::time::Time;
use ramus_render::json::{Answer, Log, LogEntry};
use ramus_render::{Label, Line};
use ramus_store::apply::{Unfinished, set_aside};
use ramus_store::journal::Operation;
use ramus_store::undo::is_below;

use crate::args::Global;
use crate::commands::undo::journal;
use crate::env::{self, Clock};
use crate::error::CommandError;
use crate::table::{Table, cell};
use crate::ui::Ui;

/// Show what ramus did, the newest first
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  ramus log\n  ramus undo 7")]
pub(crate) struct LogArgs {
    /// Also operations in other Claude directories
    #[arg(long)]
    everywhere: bool,
    /// Give up interrupted operations that can be neither finished nor taken back
    ///
    /// What they left stays where it is, and is listed.
    #[arg(long)]
    repair: bool,
}

pub(crate) fn log(ui: &mut Ui, global: &Global, args: &LogArgs) -> Result<(), CommandError> {
    let workspace = env::workspace(ui, global)?;
    if args.repair {
        repair(ui)?;
    }
    let journal = journal(ui)?;
    let here = journal.operations.iter().rev();
    let here: Vec<&Operation> = here
        .filter(|operation| args.everywhere || is_below(operation, workspace.roots()))
        .collect();
    if ui.json {
        let operations = here.iter().copied().map(entry).collect();
        ui.json(&Answer::new("ramus.log/1", Log { operations }))?;
    }
    if here.is_empty() {
        return Err(CommandError::nothing("ramus has not written anything here"));
    }
    if ui.json {
        return Ok(());
    }
    let (clock, short_ids) = (Clock::new(), workspace.short_ids());
    let mut table = Table::new(&[">OP", "WHEN", "WHAT", "SESSION", "?STATE", "*"]);
    for operation in here {
        let is_in_effect = operation.is_done() && operation.undone_by.is_none();
        let label = if is_in_effect { Label::Active } else { Label::Abandoned };
        let when = Time::parse(operation.at.as_bytes()).map(|time| clock.short(time));
        table.row(vec![
            cell(operation.op.to_string(), Label::Strong),
            cell(when.unwrap_or_default(), Label::Time),
            cell(operation.what.word(), Label::Branch),
            cell(short_ids.short(&operation.session), Label::Id),
            cell(state(operation), label),
            Line::plain(&operation.words),
        ]);
    }
    ui.page();
    for line in table.lines(ui.width) {
        ui.line(&line)?;
    }
    Ok(())
}

/// Sets operations aside that were interrupted and cannot be finished.
fn repair(ui: &mut Ui) -> Result<(), CommandError> {
    let given_up = set_aside(&env::state())?;
    for Unfinished { op, why } in &given_up {
        ui.say(&Line::plain(&format!("Operation {op} is given up: {why}")));
    }
    if given_up.is_empty() {
        ui.say(&Line::new("No operation is unfinished.", Label::Active));
    }
    Ok(())
}

fn state(operation: &Operation) -> String {
    match (&operation.end, operation.undone_by) {
        (Some(end), Some(by)) if end.done => format!("undone by {by}"),
        (Some(end), None) if end.done => "done".to_owned(),
        (Some(end), _) if end.set_aside => "given up".to_owned(),
        (Some(_), _) => "not done".to_owned(),
        (None, _) => "unfinished".to_owned(),
    }
}

fn entry(operation: &Operation) -> LogEntry {
    LogEntry {
        op: operation.op,
        at: operation.at.clone(),
        operation: operation.what.word(),
        session: operation.session.clone(),
        file: operation.file.display().to_string(),
        words: operation.words.clone(),
        done: operation.is_done(),
        undone_by: operation.undone_by,
        undoes: operation.undoes,
        backup: operation.backup.as_ref().map(|backup| backup.copy.display().to_string()),
    }
}

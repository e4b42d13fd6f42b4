//! `check --fix`: a repaired copy for each session that needs one.

use ramus_app::PlannedChange;
use ramus_app::check::{CheckedScope, RepairProposal};
use ramus_core::edit::{ChangeDetail, ThinkingPolicy};
use ramus_render::json::{FixAnswer, Written};
use ramus_render::{Label, Line};

use crate::confirm::{WriteArgs, confirm_and_apply_as};
use crate::env;
use crate::error::{CommandError, ErrorKind};
use crate::ui::Ui;

/// Shows repairs session by session, and applies those that are confirmed.
pub(crate) fn fix_sessions(
    ui: &mut Ui,
    checked: &CheckedScope<'_>,
    thinking: ThinkingPolicy,
    args: &WriteArgs,
) -> Result<(), CommandError> {
    let found = checked.each_repair(thinking, env::current_time, |repair| {
        let change = match repair {
            RepairProposal::RepairedBefore { session, copy } => {
                let line = format!("Session {session} was repaired already: `ramus show {copy}`");
                ui.print_message(&Line::plain(&line));
                return Ok(());
            }
            RepairProposal::Change(change) => change,
        };
        match propose_repair(ui, &change, args) {
            // Continue with the next session.
            Err(error) if error.kind == ErrorKind::Nothing => {
                ui.print_message(&Line::plain("Not changed."));
                Ok(())
            }
            done => done,
        }
    })?;
    if found == 0 {
        ui.print_message(&Line::new("Nothing to repair.", Label::Active));
    }
    Ok(())
}

fn propose_repair(
    ui: &mut Ui,
    change: &PlannedChange,
    args: &WriteArgs,
) -> Result<(), CommandError> {
    let ChangeDetail::Repair { of, repairs, .. } = &change.detail else { return Ok(()) };
    confirm_and_apply_as(ui, "ramus.check.fix/1", args, change, |written: Written| FixAnswer {
        written,
        of: of.clone(),
        repairs: repairs.clone(),
    })
}

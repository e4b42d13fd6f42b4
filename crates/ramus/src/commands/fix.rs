//! `check --fix`: a repaired copy for each session that needs one.

use ramus_app::survey::SurveyedFile;
use ramus_app::{ChangeError, ChangeRequest, OpenedSession, PlannedChange, Workspace};
use ramus_core::edit::{ChangeDetail, ThinkingPolicy, WrongIds};
use ramus_render::json::{FixAnswer, Written};
use ramus_render::{Label, Line};
use ramus_store::inspect::CrossFileCheck;
use ramus_store::journal::Journal;
use ramus_store::plan::{self, OperationKind};

use crate::confirm::{WriteArgs, confirm_and_apply_as};
use crate::env;
use crate::error::{CommandError, ErrorKind};
use crate::ui::Ui;

/// Plans repairs for sessions one by one, and carries out those that are wanted.
pub(crate) fn fix_sessions(
    ui: &mut Ui,
    workspace: &Workspace,
    files: &[&SurveyedFile],
    neighbours: &CrossFileCheck<'_>,
    thinking: ThinkingPolicy,
    args: &WriteArgs,
) -> Result<(), CommandError> {
    let journal = Journal::read(&env::state_dir())?;
    let mut found = 0;
    for file in files.iter().filter(|file| may_need(file)) {
        let session = workspace.resolve_address(&file.file.path.to_string_lossy())?.file;
        let site = OpenedSession::read_session(workspace, session)?;
        if let Some(copy) = existing_repair(&journal, &site.found.file.id) {
            let (id, copy) = (&site.short_id, workspace.short_id(&copy));
            let line = format!("Session {id} was repaired before: `ramus show {copy}`");
            ui.print_message(&Line::plain(&line));
            continue;
        }
        let misnamed = &wrong_ids(neighbours, file);
        let request = ChangeRequest::Fix { site: &site, misnamed, thinking };
        let change = match workspace.plan_change(request, env::current_time()) {
            Err(ChangeError::NothingToRepair) => continue,
            planned => planned?,
        };
        found += 1;
        match propose_repair(ui, &change, args) {
            // The next one may be wanted.
            Err(error) if error.kind == ErrorKind::Nothing => {
                ui.print_message(&Line::plain("Left as it is."));
            }
            done => done?,
        }
    }
    if found == 0 {
        ui.print_message(&Line::new("There is nothing to repair.", Label::Active));
    }
    Ok(())
}

/// Whether a look into a session is worth it.
fn may_need(file: &SurveyedFile) -> bool {
    let facts = &file.digest.facts;
    let is_session = file.file.role == ramus_store::claude_dir::FileRole::Session;
    let is_wrong = file.all_defects().next().is_some() || !file.digest.unpaired_tools.is_empty();
    let is_late = facts.last_active.is_none_or(|time| time > env::current_time());
    let is_misnamed = file
        .inspection
        .as_ref()
        .is_some_and(|found| !found.foreign.is_empty() || !found.reused.is_empty());
    is_session
        && !file.digest.class.is_hidden()
        && (is_wrong || is_late || is_misnamed || facts.thinking > 0)
}

/// Returns the records of a file that a copy has to call otherwise.
fn wrong_ids(neighbours: &CrossFileCheck<'_>, file: &SurveyedFile) -> WrongIds {
    let reused = file.inspection.iter().flat_map(|found| &found.reused);
    WrongIds {
        foreign: neighbours.foreign_records(file).map(|flaw| flaw.record).collect(),
        reused: reused.map(|flaw| flaw.record).collect(),
    }
}

/// Returns the copy that was made of a session before.
fn existing_repair(journal: &Journal, id: &str) -> Option<String> {
    let words = plan::fix_summary(id);
    let copy = journal.operations.iter().find(|operation| {
        operation.what == OperationKind::Fix
            && operation.is_done()
            && operation.undone_by.is_none()
            && operation.words == words
    });
    copy.map(|operation| operation.session.clone())
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

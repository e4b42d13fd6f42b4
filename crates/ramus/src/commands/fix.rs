//! `check --fix`: a repaired copy for each session that needs one.

use ramus_app::survey::Surveyed;
use ramus_app::{ChangeError, ChangeRequest, PlannedChange, Site, Workspace};
use ramus_core::edit::{ChangeDetail, Misnamed, Thinking};
use ramus_render::json::{FixAnswer, Written};
use ramus_render::{Label, Line};
use ramus_store::inspect::Neighbours;
use ramus_store::journal::Journal;
use ramus_store::plan::{self, What};

use crate::env;
use crate::error::{CommandError, ErrorKind};
use crate::perform::{WriteArgs, perform_as};
use crate::ui::Ui;

/// Plans repairs for sessions one by one, and carries out those that are wanted.
pub(crate) fn fix(
    ui: &mut Ui,
    workspace: &Workspace,
    files: &[&Surveyed],
    neighbours: &Neighbours<'_>,
    thinking: Thinking,
    args: &WriteArgs,
) -> Result<(), CommandError> {
    let journal = Journal::read(&env::state())?;
    let mut found = 0;
    for file in files.iter().filter(|file| may_need(file)) {
        let session = workspace.address(&file.file.path.to_string_lossy())?.file;
        let site = Site::read(workspace, session)?;
        if let Some(copy) = repaired(&journal, &site.found.file.id) {
            let (id, copy) = (&site.short_id, workspace.short_id(&copy));
            let line = format!("Session {id} was repaired before: `ramus show {copy}`");
            ui.say(&Line::plain(&line));
            continue;
        }
        let misnamed = &misnamed(neighbours, file);
        let request = ChangeRequest::Fix { site: &site, misnamed, thinking };
        let change = match workspace.plan(request, env::now()) {
            Err(ChangeError::NothingToRepair) => continue,
            planned => planned?,
        };
        found += 1;
        match propose(ui, &change, args) {
            // The next one may be wanted.
            Err(error) if error.kind == ErrorKind::Nothing => {
                ui.say(&Line::plain("Left as it is."));
            }
            done => done?,
        }
    }
    if found == 0 {
        ui.say(&Line::new("There is nothing to repair.", Label::Active));
    }
    Ok(())
}

/// Whether a look into a session is worth it.
fn may_need(file: &Surveyed) -> bool {
    let facts = &file.digest.facts;
    let is_session = file.file.role == ramus_store::place::FileRole::Session;
    let is_wrong = file.defects().next().is_some() || !file.digest.unpaired.is_empty();
    let is_late = facts.last_active.is_none_or(|time| time > env::now());
    let is_misnamed = file
        .inspection
        .as_ref()
        .is_some_and(|found| !found.foreign.is_empty() || !found.reused.is_empty());
    is_session
        && !file.digest.class.is_hidden()
        && (is_wrong || is_late || is_misnamed || facts.thinking > 0)
}

/// Returns the records of a file that a copy has to call otherwise.
fn misnamed(neighbours: &Neighbours<'_>, file: &Surveyed) -> Misnamed {
    let reused = file.inspection.iter().flat_map(|found| &found.reused);
    Misnamed {
        foreign: neighbours.foreign(file).map(|flaw| flaw.record).collect(),
        reused: reused.map(|flaw| flaw.record).collect(),
    }
}

/// Returns the copy that was made of a session before.
fn repaired(journal: &Journal, id: &str) -> Option<String> {
    let words = plan::fix_words(id);
    let copy = journal.operations.iter().find(|operation| {
        operation.what == What::Fix
            && operation.is_done()
            && operation.undone_by.is_none()
            && operation.words == words
    });
    copy.map(|operation| operation.session.clone())
}

fn propose(ui: &mut Ui, change: &PlannedChange, args: &WriteArgs) -> Result<(), CommandError> {
    let ChangeDetail::Fix { of, repairs, .. } = &change.detail else { return Ok(()) };
    perform_as(ui, "ramus.check.fix/1", args, change, |written: Written| FixAnswer {
        written,
        of: of.clone(),
        repairs: repairs.clone(),
    })
}

//! `check --fix`: a repaired copy for each session that needs one.

use ramus_app::change::short_title;
use ramus_app::survey::Surveyed;
use ramus_app::{PlannedChange, Site, Workspace};
use ramus_core::edit::{Misnamed, Thinking, end_of_message, to_fix};
use ramus_core::name::short_id;
use ramus_render::json::{FixAnswer, Written};
use ramus_render::{Label, Line};
use ramus_store::inspect::Neighbours;
use ramus_store::journal::Journal;
use ramus_store::plan::{self, What};
use ramus_store::trace::trace;

use crate::commands::fork::comes_along;
use crate::env;
use crate::error::{CommandError, ErrorKind};
use crate::perform::{Proposal, WriteArgs, perform_as};
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
            let id = &site.short_id;
            let line = format!(
                "Session {id} was repaired before: `ramus show {}`",
                workspace.short_id(&copy)
            );
            ui.say(&Line::plain(&line));
            continue;
        }
        let Some((change, repairs)) =
            planned(workspace, &site, &misnamed(neighbours, file), thinking)?
        else {
            continue;
        };
        found += 1;
        match propose(ui, &site, &change, &repairs, args) {
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

type Planned = (PlannedChange, Vec<String>);

fn planned(
    workspace: &Workspace,
    site: &Site,
    misnamed: &Misnamed,
    thinking: Thinking,
) -> Result<Option<Planned>, CommandError> {
    let subject = site.subject();
    let target = to_fix(&site.history, env::now());
    let end = target.and_then(|target| end_of_message(&site.history, target));
    if let Some(path) = end.and_then(|end| site.history.path_to(end)) {
        let (file, history) = (site.found.file.clone(), site.history.clone());
        let parts = trace(subject.files, file, history, path, workspace.rule())?;
        let title = format!("{} (repaired)", short_title(&site.title));
        let fixed = plan::fix(subject, &parts, misnamed, &title, thinking, env::now());
        let fixed = fixed.map_err(|error| {
            error.explained(|refusal| CommandError::user(format!("cannot repair: {refusal}")))
        })?;
        if let Some((plan, fixed)) = fixed {
            let change = PlannedChange {
                resume_leaf: Some(fixed.new.leaf),
                cwd: Some(site.cwd().to_owned()),
                ..plan.into()
            };
            return Ok(Some((change, fixed.repairs.words())));
        }
    }
    let ended = plan::end_line(subject)?;
    let words = "the last line broke off: it is ended, so that the next one is not lost with it";
    Ok(ended.map(|plan| (plan.into(), vec![words.to_owned()])))
}

fn propose(
    ui: &mut Ui,
    site: &Site,
    change: &PlannedChange,
    repairs: &[String],
    args: &WriteArgs,
) -> Result<(), CommandError> {
    let plan = &change.plan;
    let mut lines = vec![
        Line::default(),
        Line::plain("Session ")
            .with(&site.short_id, Label::Id)
            .with(&format!("  {}", site.title), Label::Strong),
    ];
    lines.extend(repairs.iter().map(|words| Line::new(&format!("  {words}"), Label::Warning)));
    if change.resume_leaf.is_some() {
        lines.push(
            Line::plain("  in a copy, session ")
                .with(short_id(&plan.session), Label::Id)
                .with("; the old one stays as it is", Label::Plain),
        );
        lines.extend(comes_along(plan));
    }
    lines.push(Line::new(&format!("  writes {}", plan.file.display()), Label::Dim));
    let proposal = Proposal { change, lines, question: "Repair it?" };
    perform_as(ui, "ramus.check.fix/1", args, &proposal, |written: Written| FixAnswer {
        written,
        of: site.found.file.id.clone(),
        repairs: repairs.to_vec(),
    })
}

//! Changes of the history: planned, shown with a question, and made if they are wanted.

use std::sync::mpsc::{Sender, channel};
use std::time::SystemTime;

use ramus_app::change::{MergeRequest, apply, apply_hint, resume_command};
use ramus_app::survey::to_time;
use ramus_app::{
    AddressError, ChangeError, ChangeRequest, NewSessionAt, PlannedChange, Site, Workspace,
};
use ramus_core::edit::{ChangeDetail, Strategy};
use ramus_core::session::NodeId;
use ramus_render::change::{
    ChangeStyle, change_lines, change_question, conflict_words, done_line, offer_lines,
    recovery_lines, resume_note_lines,
};
use ramus_render::{Label, Line};
use ramus_store::apply::{Recovered, Unfinished, recover};

use super::pages::{could_not, error_lines};
use crate::event::{Deed, Event, NodeAddress};
use crate::state::Clock;

/// Plans are wrapped where they are shown, so that paths can be read to their end.
const ROOMY: usize = 400;

/// Plans a change, asks, and makes it; returns what to show.
pub(crate) fn change(
    deed: &Deed,
    workspace: &Workspace,
    clock: &Clock,
    events: &Sender<Event>,
) -> Event {
    // What was read before is looked at again: the plan is for the files as they are now.
    workspace.refresh();
    let made = plan(deed, workspace).and_then(|plan| match plan {
        Plan::There(line) => Ok(line),
        Plan::Change { said, change } => make(said, &change, workspace, clock, events),
    });
    workspace.refresh();
    made.map_or_else(could_not, Event::Said)
}

enum Plan {
    /// Nothing is to be done.
    There(Line),
    Change {
        /// What is said before the plan.
        said: Vec<Line>,
        change: Box<PlannedChange>,
    },
}

fn plan(deed: &Deed, workspace: &Workspace) -> Result<Plan, Vec<Line>> {
    let now = to_time(SystemTime::now());
    let mut said = Vec::new();
    let change = match deed {
        Deed::Goto(address) => {
            let (site, node) = &read(workspace, address)?;
            match workspace.plan(ChangeRequest::Goto { site, node: *node }, now) {
                Err(ChangeError::AlreadyThere) => {
                    let there = "The session resumes there already; nothing was written.  ";
                    let command = resume_command(&site.found.file.id);
                    return Ok(Plan::There(Line::plain(there).with(&command, Label::Plain)));
                }
                planned => planned,
            }
        }
        Deed::Fork(address) => {
            let (site, node) = &read(workspace, address)?;
            let to = NewSessionAt::default();
            workspace.plan(ChangeRequest::Fork { site, node: *node, to }, now)
        }
        Deed::Merge(a, b, policy) => {
            let sites = [read(workspace, a)?, read(workspace, b)?];
            let request = MergeRequest {
                conversations: &[(&sites[0].0, sites[0].1), (&sites[1].0, sites[1].1)],
                strategy: Strategy::Append,
                no_base: false,
                policy: *policy,
                to: NewSessionAt::default(),
            };
            workspace.plan(ChangeRequest::Merge(request), now)
        }
        Deed::Undo => {
            let recovered = recover(workspace.state());
            let Recovered { journal, notes, unfinished } =
                recovered.map_err(|error| error_lines(&error, apply_hint(&error)))?;
            let unfinished = unfinished.iter().map(|Unfinished { op, why }| (*op, why.as_str()));
            said = recovery_lines(&notes, unfinished);
            workspace.plan(ChangeRequest::Undo { journal: &journal, op: None }, now)
        }
    };
    let change = change.map_err(|error| error_lines(&error, error.hint()))?;
    Ok(Plan::Change { said, change: Box::new(change) })
}

fn read(workspace: &Workspace, at: &NodeAddress) -> Result<(Site, NodeId), Vec<Line>> {
    let read = || -> Result<(Site, NodeId), AddressError> {
        let address = workspace.address_in(&at.file, at.node.clone())?;
        let site = Site::read(workspace, address.file)?;
        let node = site.node(&address.node)?;
        Ok((site, node))
    };
    read().map_err(|error| error_lines(&error, error.hint()))
}

fn make(
    said: Vec<Line>,
    change: &PlannedChange,
    workspace: &Workspace,
    clock: &Clock,
    events: &Sender<Event>,
) -> Result<Line, Vec<Line>> {
    let lines = plan_lines(said, change, clock);
    if let (true, ChangeDetail::Merge { merged, .. }) = (change.stops, &change.detail) {
        let why = Line::new(&conflict_words(merged), Label::Error);
        let hint = "mark the other branch again (d); M with another answer says what holds; nothing on disk is touched";
        return Err(lines.into_iter().chain([why, Line::new(hint, Label::Note)]).collect());
    }
    let (answer, answered) = channel();
    let asked = Event::Asked(lines, change_question(&change.detail), answer);
    if events.send(asked).is_err() || !answered.recv().unwrap_or(false) {
        return Ok(Line::plain("nothing was written"));
    }
    let done = apply(workspace.state(), change, false, to_time(SystemTime::now()));
    let done = done.map_err(|error| error_lines(&error, apply_hint(&error)))?;
    let told = done_line(done.op, change.plan.undoes.is_some());
    let mut line = match change.resume_command() {
        Some(command) => Line::plain(&command).with("  ", Label::Plain).join(&told),
        None => told,
    };
    for note in &done.notes {
        line = line.with("  Note: ", Label::Note).with(note, Label::Plain);
    }
    Ok(line)
}

/// Returns what a person decides about.
fn plan_lines(said: Vec<Line>, change: &PlannedChange, clock: &Clock) -> Vec<Line> {
    let summary = change.summary();
    let style = ChangeStyle {
        width: ROOMY,
        short_time: &|time| clock.short(time),
        message_time: &|time| clock.message(time),
    };
    let offer = change.instead_of.as_ref().map(offer_lines);
    let mut lines = said;
    lines.extend(offer.into_iter().flatten());
    lines.extend(change_lines(&summary, &style));
    lines.extend(resume_note_lines(&summary));
    lines
}

//! Changes of the history: planned, shown with a question, and made if they are wanted.

use std::sync::mpsc::{Sender, channel};
use std::time::SystemTime;

use ramus_app::change::{MergeRequest, apply_change, apply_hint, resume_command};
use ramus_app::survey::time_from_system;
use ramus_app::{
    AddressError, ChangeError, ChangeRequest, NewSessionAt, OpenedSession, PlannedChange, Workspace,
};
use ramus_core::edit::{ChangeDetail, MergeStrategy};
use ramus_core::session::NodeId;
use ramus_render::change::{
    ChangeStyle, change_lines, change_question, conflict_words, done_line, offer_lines,
    recovery_lines, resume_note_lines,
};
use ramus_render::{Label, Line};
use ramus_store::apply::{RecoveredJournal, UnfinishedOperation, recover_operations};

use super::documents::{could_not, error_lines};
use crate::event::{ChangeCommand, NodeAddress, ScreenEvent};
use crate::state::ScreenClock;

/// Plans are wrapped where they are shown, so that paths can be read to their end.
const PLAN_WIDTH: usize = 400;

/// Plans a change, asks, and makes it; returns what to show.
pub(crate) fn run_change(
    deed: &ChangeCommand,
    workspace: &Workspace,
    clock: &ScreenClock,
    events: &Sender<ScreenEvent>,
) -> ScreenEvent {
    // What was read before is looked at again: the plan is for the files as they are now.
    workspace.request_refresh();
    let made = plan_command(deed, workspace).and_then(|plan| match plan {
        PlannedCommand::There(line) => Ok(line),
        PlannedCommand::Change { lines: said, change } => {
            confirm_and_apply(said, &change, workspace, clock, events)
        }
    });
    workspace.request_refresh();
    made.map_or_else(could_not, ScreenEvent::Status)
}

enum PlannedCommand {
    /// Nothing is to be done.
    There(Line),
    Change {
        /// What is said before the plan.
        lines: Vec<Line>,
        change: Box<PlannedChange>,
    },
}

fn plan_command(deed: &ChangeCommand, workspace: &Workspace) -> Result<PlannedCommand, Vec<Line>> {
    let now = time_from_system(SystemTime::now());
    let mut said = Vec::new();
    let change = match deed {
        ChangeCommand::Goto(address) => {
            let (site, node) = &read_target(workspace, address)?;
            match workspace.plan_change(ChangeRequest::Goto { site, node: *node }, now) {
                Err(ChangeError::AlreadyThere) => {
                    let there = "The session resumes there already; nothing was written.  ";
                    let command = resume_command(&site.found.file.id);
                    return Ok(PlannedCommand::There(
                        Line::plain(there).with(&command, Label::Plain),
                    ));
                }
                planned => planned,
            }
        }
        ChangeCommand::Fork(address) => {
            let (site, node) = &read_target(workspace, address)?;
            let to = NewSessionAt::default();
            workspace.plan_change(ChangeRequest::Fork { site, node: *node, to }, now)
        }
        ChangeCommand::Merge(a, b, policy) => {
            let sites = [read_target(workspace, a)?, read_target(workspace, b)?];
            let request = MergeRequest {
                conversations: &[(&sites[0].0, sites[0].1), (&sites[1].0, sites[1].1)],
                strategy: MergeStrategy::Append,
                no_base: false,
                policy: *policy,
                to: NewSessionAt::default(),
            };
            workspace.plan_change(ChangeRequest::Merge(request), now)
        }
        ChangeCommand::Undo => {
            let recovered = recover_operations(workspace.state_dir());
            let RecoveredJournal { journal, notes, unfinished } =
                recovered.map_err(|error| error_lines(&error, apply_hint(&error)))?;
            let unfinished =
                unfinished.iter().map(|UnfinishedOperation { op, why }| (*op, why.as_str()));
            said = recovery_lines(&notes, unfinished);
            workspace.plan_change(ChangeRequest::Undo { journal: &journal, op: None }, now)
        }
    };
    let change = change.map_err(|error| error_lines(&error, error.hint()))?;
    Ok(PlannedCommand::Change { lines: said, change: Box::new(change) })
}

fn read_target(
    workspace: &Workspace,
    at: &NodeAddress,
) -> Result<(OpenedSession, NodeId), Vec<Line>> {
    let read = || -> Result<(OpenedSession, NodeId), AddressError> {
        let address = workspace.address_in(&at.file, at.node.clone())?;
        let site = OpenedSession::read_session(workspace, address.file)?;
        let node = site.find_node(&address.node)?;
        Ok((site, node))
    };
    read().map_err(|error| error_lines(&error, error.hint()))
}

fn confirm_and_apply(
    said: Vec<Line>,
    change: &PlannedChange,
    workspace: &Workspace,
    clock: &ScreenClock,
    events: &Sender<ScreenEvent>,
) -> Result<Line, Vec<Line>> {
    let lines = plan_lines(said, change, clock);
    if let (true, ChangeDetail::Merge { plan: merged, .. }) = (change.stops, &change.detail) {
        let why = Line::new(&conflict_words(merged), Label::Error);
        let hint = "mark the other branch again (d); M with another answer says what holds; nothing on disk is touched";
        return Err(lines.into_iter().chain([why, Line::new(hint, Label::Note)]).collect());
    }
    let (answer, answered) = channel();
    let asked = ScreenEvent::Asked(lines, change_question(&change.detail), answer);
    if events.send(asked).is_err() || !answered.recv().unwrap_or(false) {
        return Ok(Line::plain("nothing was written"));
    }
    let done =
        apply_change(workspace.state_dir(), change, false, time_from_system(SystemTime::now()));
    let done = done.map_err(|error| error_lines(&error, apply_hint(&error)))?;
    let told = done_line(done.op, change.plan.undoes.is_some());
    let mut line = match change.resume_command() {
        Some(command) => Line::plain(&command).with("  ", Label::Plain).with_line(&told),
        None => told,
    };
    for note in &done.notes {
        line = line.with("  Note: ", Label::Note).with(note, Label::Plain);
    }
    Ok(line)
}

/// Returns what a person decides about.
fn plan_lines(said: Vec<Line>, change: &PlannedChange, clock: &ScreenClock) -> Vec<Line> {
    let summary = change.change_summary();
    let style = ChangeStyle {
        width: PLAN_WIDTH,
        short_time: &|time| clock.short_time(time),
        message_time: &|time| clock.message_time(time),
    };
    let offer = change.instead_of.as_ref().map(offer_lines);
    let mut lines = said;
    lines.extend(offer.into_iter().flatten());
    lines.extend(change_lines(&summary, &style));
    lines.extend(resume_note_lines(&summary));
    lines
}

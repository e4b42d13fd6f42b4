//! Plans changes to a history, shows them with a question, and applies them if confirmed.

use std::sync::mpsc::{Sender, channel};
use std::time::SystemTime;

use ramus_app::change::{MergeRequest, apply_change, apply_hint, resume_command};
use ramus_app::survey::time_from_system;
use ramus_app::{
    AddressError, ChangeError, ChangeRequest, NewSessionAt, NodeSelector, OpenedSession,
    PlannedChange, ResumeOptions, ResumeStep, Workspace,
};
use ramus_core::edit::{ChangeDetail, MergeStrategy};
use ramus_core::session::NodeId;
use ramus_render::change::{
    ChangeStyle, change_lines, change_question, conflict_words, done_line, offer_lines,
    recovery_lines, resume_note_lines,
};
use ramus_render::{Label, Line};
use ramus_store::apply::{RecoveredJournal, UnfinishedOperation, recover_operations};
use ramus_store::journal::Journal;

use super::documents::{could_not, error_lines};
use crate::event::{
    ChangeCommand, JumpTarget, NodeAddress, OpenRequest, ResumeChoice, SavedFiles, ScreenEvent,
};
use crate::state::ScreenClock;

/// Plans are wrapped where they are shown, so that paths can be read to their end.
const PLAN_WIDTH: usize = 400;

/// How a plan and what came of it are written.
pub(crate) struct PlanStyle<'a> {
    pub(crate) clock: &'a ScreenClock,
    /// The key that lists all operations.
    pub(crate) log_key: &'a str,
}

/// Plans a change, asks, and makes it; returns what to show.
pub(crate) fn run_change(
    command: &ChangeCommand,
    workspace: &Workspace,
    style: &PlanStyle<'_>,
    events: &Sender<ScreenEvent>,
) -> ScreenEvent {
    // Read again, because the plan is for the current state of the files.
    workspace.request_refresh();
    let made = plan_command(command, workspace).and_then(|plan| match plan {
        PlannedCommand::There(line) => Ok(line),
        PlannedCommand::Change { lines: notice, change } => {
            confirm_and_apply(notice, &change, workspace, style, events)
        }
    });
    workspace.request_refresh();
    made.map_or_else(could_not, ScreenEvent::Status)
}

enum PlannedCommand {
    /// Nothing is to be done.
    There(Line),
    Change {
        /// The text before the plan.
        lines: Vec<Line>,
        change: Box<PlannedChange>,
    },
}

fn plan_command(
    command: &ChangeCommand,
    workspace: &Workspace,
) -> Result<PlannedCommand, Vec<Line>> {
    let now = time_from_system(SystemTime::now());
    let mut notice = Vec::new();
    let change = match command {
        ChangeCommand::Goto(address) => {
            let (opened, node) = &read_target(workspace, address)?;
            match workspace.plan_change(ChangeRequest::Goto { opened, node: *node }, now) {
                Err(ChangeError::AlreadyThere) => {
                    let there = "Nothing to do: the session already resumes there.  ";
                    let command = resume_command(&opened.found.file.id);
                    return Ok(PlannedCommand::There(
                        Line::plain(there).with(&command, Label::Plain),
                    ));
                }
                planned => planned,
            }
        }
        ChangeCommand::Fork(address) => {
            let (opened, node) = &read_target(workspace, address)?;
            let to = NewSessionAt::default();
            workspace.plan_change(ChangeRequest::Fork { opened, node: *node, to }, now)
        }
        ChangeCommand::Merge(a, b, policy) => {
            let opened_sessions = [read_target(workspace, a)?, read_target(workspace, b)?];
            let request = MergeRequest {
                conversations: &[
                    (&opened_sessions[0].0, opened_sessions[0].1),
                    (&opened_sessions[1].0, opened_sessions[1].1),
                ],
                strategy: MergeStrategy::Append,
                no_base: false,
                policy: *policy,
                to: NewSessionAt::default(),
            };
            workspace.plan_change(ChangeRequest::Merge(request), now)
        }
        ChangeCommand::Rename(address, title) => {
            let (opened, _) = &read_target(workspace, address)?;
            workspace.plan_change(ChangeRequest::Rename { opened, title }, now)
        }
        ChangeCommand::Trash(address) => {
            let (opened, _) = &read_target(workspace, address)?;
            workspace.plan_change(ChangeRequest::Trash { opened }, now)
        }
        ChangeCommand::Undo(op) => {
            let journal = &recovered_journal(workspace, &mut notice)?;
            workspace.plan_change(ChangeRequest::Undo { journal, op: *op }, now)
        }
        ChangeCommand::Restore(session) => {
            let journal = &recovered_journal(workspace, &mut notice)?;
            workspace.plan_change(ChangeRequest::Restore { journal, session, at: None }, now)
        }
        ChangeCommand::RestoreFiles(SavedFiles { at, only }) => {
            let address = workspace.address_in(&at.file, at.node.clone());
            let files = address.and_then(|address| workspace.files_at(&address));
            let mut files = files.map_err(|error| error_lines(&error, error.hint()))?;
            let (files, only) = (&mut files, only.as_deref());
            let request = ChangeRequest::RestoreFiles { files, only, outside: false };
            match workspace.plan_change(request, now) {
                Err(ChangeError::FilesAsTheyWere(_)) => {
                    let there = "nothing to restore: the files on disk are as they were then";
                    return Ok(PlannedCommand::There(Line::plain(there)));
                }
                planned => planned,
            }
        }
    };
    let change = change.map_err(|error| error_lines(&error, error.hint()))?;
    Ok(PlannedCommand::Change { lines: notice, change: Box::new(change) })
}

/// Reads the operations, after finishing interrupted ones.
fn recovered_journal(workspace: &Workspace, notice: &mut Vec<Line>) -> Result<Journal, Vec<Line>> {
    let recovered = recover_operations(workspace.state_dir());
    let RecoveredJournal { journal, notes, unfinished } =
        recovered.map_err(|error| error_lines(&error, apply_hint(&error)))?;
    let unfinished = unfinished.iter().map(|UnfinishedOperation { op, why }| (*op, why.as_str()));
    *notice = recovery_lines(&notes, unfinished);
    Ok(journal)
}

/// Returns the command that resumes at a message.
pub(crate) fn resume_line(workspace: &Workspace, request: &OpenRequest) -> ScreenEvent {
    let planned = read_place(workspace, request).and_then(|(opened, node)| {
        let now = time_from_system(SystemTime::now());
        let plan = workspace.plan_resume(&opened, node, now);
        let plan = plan.map_err(|error| error_lines(&error, None::<&str>))?;
        let address = format!("{}:{}", opened.found.address_id(), plan.leaf);
        Ok(plan.shell_line(&address, ResumeOptions::default()))
    });
    planned.map_or_else(could_not, |line| ScreenEvent::Text(line, "the command"))
}

/// Finds out what must be done before Claude Code resumes at a message.
pub(crate) fn plan_resume(workspace: &Workspace, request: OpenRequest) -> ScreenEvent {
    // Read again, because the plan is for the current state of the files.
    workspace.request_refresh();
    let planned = read_place(workspace, &request).and_then(|(opened, node)| {
        let plan = workspace.plan_resume(&opened, node, time_from_system(SystemTime::now()));
        plan.map_err(|error| error_lines(&error, None::<&str>))
    });
    match planned {
        Err(lines) => could_not(lines),
        Ok(plan) => {
            let choice = match plan.first {
                ResumeStep::Nothing => ResumeChoice::AsItIs,
                ResumeStep::GotoOrFork(_) => ResumeChoice::GotoOrFork,
                ResumeStep::Fork { refusal, .. } => ResumeChoice::Fork(refusal.to_string()),
            };
            ScreenEvent::ResumePlanned(Box::new(request), choice)
        }
    }
}

/// Reads the session of a request, and finds the message that is meant.
fn read_place(
    workspace: &Workspace,
    request: &OpenRequest,
) -> Result<(OpenedSession, NodeId), Vec<Line>> {
    let node = match request.target {
        JumpTarget::Conversation(n) => NodeSelector::Nth(n as usize),
        JumpTarget::Resume | JumpTarget::Node(_) => NodeSelector::Resume,
    };
    let at = NodeAddress { file: request.file.path.clone(), node };
    let (opened, found) = read_target(workspace, &at)?;
    let node = match request.target {
        JumpTarget::Node(node) => node,
        _ => found,
    };
    Ok((opened, node))
}

fn read_target(
    workspace: &Workspace,
    at: &NodeAddress,
) -> Result<(OpenedSession, NodeId), Vec<Line>> {
    let read = || -> Result<(OpenedSession, NodeId), AddressError> {
        let address = workspace.address_in(&at.file, at.node.clone())?;
        let opened = OpenedSession::read_session(workspace, address.file)?;
        let node = opened.find_node(&address.node)?;
        Ok((opened, node))
    };
    read().map_err(|error| error_lines(&error, error.hint()))
}

fn confirm_and_apply(
    notice: Vec<Line>,
    change: &PlannedChange,
    workspace: &Workspace,
    style: &PlanStyle<'_>,
    events: &Sender<ScreenEvent>,
) -> Result<Line, Vec<Line>> {
    let lines = plan_lines(notice, change, style.clock);
    if let (true, ChangeDetail::Merge { plan: merged, .. }) = (change.stops, &change.detail) {
        let why = Line::new(&conflict_words(merged), Label::Error);
        let hint = "mark the other branch again, merge again and choose a version; files on disk are not changed";
        return Err(lines.into_iter().chain([why, Line::new(hint, Label::Note)]).collect());
    }
    let (answer, answered) = channel();
    let asked = ScreenEvent::Asked(lines, change_question(&change.detail), answer);
    if events.send(asked).is_err() || !answered.recv().unwrap_or(false) {
        return Ok(Line::plain("nothing changed"));
    }
    let done =
        apply_change(workspace.state_dir(), change, false, time_from_system(SystemTime::now()));
    let done = done.map_err(|error| error_lines(&error, apply_hint(&error)))?;
    let mut done_note = done_line(done.op, true);
    if change.plan.undoes.is_none() {
        done_note.push(&format!("{} lists what can be undone.", style.log_key), Label::Plain);
    }
    let mut line = match change.resume_command() {
        Some(command) => Line::plain(&command).with("  ", Label::Plain).with_line(&done_note),
        None => done_note,
    };
    for note in &done.notes {
        line = line.with("  Note: ", Label::Note).with(note, Label::Plain);
    }
    Ok(line)
}

/// Returns what a person decides about.
fn plan_lines(notice: Vec<Line>, change: &PlannedChange, clock: &ScreenClock) -> Vec<Line> {
    let summary = change.change_summary();
    let style = ChangeStyle {
        width: PLAN_WIDTH,
        short_time: &|time| clock.short_time(time),
        message_time: &|time| clock.message_time(time),
    };
    let offer = change.instead_of.as_ref().map(offer_lines);
    let mut lines = notice;
    lines.extend(offer.into_iter().flatten());
    lines.extend(change_lines(&summary, &style));
    lines.extend(resume_note_lines(&summary));
    lines
}

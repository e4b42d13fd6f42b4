//! Walks along a path: records in, turns out, one at a time.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{ClientNote, Compaction, Reply, ToolCall, Turn, TurnKind, fork, other_turn, reply};
use crate::body::{RecordBody, plain_text};
use crate::history::{ConversationPath, History};
use crate::message_tree::MessageNodeId;
use crate::record::{Record, RecordKind, RecordRole};
use crate::session::NodeId;
use crate::steps::count_step;
use crate::usage::{RequestUsage, keep_largest};

/// Returns the turns of a path, in order.
///
/// Each body is requested once, in path order, and is not kept longer than its turn, so a session larger
/// than memory can be read. The later parts of a reply that other dialogue split are requested twice. Only the labels of the other branches at a fork point are off the path.
pub fn path_turns<'a>(
    history: &'a History,
    path: &'a ConversationPath,
    bodies: &'a mut dyn FnMut(NodeId) -> Option<RecordBody>,
) -> PathTurns<'a> {
    let sidechain =
        path.messages.last().is_some_and(|end| history.message_tree.message(*end).sidechain);
    PathTurns {
        history,
        path,
        bodies,
        sidechain,
        node_index: 0,
        message_index: None,
        open: None,
        seen: FxHashSet::default(),
        calls: reply::CallIndex::default(),
        unanswered: FxHashMap::default(),
        beside: Vec::new(),
        requests: pull_request_notes(history),
        ready: VecDeque::new(),
        ended: false,
        injected: false,
        forks: true,
    }
}

/// The turns of a path; see [`path_turns`].
pub struct PathTurns<'a> {
    pub(super) history: &'a History,
    path: &'a ConversationPath,
    pub(super) bodies: &'a mut dyn FnMut(NodeId) -> Option<RecordBody>,
    /// Which chain is read: inline sidechains are not part of the main one (R6).
    sidechain: bool,
    /// The next node of the path.
    node_index: usize,
    /// The index of the current message of the path.
    message_index: Option<usize>,
    /// The turn that may still grow.
    open: Option<Turn>,
    /// Contents of the records of an open reply, and the positions of its calls.
    seen: FxHashSet<u64>,
    calls: reply::CallIndex,
    /// Calls that went by without a result.
    unanswered: FxHashMap<String, Box<ToolCall>>,
    /// What happened during the open reply.
    beside: Vec<Turn>,
    /// The pull requests, by the message after which each was made.
    requests: PullRequestNotes,
    ready: VecDeque<Turn>,
    ended: bool,
    /// What the client put in for the model is shown too.
    injected: bool,
    /// Fork points are described.
    forks: bool,
}

impl std::fmt::Debug for PathTurns<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Turns").field("at", &self.node_index).finish_non_exhaustive()
    }
}

impl Iterator for PathTurns<'_> {
    type Item = Turn;

    fn next(&mut self) -> Option<Turn> {
        loop {
            if let Some(turn) = self.ready.pop_front() {
                return Some(turn);
            }
            match self.path.nodes.get(self.node_index) {
                Some(&node) => {
                    self.node_index += 1;
                    self.take_node(node);
                }
                None if self.ended => return None,
                None => {
                    self.ended = true;
                    self.close_open();
                    if let Some(&end) = self.path.messages.last() {
                        self.note_pull_requests(end);
                        if let Some(note) = self.history.resume_note_after(end) {
                            self.note_before(end, TurnKind::Resume(note));
                        }
                        self.note_fork(end, &[]);
                    }
                }
            }
        }
    }
}

impl PathTurns<'_> {
    /// Shows what the client put in for the model too, if `wanted`.
    #[must_use]
    pub fn with_injected(mut self, wanted: bool) -> Self {
        self.injected = wanted;
        self
    }

    /// Leaves out the fork points. To describe them takes the labels and ends of all branches.
    #[must_use]
    pub(crate) fn without_forks(mut self) -> Self {
        self.forks = false;
        self
    }

    fn take_node(&mut self, node: NodeId) {
        let Some(id) = self.history.message_tree.message_of(node) else { return };
        self.enter_message(id);
        let record = self.history.session.record(node);
        if record.sidechain != self.sidechain
            || record.kind == RecordKind::Progress
            || self.history.message_tree.is_replay(node)
        {
            return;
        }
        let Some(body) = (self.bodies)(node) else {
            let kind = TurnKind::Damaged { line: record.line, text: String::new() };
            return self.show_turn(self.new_turn(node, kind));
        };
        let message = self.history.message_tree.message(id);
        if message.role == RecordRole::Decoration && record.recovered {
            let text = plain_text(body.content_blocks());
            let kind = TurnKind::Damaged { line: record.line, text };
            return self.show_turn(self.new_turn(node, kind));
        }
        match record.role {
            RecordRole::Reply => self.add_reply(node, record, id, body),
            RecordRole::ToolResult => self.add_result(node, id, body),
            role => {
                let injected = (self.injected && role == RecordRole::Meta)
                    .then(|| plain_text(body.content_blocks()).trim().to_owned())
                    .filter(|text| !text.is_empty());
                let kind = other_turn::turn_kind(&self.history.session, node, body);
                if let Some(kind) = kind.or(injected.map(TurnKind::Injected)) {
                    self.show_turn(self.new_turn(node, kind));
                }
            }
        }
    }

    /// Advances to the next message of the path if the node begins it.
    fn enter_message(&mut self, id: MessageNodeId) {
        let next = self.message_index.map_or(0, |message| message + 1);
        if self.path.messages.get(next) != Some(&id) {
            return;
        }
        let last = self.message_index.map(|message| self.path.messages[message]);
        self.message_index = Some(next);
        if matches!(&self.open, Some(Turn { kind: TurnKind::Reply(_), .. })) {
            self.close_open();
        }
        if let Some(last) = last {
            self.note_pull_requests(last);
            self.note_fork(last, &self.path.messages[next..]);
        }
        if let Some(note) = self.history.resume_note(id) {
            self.note_before(id, TurnKind::Resume(note));
        }
        let guess = |message: MessageNodeId| {
            let placement = self.history.message_tree.message(message).placement;
            placement.is_guess().then_some(placement)
        };
        // If guess follows guess, as in files without links, one note is enough.
        if let Some(placement) = guess(id).filter(|_| last.and_then(guess).is_none()) {
            self.note_before(id, TurnKind::Guess(placement));
        }
    }

    fn note_before(&mut self, message: MessageNodeId, kind: TurnKind) {
        self.close_open();
        let nodes = vec![self.history.message_tree.message(message).head];
        self.ready.push_back(Turn {
            nodes,
            uuid: None,
            short_uuid: None,
            time: None,
            recovered: false,
            kind,
        });
    }

    fn note_pull_requests(&mut self, after: MessageNodeId) {
        let Some(made) = self.requests.get(&after) else { return };
        let turns: Vec<Turn> = made
            .iter()
            .map(|(record, text)| {
                count_step();
                let note =
                    ClientNote { kind: "pr-link".to_owned(), level: None, text: text.clone() };
                Turn {
                    nodes: vec![self.history.message_tree.message(after).head],
                    uuid: None,
                    short_uuid: None,
                    time: self.history.session.record(*record).time,
                    recovered: false,
                    kind: TurnKind::Note(note),
                }
            })
            .collect();
        self.close_open();
        self.ready.extend(turns);
    }

    fn note_fork(&mut self, at: MessageNodeId, rest: &[MessageNodeId]) {
        if !self.forks {
            if fork::fork_on_path(self.history, at, rest).is_some() {
                self.close_open();
            }
        } else if let Some(turn) = fork::fork_turn(self.history, at, rest, usize::MAX, self.bodies)
        {
            self.close_open();
            self.ready.push_back(turn);
        }
    }

    fn new_turn(&self, node: NodeId, kind: TurnKind) -> Turn {
        let record = self.history.session.record(node);
        let uuid = fork::uuid_text(self.history, node);
        Turn {
            nodes: vec![node],
            short_uuid: uuid.as_deref().map(|uuid| self.history.short_uuid(uuid).to_owned()),
            uuid,
            time: record.time,
            recovered: record.recovered,
            kind,
        }
    }

    fn add_reply(
        &mut self,
        node: NodeId,
        record: &Record,
        message: MessageNodeId,
        body: RecordBody,
    ) {
        let continues = matches!(&self.open, Some(Turn { kind: TurnKind::Reply(_), nodes, .. })
            if self.history.message_tree.message_of(nodes[0]) == Some(message));
        if !continues {
            self.close_open();
            self.seen.clear();
            self.calls = reply::CallIndex::default();
            self.open = Some(self.new_turn(node, TurnKind::Reply(Reply::default())));
        } else if self.seen.contains(&record.content_hash) {
            return;
        }
        self.seen.insert(record.content_hash);
        let split = if continues { Vec::new() } else { self.split_usage(message) };
        let is_later_part = self.history.message_tree.message(message).continues_earlier;
        if let Some(Turn { kind: TurnKind::Reply(answer), nodes, .. }) = &mut self.open {
            if continues {
                nodes.push(node);
            }
            reply::add_record(answer, &mut self.calls, body);
            split.into_iter().for_each(|used| keep_largest(&mut answer.requests, used));
            // Its first part has the usage of the whole message (R20).
            if is_later_part {
                answer.requests.clear();
            }
        }
    }

    /// Reads what the later parts of a reply say of its usage, if other dialogue split it.
    fn split_usage(&mut self, first: MessageNodeId) -> Vec<RequestUsage> {
        let tree = &self.history.message_tree;
        let nodes = tree.continuations_of(first).flat_map(|later| tree.records_of(later));
        let mut usage = |node: &NodeId| match (self.bodies)(*node)? {
            RecordBody::Assistant(body) => RequestUsage::from_body(&body),
            _ => None,
        };
        nodes.filter_map(&mut usage).collect()
    }

    fn add_result(&mut self, node: NodeId, message: MessageNodeId, body: RecordBody) {
        let at = reply::ResultSource {
            node,
            time: self.history.session.record(node).time,
            agent: reply::agent_of_result(&self.history.session, node),
        };
        let mut results = reply::results_of_body(&at, body);
        if let Some(Turn { kind: TurnKind::Reply(answer), nodes, .. }) = &mut self.open
            && self.history.message_tree.message_of(nodes[0]) == Some(message)
        {
            nodes.push(node);
            let calls = &mut self.calls;
            results =
                results.into_iter().filter_map(|r| reply::pair_result(answer, calls, r)).collect();
        }
        for mut call in results {
            if let Some(asked) = self.unanswered.remove(&call.id) {
                (call.name, call.input) = (asked.name, asked.input);
            }
            self.show_turn(self.new_turn(node, TurnKind::Result(Box::new(call))));
        }
    }

    /// Adds a turn after the open one, or joins it to that.
    fn show_turn(&mut self, turn: Turn) {
        let left = match &mut self.open {
            Some(open) => join_turns(open, turn),
            None => Some(turn),
        };
        let Some(turn) = left else { return };
        if matches!(&self.open, Some(Turn { kind: TurnKind::Reply(_), .. })) {
            self.beside.push(turn);
            return;
        }
        self.close_open();
        self.open = Some(turn);
    }

    fn close_open(&mut self) {
        if let Some(turn) = self.open.take() {
            if let TurnKind::Reply(answer) = &turn.kind {
                self.unanswered.extend(reply::unanswered_calls(answer));
            }
            self.ready.push_back(turn);
        }
        self.ready.extend(self.beside.drain(..));
    }
}

/// The records of pull requests and their descriptions, by the message before them.
type PullRequestNotes = FxHashMap<MessageNodeId, Vec<(NodeId, String)>>;

/// Finds the last message before each pull request: those records have no parents.
fn pull_request_notes(history: &History) -> PullRequestNotes {
    let session = &history.session;
    let mut notes = PullRequestNotes::default();
    let mut before = 0;
    let mut message = None;
    // They are listed in the order of their records, so each record is visited once.
    for (id, request) in session.pull_requests() {
        for node in (before..id.0).map(NodeId) {
            let record = session.record(node);
            let is_turn_part = record.role.is_dialogue() || record.role == RecordRole::ToolResult;
            if record.is_node() && is_turn_part {
                message = history.message_tree.message_of(node).or(message);
            }
        }
        before = id.0;
        if let Some(message) = message {
            notes.entry(message).or_default().push((*id, request.description()));
        }
    }
    notes
}

/// Joins turns that were written as two records; returns the second one if they don't belong together.
fn join_turns(open: &mut Turn, next: Turn) -> Option<Turn> {
    let Turn { nodes, uuid, short_uuid, time, recovered, kind } = next;
    let kind = match (&mut open.kind, kind) {
        (TurnKind::Command(command), TurnKind::Command(output))
            if output.name.is_empty() && command.stdout.is_empty() && command.stderr.is_empty() =>
        {
            (command.stdout, command.stderr) = (output.stdout, output.stderr);
            None
        }
        (
            TurnKind::Compaction(boundary @ Compaction { summary: None, .. }),
            TurnKind::Compaction(Compaction { trigger: None, summary: Some(summary), .. }),
        ) => {
            boundary.summary = Some(summary);
            None
        }
        // One record is written for each time the client tries again.
        (TurnKind::Note(last), TurnKind::Note(note))
            if last.kind == "api_error" && note.kind == "api_error" =>
        {
            *last = note;
            None
        }
        (_, kind) => Some(kind),
    };
    match kind {
        Some(kind) => Some(Turn { nodes, uuid, short_uuid, time, recovered, kind }),
        None => {
            open.nodes.extend(nodes);
            None
        }
    }
}

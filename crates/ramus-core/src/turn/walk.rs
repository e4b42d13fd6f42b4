//! Walks along a path: records in, turns out, one at a time.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Answer, Call, Compaction, Note, Turn, TurnKind, answer, aside, fork};
use crate::body::{Body, plain_text};
use crate::fold::FoldId;
use crate::history::{History, Path};
use crate::record::{Kind, Record, Voice};
use crate::session::NodeId;

/// Returns the turns of a path, in order.
///
/// Each body is requested once, in path order, and is not kept longer than its turn, so a session larger
/// than memory can be read. Only the labels of the other branches at a fork point are off the path.
pub fn turns<'a>(
    history: &'a History,
    path: &'a Path,
    bodies: &'a mut dyn FnMut(NodeId) -> Option<Body>,
) -> Turns<'a> {
    let sidechain = path.folds.last().is_some_and(|end| history.folds.fold(*end).sidechain);
    Turns {
        history,
        path,
        bodies,
        sidechain,
        at: 0,
        fold: None,
        open: None,
        seen: FxHashSet::default(),
        calls: answer::CallIndex::default(),
        unanswered: FxHashMap::default(),
        beside: Vec::new(),
        requests: pull_requests(history),
        ready: VecDeque::new(),
        ended: false,
        injected: false,
    }
}

/// The turns of a path; see [`turns`].
pub struct Turns<'a> {
    pub(super) history: &'a History,
    path: &'a Path,
    pub(super) bodies: &'a mut dyn FnMut(NodeId) -> Option<Body>,
    /// Which chain is read: inline sidechains are not part of the main one (R6).
    sidechain: bool,
    /// The next node of the path.
    at: usize,
    /// The index of the current message of the path.
    fold: Option<usize>,
    /// The turn that may still grow.
    open: Option<Turn>,
    /// Contents of the records of an open reply, and the positions of its calls.
    seen: FxHashSet<u64>,
    calls: answer::CallIndex,
    /// Calls that went by without a result.
    unanswered: FxHashMap<String, Box<Call>>,
    /// What happened during the open reply.
    beside: Vec<Turn>,
    /// The pull requests, each after the message during which it was made.
    requests: Vec<(FoldId, NodeId, String)>,
    ready: VecDeque<Turn>,
    ended: bool,
    /// What the client put in for the model is shown too.
    injected: bool,
}

impl std::fmt::Debug for Turns<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Turns").field("at", &self.at).finish_non_exhaustive()
    }
}

impl Iterator for Turns<'_> {
    type Item = Turn;

    fn next(&mut self) -> Option<Turn> {
        loop {
            if let Some(turn) = self.ready.pop_front() {
                return Some(turn);
            }
            match self.path.nodes.get(self.at) {
                Some(&node) => {
                    self.at += 1;
                    self.take(node);
                }
                None if self.ended => return None,
                None => {
                    self.ended = true;
                    self.close();
                    if let Some(&end) = self.path.folds.last() {
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

impl Turns<'_> {
    /// Shows what the client put in for the model too, if `wanted`.
    #[must_use]
    pub fn with_injected(mut self, wanted: bool) -> Self {
        self.injected = wanted;
        self
    }

    fn take(&mut self, node: NodeId) {
        let Some(id) = self.history.folds.of(node) else { return };
        self.enter(id);
        let record = self.history.session.record(node);
        if record.sidechain != self.sidechain
            || record.kind == Kind::Progress
            || self.history.folds.is_replay(node)
        {
            return;
        }
        let Some(body) = (self.bodies)(node) else {
            let kind = TurnKind::Damaged { line: record.line, text: String::new() };
            return self.show(self.turn(node, kind));
        };
        let fold = self.history.folds.fold(id);
        if fold.voice == Voice::Decoration && record.recovered {
            let text = plain_text(body.blocks());
            let kind = TurnKind::Damaged { line: record.line, text };
            return self.show(self.turn(node, kind));
        }
        match record.voice {
            Voice::Answer => self.answer(node, record, id, body),
            Voice::ToolResult => self.result(node, id, body),
            voice => {
                let injected = (self.injected && voice == Voice::Meta)
                    .then(|| plain_text(body.blocks()).trim().to_owned())
                    .filter(|text| !text.is_empty());
                let kind = aside::kind(&self.history.session, node, body);
                if let Some(kind) = kind.or(injected.map(TurnKind::Injected)) {
                    self.show(self.turn(node, kind));
                }
            }
        }
    }

    /// Advances to the next message of the path if the node begins it.
    fn enter(&mut self, id: FoldId) {
        let next = self.fold.map_or(0, |fold| fold + 1);
        if self.path.folds.get(next) != Some(&id) {
            return;
        }
        let last = self.fold.map(|fold| self.path.folds[fold]);
        self.fold = Some(next);
        if matches!(&self.open, Some(Turn { kind: TurnKind::Answer(_), .. })) {
            self.close();
        }
        if let Some(last) = last {
            self.note_pull_requests(last);
            self.note_fork(last, &self.path.folds[next..]);
        }
        if let Some(note) = self.history.resume_note(id) {
            self.note_before(id, TurnKind::Resume(note));
        }
        let guess = |fold: FoldId| {
            let placement = self.history.folds.fold(fold).placement;
            placement.is_guess().then_some(placement)
        };
        // If guess follows guess, as in files without links, one note is enough.
        if let Some(placement) = guess(id).filter(|_| last.and_then(guess).is_none()) {
            self.note_before(id, TurnKind::Guess(placement));
        }
    }

    fn note_before(&mut self, fold: FoldId, kind: TurnKind) {
        self.close();
        let nodes = vec![self.history.folds.fold(fold).head];
        self.ready.push_back(Turn {
            nodes,
            uuid: None,
            short_uuid: None,
            time: None,
            recovered: false,
            kind,
        });
    }

    fn note_pull_requests(&mut self, after: FoldId) {
        let made: Vec<Turn> = { &self.requests }
            .iter()
            .filter(|(fold, ..)| *fold == after)
            .map(|(fold, record, text)| {
                let note = Note { kind: "pr-link".to_owned(), level: None, text: text.clone() };
                let nodes = vec![self.history.folds.fold(*fold).head];
                let time = self.history.session.record(*record).time;
                Turn {
                    nodes,
                    uuid: None,
                    short_uuid: None,
                    time,
                    recovered: false,
                    kind: TurnKind::Note(note),
                }
            })
            .collect();
        if !made.is_empty() {
            self.close();
            self.ready.extend(made);
        }
    }

    fn note_fork(&mut self, at: FoldId, rest: &[FoldId]) {
        if let Some(turn) = fork::fork_turn(self.history, at, rest, usize::MAX, self.bodies) {
            self.close();
            self.ready.push_back(turn);
        }
    }

    fn turn(&self, node: NodeId, kind: TurnKind) -> Turn {
        let record = self.history.session.record(node);
        let uuid = fork::spelled(self.history, node);
        Turn {
            nodes: vec![node],
            short_uuid: uuid.as_deref().map(|uuid| self.history.short_uuid(uuid).to_owned()),
            uuid,
            time: record.time,
            recovered: record.recovered,
            kind,
        }
    }

    fn answer(&mut self, node: NodeId, record: &Record, fold: FoldId, body: Body) {
        let continues = matches!(&self.open, Some(Turn { kind: TurnKind::Answer(_), nodes, .. })
            if self.history.folds.of(nodes[0]) == Some(fold));
        if !continues {
            self.close();
            self.seen.clear();
            self.calls = answer::CallIndex::default();
            self.open = Some(self.turn(node, TurnKind::Answer(Answer::default())));
        } else if self.seen.contains(&record.content) {
            return;
        }
        self.seen.insert(record.content);
        if let Some(Turn { kind: TurnKind::Answer(answer), nodes, .. }) = &mut self.open {
            if continues {
                nodes.push(node);
            }
            answer::add(answer, &mut self.calls, body);
        }
    }

    fn result(&mut self, node: NodeId, fold: FoldId, body: Body) {
        let at = answer::At {
            node,
            time: self.history.session.record(node).time,
            agent: answer::agent(&self.history.session, node),
        };
        let mut results = answer::results(&at, body);
        if let Some(Turn { kind: TurnKind::Answer(answer), nodes, .. }) = &mut self.open
            && self.history.folds.of(nodes[0]) == Some(fold)
        {
            nodes.push(node);
            let calls = &mut self.calls;
            results = results.into_iter().filter_map(|r| answer::pair(answer, calls, r)).collect();
        }
        for mut call in results {
            if let Some(asked) = self.unanswered.remove(&call.id) {
                (call.name, call.input) = (asked.name, asked.input);
            }
            self.show(self.turn(node, TurnKind::Result(Box::new(call))));
        }
    }

    /// Adds a turn after the open one, or joins it to that.
    fn show(&mut self, turn: Turn) {
        let left = match &mut self.open {
            Some(open) => join(open, turn),
            None => Some(turn),
        };
        let Some(turn) = left else { return };
        if matches!(&self.open, Some(Turn { kind: TurnKind::Answer(_), .. })) {
            self.beside.push(turn);
            return;
        }
        self.close();
        self.open = Some(turn);
    }

    fn close(&mut self) {
        if let Some(turn) = self.open.take() {
            if let TurnKind::Answer(answer) = &turn.kind {
                self.unanswered.extend(answer::unanswered(answer));
            }
            self.ready.push_back(turn);
        }
        self.ready.extend(self.beside.drain(..));
    }
}

/// Finds the last message before each pull request: those records have no parents.
fn pull_requests(history: &History) -> Vec<(FoldId, NodeId, String)> {
    let session = &history.session;
    let made = session.pull_requests().iter().filter_map(|(id, request)| {
        let mut before = (0..id.0).rev().map(NodeId);
        let fold = before.find_map(|node| {
            let record = session.record(node);
            let is_said = record.voice.speaks() || record.voice == Voice::ToolResult;
            if record.is_node() && is_said { history.folds.of(node) } else { None }
        })?;
        Some((fold, *id, request.words()))
    });
    made.collect()
}

/// Joins what was written as two records; gives back what does not belong together.
fn join(open: &mut Turn, next: Turn) -> Option<Turn> {
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

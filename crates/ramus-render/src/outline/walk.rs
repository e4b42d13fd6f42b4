//! Walks the tree and makes its rows.

use std::collections::HashSet;
use std::iter::successors;

use ramus_core::branches::{BranchStatus, ForkPoint};
use ramus_core::files::{RevertOutcomes, files_at_fork};
use ramus_core::history::History;
use ramus_core::message_tree::MessageNodeId;
use ramus_core::session::NodeId;

use super::row::RowPosition;
use super::run::{MessageRun, last_boundary};
use super::sidechains::{AgentWork, AgentsByMessage, is_agent_file};
use super::{OutlineConfig, RowEdge, TreeRow, TreeRowKind};

/// The tree of a session, whose rows can be made as often as they are needed: there may be a million.
pub(super) struct RowSource<'a> {
    history: &'a History,
    config: &'a OutlineConfig<'a>,
    agents: AgentsByMessage<'a>,
}

/// Takes a row and the nodes that are on it.
pub(super) type RowSink<'a> = dyn FnMut(TreeRow, &[NodeId]) -> Walked + 'a;

/// An error means that no more rows are wanted.
pub(super) type Walked = Result<(), StopWalk>;

/// Nobody wants the rest.
#[derive(Debug)]
pub(super) struct StopWalk;

impl<'a> RowSource<'a> {
    pub(super) fn new(history: &'a History, config: &'a OutlineConfig<'a>) -> Self {
        Self { history, config, agents: AgentsByMessage::new(history, &config.agents) }
    }

    /// Walks the tree: at every fork point first the abandoned branches, then the current one.
    pub(super) fn walk_rows(&self, each: &mut RowSink<'_>) -> Walked {
        let history = self.history;
        let mut walk = TreeWalk {
            history,
            records: self.config.records,
            agents: &self.agents,
            reverts: &self.config.reverts,
            resume: history
                .branches
                .resume
                .and_then(|resume| history.message_tree.message_of(resume.point)),
            open: Vec::new(),
            each,
        };
        walk.walk_trees()
    }
}

struct TreeWalk<'a, 's> {
    history: &'a History,
    records: bool,
    agents: &'a AgentsByMessage<'a>,
    reverts: &'a RevertOutcomes,
    resume: Option<MessageNodeId>,
    /// Branches still to be walked, the next one last.
    open: Vec<(MessageNodeId, RowPosition)>,
    each: &'a mut RowSink<'s>,
}

const ROOT_POSITION: RowPosition =
    RowPosition { column: 0, edge: RowEdge::Root, status: BranchStatus::Active, draft: false };

impl TreeWalk<'_, '_> {
    fn walk_trees(&mut self) -> Walked {
        let messages = &self.history.message_tree;
        let (roots, loose) = split_roots(self.history);
        let of = roots.len();
        for (n, root) in (1..).zip(roots) {
            let draft = messages.has_dialogue(root) && !messages.has_reply(root);
            let mut place = RowPosition { draft, ..ROOT_POSITION };
            if of > 1 {
                let head = messages.message(root).head;
                self.push_row(
                    TreeRow::new(self.history, place, TreeRowKind::Tree { n, of }, head, head),
                    &[],
                )?;
                place.edge = RowEdge::Straight;
            }
            self.open.push((root, place));
            while let Some((message, place)) = self.open.pop() {
                self.walk_line(message, place)?;
            }
        }
        self.push_detached(&loose)?;
        for side in self.agents.unattached_agents() {
            self.push_agent(side, ROOT_POSITION)?;
        }
        Ok(())
    }

    /// Walks from a message down to the next fork point or the end.
    fn walk_line(&mut self, mut message: MessageNodeId, mut place: RowPosition) -> Walked {
        let messages = &self.history.message_tree;
        let mut run = MessageRun::default();
        loop {
            let is_boundary = messages.begins_compaction(message);
            if is_boundary {
                self.flush_run(&mut run, &mut place)?;
            }
            run.add_message(self.history, message, self.resume);
            if is_boundary || self.records || run.resumes {
                self.flush_run(&mut run, &mut place)?;
            }
            if let Some(fork) = self.history.branches.fork_at(message) {
                self.flush_run(&mut run, &mut place)?;
                return self.walk_fork(fork, place);
            }
            let next = messages.dialogue_children(message).next();
            let Some(next) = next.or_else(|| last_boundary(self.history, message)) else {
                return self.flush_run(&mut run, &mut place);
            };
            message = next;
        }
    }

    fn walk_fork(&mut self, fork: &ForkPoint, place: RowPosition) -> Walked {
        let files = files_at_fork(self.history, fork, self.reverts);
        let kind = TreeRowKind::Fork { kind: fork.kind, branches: fork.branches.len(), files };
        let head = self.history.message_tree.message(fork.message).head;
        let mut row = TreeRow::new(self.history, place, kind, head, fork.node);
        // The time of a fork point is that of its newest branch.
        let newest = fork
            .branches
            .iter()
            .map(|branch| self.history.message_tree.message(branch.first_message).head)
            .max();
        row.time = newest.and_then(|node| self.history.session.record(node).time).or(row.time);
        self.push_row(row, &[])?;
        let beside = RowPosition {
            column: place.column + 1,
            edge: RowEdge::Branch,
            status: BranchStatus::Abandoned,
            draft: false,
        };
        let current =
            fork.branches.iter().filter(|branch| branch.current).map(|branch| (branch, place));
        let left = fork
            .branches
            .iter()
            .rev()
            .filter(|branch| !branch.current)
            .map(|branch| (branch, beside));
        for (branch, place) in current.chain(left) {
            self.open.push((branch.message, RowPosition { draft: branch.draft, ..place }));
        }
        Ok(())
    }

    /// Turns the run into a row, followed by the rows of the agents that it started.
    fn flush_run(&mut self, run: &mut MessageRun, place: &mut RowPosition) -> Walked {
        let run = std::mem::take(run);
        if run.is_empty() {
            return Ok(());
        }
        if self.records {
            self.push_records(&run.nodes, *place, false)?;
        } else {
            self.push_row(run.to_row(self.history, *place), &run.nodes)?;
        }
        place.edge = RowEdge::Straight;
        self.push_agents(&run, *place)
    }

    fn push_agents(&mut self, run: &MessageRun, place: RowPosition) -> Walked {
        let beside =
            RowPosition { column: place.column + 1, edge: RowEdge::Branch, draft: false, ..place };
        let agents = self.agents;
        let mut sides = run.anchors.iter().flat_map(|message| agents.agents_at(*message));
        sides.try_for_each(|side| self.push_agent(side, beside))
    }

    /// Adds one agent: as one row, or record by record if it is in this file.
    fn push_agent(&mut self, side: &AgentWork<'_>, place: RowPosition) -> Walked {
        match side {
            AgentWork::Inline(nodes) if self.records => self.push_records(nodes, place, true),
            AgentWork::Inline(nodes) => {
                self.push_row(TreeRow::from_inline_agent(self.history, place, nodes), nodes)
            }
            AgentWork::Agent(agent) => {
                self.push_row(TreeRow::from_agent(self.history, place, agent), &[])
            }
        }
    }

    /// Adds the trees without any messages.
    fn push_detached(&mut self, roots: &[MessageNodeId]) -> Walked {
        let mut run = MessageRun::default();
        for &root in roots {
            let line = successors(Some(root), |message| last_boundary(self.history, *message));
            line.for_each(|message| run.add_message(self.history, message, self.resume));
        }
        if run.is_empty() {
            return Ok(());
        }
        let place = RowPosition { status: BranchStatus::Abandoned, ..ROOT_POSITION };
        if self.records {
            self.push_records(&run.nodes, place, false)?;
        } else {
            let row = run.to_row(self.history, place);
            let row = TreeRow { kind: TreeRowKind::Detached, words: None, ..row };
            self.push_row(row, &run.nodes)?;
        }
        self.push_agents(&run, place)
    }

    fn push_records(&mut self, nodes: &[NodeId], mut place: RowPosition, side: bool) -> Walked {
        let point = self.history.branches.resume.map(|resume| resume.point);
        for &node in nodes {
            let row = TreeRow::from_record(self.history, place, node, side);
            self.push_row(TreeRow { resumes: point == Some(node), ..row }, &[node])?;
            place.edge = RowEdge::Straight;
        }
        Ok(())
    }

    fn push_row(&mut self, row: TreeRow, nodes: &[NodeId]) -> Walked {
        (self.each)(row, nodes)
    }
}

/// Returns the roots of conversations, and the roots without any messages below them.
fn split_roots(history: &History) -> (Vec<MessageNodeId>, Vec<MessageNodeId>) {
    let messages = &history.message_tree;
    let own_file = is_agent_file(history);
    let is_root = |message: &MessageNodeId| {
        let message = messages.message(*message);
        let is_main = own_file || !message.sidechain;
        is_main
            && message.parent.is_none_or(|parent| messages.message(parent).sidechain && !own_file)
    };
    let ends: HashSet<MessageNodeId> =
        history.branches.conversations.iter().map(|conversation| conversation.end).collect();
    let roots = messages.iter().map(|(id, _)| id).filter(is_root);
    let (mut roots, loose): (Vec<MessageNodeId>, Vec<MessageNodeId>) =
        roots.partition(|root| messages.has_dialogue(*root) || ends.contains(root));
    roots.sort_unstable_by_key(|root| messages.message(*root).head);
    (roots, loose)
}

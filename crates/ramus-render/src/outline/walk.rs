//! Walks the tree and makes its rows.

use std::collections::HashSet;
use std::iter::successors;

use ramus_core::branches::{BranchStatus, ForkPoint};
use ramus_core::files::{RevertOutcomes, files_at_fork};
use ramus_core::history::History;
use ramus_core::message_tree::MessageNodeId;
use ramus_core::record::RecordRole;
use ramus_core::session::NodeId;

use super::row::RowPosition;
use super::run::{MessageRun, last_boundary};
use super::sidechains::{AgentWork, AgentsByMessage, is_agent_file};
use super::{OutlineConfig, RowEdge, TreeOutline, TreeRow, TreeRowKind};

/// Walks the tree: at every fork point first the abandoned branches, then the current one.
pub(super) fn walk_tree(history: &History, config: &OutlineConfig<'_>) -> TreeOutline {
    let sides = AgentsByMessage::new(history, &config.agents);
    let mut walk = TreeWalk {
        history,
        records: config.records,
        agents: &sides,
        reverts: &config.reverts,
        resume: history
            .branches
            .resume
            .and_then(|resume| history.message_tree.message_of(resume.point)),
        open: Vec::new(),
        outline: TreeOutline {
            rows: Vec::new(),
            row_of: vec![None; history.session.records().len()],
        },
    };
    walk.walk_trees();
    walk.outline
}

struct TreeWalk<'a> {
    history: &'a History,
    records: bool,
    agents: &'a AgentsByMessage<'a>,
    reverts: &'a RevertOutcomes,
    resume: Option<MessageNodeId>,
    /// Branches still to be walked, the next one last.
    open: Vec<(MessageNodeId, RowPosition)>,
    outline: TreeOutline,
}

const ROOT_POSITION: RowPosition =
    RowPosition { column: 0, edge: RowEdge::Root, status: BranchStatus::Active, draft: false };

impl TreeWalk<'_> {
    fn walk_trees(&mut self) {
        let folds = &self.history.message_tree;
        let (roots, loose) = split_roots(self.history);
        let of = roots.len();
        for (n, root) in (1..).zip(roots) {
            let draft = folds.has_dialogue(root) && !folds.has_reply(root);
            let mut place = RowPosition { draft, ..ROOT_POSITION };
            if of > 1 {
                let head = folds.message(root).head;
                self.push_row(
                    TreeRow::new(self.history, place, TreeRowKind::Tree { n, of }, head, head),
                    &[],
                );
                place.edge = RowEdge::Straight;
            }
            self.open.push((root, place));
            while let Some((fold, place)) = self.open.pop() {
                self.walk_line(fold, place);
            }
        }
        self.push_detached(&loose);
        for side in self.agents.unattached_agents() {
            self.push_agent(side, ROOT_POSITION);
        }
    }

    /// Walks from a message down to the next fork point or the end.
    fn walk_line(&mut self, mut fold: MessageNodeId, mut place: RowPosition) {
        let folds = &self.history.message_tree;
        let mut run = MessageRun::default();
        loop {
            let is_boundary = folds.message(fold).role == RecordRole::CompactBoundary;
            if is_boundary {
                self.flush_run(&mut run, &mut place);
            }
            run.add_message(self.history, fold, self.resume);
            if is_boundary || self.records || run.resumes {
                self.flush_run(&mut run, &mut place);
            }
            if let Some(fork) = self.history.branches.fork_at(fold) {
                self.flush_run(&mut run, &mut place);
                return self.walk_fork(fork, place);
            }
            let next = folds.dialogue_children(fold).next();
            let Some(next) = next.or_else(|| last_boundary(self.history, fold)) else {
                return self.flush_run(&mut run, &mut place);
            };
            fold = next;
        }
    }

    fn walk_fork(&mut self, fork: &ForkPoint, place: RowPosition) {
        let files = files_at_fork(self.history, fork, self.reverts);
        let kind = TreeRowKind::Fork { kind: fork.kind, branches: fork.branches.len(), files };
        let head = self.history.message_tree.message(fork.message).head;
        let mut row = TreeRow::new(self.history, place, kind, head, fork.node);
        // The time of a fork point is that of its newest branch.
        let newest = fork
            .branches
            .iter()
            .map(|way| self.history.message_tree.message(way.first_message).head)
            .max();
        row.time = newest.and_then(|node| self.history.session.record(node).time).or(row.time);
        self.push_row(row, &[]);
        let beside = RowPosition {
            column: place.column + 1,
            edge: RowEdge::Branch,
            status: BranchStatus::Abandoned,
            draft: false,
        };
        let current = fork.branches.iter().filter(|way| way.current).map(|way| (way, place));
        let left = fork.branches.iter().rev().filter(|way| !way.current).map(|way| (way, beside));
        for (way, place) in current.chain(left) {
            self.open.push((way.message, RowPosition { draft: way.draft, ..place }));
        }
    }

    /// Turns the run into a row, followed by the rows of the agents that it started.
    fn flush_run(&mut self, run: &mut MessageRun, place: &mut RowPosition) {
        let run = std::mem::take(run);
        if run.is_empty() {
            return;
        }
        if self.records {
            self.push_records(&run.nodes, *place, false);
        } else {
            self.push_row(run.to_row(self.history, *place), &run.nodes);
        }
        place.edge = RowEdge::Straight;
        self.push_agents(&run, *place);
    }

    fn push_agents(&mut self, run: &MessageRun, place: RowPosition) {
        let beside =
            RowPosition { column: place.column + 1, edge: RowEdge::Branch, draft: false, ..place };
        for side in run.anchors.iter().flat_map(|fold| self.agents.agents_at(*fold)) {
            self.push_agent(side, beside);
        }
    }

    /// Adds one agent: as one row, or record by record if it is in this file.
    fn push_agent(&mut self, side: &AgentWork<'_>, place: RowPosition) {
        match side {
            AgentWork::Inline(nodes) if self.records => self.push_records(nodes, place, true),
            AgentWork::Inline(nodes) => {
                self.push_row(TreeRow::from_inline_agent(self.history, place, nodes), nodes);
            }
            AgentWork::Agent(agent) => {
                self.push_row(TreeRow::from_agent(self.history, place, agent), &[]);
            }
        }
    }

    /// Adds the trees without any messages.
    fn push_detached(&mut self, roots: &[MessageNodeId]) {
        let mut run = MessageRun::default();
        for &root in roots {
            let line = successors(Some(root), |fold| last_boundary(self.history, *fold));
            line.for_each(|fold| run.add_message(self.history, fold, self.resume));
        }
        if run.is_empty() {
            return;
        }
        let place = RowPosition { status: BranchStatus::Abandoned, ..ROOT_POSITION };
        if self.records {
            self.push_records(&run.nodes, place, false);
        } else {
            let row = run.to_row(self.history, place);
            self.push_row(TreeRow { kind: TreeRowKind::Detached, words: None, ..row }, &run.nodes);
        }
        self.push_agents(&run, place);
    }

    fn push_records(&mut self, nodes: &[NodeId], mut place: RowPosition, side: bool) {
        let point = self.history.branches.resume.map(|resume| resume.point);
        for &node in nodes {
            let row = TreeRow::from_record(self.history, place, node, side);
            self.push_row(TreeRow { resumes: point == Some(node), ..row }, &[node]);
            place.edge = RowEdge::Straight;
        }
    }

    fn push_row(&mut self, row: TreeRow, nodes: &[NodeId]) {
        for node in nodes {
            self.outline.row_of[node.0 as usize] = Some(self.outline.rows.len());
        }
        self.outline.rows.push(row);
    }
}

/// Returns the roots of conversations, and the roots without any messages below them.
fn split_roots(history: &History) -> (Vec<MessageNodeId>, Vec<MessageNodeId>) {
    let folds = &history.message_tree;
    let own_file = is_agent_file(history);
    let is_root = |fold: &MessageNodeId| {
        let fold = folds.message(*fold);
        let is_main = own_file || !fold.sidechain;
        is_main && fold.parent.is_none_or(|parent| folds.message(parent).sidechain && !own_file)
    };
    let ends: HashSet<MessageNodeId> =
        history.branches.conversations.iter().map(|conversation| conversation.end).collect();
    let roots = folds.iter().map(|(id, _)| id).filter(is_root);
    let (mut roots, loose): (Vec<MessageNodeId>, Vec<MessageNodeId>) =
        roots.partition(|root| folds.has_dialogue(*root) || ends.contains(root));
    roots.sort_unstable_by_key(|root| folds.message(*root).head);
    (roots, loose)
}

//! Walks the tree and makes its rows.

use std::collections::HashSet;
use std::iter::successors;

use ramus_core::branches::{Fork, Status};
use ramus_core::files::{Reverts, fork_files};
use ramus_core::fold::FoldId;
use ramus_core::history::History;
use ramus_core::record::Voice;
use ramus_core::session::NodeId;

use super::row::Place;
use super::run::{Run, last_boundary};
use super::side::{Side, Sides, is_agent_file};
use super::{Edge, Outline, OutlineConfig, Row, RowKind};

/// Walks the tree: at every fork point first the abandoned branches, then the current one.
pub(super) fn walk(history: &History, config: &OutlineConfig<'_>) -> Outline {
    let sides = Sides::new(history, &config.agents);
    let mut walk = Walk {
        history,
        records: config.records,
        sides: &sides,
        reverts: &config.reverts,
        resume: history.branches.resume.and_then(|resume| history.folds.of(resume.point)),
        open: Vec::new(),
        outline: Outline { rows: Vec::new(), row_of: vec![None; history.session.records().len()] },
    };
    walk.trees();
    walk.outline
}

struct Walk<'a> {
    history: &'a History,
    records: bool,
    sides: &'a Sides<'a>,
    reverts: &'a Reverts,
    resume: Option<FoldId>,
    /// Branches still to be walked, the next one last.
    open: Vec<(FoldId, Place)>,
    outline: Outline,
}

const ROOT: Place = Place { lane: 0, edge: Edge::Root, status: Status::Active, draft: false };

impl Walk<'_> {
    fn trees(&mut self) {
        let folds = &self.history.folds;
        let (roots, loose) = roots(self.history);
        let of = roots.len();
        for (n, root) in (1..).zip(roots) {
            let draft = folds.speaks(root) && !folds.is_answered(root);
            let mut place = Place { draft, ..ROOT };
            if of > 1 {
                let head = folds.fold(root).head;
                self.push(Row::new(self.history, place, RowKind::Tree { n, of }, head, head), &[]);
                place.edge = Edge::Straight;
            }
            self.open.push((root, place));
            while let Some((fold, place)) = self.open.pop() {
                self.line(fold, place);
            }
        }
        self.loose(&loose);
        for side in self.sides.nowhere() {
            self.side(side, ROOT);
        }
    }

    /// Walks from a message down to the next fork point or the end.
    fn line(&mut self, mut fold: FoldId, mut place: Place) {
        let folds = &self.history.folds;
        let mut run = Run::default();
        loop {
            let is_boundary = folds.fold(fold).voice == Voice::Boundary;
            if is_boundary {
                self.flush(&mut run, &mut place);
            }
            run.take(self.history, fold, self.resume);
            if is_boundary || self.records || run.resumes {
                self.flush(&mut run, &mut place);
            }
            if let Some(fork) = self.history.branches.fork_at(fold) {
                self.flush(&mut run, &mut place);
                return self.fork(fork, place);
            }
            let next = folds.speaking_children(fold).next();
            let Some(next) = next.or_else(|| last_boundary(self.history, fold)) else {
                return self.flush(&mut run, &mut place);
            };
            fold = next;
        }
    }

    fn fork(&mut self, fork: &Fork, place: Place) {
        let files = fork_files(self.history, fork, self.reverts);
        let kind = RowKind::Fork { kind: fork.kind, ways: fork.ways.len(), files };
        let head = self.history.folds.fold(fork.fold).head;
        let mut row = Row::new(self.history, place, kind, head, fork.node);
        // The time of a fork point is that of its newest branch.
        let newest = fork.ways.iter().map(|way| self.history.folds.fold(way.speech).head).max();
        row.time = newest.and_then(|node| self.history.session.record(node).time).or(row.time);
        self.push(row, &[]);
        let beside = Place {
            lane: place.lane + 1,
            edge: Edge::Branch,
            status: Status::Abandoned,
            draft: false,
        };
        let current = fork.ways.iter().filter(|way| way.current).map(|way| (way, place));
        let left = fork.ways.iter().rev().filter(|way| !way.current).map(|way| (way, beside));
        for (way, place) in current.chain(left) {
            self.open.push((way.fold, Place { draft: way.draft, ..place }));
        }
    }

    /// Turns the run into a row, followed by the rows of the agents that it started.
    fn flush(&mut self, run: &mut Run, place: &mut Place) {
        let run = std::mem::take(run);
        if run.is_empty() {
            return;
        }
        if self.records {
            self.push_records(&run.nodes, *place, false);
        } else {
            self.push(run.row(self.history, *place), &run.nodes);
        }
        place.edge = Edge::Straight;
        self.sides_of(&run, *place);
    }

    fn sides_of(&mut self, run: &Run, place: Place) {
        let beside = Place { lane: place.lane + 1, edge: Edge::Branch, draft: false, ..place };
        for side in run.anchors.iter().flat_map(|fold| self.sides.at(*fold)) {
            self.side(side, beside);
        }
    }

    /// Adds one agent: as one row, or record by record if it is in this file.
    fn side(&mut self, side: &Side<'_>, place: Place) {
        match side {
            Side::Inline(nodes) if self.records => self.push_records(nodes, place, true),
            Side::Inline(nodes) => self.push(Row::inline(self.history, place, nodes), nodes),
            Side::Agent(agent) => self.push(Row::agent(self.history, place, agent), &[]),
        }
    }

    /// Adds the trees without any messages.
    fn loose(&mut self, roots: &[FoldId]) {
        let mut run = Run::default();
        for &root in roots {
            let line = successors(Some(root), |fold| last_boundary(self.history, *fold));
            line.for_each(|fold| run.take(self.history, fold, self.resume));
        }
        if run.is_empty() {
            return;
        }
        let place = Place { status: Status::Abandoned, ..ROOT };
        if self.records {
            self.push_records(&run.nodes, place, false);
        } else {
            let row = run.row(self.history, place);
            self.push(Row { kind: RowKind::Loose, words: None, ..row }, &run.nodes);
        }
        self.sides_of(&run, place);
    }

    fn push_records(&mut self, nodes: &[NodeId], mut place: Place, side: bool) {
        let point = self.history.branches.resume.map(|resume| resume.point);
        for &node in nodes {
            let row = Row::record(self.history, place, node, side);
            self.push(Row { resumes: point == Some(node), ..row }, &[node]);
            place.edge = Edge::Straight;
        }
    }

    fn push(&mut self, row: Row, nodes: &[NodeId]) {
        for node in nodes {
            self.outline.row_of[node.0 as usize] = Some(self.outline.rows.len());
        }
        self.outline.rows.push(row);
    }
}

/// Returns the roots of conversations, and the roots without any messages below them.
fn roots(history: &History) -> (Vec<FoldId>, Vec<FoldId>) {
    let folds = &history.folds;
    let own_file = is_agent_file(history);
    let is_root = |fold: &FoldId| {
        let fold = folds.fold(*fold);
        let is_main = own_file || !fold.sidechain;
        is_main && fold.parent.is_none_or(|parent| folds.fold(parent).sidechain && !own_file)
    };
    let ends: HashSet<FoldId> =
        history.branches.conversations.iter().map(|conversation| conversation.end).collect();
    let roots = folds.iter().map(|(id, _)| id).filter(is_root);
    let (mut roots, loose): (Vec<FoldId>, Vec<FoldId>) =
        roots.partition(|root| folds.speaks(*root) || ends.contains(root));
    roots.sort_unstable_by_key(|root| folds.fold(*root).head);
    (roots, loose)
}

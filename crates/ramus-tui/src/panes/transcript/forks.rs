//! At a fork: which one is meant, and reading on along another of its ways.

use std::ops::Range;

use ramus_render::Line;

use super::{Item, ItemKind, Part, Transcript};

/// How many ways of a fork are shown at once.
const WAYS: usize = 7;

/// Returns the ways of a fork that are shown: those around the one that is read.
pub(crate) fn shown_ways(taken: Option<usize>, all: usize) -> Range<usize> {
    let first = taken.unwrap_or(0).saturating_sub(WAYS / 2).min(all.saturating_sub(WAYS));
    first..(first + WAYS).min(all)
}

/// The line of a fork's block that its first way stands on, after a gap and a heading.
const FIRST_WAY: usize = 2;

impl Transcript {
    /// Switches to the alternative before or after at the fork that is meant; `false`: there is none.
    pub(crate) fn switch(&mut self, by: isize) -> bool {
        let Some(item) = self.fork_near() else { return false };
        let ItemKind::Fork(at) = self.items[item].kind else { return false };
        let history = &self.chapter.history;
        let path = self.main().path.clone();
        let Some(fork) = history.branches.fork_at(path.folds[at]) else { return false };
        let ways = fork.ways.len() as isize;
        let taken = path.folds.get(at + 1).copied();
        let now = fork.ways.iter().position(|way| Some(way.fold) == taken);
        let next = now.map_or(0, |now| (now as isize + by).rem_euclid(ways));
        self.take_way(item, next as usize)
    }

    /// Reads on along one of the ways of a fork; `false`: there is no such way.
    fn take_way(&mut self, item: usize, way: usize) -> bool {
        let ItemKind::Fork(at) = self.items[item].kind else { return false };
        let history = &self.chapter.history;
        let path = self.main().path.clone();
        let Some(fork) = history.branches.fork_at(path.folds[at]) else { return false };
        let Some(way) = fork.ways.get(way).map(|way| way.fold) else { return false };
        let taken = path.folds.get(at + 1).copied();
        let kept = self.chosen.get(&way).copied();
        let head = history.folds.fold(way).head;
        let Some(n) = kept.or_else(|| history.conversation_of(head).map(|found| found.n)) else {
            return false;
        };
        if let Some(taken) = taken {
            self.chosen.insert(taken, self.conversation);
        }
        let (row, fold) = (self.row_of(item).unwrap_or(0), path.folds[at]);
        self.read_conversation(n);
        let is_it = |other: &Item| {
            let stage = &self.stages[other.stage];
            stage.part == Part::Main
                && matches!(other.kind, ItemKind::Fork(at) if stage.path.folds.get(at) == Some(&fold))
        };
        if let Some(item) = self.items.iter().position(is_it) {
            self.keep_at_row(item, row);
        }
        true
    }

    /// Does what a click on a fork means: its arrows switch, a way is read on; `false`: nothing.
    pub(crate) fn click_fork(&mut self, item: usize, line: usize, column: usize) -> bool {
        let ItemKind::Fork(at) = self.items[item].kind else { return false };
        if self.stages[self.items[item].stage].part != Part::Main {
            return false;
        }
        self.cursor = item;
        let Some(row) = line.checked_sub(FIRST_WAY) else {
            let text = self.lines(item).and_then(|lines| lines.get(line)).map(Line::text);
            let sign = text.and_then(|text| text.chars().nth(column));
            return match sign {
                Some('‹' | '←') => self.switch(-1),
                Some('›' | '→') => self.switch(1),
                _ => false,
            };
        };
        let path = &self.main().path;
        let Some(fork) = self.chapter.history.branches.fork_at(path.folds[at]) else {
            return false;
        };
        let taken = path.folds.get(at + 1);
        let taken = fork.ways.iter().position(|way| Some(&way.fold) == taken);
        match shown_ways(taken, fork.ways.len()).nth(row) {
            Some(way) => self.take_way(item, way),
            None => false,
        }
    }

    /// Finds the fork that a switch means: the one at the cursor or right before it, else the
    /// nearest one that is seen.
    fn fork_near(&self) -> Option<usize> {
        let is_fork = |item: &usize| {
            let item = &self.items[*item];
            matches!(item.kind, ItemKind::Fork(_)) && self.stages[item.stage].part == Part::Main
        };
        let seen: Vec<usize> = self.seen().into_iter().map(|(item, _)| item).collect();
        let before = self.cursor.checked_sub(1).filter(|item| *item < self.items.len());
        let here = Some(self.cursor).filter(|item| *item < self.items.len());
        here.filter(is_fork).or(before.filter(is_fork)).or_else(|| {
            seen.into_iter().filter(is_fork).min_by_key(|item| item.abs_diff(self.cursor))
        })
    }

    /// Whether the cursor is where left and right switch.
    pub(crate) fn at_fork(&self) -> bool {
        self.fork_near().is_some()
    }
}

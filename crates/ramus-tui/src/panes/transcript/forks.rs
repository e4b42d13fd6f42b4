//! Fork points in a transcript: which one is selected, and switching to another branch.

use std::ops::Range;

use ramus_render::Line;

use super::{StageRole, TranscriptItem, TranscriptItemKind, TranscriptPane};

/// How many branches of a fork point are shown at once.
const MAX_BRANCHES_SHOWN: usize = 7;

/// Returns the branches of a fork point that are shown: those around the open one.
pub(crate) fn visible_branches(taken: Option<usize>, all: usize) -> Range<usize> {
    let first = taken
        .unwrap_or(0)
        .saturating_sub(MAX_BRANCHES_SHOWN / 2)
        .min(all.saturating_sub(MAX_BRANCHES_SHOWN));
    first..(first + MAX_BRANCHES_SHOWN).min(all)
}

/// The line of a fork point's block with the first branch, after a gap and a heading.
const FIRST_BRANCH_LINE: usize = 2;

impl TranscriptPane {
    /// Switches to the previous or next branch of the current fork; `false`: there is none.
    pub(crate) fn switch_branch(&mut self, by: isize) -> bool {
        let Some(item) = self.nearest_fork() else { return false };
        let TranscriptItemKind::Fork(at) = self.items[item].kind else { return false };
        let history = &self.chapter.history;
        let path = self.main().path.clone();
        let Some(fork) = history.branches.fork_at(path.messages[at]) else { return false };
        let count = fork.branches.len() as isize;
        let taken = path.messages.get(at + 1).copied();
        let now = fork.branches.iter().position(|branch| Some(branch.message) == taken);
        let next = now.map_or(0, |now| (now as isize + by).rem_euclid(count));
        self.take_branch(item, next as usize)
    }

    /// Switches to one of the branches of a fork point. `false` if there is no such branch.
    fn take_branch(&mut self, item: usize, branch: usize) -> bool {
        let TranscriptItemKind::Fork(at) = self.items[item].kind else { return false };
        let history = &self.chapter.history;
        let path = self.main().path.clone();
        let Some(fork) = history.branches.fork_at(path.messages[at]) else { return false };
        let Some(branch) = fork.branches.get(branch).map(|branch| branch.message) else {
            return false;
        };
        let taken = path.messages.get(at + 1).copied();
        let kept = self.chosen.get(&branch).copied();
        let head = history.message_tree.message(branch).head;
        let Some(n) = kept.or_else(|| history.conversation_of(head).map(|found| found.number))
        else {
            return false;
        };
        if let Some(taken) = taken {
            self.chosen.insert(taken, self.conversation);
        }
        let (row, fold) = (self.row_of(item).unwrap_or(0), path.messages[at]);
        self.read_conversation(n);
        let is_it = |other: &TranscriptItem| {
            let stage = &self.stages[other.stage];
            stage.part == StageRole::Main
                && matches!(other.kind, TranscriptItemKind::Fork(at) if stage.path.messages.get(at) == Some(&fold))
        };
        if let Some(item) = self.items.iter().position(is_it) {
            self.anchor_at_row(item, row);
        }
        true
    }

    /// Handles a click on a fork point: arrows switch, a branch opens. `false` if nothing was hit.
    pub(crate) fn click_fork(&mut self, item: usize, line: usize, column: usize) -> bool {
        let TranscriptItemKind::Fork(at) = self.items[item].kind else { return false };
        if self.stages[self.items[item].stage].part != StageRole::Main {
            return false;
        }
        self.cursor = item;
        let Some(row) = line.checked_sub(FIRST_BRANCH_LINE) else {
            let text =
                self.rendered_lines(item).and_then(|lines| lines.get(line)).map(Line::to_text);
            let sign = text.and_then(|text| text.chars().nth(column));
            return match sign {
                Some('‹' | '←') => self.switch_branch(-1),
                Some('›' | '→') => self.switch_branch(1),
                _ => false,
            };
        };
        let path = &self.main().path;
        let Some(fork) = self.chapter.history.branches.fork_at(path.messages[at]) else {
            return false;
        };
        let taken = path.messages.get(at + 1);
        let taken = fork.branches.iter().position(|branch| Some(&branch.message) == taken);
        match visible_branches(taken, fork.branches.len()).nth(row) {
            Some(branch) => self.take_branch(item, branch),
            None => false,
        }
    }

    /// Finds the fork that a switch means: the one at the cursor or right before it, else the
    /// nearest one that is seen.
    fn nearest_fork(&self) -> Option<usize> {
        let is_fork = |item: &usize| {
            let item = &self.items[*item];
            matches!(item.kind, TranscriptItemKind::Fork(_))
                && self.stages[item.stage].part == StageRole::Main
        };
        let seen: Vec<usize> = self.visible_items().into_iter().map(|(item, _)| item).collect();
        let before = self.cursor.checked_sub(1).filter(|item| *item < self.items.len());
        let here = Some(self.cursor).filter(|item| *item < self.items.len());
        here.filter(is_fork).or(before.filter(is_fork)).or_else(|| {
            seen.into_iter().filter(is_fork).min_by_key(|item| item.abs_diff(self.cursor))
        })
    }

    /// Whether the cursor is where left and right switch.
    pub(crate) fn at_fork(&self) -> bool {
        self.nearest_fork().is_some()
    }
}

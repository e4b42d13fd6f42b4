//! The position in a transcript: scrolling, moving, the visible part.

use ramus_core::record::RecordRole;

use super::{TranscriptItemKind, TranscriptPane};
use crate::keys::KeyAction;

/// The first row of the screen: an item and a line of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ScrollTop {
    pub(crate) item: usize,
    pub(crate) line: usize,
}

/// What stays in place when heights become known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScrollAnchor {
    Top,
    /// The item at the cursor, at this row, unless rows below the end would stay empty.
    Cursor(usize),
    /// The item at the cursor, at this very row.
    Row(isize),
    /// The search match in the item at the cursor.
    Hit,
    End,
}

/// The items on the screen with their rows, and how much of the transcript that is.
#[derive(Debug, PartialEq)]
pub(super) struct VisibleRange {
    pub(super) items: Vec<(usize, isize)>,
    share: (f64, f64),
}

/// How high a block is thought to be until it is rendered.
const GUESSED_HEIGHT: usize = 4;

impl TranscriptPane {
    /// Takes the size of the screen.
    pub(crate) fn set_size(&mut self, width: u16, height: u16) {
        if self.size != (width, height) {
            self.size = (width, height);
            self.restore_position();
        }
    }

    fn visible_rows(&self) -> usize {
        usize::from(self.size.1).max(1)
    }

    pub(super) fn item_height(&self, item: usize) -> usize {
        match self.items[item].kind {
            TranscriptItemKind::Resume | TranscriptItemKind::Agent => 2,
            _ => self.rendered_lines(item).map_or(GUESSED_HEIGHT, <[_]>::len),
        }
    }

    /// Returns the items that are seen, each with the row of its first line, which may be above.
    pub(crate) fn visible_items(&self) -> Vec<(usize, isize)> {
        let mut seen = Vec::new();
        let mut row = -(self.top.line as isize);
        for item in self.top.item..self.items.len() {
            if row >= self.visible_rows() as isize {
                break;
            }
            seen.push((item, row));
            row += self.item_height(item) as isize;
        }
        seen
    }

    /// Returns where everything on the screen is.
    pub(super) fn visible_range(&self) -> VisibleRange {
        VisibleRange { items: self.visible_items(), share: self.visible_share() }
    }

    /// Returns the row of an item that is seen; negative: it begins above the screen.
    pub(super) fn row_of(&self, item: usize) -> Option<isize> {
        self.visible_items().into_iter().find(|(seen, _)| *seen == item).map(|(_, row)| row)
    }

    /// Does what a key asks for; `false`: it asks for nothing here.
    pub(crate) fn apply_action(&mut self, action: KeyAction) -> bool {
        let page = self.visible_rows().saturating_sub(2).max(1) as isize;
        match action {
            KeyAction::Down => self.move_cursor(1),
            KeyAction::Up => self.move_cursor(-1),
            KeyAction::PageDown => self.scroll_with_cursor(page),
            KeyAction::PageUp => self.scroll_with_cursor(-page),
            KeyAction::HalfDown => self.scroll_with_cursor(page / 2),
            KeyAction::HalfUp => self.scroll_with_cursor(-page / 2),
            KeyAction::First => {
                self.cursor = 0;
                self.top = ScrollTop::default();
                self.hold = ScrollAnchor::Top;
            }
            KeyAction::Last => self.go_to_end(),
            KeyAction::NextPrompt => self.seek_item(true, Self::is_prompt),
            KeyAction::PreviousPrompt => self.seek_item(false, Self::is_prompt),
            KeyAction::NextFork => self.seek_item(true, Self::is_fork),
            KeyAction::PreviousFork => self.seek_item(false, Self::is_fork),
            _ => return false,
        }
        true
    }

    pub(crate) fn go_to_end(&mut self) {
        self.cursor = self.last_block();
        self.hold = ScrollAnchor::End;
        self.restore_position();
    }

    /// Returns the last item the cursor rests on: the note that Claude Code resumes here is no message.
    pub(super) fn last_block(&self) -> usize {
        self.resting_item(self.items.len().saturating_sub(1))
    }

    /// Returns where the cursor rests for an item: the note that Claude Code resumes here belongs to
    /// the message above it.
    pub(crate) fn resting_item(&self, item: usize) -> usize {
        if !matches!(self.items.get(item), Some(found) if found.kind == TranscriptItemKind::Resume)
        {
            return item;
        }
        let stage = self.items[item].stage;
        let is_message = |at: &usize| {
            let above = &self.items[*at];
            above.stage == stage && matches!(above.kind, TranscriptItemKind::Block(_))
        };
        (0..item).rev().find(is_message).unwrap_or(item)
    }

    fn is_prompt(&self, item: usize) -> bool {
        let TranscriptItemKind::Block(range) = &self.items[item].kind else { return false };
        let stage = &self.stages[self.items[item].stage];
        let fold = stage.path.messages[range.start];
        let voice = stage.chapter.history.message_tree.message(fold).role;
        matches!(voice, RecordRole::Prompt | RecordRole::QueuedPrompt | RecordRole::Command)
    }

    fn is_fork(&self, item: usize) -> bool {
        matches!(self.items[item].kind, TranscriptItemKind::Fork(_))
    }

    fn seek_item(&mut self, forward: bool, fits: fn(&Self, usize) -> bool) {
        let found = if forward {
            (self.cursor + 1..self.items.len()).find(|item| fits(self, *item))
        } else {
            (0..self.cursor.min(self.items.len())).rev().find(|item| fits(self, *item))
        };
        if let Some(item) = found {
            self.jump_to(item);
        }
    }

    /// Puts an item near the upper edge.
    pub(crate) fn jump_to(&mut self, item: usize) {
        self.cursor = item;
        self.put_at_row(item, (self.visible_rows() / 6).min(item * 2));
    }

    /// Scrolls to a search match in an item.
    pub(super) fn jump_to_hit(&mut self, item: usize) {
        self.cursor = item;
        self.hold = ScrollAnchor::Hit;
        self.restore_position();
    }

    /// Puts an item at a row of the screen and keeps it there while heights become known.
    pub(super) fn put_at_row(&mut self, item: usize, row: usize) {
        self.cursor = item;
        self.hold = ScrollAnchor::Cursor(row);
        self.restore_position();
    }

    /// Leaves an item at the row where it is, however little comes after it.
    pub(super) fn anchor_at_row(&mut self, item: usize, row: isize) {
        self.cursor = item;
        self.hold = ScrollAnchor::Row(row);
        self.restore_position();
    }

    /// Moves the cursor to the next block; inside of one that is longer than the screen, scrolls.
    fn move_cursor(&mut self, by: isize) {
        let rows = self.visible_rows() as isize;
        let here = self.visible_items().into_iter().find(|(item, _)| *item == self.cursor);
        if let Some((item, row)) = here {
            let end = row + self.item_height(item) as isize;
            let hidden = if by > 0 { end - rows } else { -row };
            if hidden > 0 {
                return self.scroll_lines(by * hidden.min((rows / 2).max(1)));
            }
        }
        let mut next = self.cursor;
        loop {
            next = match next.checked_add_signed(by) {
                Some(next) if next < self.items.len() => next,
                _ => return self.scroll_lines(by),
            };
            if !matches!(self.items[next].kind, TranscriptItemKind::Resume) {
                break;
            }
        }
        self.cursor = next;
        self.hold = ScrollAnchor::Top;
        self.reveal_cursor();
    }

    /// Scrolls; the cursor goes along.
    pub(crate) fn scroll_with_cursor(&mut self, by: isize) {
        self.scroll_lines(by);
        let seen = self.visible_items();
        let rows = self.visible_rows() as isize;
        let whole = |(item, row): &&(usize, isize)| {
            *row >= 0
                && *row + 1 < rows
                && !matches!(self.items[*item].kind, TranscriptItemKind::Resume)
        };
        let (first, last) = (seen.iter().find(whole), seen.iter().rev().find(whole));
        let (Some((first, _)), Some((last, _))) = (first, last) else {
            self.cursor = seen.first().map_or(0, |(item, _)| *item);
            return;
        };
        // At both ends scrolling stops, but the cursor still moves.
        self.cursor = if self.top == ScrollTop::default() && by < 0 {
            0
        } else if self.top >= self.last_top() && by > 0 {
            self.last_block()
        } else {
            self.cursor.clamp(*first, *last)
        };
    }

    fn scroll_lines(&mut self, by: isize) {
        self.hold = ScrollAnchor::Top;
        let mut left = by.unsigned_abs();
        if by < 0 {
            while left > self.top.line && self.top.item > 0 {
                left -= self.top.line + 1;
                self.top.item -= 1;
                self.top.line = self.item_height(self.top.item).saturating_sub(1);
            }
            self.top.line = self.top.line.saturating_sub(left);
            return;
        }
        while self.top.item < self.items.len() {
            let rest = self.item_height(self.top.item).saturating_sub(self.top.line);
            if left < rest {
                self.top.line += left;
                break;
            }
            left -= rest;
            self.top = ScrollTop { item: self.top.item + 1, line: 0 };
        }
        self.top = self.top.min(self.last_top());
    }

    /// Returns how many rows the items from the top of the screen on take; more than it has do not count.
    fn rows_in_view(&self) -> usize {
        let mut rows = 0;
        for item in self.top.item..self.items.len() {
            rows += self.item_height(item);
            if rows >= self.visible_rows() + self.top.line {
                break;
            }
        }
        rows.saturating_sub(self.top.line)
    }

    /// Returns the lowest place at which the screen is still full.
    fn last_top(&self) -> ScrollTop {
        self.position_above(self.items.len(), self.visible_rows())
    }

    /// Returns the place some rows above the start of an item.
    fn position_above(&self, item: usize, rows: usize) -> ScrollTop {
        let mut left = rows;
        let mut item = item;
        while item > 0 {
            item -= 1;
            let height = self.item_height(item);
            if height >= left {
                return ScrollTop { item, line: height - left };
            }
            left -= height;
        }
        ScrollTop::default()
    }

    /// Scrolls as little as is needed to see the item at the cursor.
    pub(super) fn reveal_cursor(&mut self) {
        if self.items.is_empty() {
            return;
        }
        let (rows, height) = (self.visible_rows(), self.item_height(self.cursor));
        let start = ScrollTop { item: self.cursor, line: 0 };
        if self.top > start {
            let hidden = height.saturating_sub(rows);
            self.top = ScrollTop { item: self.cursor, line: hidden };
            return;
        }
        let lowest =
            if height >= rows { start } else { self.position_above(self.cursor + 1, rows) };
        self.top = self.top.max(lowest);
    }

    /// Brings what is held back to its place.
    pub(super) fn restore_position(&mut self) {
        match self.hold {
            ScrollAnchor::Top => {
                let height = self.items.get(self.top.item).map(|_| self.item_height(self.top.item));
                self.top.line = self.top.line.min(height.unwrap_or(1).saturating_sub(1));
                // The screen became higher, or blocks lower: nothing stays empty below the end.
                if self.rows_in_view() < self.visible_rows() {
                    self.top = self.last_top();
                }
            }
            ScrollAnchor::Hit => {
                let line = self.hit_line(self.cursor).unwrap_or(0);
                let third = self.visible_rows() / 3;
                self.top = if line > third {
                    ScrollTop { item: self.cursor, line: line - third }
                } else {
                    self.position_above(self.cursor, third - line)
                };
                self.top = self.top.min(self.last_top());
            }
            ScrollAnchor::Cursor(row) => {
                self.top = self.position_above(self.cursor, row.min(self.visible_rows() - 1));
                if row == 0 {
                    self.top = ScrollTop { item: self.cursor, line: 0 };
                }
                self.top = self.top.min(self.last_top());
            }
            ScrollAnchor::Row(row) => {
                self.top = match usize::try_from(row) {
                    Ok(0) => ScrollTop { item: self.cursor, line: 0 },
                    Ok(row) => self.position_above(self.cursor, row.min(self.visible_rows() - 1)),
                    Err(_) => ScrollTop { item: self.cursor, line: row.unsigned_abs() },
                };
            }
            ScrollAnchor::End => self.top = self.last_top(),
        }
    }

    /// Finds the item at a row of the screen, and which line of it that is.
    pub(crate) fn at_row(&self, row: u16) -> Option<(usize, usize)> {
        let row = row as isize;
        let (item, start) =
            self.visible_items().into_iter().rev().find(|(_, start)| *start <= row)?;
        Some((item, (row - start) as usize))
    }

    /// Returns which part of the transcript is visible, measured in items.
    pub(crate) fn visible_share(&self) -> (f64, f64) {
        let all = self.items.len().max(1) as f64;
        let seen = self.visible_items();
        let last = seen.last().map_or(0, |(item, _)| item + 1);
        if self.top >= self.last_top() {
            return (self.top.item as f64 / all, 1.0);
        }
        (self.top.item as f64 / all, last as f64 / all)
    }
}

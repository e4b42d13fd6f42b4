//! A cursor in a list, and the part of the list that is seen.

use std::ops::Range;

/// Where one is in a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RowCursor {
    pub(crate) at: usize,
    pub(crate) top: usize,
    /// The mouse moved it last. Rows must not move below a mouse that may click again.
    by_mouse: bool,
}

/// How many rows are seen above and below the cursor.
const MARGIN: usize = 2;

impl RowCursor {
    pub(crate) fn at_row(at: usize) -> Self {
        Self { at, ..Self::default() }
    }

    /// Moves by some rows; stays within the list.
    pub(crate) fn move_by(&mut self, rows: isize, len: usize) {
        self.by_mouse = false;
        self.at = self.at.saturating_add_signed(rows).min(len.saturating_sub(1));
    }

    /// Returns the rows that are seen: the cursor, and what is next to it.
    pub(crate) fn visible_rows(&mut self, len: usize, height: usize) -> Range<usize> {
        self.at = self.at.min(len.saturating_sub(1));
        let most = height.saturating_sub(1) / 2;
        let margin = if self.by_mouse { 0 } else { MARGIN.min(most) };
        self.top = self.top.min(self.at.saturating_sub(margin));
        if height > 0 {
            self.top = self.top.max((self.at + margin + 1).saturating_sub(height));
        }
        self.top = self.top.min(len.saturating_sub(height));
        self.top..len.min(self.top + height)
    }

    /// Returns the rows that are seen where rows have different heights; the last one may be cut.
    pub(crate) fn visible_tall_rows(
        &mut self,
        len: usize,
        height: usize,
        row_height: impl Fn(usize) -> usize,
    ) -> Range<usize> {
        self.at = self.at.min(len.saturating_sub(1));
        // The first of the rows that fit above the end of a row, this one included.
        let first_fitting = |last: usize| {
            let mut left = height;
            let fits = |row: &usize| {
                let own = row_height(*row);
                let is_inside = own <= left;
                left = left.saturating_sub(own);
                is_inside
            };
            (0..=last).rev().take_while(fits).last().unwrap_or(last)
        };
        if len > 0 {
            let margin = usize::from(!self.by_mouse);
            let below = first_fitting((self.at + margin).min(len - 1)).min(self.at);
            let above = self.at.saturating_sub(margin).max(below);
            self.top = self.top.clamp(below, above).min(first_fitting(len - 1));
        }
        let mut end = self.top;
        let mut rows = 0;
        while end < len && rows < height {
            rows += row_height(end);
            end += 1;
        }
        self.top..end
    }

    /// Goes to a row that is seen; whether it was there already.
    pub(crate) fn click_row(&mut self, row: usize, len: usize) -> bool {
        let at = self.top + row;
        at < len && self.click_at(at)
    }

    /// Goes to a row that was clicked; whether it was there already.
    pub(crate) fn click_at(&mut self, at: usize) -> bool {
        self.by_mouse = true;
        std::mem::replace(&mut self.at, at) == at
    }

    /// Scrolls the rows below the cursor, which stays among those that are seen.
    pub(crate) fn scroll_rows(&mut self, rows: isize, len: usize, height: usize) {
        self.by_mouse = true;
        self.top = self.top.saturating_add_signed(rows).min(len.saturating_sub(height));
        self.at = self.at.clamp(self.top, (self.top + height).max(1) - 1).min(len.max(1) - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cursor_stays_in_sight() {
        let mut cursor = RowCursor::default();
        assert_eq!(cursor.visible_rows(10, 4), 0..4);
        cursor.move_by(5, 10);
        assert_eq!(cursor.visible_rows(10, 4), 3..7);
        cursor.move_by(99, 10);
        assert_eq!((cursor.at, cursor.visible_rows(10, 4)), (9, 6..10));
        cursor.scroll_rows(-5, 10, 4);
        assert_eq!((cursor.at, cursor.visible_rows(10, 4)), (4, 1..5));
        assert_eq!(cursor.visible_rows(2, 4), 0..2);
        assert_eq!(RowCursor::at_row(7).visible_rows(10, 1), 7..8);
        assert_eq!(RowCursor::default().visible_rows(0, 4), 0..0);
    }

    #[test]
    fn rows_are_seen_on_both_sides_of_the_cursor() {
        let mut cursor = RowCursor::default();
        let mut seen = |by: isize| {
            cursor.move_by(by, 100);
            let rows = cursor.visible_rows(100, 9);
            (cursor.at - rows.start, rows.end - cursor.at - 1)
        };
        assert_eq!(seen(6), (6, 2));
        assert_eq!(seen(1), (6, 2));
        assert_eq!(seen(-5), (2, 6));
        assert_eq!(seen(-1), (1, 7), "there is nothing above");
        assert_eq!(seen(99), (8, 0), "there is nothing below");
    }

    /// The second click of two is where the first one was.
    #[test]
    fn rows_stay_where_they_are_clicked() {
        let mut cursor = RowCursor::default();
        assert!(!cursor.click_row(8, 100));
        assert_eq!(cursor.visible_rows(100, 9), 0..9);
        assert!(cursor.click_row(8, 100));
    }

    #[test]
    fn rows_of_different_heights_are_seen_as_far_as_they_fit() {
        let height = |row: usize| if row.is_multiple_of(2) { 1 } else { 2 };
        let mut cursor = RowCursor::default();
        assert_eq!(cursor.visible_tall_rows(10, 4, height), 0..3);
        cursor.at = 3;
        assert_eq!(cursor.visible_tall_rows(10, 4, height), 2..5, "the last one is cut");
        cursor.at = 9;
        assert_eq!(cursor.visible_tall_rows(10, 4, height), 8..10);
        cursor.at = 7;
        assert_eq!(cursor.visible_tall_rows(10, 4, height), 6..9, "one more is seen above");
        cursor.at = 0;
        assert_eq!(cursor.visible_tall_rows(10, 4, height), 0..3);
        assert_eq!(cursor.visible_tall_rows(0, 4, height), 0..0);
        assert_eq!(cursor.visible_tall_rows(3, 0, height), 0..0, "no room");
    }
}

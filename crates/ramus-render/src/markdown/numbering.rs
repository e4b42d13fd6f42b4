//! Keeps the written numbers of ordered lists.
//!
//! Markdown renumbers a list from its first number. A reader wants to find "point 4" where it
//! says 4, so the written numbers are kept. Only numbers that do not increase, such as `1.` for
//! every item, are counted.

/// The open lists, innermost last.
#[derive(Debug, Default)]
pub(crate) struct Numbering {
    /// The next number by counting. `None`: a bullet list.
    next: Vec<Option<u64>>,
}

/// The number of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ItemNumber {
    pub(crate) number: u64,
    /// `.` or `)`.
    pub(crate) sign: char,
    /// It is the number that counting gives.
    pub(crate) counted: bool,
}

impl Numbering {
    /// Opens a list that begins with a number. `None`: a bullet list.
    pub(crate) fn open_list(&mut self, first: Option<u64>) {
        self.next.push(first);
    }

    pub(crate) fn close_list(&mut self) {
        self.next.pop();
    }

    pub(crate) fn list_depth(&self) -> usize {
        self.next.len()
    }

    /// Returns the number of the next item, which was written as `source`.
    pub(crate) fn next_number(&mut self, source: &str) -> Option<ItemNumber> {
        let next = self.next.last_mut()?.as_mut()?;
        let source = source.trim_start_matches([' ', '\t', '>']);
        let digits = source.bytes().take_while(u8::is_ascii_digit).count();
        let written = source[..digits].parse().unwrap_or(0);
        let sign = if source[digits..].starts_with(')') { ')' } else { '.' };
        let counted = written <= *next;
        let number = written.max(*next);
        *next = number.saturating_add(1);
        Some(ItemNumber { number, sign, counted })
    }
}

//! Assigns labels to a text from its beginning to its end.

use crate::span::{Label, Line};

/// The labelled lines so far. The text must be sanitized.
pub(super) struct LabelPainter<'t> {
    text: &'t str,
    /// The end of the labelled part.
    done: usize,
    lines: Vec<Line>,
    line: Line,
}

impl<'t> LabelPainter<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, done: 0, lines: Vec::new(), line: Line::default() }
    }

    /// Labels the text from the last label to `end`.
    pub(super) fn paint_to(&mut self, end: usize, label: Label) {
        let Some(mut rest) = self.text.get(self.done..end) else { return };
        self.done = end;
        while let Some(newline) = memchr::memchr(b'\n', rest.as_bytes()) {
            self.line.push_clean(&rest[..newline], label);
            self.lines.push(std::mem::take(&mut self.line));
            rest = &rest[newline + 1..];
        }
        self.line.push_clean(rest, label);
    }

    /// Returns all lines. Text without a label is plain.
    pub(super) fn finish(mut self) -> Vec<Line> {
        self.paint_to(self.text.len(), Label::Plain);
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.lines.push(self.line);
        }
        self.lines
    }
}

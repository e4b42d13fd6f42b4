//! Collects the lines of a transcript, and adds empty lines between blocks.

use ramus_core::turn::Turn;

use super::TextConfig;
use crate::layout;
use crate::span::{Label, Line};

/// What kind of line was written last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum LastWritten {
    #[default]
    Start,
    /// A speaker's header. Text follows without an empty line.
    Header,
    /// One of several lines without empty lines between them, such as tool calls.
    Row,
    Block,
}

pub(super) struct LineWriter<'p, 'a> {
    pub(super) config: &'p TextConfig<'a>,
    /// Gets each line as soon as it is drawn.
    pub(super) out: &'p mut dyn FnMut(Line),
    pub(super) last: LastWritten,
}

impl LineWriter<'_, '_> {
    /// Returns the width that a margin leaves for text.
    pub(super) fn text_width(&self, margin: usize) -> usize {
        self.config.width.saturating_sub(margin).max(12)
    }

    /// Writes a header with the speaker, time and uuid of a turn.
    pub(super) fn write_header(&mut self, mut header: Line, turn: &Turn) {
        self.push_gap(LastWritten::Header);
        for (text, label) in [
            (turn.time.map(self.config.time), Label::Time),
            (turn.short_uuid.clone(), Label::Dim),
            (turn.recovered.then(|| "recovered from a damaged line".to_owned()), Label::Warning),
        ] {
            if let Some(text) = text.filter(|text| !text.is_empty()) {
                header.push("  ", Label::Plain);
                header.push(&text, label);
            }
        }
        (self.out)(layout::truncate_line(&header, self.config.width));
    }

    /// Writes one line, truncated to the width.
    pub(super) fn write_row(&mut self, line: &Line) {
        self.push_gap(LastWritten::Row);
        (self.out)(layout::truncate_line(line, self.config.width));
    }

    /// Writes a block of lines, each after `margin`.
    pub(super) fn write_block(&mut self, lines: &[Line], margin: &Line) {
        if lines.is_empty() {
            return;
        }
        self.push_gap(LastWritten::Block);
        lines.iter().for_each(|line| self.push_line(line, margin));
    }

    /// Writes lines that belong to the row before them.
    pub(super) fn write_below(&mut self, lines: &[Line], margin: &Line) {
        lines.iter().for_each(|line| self.write_line_below(line, margin));
    }

    /// Writes one such line.
    pub(super) fn write_line_below(&mut self, line: &Line, margin: &Line) {
        self.push_line(line, margin);
        self.last = LastWritten::Block;
    }

    fn push_line(&mut self, line: &Line, margin: &Line) {
        let mut whole = margin.clone();
        whole.append(line);
        if line.is_empty() && margin.to_text().trim().is_empty() {
            whole = Line::default();
        }
        (self.out)(whole);
    }

    fn push_gap(&mut self, next: LastWritten) {
        let together = match self.last {
            LastWritten::Start | LastWritten::Header => true,
            LastWritten::Row => next == LastWritten::Row,
            LastWritten::Block => false,
        };
        if !together {
            (self.out)(Line::default());
        }
        self.last = next;
    }
}

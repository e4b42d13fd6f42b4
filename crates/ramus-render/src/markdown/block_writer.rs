//! Collects finished lines inside open quotes and list items.

use crate::span::Line;

/// The lines so far, and the prefix of further lines.
#[derive(Default)]
pub(super) struct BlockWriter {
    pub(super) lines: Vec<Line>,
    /// Whether a blank line is due before the next block.
    pub(super) gap: bool,
    width: usize,
    containers: Vec<Container>,
    /// The total width of their marks.
    indent: usize,
    /// How many more containers are open, nested too deep for marks.
    hidden: usize,
}

/// A quote or list item.
struct Container {
    /// The prefix of its first line, until that line is written.
    first: Option<Line>,
    /// The prefix of every other line, with the same width.
    rest: Line,
}

impl BlockWriter {
    pub(super) fn new(width: usize) -> Self {
        Self { width, ..Self::default() }
    }

    /// Returns the width that is left for text.
    pub(super) fn text_width(&self) -> usize {
        self.width.saturating_sub(self.indent).max(1)
    }

    /// Starts a container. If it would leave less than a third of the width for text, it gets no
    /// marks.
    pub(super) fn open_container(&mut self, first: Line, rest: Line) {
        let indent = self.indent + rest.width();
        if self.hidden > 0 || indent > self.width * 2 / 3 {
            self.hidden += 1;
            return;
        }
        self.indent = indent;
        self.containers.push(Container { first: Some(first), rest });
    }

    /// Ends the innermost container. An empty one still shows its mark.
    pub(super) fn close_container(&mut self) {
        if self.hidden > 0 {
            self.hidden -= 1;
            return;
        }
        if self.containers.last().is_some_and(|container| container.first.is_some()) {
            self.write_line(&Line::default());
        }
        let closed = self.containers.pop();
        self.indent -= closed.map_or(0, |container| container.rest.width());
    }

    pub(super) fn write_line(&mut self, line: &Line) {
        let mut full = Line::default();
        for container in &mut self.containers {
            match container.first.take() {
                Some(first) => full.append(&first),
                None => full.append(&container.rest),
            }
        }
        full.append(line);
        self.lines.push(trim_line_end(full));
    }

    /// Writes the blank line that is due. A container without its first line has not begun, so the
    /// blank line is before it.
    pub(super) fn write_blank(&mut self) {
        if !std::mem::take(&mut self.gap) || self.lines.is_empty() {
            return;
        }
        let mut line = Line::default();
        for container in self.containers.iter().take_while(|container| container.first.is_none()) {
            line.append(&container.rest);
        }
        self.lines.push(trim_line_end(line));
    }
}

/// Returns the line without trailing spaces.
fn trim_line_end(mut line: Line) -> Line {
    while let Some(last) = line.0.pop_if(|span| span.text().ends_with(' ')) {
        let text = last.text().trim_end_matches(' ');
        if !text.is_empty() {
            line.push(text, last.label);
        }
    }
    line
}

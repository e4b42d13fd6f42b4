//! Shortens, numbers, highlights and wraps texts.

use super::{TextConfig, amount};
use crate::diff::{self, DiffConfig, Hunk};
use crate::span::{Label, Line};
use crate::{
    highlight::{self, Highlight},
    layout, markdown, printed,
};

/// How many lines of a text are shown, unless in full.
const SHOWN: usize = 24;
/// How many of them are from the end, if the end matters.
pub(super) const TAIL: usize = 8;
/// How many rows one line of output may take, unless in full.
const ROWS: usize = 4;

/// The available width, and whether to shorten long texts.
pub(super) struct View {
    pub(super) room: usize,
    full: bool,
    highlight: Highlight,
}

impl View {
    pub(super) fn new(config: &TextConfig<'_>, room: usize) -> Self {
        Self { room, full: config.full, highlight: config.highlight }
    }

    /// Draws a diff, shortened unless in full.
    pub(super) fn hunks(&self, mut hunks: Vec<Hunk>, numbers: bool) -> Vec<Line> {
        let mut left = if self.full { usize::MAX } else { 2 * SHOWN };
        let mut hidden = 0;
        for hunk in &mut hunks {
            hidden += hunk.lines.len().saturating_sub(left);
            hunk.lines.truncate(left);
            left -= hunk.lines.len();
        }
        hunks.retain(|hunk| !hunk.lines.is_empty());
        let config = DiffConfig { numbers, ..DiffConfig::default() };
        let drawn = diff::patch(&hunks, &config);
        let mut lines = Vec::new();
        for mut line in drawn {
            let numbered = line.0.first().is_some_and(|span| span.label == Label::LineNumber);
            let margin = if numbered { Line(vec![line.0.remove(0)]) } else { Line::default() };
            lines.extend(self.beside(margin, &line));
        }
        lines.extend(self.left_out(hidden));
        lines
    }

    /// Highlights code, numbered from `first`, shortened unless in full.
    pub(super) fn code(&self, language: &str, text: &str, first: Option<usize>) -> Vec<Line> {
        let text = text.trim_end_matches('\n');
        let all = text.lines().count();
        let shown = if self.full || all <= SHOWN + 2 { all } else { SHOWN };
        let end = line_end(text, shown);
        let last = first.unwrap_or(0).saturating_add(shown);
        let digits = last.to_string().len();
        let mut lines = Vec::new();
        let language = match self.highlight {
            Highlight::On => language,
            Highlight::Off => "",
        };
        for (index, line) in highlight::code(language, &text[..end]).into_iter().enumerate() {
            let number = first.map(|first| format!("{:>digits$} ", first.saturating_add(index)));
            let margin = Line::new(&number.unwrap_or_default(), Label::LineNumber);
            lines.extend(self.beside(margin, &line));
        }
        lines.extend(self.left_out(all - shown));
        lines
    }

    /// Wraps a text, shortened unless in full; `tail` lines are kept from its end.
    pub(super) fn cut(&self, text: &str, label: Label, tail: usize) -> Vec<Line> {
        let mut all = printed::lines(text.trim_matches('\n'), label);
        while all.pop_if(|line| line.is_empty()).is_some() {}
        let line = |line: &Line| self.folded(line, self.room);
        if self.full || all.len() <= SHOWN + 2 {
            return all.iter().flat_map(line).collect();
        }
        let (head, rest) = all.split_at(SHOWN - tail);
        let (hidden, end) = rest.split_at(rest.len() - tail);
        let mut lines: Vec<Line> = head.iter().flat_map(line).collect();
        lines.extend(self.left_out(hidden.len()));
        lines.extend(end.iter().flat_map(line));
        lines
    }

    /// Wraps a line next to its number.
    fn beside(&self, mut margin: Line, line: &Line) -> Vec<Line> {
        let indent = " ".repeat(margin.width());
        let mut rows = Vec::new();
        for part in self.folded(line, self.room.saturating_sub(indent.len()).max(1)) {
            margin.append(&part);
            rows.push(std::mem::replace(&mut margin, Line::plain(&indent)));
        }
        rows
    }

    fn folded(&self, line: &Line, room: usize) -> Vec<Line> {
        if self.full {
            return layout::fold(line, room);
        }
        layout::fold(&layout::truncate(line, room * ROWS), room)
    }

    fn left_out(&self, lines: usize) -> Option<Line> {
        let text = format!("… {} left out", amount::count(lines, "line"));
        (lines > 0).then(|| layout::truncate(&Line::new(&text, Label::Note), self.room))
    }

    /// Renders Markdown, shortened unless in full.
    pub(super) fn markdown(&self, text: &str) -> Vec<Line> {
        let mut lines = markdown::lines(text, self.room, self.highlight);
        if !self.full && lines.len() > SHOWN + 2 {
            let hidden = lines.len() - SHOWN;
            lines.truncate(SHOWN);
            lines.extend(self.left_out(hidden));
        }
        lines
    }
}

/// Returns the end offset of the first `lines` lines of a text.
fn line_end(text: &str, lines: usize) -> usize {
    text.match_indices('\n').nth(lines.saturating_sub(1)).map_or(text.len(), |(at, _)| at)
}

/// Wraps a text outside of a tool call, shortened unless in full.
pub(super) fn shortened(
    text: &str,
    label: Label,
    config: &TextConfig<'_>,
    room: usize,
) -> Vec<Line> {
    View::new(config, room).cut(text, label, 0)
}

/// Highlights a file outside of a tool call, shortened unless in full.
pub(super) fn code(path: &str, text: &str, config: &TextConfig<'_>, room: usize) -> Vec<Line> {
    View::new(config, room).code(path, text, None)
}

/// Renders Markdown outside of a tool call, shortened unless in full.
pub(super) fn shortened_markdown(text: &str, config: &TextConfig<'_>, room: usize) -> Vec<Line> {
    View::new(config, room).markdown(text)
}

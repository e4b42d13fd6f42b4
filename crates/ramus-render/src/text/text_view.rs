//! Shortens, numbers, highlights and wraps texts.

use super::{TextConfig, amounts};
use crate::diff::{self, DiffConfig, DiffHunk};
use crate::span::{Label, Line};
use crate::{
    highlight::{self, Highlight},
    layout, markdown, program_output,
};

/// How many lines of a text are shown, unless in full.
const MAX_LINES: usize = 24;
/// How many of them are from the end, if the end matters.
pub(super) const TAIL_LINES: usize = 8;
/// How many rows one line of output may take, unless in full.
const MAX_ROWS: usize = 4;

/// The available width, and whether to shorten long texts.
pub(super) struct TextView {
    pub(super) width: usize,
    full: bool,
    highlight: Highlight,
}

impl TextView {
    pub(super) fn new(config: &TextConfig<'_>, width: usize) -> Self {
        Self { width, full: config.full, highlight: config.highlight }
    }

    /// Draws a diff, shortened unless in full.
    pub(super) fn diff_lines(&self, mut hunks: Vec<DiffHunk>, numbers: bool) -> Vec<Line> {
        let mut left = if self.full { usize::MAX } else { 2 * MAX_LINES };
        let mut hidden = 0;
        for hunk in &mut hunks {
            hidden += hunk.lines.len().saturating_sub(left);
            hunk.lines.truncate(left);
            left -= hunk.lines.len();
        }
        hunks.retain(|hunk| !hunk.lines.is_empty());
        let config = DiffConfig { numbers, ..DiffConfig::default() };
        let drawn = diff::patch_lines(&hunks, &config);
        let mut lines = Vec::new();
        for mut line in drawn {
            let numbered = line.0.first().is_some_and(|span| span.label == Label::LineNumber);
            let margin = if numbered { Line(vec![line.0.remove(0)]) } else { Line::default() };
            lines.extend(self.numbered_rows(margin, &line));
        }
        lines.extend(self.left_out_line(hidden));
        lines
    }

    /// Highlights code, numbered from `first`, shortened unless in full.
    pub(super) fn code_lines(&self, language: &str, text: &str, first: Option<usize>) -> Vec<Line> {
        let text = text.trim_end_matches('\n');
        let all = text.lines().count();
        let shown = if self.full || all <= MAX_LINES + 2 { all } else { MAX_LINES };
        let end = line_end(text, shown);
        let last = first.unwrap_or(0).saturating_add(shown);
        let digits = last.to_string().len();
        let mut lines = Vec::new();
        let language = match self.highlight {
            Highlight::On => language,
            Highlight::Off => "",
        };
        for (index, line) in
            highlight::highlight_code(language, &text[..end]).into_iter().enumerate()
        {
            let number = first.map(|first| format!("{:>digits$} ", first.saturating_add(index)));
            let margin = Line::new(&number.unwrap_or_default(), Label::LineNumber);
            lines.extend(self.numbered_rows(margin, &line));
        }
        lines.extend(self.left_out_line(all - shown));
        lines
    }

    /// Wraps a text, shortened unless in full; `tail` lines are kept from its end.
    pub(super) fn cut_lines(&self, text: &str, label: Label, tail: usize) -> Vec<Line> {
        if self.full {
            let mut lines = Vec::new();
            self.write_whole(text, label, &mut |line| lines.push(line));
            return lines;
        }
        let mut all = program_output::output_lines(text.trim_matches('\n'), label);
        while all.pop_if(|line| line.is_empty()).is_some() {}
        let line = |line: &Line| self.fold_rows(line, self.width);
        if all.len() <= MAX_LINES + 2 {
            return all.iter().flat_map(line).collect();
        }
        let (head, rest) = all.split_at(MAX_LINES - tail);
        let (hidden, end) = rest.split_at(rest.len() - tail);
        let mut lines: Vec<Line> = head.iter().flat_map(line).collect();
        lines.extend(self.left_out_line(hidden.len()));
        lines.extend(end.iter().flat_map(line));
        lines
    }

    /// Wraps a text in full and passes its lines on one by one: together they take many times its memory.
    pub(super) fn write_whole(&self, text: &str, label: Label, out: &mut dyn FnMut(Line)) {
        let mut empty = 0;
        program_output::each_output_line(text.trim_matches('\n'), label, &mut |line| {
            if line.is_empty() {
                // Empty lines at the end are left out.
                empty += 1;
                return;
            }
            for _ in 0..std::mem::take(&mut empty) {
                out(Line::default());
            }
            self.fold_rows(&line, self.width).into_iter().for_each(&mut *out);
        });
    }

    /// Wraps a line next to its number.
    fn numbered_rows(&self, mut margin: Line, line: &Line) -> Vec<Line> {
        let indent = " ".repeat(margin.width());
        let mut rows = Vec::new();
        for part in self.fold_rows(line, self.width.saturating_sub(indent.len()).max(1)) {
            margin.append(&part);
            rows.push(std::mem::replace(&mut margin, Line::plain(&indent)));
        }
        rows
    }

    fn fold_rows(&self, line: &Line, room: usize) -> Vec<Line> {
        if self.full {
            return layout::fold_line(line, room);
        }
        layout::fold_line(&layout::truncate_line(line, room * MAX_ROWS), room)
    }

    fn left_out_line(&self, lines: usize) -> Option<Line> {
        let text = format!("… {} left out", amounts::count_noun(lines, "line"));
        (lines > 0).then(|| layout::truncate_line(&Line::new(&text, Label::Note), self.width))
    }

    /// Renders Markdown, shortened unless in full.
    pub(super) fn markdown_lines(&self, text: &str) -> Vec<Line> {
        let mut lines = markdown::markdown_lines(text, self.width, self.highlight);
        if !self.full && lines.len() > MAX_LINES + 2 {
            let hidden = lines.len() - MAX_LINES;
            lines.truncate(MAX_LINES);
            lines.extend(self.left_out_line(hidden));
        }
        lines
    }
}

/// Returns the end offset of the first `lines` lines of a text.
fn line_end(text: &str, lines: usize) -> usize {
    text.match_indices('\n').nth(lines.saturating_sub(1)).map_or(text.len(), |(at, _)| at)
}

/// Wraps a text outside of a tool call, shortened unless in full.
pub(super) fn shortened_text(
    text: &str,
    label: Label,
    config: &TextConfig<'_>,
    room: usize,
) -> Vec<Line> {
    TextView::new(config, room).cut_lines(text, label, 0)
}

/// Highlights a file outside of a tool call, shortened unless in full.
pub(super) fn shortened_code(
    path: &str,
    text: &str,
    config: &TextConfig<'_>,
    room: usize,
) -> Vec<Line> {
    TextView::new(config, room).code_lines(path, text, None)
}

/// Renders Markdown outside of a tool call, shortened unless in full.
pub(super) fn shortened_markdown(text: &str, config: &TextConfig<'_>, room: usize) -> Vec<Line> {
    TextView::new(config, room).markdown_lines(text)
}

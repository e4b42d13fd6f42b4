//! Lays out two texts in two columns, or one after the other.

use similar::ChangeTag;

use super::CompareConfig;
use crate::diff;
use crate::layout;
use crate::span::{Label, Line, Span};
use crate::text::amounts::count_noun;

/// The text between the two columns.
const GUTTER: &str = " │ ";
/// How many lines of a block are shown, unless in full.
const MAX_LINES: usize = 28;
/// How many of them are from the end.
const TAIL_LINES: usize = 10;

/// The kind of text that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ComparedText {
    /// Messages: wrapped at spaces, shown completely.
    Prose,
    /// File contents: broken anywhere, shown only around changes.
    Code,
    /// A list with one item per line, shown completely.
    List,
}

pub(super) struct ComparisonWriter<'a> {
    pub(super) config: &'a CompareConfig<'a>,
    /// What was not printed yet.
    pub(super) out: Vec<Line>,
    /// Whether the line printed last has a text.
    is_gap_needed: bool,
}

impl<'a> ComparisonWriter<'a> {
    pub(super) fn new(config: &'a CompareConfig<'a>) -> Self {
        Self { config, out: Vec::new(), is_gap_needed: false }
    }

    /// Prints the lines written so far.
    pub(super) fn print_lines<E>(
        &mut self,
        print: &mut dyn FnMut(Line) -> Result<(), E>,
    ) -> Result<(), E> {
        self.is_gap_needed = self.has_text_above();
        self.out.drain(..).try_for_each(print)
    }

    fn has_text_above(&self) -> bool {
        self.out.last().map_or(self.is_gap_needed, |line| !line.is_empty())
    }

    /// Returns the width for the text of one side.
    pub(super) fn column_width(&self) -> usize {
        let width = self.config.width;
        let room = if self.config.side_by_side {
            width.saturating_sub(layout::display_width(GUTTER)) / 2
        } else {
            width.saturating_sub(2)
        };
        room.max(12)
    }

    pub(super) fn write_heading(&mut self, text: &str) {
        self.write_gap();
        let rest = self.config.width.saturating_sub(layout::display_width(text) + 4);
        let line = Line::new("── ", Label::Dim).with(text, Label::Heading);
        self.out.push(line.with(&format!(" {}", "─".repeat(rest)), Label::Dim));
    }

    fn write_gap(&mut self) {
        if self.has_text_above() {
            self.out.push(Line::default());
        }
    }

    /// Writes an empty row between two blocks of a section.
    pub(super) fn write_space(&mut self) {
        if self.config.side_by_side {
            self.write_row([None, None], [Label::Plain; 2], "");
        } else {
            self.write_gap();
        }
    }

    /// Writes text that both sides have.
    pub(super) fn write_same(&mut self, lines: Vec<Line>) {
        for line in self.shorten_lines(lines) {
            self.write_row([Some(line.clone()), Some(line)], [Label::Plain; 2], "  ");
        }
    }

    /// Writes two unrelated blocks.
    pub(super) fn write_blocks(&mut self, a: Vec<Line>, b: Vec<Line>) {
        let labels = [Label::Removed, Label::Added];
        let [a, b] = [(a, labels[0]), (b, labels[1])].map(|(lines, label)| {
            let lines = lines.into_iter().map(|line| line.with_default_label(label));
            self.shorten_lines(lines.collect())
        });
        self.write_rows(a, b, labels);
    }

    /// Writes the differences between two texts.
    pub(super) fn write_differences(&mut self, a: &str, b: &str, text: ComparedText) {
        let hunks = match text {
            ComparedText::Code => diff::diff_hunks(a, b, 3),
            // For messages a missing last newline does not matter.
            _ => diff::diff_hunks(&format!("{a}\n"), &format!("{b}\n"), usize::MAX / 4),
        };
        if hunks.is_empty() {
            let lines =
                a.lines().flat_map(|line| self.break_line(&Line::plain(line), text)).collect();
            return self.write_same(lines);
        }
        let before = self.out.len();
        for hunk in &hunks {
            if text == ComparedText::Code {
                let header = format!("@@ -{} +{} @@", hunk.old_start, hunk.new_start);
                self.out.push(Line::new(&format!("  {header}"), Label::Hunk));
            }
            self.write_changes(&diff::mark_changes(&hunk.lines), text);
        }
        let drawn = self.out.split_off(before);
        let shown = self.shorten_lines_to(
            drawn,
            if text == ComparedText::Code { 2 * MAX_LINES } else { MAX_LINES },
        );
        self.out.extend(shown);
    }

    fn write_changes(&mut self, changes: &[diff::DiffLine], text: ComparedText) {
        let mut rest = changes;
        while let Some(first) = rest.first() {
            if first.tag == Some(ChangeTag::Equal) {
                let lines = self.break_line(&without_sign(&first.line), text);
                for line in lines {
                    self.write_row([Some(line.clone()), Some(line)], [Label::Plain; 2], "  ");
                }
                rest = &rest[1..];
                continue;
            }
            let equal = |change: &diff::DiffLine| change.tag == Some(ChangeTag::Equal);
            let end = rest.iter().position(equal).unwrap_or(rest.len());
            let (run, after) = rest.split_at(end);
            // In prose only the changed words are coloured, so that they stand out.
            let calm = text == ComparedText::Prose
                && run.iter().any(|change| change.line.0.iter().any(is_strong));
            let lines = |tag| -> Vec<Vec<Line>> {
                let changes = run.iter().filter(|change| change.tag == Some(tag));
                let lines = changes.map(|change| without_sign(&change.line));
                let lines = lines.map(|line| if calm { without_plain_color(&line) } else { line });
                lines.map(|line| self.break_line(&line, text)).collect()
            };
            let (a, b) = (lines(ChangeTag::Delete), lines(ChangeTag::Insert));
            self.write_replaced(a, b, text);
            rest = after;
        }
    }

    /// Writes changed lines. In columns each starts next to the line it replaces.
    fn write_replaced(&mut self, a: Vec<Vec<Line>>, b: Vec<Vec<Line>>, text: ComparedText) {
        let labels = [Label::Removed, Label::Added];
        if !self.config.side_by_side && text == ComparedText::Code {
            a.into_iter().for_each(|line| self.write_signed(line, labels[0], "- "));
            b.into_iter().for_each(|line| self.write_signed(line, labels[1], "+ "));
            return;
        }
        if !self.config.side_by_side {
            return self.write_rows(a.concat(), b.concat(), labels);
        }
        let (mut a, mut b) = (a.into_iter(), b.into_iter());
        loop {
            let (left, right) = (a.next(), b.next());
            if left.is_none() && right.is_none() {
                return;
            }
            self.write_rows(left.unwrap_or_default(), right.unwrap_or_default(), labels);
        }
    }

    /// Writes the rows of one line of code. Only the first has the `+` or `-`.
    fn write_signed(&mut self, pieces: Vec<Line>, label: Label, sign: &str) {
        for (index, piece) in pieces.into_iter().enumerate() {
            let sign = if index == 0 { sign } else { "  " };
            self.write_row([Some(piece), None], [label; 2], sign);
        }
    }

    fn write_rows(&mut self, a: Vec<Line>, b: Vec<Line>, labels: [Label; 2]) {
        if !self.config.side_by_side {
            a.into_iter().for_each(|line| self.write_row([Some(line), None], labels, "- "));
            b.into_iter().for_each(|line| self.write_row([None, Some(line)], labels, "+ "));
            return;
        }
        let (mut a, mut b) = (a.into_iter(), b.into_iter());
        loop {
            let pair = [a.next(), b.next()];
            if pair.iter().all(Option::is_none) {
                return;
            }
            self.write_row(pair, labels, "");
        }
    }

    /// Writes one row: both columns, or the one side after its `+` or `-`.
    fn write_row(&mut self, [a, b]: [Option<Line>; 2], labels: [Label; 2], sign: &str) {
        if self.config.side_by_side {
            let room = self.column_width();
            let fit = |line: Option<Line>| layout::truncate_line(&line.unwrap_or_default(), room);
            let mut row = layout::pad_line(fit(a), room);
            row.push(GUTTER, Label::Dim);
            row.append(&fit(b));
            return self.out.push(row);
        }
        let label = if a.is_some() { labels[0] } else { labels[1] };
        let mut row = Line::new(sign, label);
        row.append(&a.or(b).unwrap_or_default());
        self.out.push(layout::truncate_line(&row, self.config.width));
    }

    fn break_line(&self, line: &Line, text: ComparedText) -> Vec<Line> {
        match text {
            ComparedText::Prose => layout::wrap_line(line, self.column_width(), 0),
            ComparedText::Code => layout::fold_line(line, self.column_width()),
            ComparedText::List => vec![layout::truncate_line(line, self.column_width())],
        }
    }

    pub(super) fn shorten_lines(&self, lines: Vec<Line>) -> Vec<Line> {
        self.shorten_lines_to(lines, MAX_LINES)
    }

    fn shorten_lines_to(&self, mut lines: Vec<Line>, shown: usize) -> Vec<Line> {
        if self.config.full || lines.len() <= shown + 2 {
            return lines;
        }
        let hidden = lines.len() - shown;
        let tail = lines.split_off(lines.len() - TAIL_LINES);
        lines.truncate(shown - TAIL_LINES);
        lines.push(Line::new(&format!("… {} left out", count_noun(hidden, "line")), Label::Note));
        lines.extend(tail);
        lines
    }
}

/// Removes the `+` or `-` at the beginning of a diff line.
fn without_sign(line: &Line) -> Line {
    let mut rest = line.clone();
    if let Some(first) = rest.0.first_mut() {
        let text = first.text().chars().skip(1).collect::<String>();
        *first = Span::new(&text, first.label);
    }
    rest
}

fn is_strong(span: &Span) -> bool {
    matches!(span.label, Label::AddedStrong | Label::RemovedStrong)
}

/// Removes the colour of all words that do not differ.
fn without_plain_color(line: &Line) -> Line {
    let mut calm = Line::default();
    for span in &line.0 {
        calm.push(span.text(), if is_strong(span) { span.label } else { Label::Plain });
    }
    calm
}

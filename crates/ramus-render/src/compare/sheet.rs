//! Lays out two texts in two columns, or one after the other.

use similar::ChangeTag;

use super::CompareConfig;
use crate::diff;
use crate::layout;
use crate::span::{Label, Line, Span};
use crate::text::amount::count;

/// The text between the two columns.
const GUTTER: &str = " │ ";
/// How many lines of a block are shown, unless in full.
const SHOWN: usize = 28;
/// How many of them are from the end.
const TAIL: usize = 10;

/// The kind of text that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Text {
    /// Messages: wrapped at spaces, shown completely.
    Prose,
    /// File contents: broken anywhere, shown only around changes.
    Code,
    /// A list with one item per line, shown completely.
    List,
}

pub(super) struct Sheet<'a> {
    pub(super) config: &'a CompareConfig<'a>,
    pub(super) out: Vec<Line>,
}

impl<'a> Sheet<'a> {
    pub(super) fn new(config: &'a CompareConfig<'a>) -> Self {
        Self { config, out: Vec::new() }
    }

    /// Returns the width for the text of one side.
    pub(super) fn room(&self) -> usize {
        let width = self.config.width;
        let room = if self.config.side_by_side {
            width.saturating_sub(layout::width(GUTTER)) / 2
        } else {
            width.saturating_sub(2)
        };
        room.max(12)
    }

    pub(super) fn heading(&mut self, text: &str) {
        self.gap();
        let rest = self.config.width.saturating_sub(layout::width(text) + 4);
        let line = Line::new("── ", Label::Dim).with(text, Label::Heading);
        self.out.push(line.with(&format!(" {}", "─".repeat(rest)), Label::Dim));
    }

    fn gap(&mut self) {
        if self.out.last().is_some_and(|line| !line.is_empty()) {
            self.out.push(Line::default());
        }
    }

    /// Writes an empty row between two blocks of a section.
    pub(super) fn space(&mut self) {
        if self.config.side_by_side {
            self.row([None, None], [Label::Plain; 2], "");
        } else {
            self.gap();
        }
    }

    /// Writes text that both sides have.
    pub(super) fn same(&mut self, lines: Vec<Line>) {
        for line in self.shortened(lines) {
            self.row([Some(line.clone()), Some(line)], [Label::Plain; 2], "  ");
        }
    }

    /// Writes two unrelated blocks.
    pub(super) fn blocks(&mut self, a: Vec<Line>, b: Vec<Line>) {
        let labels = [Label::Removed, Label::Added];
        let [a, b] = [(a, labels[0]), (b, labels[1])].map(|(lines, label)| {
            let lines = lines.into_iter().map(|line| line.within(label));
            self.shortened(lines.collect())
        });
        self.rows(a, b, labels);
    }

    /// Writes the differences between two texts.
    pub(super) fn differences(&mut self, a: &str, b: &str, text: Text) {
        let hunks = match text {
            Text::Code => diff::hunks(a, b, 3),
            // For messages a missing last newline does not matter.
            _ => diff::hunks(&format!("{a}\n"), &format!("{b}\n"), usize::MAX / 4),
        };
        if hunks.is_empty() {
            let lines = a.lines().flat_map(|line| self.broken(&Line::plain(line), text)).collect();
            return self.same(lines);
        }
        let before = self.out.len();
        for hunk in &hunks {
            if text == Text::Code {
                let header = format!("@@ -{} +{} @@", hunk.old_start, hunk.new_start);
                self.out.push(Line::new(&format!("  {header}"), Label::Hunk));
            }
            self.changes(&diff::changes(&hunk.lines), text);
        }
        let drawn = self.out.split_off(before);
        let shown = self.shortened_to(drawn, if text == Text::Code { 2 * SHOWN } else { SHOWN });
        self.out.extend(shown);
    }

    fn changes(&mut self, changes: &[diff::Change], text: Text) {
        let mut rest = changes;
        while let Some(first) = rest.first() {
            if first.tag == Some(ChangeTag::Equal) {
                let lines = self.broken(&unsigned(&first.line), text);
                for line in lines {
                    self.row([Some(line.clone()), Some(line)], [Label::Plain; 2], "  ");
                }
                rest = &rest[1..];
                continue;
            }
            let equal = |change: &diff::Change| change.tag == Some(ChangeTag::Equal);
            let end = rest.iter().position(equal).unwrap_or(rest.len());
            let (run, after) = rest.split_at(end);
            // In prose only the changed words are coloured, so that they stand out.
            let calm =
                text == Text::Prose && run.iter().any(|change| change.line.0.iter().any(strong));
            let lines = |tag| -> Vec<Vec<Line>> {
                let changes = run.iter().filter(|change| change.tag == Some(tag));
                let lines = changes.map(|change| unsigned(&change.line));
                let lines = lines.map(|line| if calm { calmed(&line) } else { line });
                lines.map(|line| self.broken(&line, text)).collect()
            };
            let (a, b) = (lines(ChangeTag::Delete), lines(ChangeTag::Insert));
            self.replaced(a, b, text);
            rest = after;
        }
    }

    /// Writes changed lines. In columns each starts next to the line it replaces.
    fn replaced(&mut self, a: Vec<Vec<Line>>, b: Vec<Vec<Line>>, text: Text) {
        let labels = [Label::Removed, Label::Added];
        if !self.config.side_by_side && text == Text::Code {
            a.into_iter().for_each(|line| self.signed(line, labels[0], "- "));
            b.into_iter().for_each(|line| self.signed(line, labels[1], "+ "));
            return;
        }
        if !self.config.side_by_side {
            return self.rows(a.concat(), b.concat(), labels);
        }
        let (mut a, mut b) = (a.into_iter(), b.into_iter());
        loop {
            let (left, right) = (a.next(), b.next());
            if left.is_none() && right.is_none() {
                return;
            }
            self.rows(left.unwrap_or_default(), right.unwrap_or_default(), labels);
        }
    }

    /// Writes the rows of one line of code. Only the first has the `+` or `-`.
    fn signed(&mut self, pieces: Vec<Line>, label: Label, sign: &str) {
        for (index, piece) in pieces.into_iter().enumerate() {
            let sign = if index == 0 { sign } else { "  " };
            self.row([Some(piece), None], [label; 2], sign);
        }
    }

    fn rows(&mut self, a: Vec<Line>, b: Vec<Line>, labels: [Label; 2]) {
        if !self.config.side_by_side {
            a.into_iter().for_each(|line| self.row([Some(line), None], labels, "- "));
            b.into_iter().for_each(|line| self.row([None, Some(line)], labels, "+ "));
            return;
        }
        let (mut a, mut b) = (a.into_iter(), b.into_iter());
        loop {
            let pair = [a.next(), b.next()];
            if pair.iter().all(Option::is_none) {
                return;
            }
            self.row(pair, labels, "");
        }
    }

    /// Writes one row: both columns, or the one side after its `+` or `-`.
    fn row(&mut self, [a, b]: [Option<Line>; 2], labels: [Label; 2], sign: &str) {
        if self.config.side_by_side {
            let room = self.room();
            let fit = |line: Option<Line>| layout::truncate(&line.unwrap_or_default(), room);
            let mut row = layout::pad(fit(a), room);
            row.push(GUTTER, Label::Dim);
            row.append(&fit(b));
            return self.out.push(row);
        }
        let label = if a.is_some() { labels[0] } else { labels[1] };
        let mut row = Line::new(sign, label);
        row.append(&a.or(b).unwrap_or_default());
        self.out.push(layout::truncate(&row, self.config.width));
    }

    fn broken(&self, line: &Line, text: Text) -> Vec<Line> {
        match text {
            Text::Prose => layout::wrap(line, self.room(), 0),
            Text::Code => layout::fold(line, self.room()),
            Text::List => vec![layout::truncate(line, self.room())],
        }
    }

    pub(super) fn shortened(&self, lines: Vec<Line>) -> Vec<Line> {
        self.shortened_to(lines, SHOWN)
    }

    fn shortened_to(&self, mut lines: Vec<Line>, shown: usize) -> Vec<Line> {
        if self.config.full || lines.len() <= shown + 2 {
            return lines;
        }
        let hidden = lines.len() - shown;
        let tail = lines.split_off(lines.len() - TAIL);
        lines.truncate(shown - TAIL);
        lines.push(Line::new(&format!("… {} left out", count(hidden, "line")), Label::Note));
        lines.extend(tail);
        lines
    }
}

/// Removes the `+` or `-` at the beginning of a diff line.
fn unsigned(line: &Line) -> Line {
    let mut rest = line.clone();
    if let Some(first) = rest.0.first_mut() {
        let text = first.text().chars().skip(1).collect::<String>();
        *first = Span::new(&text, first.label);
    }
    rest
}

fn strong(span: &Span) -> bool {
    matches!(span.label, Label::AddedStrong | Label::RemovedStrong)
}

/// Removes the colour of all words that do not differ.
fn calmed(line: &Line) -> Line {
    let mut calm = Line::default();
    for span in &line.0 {
        calm.push(span.text(), if strong(span) { span.label } else { Label::Plain });
    }
    calm
}

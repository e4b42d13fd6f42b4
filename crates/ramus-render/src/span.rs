//! Text with labels. A label states what a text means, not how it looks.

use std::borrow::Cow;
use std::ops::Range;

use crate::{layout, program_output::OutputStyle, sanitize::sanitize_text};

/// What a piece of text means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Label {
    #[default]
    Plain,
    Prompt,
    Reply,
    Thinking,
    Tool,
    ToolName,
    Error,
    Warning,
    Note,
    Dim,
    Id,
    Time,
    Active,
    Abandoned,
    Branch,
    Heading,
    Strong,
    Emphasis,
    Strike,
    Code,
    Quote,
    Link,
    Added,
    Removed,
    /// The changed words within an added line.
    AddedStrong,
    /// The changed words within a removed line.
    RemovedStrong,
    Hunk,
    LineNumber,
    /// A part of a chart.
    Bar,
    Match,
    /// One of several speakers with different colours. The numbers wrap around.
    Speaker(u8),
    Syntax(SyntaxKind),
    /// Program output with the style that the program printed.
    Output(OutputStyle),
}

/// What a token of source code is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SyntaxKind {
    Keyword,
    String,
    Number,
    Comment,
    Function,
    Type,
    Constant,
    Operator,
    Punctuation,
    Variable,
    Attribute,
    Tag,
}

/// A piece of text with one label.
///
/// The text is private to keep an invariant: it has no control characters and no line
/// breaks, so printing it is safe.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    text: String,
    pub label: Label,
}

impl Span {
    /// Makes a span from any text. Control characters are handled by [`sanitize_text`]; a line
    /// break becomes a space.
    pub fn new(text: &str, label: Label) -> Self {
        Self { text: one_line(text).into_owned(), label }
    }

    pub fn text(&self) -> &str {
        &self.text
    }
}

/// A line of text: spans next to each other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Line(pub Vec<Span>);

impl Line {
    /// Makes a line with one span.
    pub fn new(text: &str, label: Label) -> Self {
        Self::default().with(text, label)
    }

    pub fn plain(text: &str) -> Self {
        Self::new(text, Label::Plain)
    }

    /// Adds text at the end: `Line::plain("at ").with("12:00", Label::Time)`.
    #[must_use]
    pub fn with(mut self, text: &str, label: Label) -> Self {
        self.push(text, label);
        self
    }

    /// Adds another line at the end.
    #[must_use]
    pub fn with_line(mut self, other: &Self) -> Self {
        self.append(other);
        self
    }

    /// Adds text at the end; text with the label of the last span joins it.
    pub fn push(&mut self, text: &str, label: Label) {
        self.push_clean(&one_line(text), label);
    }

    /// Adds text at the end, with some ranges marked as search matches.
    pub fn push_marked(&mut self, text: &str, label: Label, marks: &[Range<usize>]) {
        let mut done = 0;
        for mark in marks {
            self.push(&text[done..mark.start], label);
            self.push(&text[mark.clone()], Label::Match);
            done = mark.end;
        }
        self.push(&text[done..], label);
    }

    /// Adds all spans of another line at the end.
    pub fn append(&mut self, other: &Self) {
        for span in &other.0 {
            self.push_clean(&span.text, span.label);
        }
    }

    /// Gives plain text the label of its surroundings.
    #[must_use]
    pub fn with_default_label(mut self, label: Label) -> Self {
        for span in self.0.iter_mut().filter(|span| span.label == Label::Plain) {
            span.label = label;
        }
        self
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the width of the line in a terminal.
    pub fn width(&self) -> usize {
        self.0.iter().map(|span| layout::display_width(&span.text)).sum()
    }

    /// Returns the text without its labels.
    pub fn to_text(&self) -> String {
        self.0.iter().map(Span::text).collect()
    }

    /// Adds text that came from a span, so it is already sanitized.
    pub(crate) fn push_clean(&mut self, text: &str, label: Label) {
        match self.0.last_mut() {
            _ if text.is_empty() => {}
            Some(last) if last.label == label => last.text.push_str(text),
            _ => self.0.push(Span { text: text.to_owned(), label }),
        }
    }
}

fn one_line(text: &str) -> Cow<'_, str> {
    let clean = sanitize_text(text);
    if clean.contains('\n') { Cow::Owned(clean.replace('\n', " ")) } else { clean }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &Line, expected: &[(&str, Label)]) {
        let spans: Vec<_> = line.0.iter().map(|span| (span.text(), span.label)).collect();
        assert_eq!(spans, expected);
    }

    #[test]
    fn neighbours_of_one_label_join() {
        let line =
            Line::plain("a").with("b", Label::Plain).with("", Label::Id).with("c", Label::Id);
        check(&line, &[("ab", Label::Plain), ("c", Label::Id)]);
    }

    #[test]
    fn a_span_is_one_line_without_controls() {
        let span = Span::new("a\x1b[2Jb\nc\x07", Label::Plain);
        check(&Line(vec![span]), &[("a␛[2Jb c␇", Label::Plain)]);
    }

    #[test]
    fn an_escape_cannot_be_put_together_from_pieces() {
        let line = Line::plain("\x1b").with("]0;title", Label::Plain).with("\x07", Label::Plain);
        check(&line, &[("␛]0;title␇", Label::Plain)]);
    }

    #[test]
    fn surroundings_label_only_plain_text() {
        let line = Line::plain("hm ").with("x", Label::Code).with_default_label(Label::Thinking);
        check(&line, &[("hm ", Label::Thinking), ("x", Label::Code)]);
    }
}

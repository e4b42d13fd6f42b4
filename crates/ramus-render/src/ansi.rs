//! Turns labelled lines into terminal text. Has the one table from labels to terminal styles.

use std::borrow::Cow;

use crate::span::{Label, Line, Span, SyntaxKind};
use crate::symbols::SymbolSet;

/// Maps labels to the parameters of an SGR sequence (`1;31`). Empty: the terminal's default.
#[derive(Clone, Copy, Debug)]
pub struct AnsiTheme {
    pub sgr: fn(Label) -> Cow<'static, str>,
    pub symbols: SymbolSet,
}

impl AnsiTheme {
    /// Base colours and attributes, which the user's terminal theme makes readable. White, black
    /// and bright colours are not used, because each is invisible on some background.
    pub const BASE: Self = Self { sgr: base_sgr, symbols: SymbolSet::Unicode };

    /// No styles at all.
    pub const NONE: Self = Self { sgr: |_| Cow::Borrowed(""), symbols: SymbolSet::Unicode };
}

impl Default for AnsiTheme {
    fn default() -> Self {
        Self::BASE
    }
}

/// Returns the line with escape codes for its labels.
pub fn to_ansi(line: &Line, theme: &AnsiTheme) -> String {
    let mut text = String::new();
    for span in &line.0 {
        let shown = theme.symbols.apply_to(span.text());
        match &*(theme.sgr)(span.label) {
            "" => text.push_str(&shown),
            sgr => text.extend(["\x1b[", sgr, "m", &shown, "\x1b[0m"]),
        }
    }
    text
}

/// Returns the line without its labels.
pub fn plain_text(line: &Line) -> String {
    line.0.iter().map(Span::text).collect()
}

/// Without red, which is for errors.
const SPEAKER_COLORS: [&str; 10] =
    ["36", "35", "32", "33", "34", "1;36", "1;35", "1;32", "1;33", "1;34"];

fn base_sgr(label: Label) -> Cow<'static, str> {
    match label {
        Label::Output(printed) => Cow::Owned(printed.to_sgr()),
        label => Cow::Borrowed(label_sgr(label)),
    }
}

/// Returns the style of a label.
fn label_sgr(label: Label) -> &'static str {
    match label {
        Label::Output(_) => "",
        Label::Plain | Label::Reply | Label::Tool => "",
        Label::Prompt => "1;36",
        Label::Thinking => "2;3",
        Label::ToolName => "1;34",
        Label::Error => "1;31",
        Label::Warning | Label::Branch => "33",
        Label::Note | Label::Quote | Label::Emphasis => "3",
        Label::Dim | Label::Abandoned | Label::LineNumber => "2",
        Label::Id => "35",
        Label::Time => "36",
        Label::Active => "1;32",
        Label::Heading => "1;34",
        Label::Strong => "1",
        Label::Strike => "9",
        Label::Code => "36",
        Label::Link => "4;34",
        Label::Added => "32",
        Label::Removed => "31",
        Label::AddedStrong => "1;7;32",
        Label::RemovedStrong => "1;7;31",
        Label::Hunk => "36",
        Label::Bar => "32",
        Label::Match => "1;7;33",
        Label::Speaker(number) => SPEAKER_COLORS[usize::from(number) % SPEAKER_COLORS.len()],
        Label::Syntax(kind) => syntax_sgr(kind),
    }
}

fn syntax_sgr(kind: SyntaxKind) -> &'static str {
    match kind {
        SyntaxKind::Keyword => "35",
        SyntaxKind::String => "32",
        SyntaxKind::Number | SyntaxKind::Constant => "33",
        SyntaxKind::Comment => "2;3",
        SyntaxKind::Function => "34",
        SyntaxKind::Type | SyntaxKind::Attribute => "36",
        SyntaxKind::Tag => "31",
        SyntaxKind::Operator | SyntaxKind::Punctuation | SyntaxKind::Variable => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &Line, theme: &AnsiTheme, expected: &str) {
        assert_eq!(to_ansi(line, theme), expected);
    }

    #[test]
    fn labels_become_codes() {
        let line = Line::plain("a ").with("b", Label::Error);
        check(&line, &AnsiTheme::BASE, "a \x1b[1;31mb\x1b[0m");
        check(&line, &AnsiTheme::NONE, "a b");
        assert_eq!(plain_text(&line), "a b");
    }

    #[test]
    fn content_cannot_add_control_codes() {
        let line = Line::new("\x1b[0m\x1b]52;c;eA==\x07x\x1b[2J", Label::Code);
        check(&line, &AnsiTheme::BASE, "\x1b[36m␛]52;c;eA==␇x␛[2J\x1b[0m");
    }
}

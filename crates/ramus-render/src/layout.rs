//! Fits lines into columns: measuring, truncating, wrapping and padding.
//!
//! The unit is the grapheme cluster, so flags, emoji families and accents are never split, and
//! East Asian characters count as two columns.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::span::{Label, Line};

/// Returns the width of `text` in terminal columns.
pub fn display_width(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    Clusters(text).map(|(_, width)| width).sum()
}

/// The grapheme clusters of a text, with their widths.
///
/// Most characters are ASCII, and one before another is a cluster of its own: no table has to be searched for it.
struct Clusters<'a>(&'a str);

impl<'a> Iterator for Clusters<'a> {
    type Item = (&'a str, usize);

    fn next(&mut self) -> Option<Self::Item> {
        let is_single = match *self.0.as_bytes() {
            [] => return None,
            [b'\r', b'\n', ..] => false,
            [first] => first.is_ascii(),
            [first, second, ..] => first.is_ascii() && second.is_ascii(),
        };
        let (cluster, width) = if is_single {
            (&self.0[..1], 1)
        } else {
            let cluster = self.0.graphemes(true).next()?;
            (cluster, cluster.width())
        };
        self.0 = &self.0[cluster.len()..];
        Some((cluster, width))
    }
}

/// Truncates a line to `width` columns, ending with `…` if something is cut.
pub fn truncate_line(line: &Line, width: usize) -> Line {
    if line.width() <= width {
        return line.clone();
    }
    let Some(room) = width.checked_sub(1) else { return Line::default() };
    let cells = graphemes_of(line);
    let kept = fitting_count(&cells, room);
    let mut cut = line_from(&cells[..kept]);
    cut.push_clean("…", cells[kept.saturating_sub(1)].label);
    cut
}

/// Returns the longest end of a text that is no wider than `width` columns.
pub fn fitting_end(text: &str, width: usize) -> &str {
    let (mut start, mut left) = (text.len(), width);
    for (at, grapheme) in text.grapheme_indices(true).rev() {
        let Some(rest) = left.checked_sub(grapheme.width()) else { break };
        (start, left) = (at, rest);
    }
    &text[start..]
}

/// Fills a line with spaces up to `width` columns.
#[must_use]
pub fn pad_line(mut line: Line, width: usize) -> Line {
    let missing = width.saturating_sub(line.width());
    line.push_clean(&" ".repeat(missing), Label::Plain);
    line
}

/// The minimum width for wrapped words.
const MIN_WORD_WIDTH: usize = 16;

/// Wraps a line at spaces so that no part is wider than `width`. All parts but the first
/// start with `indent` spaces.
///
/// Spaces at a break are dropped. A word wider than a line is broken like code (see
/// [`fold_line`]). Text in wide characters, which has no spaces, is broken anywhere.
pub fn wrap_line(line: &Line, width: usize, indent: usize) -> Vec<Line> {
    if line.width() <= width {
        return vec![line.clone()];
    }
    let width = width.max(1);
    // If a deep indent leaves too little width for words, use a small one.
    let is_deep = indent * 2 > width && indent + MIN_WORD_WIDTH > width;
    let indent = if is_deep { width / 8 } else { indent };
    let cells = graphemes_of(line);
    let mut page = WrapBuffer { width, indent, lines: Vec::new(), line: Line::default(), used: 0 };
    let mut gap: &[Grapheme<'_>] = &[];
    for word in split_words(&cells) {
        if word[0].text == " " {
            gap = word;
            continue;
        }
        page.add_word(gap, word);
        gap = &[];
    }
    page.lines.push(page.line);
    page.lines
}

/// Breaks a line of code so that no part is wider than `width`.
///
/// Unlike [`wrap_line`] it keeps every character. It breaks after a space or between tokens, if
/// there is such a position in the second half of the width.
pub fn fold_line(line: &Line, width: usize) -> Vec<Line> {
    if line.width() <= width {
        return vec![line.clone()];
    }
    let cells = graphemes_of(line);
    let mut rest = cells.as_slice();
    let mut lines = Vec::new();
    while !rest.is_empty() {
        let full = fitting_count(rest, width).max(1);
        let end = if full < rest.len() { token_break(&rest[..full]) } else { full };
        lines.push(line_from(&rest[..end]));
        rest = &rest[end..];
    }
    lines
}

/// One grapheme cluster of a line.
#[derive(Clone, Copy)]
struct Grapheme<'a> {
    text: &'a str,
    label: Label,
    width: usize,
}

fn graphemes_of(line: &Line) -> Vec<Grapheme<'_>> {
    let mut cells = Vec::new();
    for span in &line.0 {
        let label = span.label;
        cells.extend(Clusters(span.text()).map(|(text, width)| Grapheme { text, label, width }));
    }
    cells
}

fn line_from(cells: &[Grapheme<'_>]) -> Line {
    let mut line = Line::default();
    for cell in cells {
        line.push_clean(cell.text, cell.label);
    }
    line
}

fn total_width(cells: &[Grapheme<'_>]) -> usize {
    cells.iter().map(|cell| cell.width).sum()
}

/// Returns how many cells fit into `width` columns.
fn fitting_count(cells: &[Grapheme<'_>], width: usize) -> usize {
    let mut used = 0;
    let full = cells.iter().position(|cell| {
        used += cell.width;
        used > width
    });
    full.unwrap_or(cells.len())
}

/// Returns the best position to break a full row of code or a long path.
fn token_break(cells: &[Grapheme<'_>]) -> usize {
    let half = cells.len() / 2;
    let after = |is_end: fn(&Grapheme<'_>) -> bool| cells[half..].iter().rposition(is_end);
    after(|cell| cell.text == " ")
        .or_else(|| after(|cell| !cell.text.starts_with(|c: char| c.is_alphanumeric() || c == '_')))
        .map_or(cells.len(), |at| half + at + 1)
}

/// Cuts cells into runs of spaces and unbreakable words.
fn split_words<'c, 'a>(cells: &'c [Grapheme<'a>]) -> impl Iterator<Item = &'c [Grapheme<'a>]> {
    cells.chunk_by(|left, right| match (left.text == " ", right.text == " ") {
        (true, true) => true,
        (false, false) => is_closing(right) || (left.width < 2 && right.width < 2),
        _ => false,
    })
}

/// Whether the cell may not start a line after a wide character.
fn is_closing(cell: &Grapheme<'_>) -> bool {
    matches!(cell.text, "," | "." | "!" | "?" | ";" | ":" | ")" | "]" | "}" | "\"" | "'" | "…")
        || "、。，．！？；：）」』】》〉".contains(cell.text)
}

/// Lines being filled with words.
struct WrapBuffer {
    width: usize,
    indent: usize,
    lines: Vec<Line>,
    line: Line,
    used: usize,
}

impl WrapBuffer {
    fn add_word(&mut self, gap: &[Grapheme<'_>], word: &[Grapheme<'_>]) {
        let after_gap = self.used + total_width(gap);
        if after_gap + total_width(word) <= self.width {
            self.push_graphemes(gap);
            self.push_graphemes(word);
        } else if self.indent + total_width(word) <= self.width {
            self.next_line();
            self.push_graphemes(word);
        } else {
            self.add_long_word(gap, word);
        }
    }

    /// Adds a word that needs more than one line. It starts on this line if at least half of
    /// the line is free, otherwise on a new one.
    fn add_long_word(&mut self, gap: &[Grapheme<'_>], word: &[Grapheme<'_>]) {
        if self.used + total_width(gap) > self.width / 2 {
            self.next_line();
        } else {
            self.push_graphemes(gap);
        }
        let mut rest = word;
        loop {
            let fits = fitting_count(rest, self.width.saturating_sub(self.used));
            // A character wider than the whole line is placed anyway.
            let fits = if self.used <= self.indent { fits.max(1) } else { fits };
            let end = if fits < rest.len() { token_break(&rest[..fits]) } else { fits };
            self.push_graphemes(&rest[..end]);
            rest = &rest[end..];
            if rest.is_empty() {
                return;
            }
            self.next_line();
        }
    }

    fn push_graphemes(&mut self, cells: &[Grapheme<'_>]) {
        for cell in cells {
            self.line.push_clean(cell.text, cell.label);
        }
        self.used += total_width(cells);
    }

    fn next_line(&mut self) {
        if self.used == 0 {
            return;
        }
        self.lines.push(std::mem::take(&mut self.line));
        self.line.push_clean(&" ".repeat(self.indent), Label::Plain);
        self.used = self.indent;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(lines: &[Line], width: usize, expected: &[&str]) {
        let texts: Vec<_> = lines.iter().map(Line::to_text).collect();
        assert_eq!(texts, expected);
        assert!(lines.iter().all(|line| line.width() <= width), "wider than {width}");
    }

    #[track_caller]
    fn check_wrap(text: &str, width: usize, indent: usize, expected: &[&str]) {
        check(&wrap_line(&Line::plain(text), width, indent), width, expected);
    }

    #[test]
    fn widths_are_columns() {
        assert_eq!(
            ["a", "é", "e\u{301}", "漢", "👩‍👩‍👧", "🇩🇪", "✅"].map(display_width),
            [1, 1, 1, 2, 2, 2, 2]
        );
    }

    #[test]
    fn ascii_is_divided_like_any_text() {
        for text in [
            "",
            "plain",
            "e\u{301}a\u{301}",
            "a👩‍👩‍👧b",
            "🇩🇪🇫🇷x🇯🇵",
            "a\r\nb\r",
            "क्षि a",
            "\u{600}1",
            "x\u{200d}y",
        ] {
            let clusters: Vec<_> = Clusters(text).map(|(cluster, _)| cluster).collect();
            assert_eq!(clusters, text.graphemes(true).collect::<Vec<_>>(), "{text:?}");
        }
    }

    #[test]
    fn wraps_at_spaces_and_indents() {
        check_wrap("the quick brown fox", 10, 0, &["the quick", "brown fox"]);
        check_wrap("- the quick brown fox", 10, 2, &["- the", "  quick", "  brown", "  fox"]);
        check_wrap("    code stays put", 12, 0, &["    code", "stays put"]);
        check_wrap("fits", 4, 2, &["fits"]);
    }

    #[test]
    fn breaks_words_wider_than_a_line() {
        check_wrap("abcdefghij", 4, 0, &["abcd", "efgh", "ij"]);
        check_wrap("a bcdefghij", 6, 0, &["a bcde", "fghij"]);
        check_wrap("abcd efghijklm", 6, 1, &["abcd", " efghi", " jklm"]);
        check_wrap("docs/long/architecture.md", 16, 0, &["docs/long/", "architecture.md"]);
    }

    #[test]
    fn wide_text_breaks_between_characters() {
        check_wrap("漢字漢字漢字", 5, 0, &["漢字", "漢字", "漢字"]);
        check_wrap("see 漢字漢字。ok", 8, 0, &["see 漢字", "漢字。ok"]);
        check_wrap("👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧", 4, 0, &["👩‍👩‍👧👩‍👩‍👧", "👩‍👩‍👧"]);
    }

    #[test]
    fn a_column_too_few_loses_nothing() {
        let lines = wrap_line(&Line::plain("漢 字"), 1, 3);
        assert_eq!(lines.iter().map(Line::to_text).collect::<Vec<_>>(), ["漢", "字"]);
        assert_eq!(wrap_line(&Line::plain("ab"), 0, 0).len(), 2);
    }

    #[test]
    fn labels_survive_a_break() {
        let line = Line::plain("one ").with("two three", Label::Strong);
        let expected = [
            Line::plain("one ").with("two", Label::Strong),
            Line::plain("").with("three", Label::Strong),
        ];
        assert_eq!(wrap_line(&line, 8, 0), expected);
    }

    #[test]
    fn the_end_that_fits_is_measured_in_columns() {
        for (text, width, end) in [
            ("abc", 2, "bc"),
            ("abc", 9, "abc"),
            ("abc", 0, ""),
            ("数据", 3, "据"),
            ("xe\u{301}", 1, "e\u{301}"),
            ("", 1, ""),
        ] {
            assert_eq!(fitting_end(text, width), end, "{text} in {width}");
        }
        // A screen is drawn at every key, also after a whole file was pasted.
        let pasted = "é/".repeat(2_000_000);
        assert_eq!(fitting_end(&pasted, 4), "é/é/");
    }

    #[test]
    fn truncates_with_a_sign() {
        let cut = |text, width| truncate_line(&Line::plain(text), width).to_text();
        assert_eq!(cut("hello", 5), "hello");
        assert_eq!(cut("hello!", 5), "hell…");
        assert_eq!(cut("漢字漢字", 6), "漢字…");
        assert_eq!(cut("漢字", 1), "…");
        assert_eq!(cut("x", 0), "");
    }

    #[test]
    fn folds_code_between_tokens() {
        let message = |text| fold_line(&Line::plain(text), 10);
        check(&message("let x = call(1);"), 10, &["let x = ", "call(1);"]);
        check(&message("aaaaaaa.bbbbbbb"), 10, &["aaaaaaa.", "bbbbbbb"]);
        check(&message("aaaaaaaaaaaaaaa"), 10, &["aaaaaaaaaa", "aaaaa"]);
    }

    #[test]
    fn pads_by_columns() {
        assert_eq!(pad_line(Line::plain("漢"), 4).to_text(), "漢  ");
        assert_eq!(pad_line(Line::plain("long"), 2).to_text(), "long");
    }
}

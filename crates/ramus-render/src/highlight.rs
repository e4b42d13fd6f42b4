//! Highlights source code as labelled lines.
//!
//! This is a hand-written scanner. Grammars of regular expressions backtrack, and ordinary code
//! could take seconds. Here every step consumes what it examined, so the work is proportional to
//! the size of the text. It recognizes what base colours can show: comments, strings, numbers,
//! keywords, and the names of functions, types and keys.

use crate::{sanitize::sanitize_text, span::Line};

mod painter;

mod language;

mod code_scanner;

mod shell_scanner;

mod language_table;

mod formats;

use language::Grammar;
use painter::LabelPainter;

/// How many bytes of a text are highlighted; the rest is plain. This limits the memory for labels,
/// which is several times the size of the text.
pub const MAX_HIGHLIGHT_BYTES: usize = 256 * 1024;

/// Whether code is highlighted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Highlight {
    On,
    /// Code stays plain and is not scanned.
    Off,
}

/// Returns the lines of `text`, highlighted. `language` is a name (`rust`), an extension (`rs`) or a
/// file name (`src/main.rs`). An unknown language gives plain text.
pub fn highlight_code(language: &str, text: &str) -> Vec<Line> {
    highlight_limited(language, text, MAX_HIGHLIGHT_BYTES)
}

/// Like [`highlight_code`], with another limit.
pub(crate) fn highlight_limited(language: &str, text: &str, limit: usize) -> Vec<Line> {
    let text = sanitize_text(text);
    let grammar = if limit == 0 { None } else { Grammar::for_language(language) };
    let Some(grammar) = grammar else { return text.lines().map(Line::plain).collect() };
    let mut painter = LabelPainter::new(&text);
    let end = whole_lines_end(&text, limit);
    grammar.scan_text(&text[..end], &mut painter);
    painter.finish()
}

/// Returns the end of the last line within `limit` bytes.
fn whole_lines_end(text: &str, limit: usize) -> usize {
    if text.len() <= limit {
        return text.len();
    }
    memchr::memrchr(b'\n', &text.as_bytes()[..limit]).map_or(0, |newline| newline + 1)
}

#[cfg(test)]
mod tests;

//! Highlights source code as labelled lines.
//!
//! This is a hand-written scanner. Grammars of regular expressions backtrack, and ordinary code
//! could take seconds. Here every step consumes what it looked at, so the work is proportional to
//! the size of the text. It recognizes what base colours can show: comments, strings, numbers,
//! keywords, and the names of functions, types and keys.

use crate::{sanitize::sanitize, span::Line};

mod painter;

mod language;

mod scan;

mod shell;

mod table;

mod formats;

use language::Grammar;
use painter::Painter;

/// How many bytes of a text are highlighted; the rest is plain. This limits the memory for labels,
/// which is several times the size of the text.
pub const LIMIT: usize = 256 * 1024;

/// Whether code is highlighted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Highlight {
    On,
    /// Code stays plain and is not scanned.
    Off,
}

/// Returns the lines of `text`, highlighted. `language` is a name (`rust`), an extension (`rs`) or a
/// file name (`src/main.rs`). An unknown language gives plain text.
pub fn code(language: &str, text: &str) -> Vec<Line> {
    limited_code(language, text, LIMIT)
}

/// Like [`code`], with another limit.
pub(crate) fn limited_code(language: &str, text: &str, limit: usize) -> Vec<Line> {
    let text = sanitize(text);
    let grammar = if limit == 0 { None } else { Grammar::find(language) };
    let Some(grammar) = grammar else { return text.lines().map(Line::plain).collect() };
    let mut painter = Painter::new(&text);
    let end = whole_lines(&text, limit);
    grammar.scan(&text[..end], &mut painter);
    painter.finish()
}

/// Returns the end of the last line within `limit` bytes.
fn whole_lines(text: &str, limit: usize) -> usize {
    if text.len() <= limit {
        return text.len();
    }
    memchr::memrchr(b'\n', &text.as_bytes()[..limit]).map_or(0, |newline| newline + 1)
}

#[cfg(test)]
mod tests;

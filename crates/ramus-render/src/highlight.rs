//! Source code into labelled lines.
//!
//! A scanner of our own, not a set of regular expressions: grammars made of
//! those backtrack, and a page of ordinary code could take seconds. Here every
//! step consumes what it looked at, so the work is proportional to the bytes,
//! whatever they are. It knows what base colours can show: comments, strings,
//! numbers, keywords, names of functions, types and keys.

use crate::{sanitize::sanitize, span::Line};

mod painter;

mod language;

mod scan;

mod shell;

mod table;

mod formats;

use language::Grammar;
use painter::Painter;

/// Bytes of one text that are highlighted; what follows is plain. Bounds the
/// memory for labels, which is several times the size of the text.
pub const LIMIT: usize = 256 * 1024;

/// Whether anybody will see the colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Highlight {
    On,
    /// Code stays plain, without being looked at.
    Off,
}

/// Returns the lines of `text`, highlighted as `language` says: a name
/// (`rust`), an extension (`rs`) or a file name (`src/main.rs`). An unknown
/// language is plain.
pub fn code(language: &str, text: &str) -> Vec<Line> {
    limited_code(language, text, LIMIT)
}

/// Like [`code`], with another number of highlighted bytes.
pub(crate) fn limited_code(language: &str, text: &str, limit: usize) -> Vec<Line> {
    let text = sanitize(text);
    let grammar = if limit == 0 { None } else { Grammar::find(language) };
    let Some(grammar) = grammar else { return text.lines().map(Line::plain).collect() };
    let mut painter = Painter::new(&text);
    let end = whole_lines(&text, limit);
    grammar.scan(&text[..end], &mut painter);
    painter.finish()
}

/// Returns where the last line ends that lies within `limit` bytes.
fn whole_lines(text: &str, limit: usize) -> usize {
    if text.len() <= limit {
        return text.len();
    }
    memchr::memrchr(b'\n', &text.as_bytes()[..limit]).map_or(0, |newline| newline + 1)
}

#[cfg(test)]
mod tests;

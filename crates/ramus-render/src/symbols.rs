//! The symbols of the terminal output, and their ASCII replacements for fonts that lack them.
//!
//! At least half of these fonts have each symbol: DejaVu Sans Mono, Hack, Liberation Mono, Noto Sans
//! Mono, Fira Code, JetBrains Mono. No terminal draws one as a two-column emoji. A test fails if a
//! symbol is used and not listed here (`tests/tidy.rs` of `ramus`).

use std::borrow::Cow;

/// Which set of symbols is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SymbolSet {
    #[default]
    Unicode,
    /// Symbols that every font has.
    Ascii,
}

impl SymbolSet {
    /// Rewrites a text with this set of symbols. Other characters are unchanged.
    pub fn apply_to(self, text: &str) -> Cow<'_, str> {
        if self == Self::Unicode || text.is_ascii() {
            return Cow::Borrowed(text);
        }
        Cow::Owned(text.chars().map(|char| ascii_symbol(char).unwrap_or(char)).collect())
    }
}

/// Returns the ASCII character that replaces a symbol, with the same width. `None`: it is not one of ours.
pub fn ascii_symbol(symbol: char) -> Option<char> {
    Some(match symbol {
        // The tree and the status of branches.
        '●' | '★' => '*',
        '○' => 'o',
        '◉' => '@',
        '◌' => ':',
        '◇' => '#',
        '⊘' => '/',
        '├' | '│' => '|',
        '╰' => '`',
        '╷' | '╭' | '╮' => '.',
        '╯' => '\'',
        '─' | '┄' => '-',
        '┆' | '┊' => ':',
        '━' => '=',
        '┌' | '┐' | '└' | '┘' | '┤' | '┬' | '┴' | '┼' => '+',
        // Events and notes.
        '❯' | '›' | '»' | '►' | '▶' | '▸' | '→' | '↪' | '↳' => '>',
        '‹' | '←' => '<',
        '↑' => '^',
        '↓' | '▾' | '✓' => 'v',
        '•' | '◦' | '·' | '–' | '—' | '−' => '-',
        '×' => 'x',
        '∴' | '≈' | '…' => '~',
        '◆' => '+',
        '◐' => '/',
        '□' => '.',
        '“' | '”' => '"',
        // Bars and charts.
        '▌' | '▎' | '▍' => '|',
        '▏' | '▁' | '▂' => '_',
        '▃' | '░' => '.',
        '▄' => '-',
        '▅' | '▒' => ':',
        '▆' => '+',
        '▇' | '▓' => '%',
        '■' | '█' | '▐' | '▉' | '▊' | '▋' => '#',
        // Visible symbols of control characters.
        '\u{2400}'..='\u{2421}' => '?',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::display_width;

    #[test]
    fn ascii_is_written_on_request_and_leaves_words_alone() {
        let text = "◉ Tee für “zwei” → 漢字";
        assert_eq!(SymbolSet::Unicode.apply_to(text), text);
        assert_eq!(SymbolSet::Ascii.apply_to(text), "@ Tee für \"zwei\" > 漢字");
    }

    #[test]
    fn columns_stay_as_they_are() {
        let ours =
            ('\u{80}'..='\u{ffff}').filter_map(|symbol| Some((symbol, ascii_symbol(symbol)?)));
        for (symbol, plain) in ours {
            assert!(plain.is_ascii_graphic(), "{symbol}");
            assert_eq!(display_width(&symbol.to_string()), 1, "{symbol}");
        }
    }
}

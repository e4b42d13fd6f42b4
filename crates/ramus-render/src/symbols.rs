//! The symbols that the terminal output uses, and what stands for each where a font lacks them.
//!
//! Each was looked up in DejaVu Sans Mono, Hack, Liberation Mono, Noto Sans Mono, Fira Code and
//! JetBrains Mono: at least half of these fonts have it, and no terminal draws it as a picture of
//! two columns. A symbol that is used and not listed here fails a test (`tests/tidy.rs` of `ramus`).

use std::borrow::Cow;

/// Which symbols are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Symbols {
    #[default]
    Unicode,
    /// Those that every font has.
    Ascii,
}

impl Symbols {
    /// Writes a text with these symbols. What is no symbol of ours stays as it is.
    pub fn write(self, text: &str) -> Cow<'_, str> {
        if self == Self::Unicode || text.is_ascii() {
            return Cow::Borrowed(text);
        }
        Cow::Owned(text.chars().map(|char| ascii(char).unwrap_or(char)).collect())
    }
}

/// Returns the ASCII character that stands for a symbol, as wide as it. `None`: it is none of ours.
pub fn ascii(symbol: char) -> Option<char> {
    Some(match symbol {
        // The tree and the state of branches.
        '●' => '*',
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
        // What happened.
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
        // Control characters as they are shown.
        '\u{2400}'..='\u{2421}' => '?',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::width;

    #[test]
    fn ascii_is_written_on_request_and_leaves_words_alone() {
        let text = "◉ Tee für “zwei” → 漢字";
        assert_eq!(Symbols::Unicode.write(text), text);
        assert_eq!(Symbols::Ascii.write(text), "@ Tee für \"zwei\" > 漢字");
    }

    #[test]
    fn columns_stay_as_they_are() {
        let ours = ('\u{80}'..='\u{ffff}').filter_map(|symbol| Some((symbol, ascii(symbol)?)));
        for (symbol, plain) in ours {
            assert!(plain.is_ascii_graphic(), "{symbol}");
            assert_eq!(width(&symbol.to_string()), 1, "{symbol}");
        }
    }
}

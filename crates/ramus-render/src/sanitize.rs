//! Makes untrusted text safe to print.
//!
//! A history contains whatever a tool once printed. Unfiltered, it could set the clipboard,
//! rename the window, hide lines or reorder them. So every control character becomes a visible
//! symbol, and characters that change the reading direction are removed. Codes that only set
//! colours are removed too; [`program_output`](crate::program_output) turns them into labels.

use std::borrow::Cow;

pub use ramus_core::characters::{is_bidi, is_control_like, is_invisible};

const TAB_WIDTH: usize = 4;

/// Returns `text` with only printable characters and `\n`.
///
/// Tabs become spaces up to the next multiple of four columns; `\r\n` becomes `\n`; colour
/// codes are removed. Sanitizing twice changes nothing more.
pub fn sanitize_text(text: &str) -> Cow<'_, str> {
    sanitize_with_codes(text, |_, _| {})
}

/// Like [`sanitize_text`]. `code` gets the parameters of each colour code and the offset in the
/// sanitized text where it takes effect.
pub(crate) fn sanitize_with_codes(text: &str, mut code: impl FnMut(usize, &str)) -> Cow<'_, str> {
    let plain = plain_prefix_len(text);
    if plain == text.len() || !text[plain..].chars().any(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len());
    let mut column = 0;
    let mut rest = text;
    loop {
        // Most text is ASCII and is copied in long runs.
        let (plain, others) = rest.split_at(plain_prefix_len(rest));
        clean.push_str(plain);
        column = match memchr::memrchr(b'\n', plain.as_bytes()) {
            Some(newline) => plain.len() - newline - 1,
            None => column + plain.len(),
        };
        rest = others;
        if let Some((length, parameters)) = color_code(rest) {
            if let Some(parameters) = parameters {
                code(clean.len(), parameters);
            }
            rest = &rest[length..];
            continue;
        }
        let Some(char) = rest.chars().next() else { break };
        rest = &rest[char.len_utf8()..];
        let before = clean.len();
        match char {
            '\n' => column = 0,
            '\t' => clean.extend(std::iter::repeat_n(' ', TAB_WIDTH - column % TAB_WIDTH)),
            '\r' if rest.starts_with('\n') => {}
            // The one-character forms of `ESC @` to `ESC _`.
            '\u{80}'..='\u{9f}' => {
                clean.push('␛');
                clean.extend(char::from_u32(u32::from(char) - 0x40));
            }
            char if is_unsafe(char) => clean.extend(control_symbol(char)),
            char => clean.push(char),
        }
        column += clean[before..].chars().count();
        if char == '\n' {
            clean.push('\n');
        }
    }
    Cow::Owned(clean)
}

/// Returns the length of the colour code (SGR sequence) that a text begins with, and its
/// parameters.
///
/// The parameters are `None` if it sets no colour but accompanies codes that do (`ESC [ K` from
/// grep and gcc, `ESC ( B` from tput), or if it was cut off at the end of its line.
fn color_code(text: &str) -> Option<(usize, Option<&str>)> {
    if text.starts_with("\x1b(B") {
        return Some((3, None));
    }
    let start = ["\x1b[", "\u{9b}"].iter().find(|start| text.starts_with(**start))?.len();
    let is_parameter = |byte: &u8| matches!(byte, b'0'..=b'9' | b';' | b':');
    let length = text.as_bytes()[start..].iter().take_while(|byte| is_parameter(byte)).count();
    let end = start + length;
    let parameters = &text[start..end];
    match text.as_bytes().get(end) {
        Some(b'm') => Some((end + 1, Some(parameters))),
        Some(b'K') if matches!(parameters, "" | "0") => Some((end + 1, None)),
        None | Some(b'\n') => Some((end, None)),
        _ => None,
    }
}

/// Returns how many bytes at the start of a text are printable ASCII or newlines.
fn plain_prefix_len(text: &str) -> usize {
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n');
    // Checking whole blocks is many times faster than byte by byte.
    let (blocks, _) = text.as_bytes().as_chunks::<32>();
    let all = |block: &[u8; 32]| block.iter().fold(true, |all, byte| all & is_plain(byte));
    let plain = blocks.iter().take_while(|block| all(block)).count() * 32;
    let rest = &text.as_bytes()[plain..];
    plain + rest.iter().position(|byte| !is_plain(byte)).unwrap_or(rest.len())
}

fn is_unsafe(char: char) -> bool {
    (char.is_control() && char != '\n') || is_bidi(char) || matches!(char, '\u{2028}' | '\u{2029}')
}

/// Returns the visible symbol of a C0 control or DEL. `None`: the character is removed.
fn control_symbol(char: char) -> Option<char> {
    match char {
        '\x00'..='\x1f' => char::from_u32(0x2400 + u32::from(char)),
        '\x7f' => Some('␡'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let clean = sanitize_text(text);
        assert_eq!(clean, expected);
        assert_eq!(sanitize_text(&clean), expected, "cleaning twice");
        assert!(clean.chars().all(|char| char == '\n' || !char.is_control()));
    }

    #[test]
    fn an_injection_is_shown() {
        check("a\x1b]52;c;cm0gLXJm\x07b", "a␛]52;c;cm0gLXJm␇b");
        check("a\x1b]0;title\x1b\\b", "a␛]0;title␛\\b");
        check("a\x1b[2J\x1b[1;31Hb\x1b[s", "a␛[2J␛[1;31Hb␛[s");
        check("a\u{9b}31Hb\u{9d}0;title\u{9c}c", "a␛[31Hb␛]0;title␛\\c");
        check("a\x1b(0b\x1bcc\x1b", "a␛(0b␛cc␛");
    }

    #[test]
    fn colour_codes_go() {
        check("a\x1b[1;31mb\x1b[0m c\x1b[m\x1b[38:2::1:2:3m\u{9b}4m.", "ab c.");
        check("\x1b[01;31m\x1b[Kb\x1b[m\x1b[K \x1b(B", "b ");
        check("cut\x1b[38;5\nhere\x1b[3", "cut\nhere");
        check("\x1b[31m\t\x1b[1mx", "    x");
        check("a\tb\x1b[31m\tc", "a   b   c");
    }

    #[test]
    fn what_only_looks_like_a_colour_is_shown() {
        check("\x1b[>4;1m\x1b[?25l\x1b[2K\x1b[3 q", "␛[>4;1m␛[?25l␛[2K␛[3 q");
        check("\x1b\x1b[0m[2J", "␛[2J");
        check("\x1b[3\x1b[1m2J", "␛[32J");
        check("\x1b]0;\x1b[31mt\x07", "␛]0;t␇");
    }

    #[test]
    fn controls_become_signs() {
        check("a\x00b\x08c\x7fd\u{85}e", "a␀b␈c␡d␛Ee");
        check("10%\r20%\r\n", "10%␍20%\n");
    }

    #[test]
    fn tabs_reach_the_next_stop() {
        check("\tx\n1\ty\n1234\tz", "    x\n1   y\n1234    z");
    }

    #[test]
    fn direction_cannot_be_reversed() {
        check("a\u{202e}b\u{2066}c", "abc");
    }

    #[test]
    fn clean_text_is_lent() {
        assert!(matches!(sanitize_text("ünïcode 漢字 👩‍👩‍👧\n"), Cow::Borrowed(_)));
    }
}

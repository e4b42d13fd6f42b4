//! Untrusted text into text that only prints.
//!
//! A history holds whatever a tool once wrote. Shown as it is, it could set the
//! clipboard, rename the window, hide lines or reorder them. So whole escape
//! sequences go, what is left of the controls becomes a visible sign, and
//! characters that reverse the reading direction go too.

use std::borrow::Cow;

const TAB: usize = 4;

/// Returns `text` with nothing in it but printable characters and `\n`.
///
/// Tabs become spaces up to the next of the columns 4, 8, 12…; `\r\n` becomes
/// `\n`. Cleaning twice changes nothing more.
pub fn sanitize(text: &str) -> Cow<'_, str> {
    let plain = plain_run(text);
    if plain == text.len() || !text[plain..].chars().any(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len());
    let mut column = 0;
    let mut rest = text;
    loop {
        // Most text is ASCII and goes through in long runs.
        let (plain, others) = rest.split_at(plain_run(rest));
        clean.push_str(plain);
        column = match memchr::memrchr(b'\n', plain.as_bytes()) {
            Some(newline) => plain.len() - newline - 1,
            None => column + plain.len(),
        };
        rest = others;
        let Some(char) = rest.chars().next() else { break };
        let length = sequence(rest).unwrap_or(0);
        if length > 0 {
            rest = &rest[length..];
            continue;
        }
        rest = &rest[char.len_utf8()..];
        let before = clean.len();
        match char {
            '\n' => column = 0,
            '\t' => clean.extend(std::iter::repeat_n(' ', TAB - column % TAB)),
            '\r' if rest.starts_with('\n') => {}
            char if is_unsafe(char) => clean.extend(sign(char)),
            char => clean.push(char),
        }
        column += clean[before..].chars().count();
        if char == '\n' {
            clean.push('\n');
        }
    }
    Cow::Owned(clean)
}

/// Returns how many bytes at the start of a text are printable ASCII or newlines.
fn plain_run(text: &str) -> usize {
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n');
    // Blocks are looked at as a whole, which is many times faster than byte by byte.
    let (blocks, _) = text.as_bytes().as_chunks::<32>();
    let all = |block: &[u8; 32]| block.iter().fold(true, |all, byte| all & is_plain(byte));
    let plain = blocks.iter().take_while(|block| all(block)).count() * 32;
    let rest = &text.as_bytes()[plain..];
    plain + rest.iter().position(|byte| !is_plain(byte)).unwrap_or(rest.len())
}

fn is_unsafe(char: char) -> bool {
    (char.is_control() && char != '\n') || is_bidi(char) || matches!(char, '\u{2028}' | '\u{2029}')
}

/// Whether the character embeds, overrides or isolates a reading direction.
fn is_bidi(char: char) -> bool {
    matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns the visible sign of a C0 control or DEL. `None`: it just goes.
fn sign(char: char) -> Option<char> {
    match char {
        '\x00'..='\x1f' => char::from_u32(0x2400 + u32::from(char)),
        '\x7f' => Some('␡'),
        _ => None,
    }
}

/// Returns the length of the escape sequence `text` starts with.
fn sequence(text: &str) -> Option<usize> {
    let mut chars = text.chars();
    let (introducer, kind) = match chars.next()? {
        '\x1b' => {
            let kind = chars.next()?;
            (1 + kind.len_utf8(), kind)
        }
        // The one-character forms of `ESC @` to `ESC _`.
        c1 @ '\u{80}'..='\u{9f}' => (2, char::from_u32(u32::from(c1) - 0x40)?),
        _ => return None,
    };
    let body = &text[introducer..];
    match kind {
        '[' => Some(introducer + control_sequence(body)),
        ']' | 'P' | 'X' | '^' | '_' => Some(introducer + control_string(body)),
        ' '..='/' => Some(introducer + intermediates(body)),
        '0'..='~' => Some(introducer),
        _ => None,
    }
}

/// Returns the length of `parameters intermediates final`, or zero when the
/// final is missing: then what follows is text.
fn control_sequence(body: &str) -> usize {
    let end = body.bytes().position(|byte| !matches!(byte, b' '..=b'?'));
    match end {
        Some(end) if matches!(body.as_bytes()[end], b'@'..=b'~') => end + 1,
        _ => 0,
    }
}

/// Returns the length up to and with the terminator, or zero when another
/// control or a line break comes first: then what follows is text.
fn control_string(body: &str) -> usize {
    let Some(end) = body.find(char::is_control) else { return 0 };
    let ends = ["\x07", "\x1b\\", "\u{9c}"];
    let terminator = ends.iter().find(|terminator| body[end..].starts_with(**terminator));
    terminator.map_or(0, |terminator| end + terminator.len())
}

fn intermediates(body: &str) -> usize {
    let end = body.bytes().position(|byte| !matches!(byte, b' '..=b'/'));
    match end {
        Some(end) if matches!(body.as_bytes()[end], b'0'..=b'~') => end + 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let clean = sanitize(text);
        assert_eq!(clean, expected);
        assert_eq!(sanitize(&clean), expected, "cleaning twice");
        assert!(clean.chars().all(|char| char == '\n' || !char.is_control()));
    }

    #[test]
    fn an_injection_does_not_survive() {
        check("a\x1b]52;c;cm0gLXJm\x07b", "ab");
        check("a\x1b]0;title\x1b\\b", "ab");
        check("a\x1b[2J\x1b[1;31mb\x1b[0m", "ab");
        check("a\u{9b}31mb\u{9d}0;title\u{9c}c", "abc");
        check("a\x1bPq#0\x1b\\b\x1b_Gf=1\x1b\\c", "abc");
        check("a\x1b(0b\x1bcc\x1b7d", "abcd");
        check("a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\b", "alinkb");
    }

    #[test]
    fn a_torn_sequence_hides_nothing() {
        check("a\x1b]0;title\nb\x07", "a0;title\nb␇");
        check("a\x1b[31", "a31");
        check("a\x1b", "a␛");
        check("a\x1b\x1b[1mb", "a␛b");
        check("a\x1b[é", "aé");
    }

    #[test]
    fn controls_become_signs() {
        check("a\x00b\x08c\x7fd\u{85}e", "a␀b␈c␡de");
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
        assert!(matches!(sanitize("ünïcode 漢字 👩‍👩‍👧\n"), Cow::Borrowed(_)));
    }
}

//! Decodes one escape sequence of a JSON string.

/// What a backslash and the bytes after it mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Escape {
    /// A character.
    Char(char),
    /// Half of a surrogate pair, or `\u` with too few digits.
    Broken,
    /// A backslash before something that cannot be escaped.
    Invalid,
}

/// Reads the escape at the start of `bytes`, which is a backslash.
///
/// The length is at least 1 and at most 12, a surrogate pair.
pub(super) fn read_escape(bytes: &[u8]) -> (Escape, usize) {
    let char = match bytes.get(1) {
        Some(b'"') => '"',
        Some(b'\\') => '\\',
        Some(b'/') => '/',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return read_unicode_escape(bytes),
        Some(_) => return (Escape::Invalid, 1),
        None => return (Escape::Broken, 1),
    };
    (Escape::Char(char), 2)
}

fn read_unicode_escape(bytes: &[u8]) -> (Escape, usize) {
    let Some(unit) = utf16_unit(bytes) else {
        let digits = bytes[2..].iter().take(4).take_while(|byte| byte.is_ascii_hexdigit()).count();
        return (Escape::Broken, 2 + digits);
    };
    if let Some(char) = char::from_u32(unit) {
        return (Escape::Char(char), 6);
    }
    // `unit` is a surrogate. Only a high one followed by a low one is a character.
    let low = self::utf16_unit(&bytes[6..]).filter(|low| (0xdc00..0xe000).contains(low));
    match low {
        Some(low) if unit < 0xdc00 => {
            let char = char::from_u32(0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00));
            (char.map_or(Escape::Broken, Escape::Char), 12)
        }
        _ => (Escape::Broken, 6),
    }
}

/// Returns the UTF-16 unit of a complete `\uXXXX` at the start of `bytes`.
fn utf16_unit(bytes: &[u8]) -> Option<u32> {
    let digits = bytes.strip_prefix(b"\\u")?.get(..4)?;
    digits.iter().try_fold(0, |unit, digit| Some(unit * 16 + char::from(*digit).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &str, expected: Escape, length: usize) {
        assert_eq!(read_escape(bytes.as_bytes()), (expected, length));
    }

    #[test]
    fn escapes_have_a_meaning_and_a_length() {
        check(r"\nx", Escape::Char('\n'), 2);
        check(r"\u00e9x", Escape::Char('é'), 6);
        check(r"\uD83D\uDE00", Escape::Char('😀'), 12);
        check(r"\ud83d\ud83d", Escape::Broken, 6);
        check(r"\ude00\ude00", Escape::Broken, 6);
        check(r"\ud83d\ude0", Escape::Broken, 6);
        check(r"\u12", Escape::Broken, 4);
        check(r"\u+123", Escape::Broken, 2);
        check(r"\", Escape::Broken, 1);
        check(r"\x", Escape::Invalid, 1);
    }
}

//! Decodes the inside of a JSON string literal.

use super::escape::{Escape, read_escape};
use crate::cursor::find_byte;
use std::borrow::Cow;

/// Returns the text of the inside of a string literal, without its quotes.
///
/// Lone surrogates, bad UTF-8 and cut escapes become U+FFFD; escapes that JSON
/// does not know stay as they are.
pub fn unescape(raw: &[u8]) -> Cow<'_, str> {
    let Some(first) = memchr::memchr(b'\\', raw) else {
        return decode_lossy(raw);
    };
    // Nearly every text is UTF-8 with simple escapes, and is checked once.
    let text = simdutf8::basic::from_utf8(raw).ok();
    if let Some(text) = text.and_then(|text| unescape_simple(text, first)) {
        return Cow::Owned(text);
    }
    let mut text = String::with_capacity(raw.len());
    text.push_str(&decode_lossy(&raw[..first]));
    let mut rest = &raw[first..];
    while !rest.is_empty() {
        let (meaning, length) = read_escape(rest);
        text.push(match meaning {
            Escape::Char(char) => char,
            Escape::Broken => char::REPLACEMENT_CHARACTER,
            Escape::Invalid => '\\',
        });
        rest = &rest[length..];
        let plain = memchr::memchr(b'\\', rest).unwrap_or(rest.len());
        text.push_str(&decode_lossy(&rest[..plain]));
        rest = &rest[plain..];
    }
    Cow::Owned(text)
}

/// Replaces escapes of one letter; `None`: there are others.
fn unescape_simple(raw: &str, first: usize) -> Option<String> {
    let mut text = String::with_capacity(raw.len());
    let (mut from, mut slash) = (0, first);
    loop {
        text.push_str(&raw[from..slash]);
        text.push(match raw.as_bytes().get(slash + 1)? {
            b'n' => '\n',
            byte @ (b'"' | b'\\' | b'/') => char::from(*byte),
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            _ => return None,
        });
        from = slash + 2;
        match find_byte(b'\\', raw.as_bytes(), from) {
            Some(next) => slash = next,
            None => break,
        }
    }
    text.push_str(&raw[from..]);
    Some(text)
}

/// Returns at most `chars` characters of what [`unescape`] returns, for previews.
///
/// The cost depends on `chars`, not on the length of `raw`.
pub fn unescape_prefix(raw: &[u8], chars: usize) -> Cow<'_, str> {
    // No character takes more than the 12 bytes of an escaped surrogate pair, so an escape that is
    // cut here comes after the last character that is needed.
    let enough = raw.len().min(chars.saturating_mul(12));
    let mut text = unescape(&raw[..enough]);
    if let Some((end, _)) = text.char_indices().nth(chars) {
        match &mut text {
            Cow::Borrowed(text) => *text = &text[..end],
            Cow::Owned(text) => text.truncate(end),
        }
    }
    text
}

fn decode_lossy(raw: &[u8]) -> Cow<'_, str> {
    match simdutf8::basic::from_utf8(raw) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(raw),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

    #[track_caller]
    fn check(raw: impl AsRef<[u8]>, expected: &str) {
        assert_eq!(unescape(raw.as_ref()), expected);
    }

    #[test]
    fn escapes_become_text() {
        check("plain", "plain");
        check(r#"a\n\"b\"\\\u00e9\ud83d\ude00"#, "a\n\"b\"\\é😀");
        check(r"\ud83d!\ude00", "\u{fffd}!\u{fffd}");
        check(b"a\xffb", "a\u{fffd}b");
    }

    #[test]
    fn cut_escapes_do_not_hurt() {
        check(r"a\", "a\u{fffd}");
        check(r"a\u", "a\u{fffd}");
        check(r"a\u00e", "a\u{fffd}");
        check(r"a\ud83d\u", "a\u{fffd}\u{fffd}");
        check(r"a\x", r"a\x");
    }

    #[test]
    fn a_plain_text_is_borrowed() {
        assert!(matches!(unescape(b"plain"), Cow::Borrowed("plain")));
        assert!(matches!(unescape_prefix(b"plain", 2), Cow::Borrowed("pl")));
    }

    proptest! {
        #[test]
        fn any_bytes_do_not_panic(raw in any::<Vec<u8>>(), chars in 0..40_usize) {
            let text = unescape(&raw);
            let prefix = unescape_prefix(&raw, chars);
            prop_assert!(text.starts_with(&*prefix));
            prop_assert!(prefix.chars().count() <= chars);
        }

        #[test]
        fn what_serde_wrote_comes_back(text in any::<String>(), chars in 0..8_usize) {
            let literal = serde_json::to_string(&text).unwrap();
            let raw = &literal.as_bytes()[1..literal.len() - 1];
            prop_assert_eq!(unescape(raw), text.as_str());
            let prefix: String = text.chars().take(chars).collect();
            prop_assert_eq!(unescape_prefix(raw, chars), prefix);
        }

        #[test]
        fn what_is_escaped_in_full_comes_back(text in any::<String>(), chars in 0..8_usize) {
            let raw: String = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
            prop_assert_eq!(unescape(raw.as_bytes()), text.as_str());
            let prefix: String = text.chars().take(chars).collect();
            prop_assert_eq!(unescape_prefix(raw.as_bytes(), chars), prefix);
        }
    }
}

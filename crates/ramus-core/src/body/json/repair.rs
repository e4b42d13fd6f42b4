//! Turns a line that a strict parser rejects into one that it accepts, with U+FFFD for what was lost.

use super::escape::{Escape, read_escape};

/// Returns a repaired copy of `line`, or `None` if there is nothing to repair.
///
/// Only three things change: `\u` escapes that are half of a pair, bytes that are not UTF-8
/// inside strings, and raw control characters.
pub(in crate::body) fn repair_line(line: &[u8]) -> Option<Vec<u8>> {
    let mut copy = Vec::with_capacity(line.len() + 64);
    let mut rest = line;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'"' => {
                copy.push(b'"');
                rest = repair_string(after, &mut copy);
            }
            // A control character between tokens has no meaning: NULs a crash left.
            0..=31 if !byte.is_ascii_whitespace() => copy.push(b' '),
            _ => copy.push(*byte),
        }
    }
    (copy != line).then_some(copy)
}

/// Copies the rest of a string, its closing quote included, and returns what follows it.
fn repair_string<'a>(mut rest: &'a [u8], copy: &mut Vec<u8>) -> &'a [u8] {
    loop {
        let plain = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..=31));
        let (text, after) = rest.split_at(plain.unwrap_or(rest.len()));
        copy.extend_from_slice(String::from_utf8_lossy(text).as_bytes());
        rest = match after.first() {
            None => return after,
            Some(b'"') => {
                copy.push(b'"');
                return &after[1..];
            }
            Some(b'\\') => repair_escape(after, copy),
            Some(control) => {
                copy.extend_from_slice(format!("\\u{control:04x}").as_bytes());
                &after[1..]
            }
        }
    }
}

fn repair_escape<'a>(rest: &'a [u8], copy: &mut Vec<u8>) -> &'a [u8] {
    let (escaped, after) = match read_escape(rest) {
        (Escape::Broken, 6) => (&b"\\ufffd"[..], &rest[6..]),
        // Other errors stay as they are, with the byte after the backslash.
        (Escape::Invalid | Escape::Broken, _) => rest.split_at(rest.len().min(2)),
        (Escape::Char(_), length) => rest.split_at(length),
    };
    copy.extend_from_slice(escaped);
    after
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &[u8], expected: Option<&str>) {
        let actual = repair_line(line);
        assert_eq!(actual.as_deref().map(String::from_utf8_lossy).as_deref(), expected);
    }

    #[test]
    fn only_what_is_broken_is_touched() {
        check(br#"{"a":"\ud83d\ude00\\u12"}"#, None);
        check(br#"{"\ud83d":1}"#, Some(r#"{"\ufffd":1}"#));
        check(b"{\"a\":\"\x01\",\x01\"b\":2}", Some(r#"{"a":"\u0001", "b":2}"#));
        check(b"\"\xe2\x82\"", Some("\"\u{fffd}\""));
        check(br#""\x \u12"#, None);
    }
}

//! Parses JSON that a strict parser would reject.
//!
//! Histories contain lines with lone surrogate escapes, bytes that are not UTF-8, and raw control
//! characters. They are repaired in a copy, here and only here; the bytes on disk stay as they
//! are (R2).

use serde_json::Value;

mod escape;
mod lazy;
mod repair;
mod unescape;

pub(super) use lazy::LazyJson;
pub(super) use repair::repair_line;
pub use unescape::{unescape, unescape_prefix};

/// Why a line is not JSON, even after repair.
#[derive(Debug, thiserror::Error)]
pub enum JsonError {
    /// Nothing but white space, or nothing but NULs left by a crash.
    #[error("the line is empty")]
    Empty,
    /// The line stops in the middle of a value: it was cut, or is being written.
    #[error("the line ends too early")]
    Torn,
    /// Anything else, including two records on one line.
    #[error("not JSON: {0}")]
    Syntax(serde_json::Error),
}

impl From<serde_json::Error> for JsonError {
    fn from(error: serde_json::Error) -> Self {
        if error.is_eof() { Self::Torn } else { Self::Syntax(error) }
    }
}

/// Larger lines are decoded without a second copy of their texts.
const LARGE_LINE_BYTES: usize = 1024 * 1024;

/// Parses one line, repairing a copy of it if it does not parse as it is.
pub fn parse_line(line: &[u8]) -> Result<Value, JsonError> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    if line.iter().all(|byte| *byte == 0 || byte.is_ascii_whitespace()) {
        return Err(JsonError::Empty);
    }
    // serde_json decodes a text into a buffer of its own before it copies it.
    if line.len() > LARGE_LINE_BYTES
        && let Some(value) = lazy::LazyJson::parse(line)
    {
        return Ok(value.into_value());
    }
    serde_json::from_slice(line).or_else(|error| match repair_line(line) {
        Some(repaired) => Ok(serde_json::from_slice(&repaired)?),
        None => Err(error.into()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{any, prop_assert_eq, proptest};

    #[track_caller]
    fn check(line: impl AsRef<[u8]>, expected: &str) {
        let actual = match parse_line(line.as_ref()) {
            Ok(value) => value.to_string(),
            Err(JsonError::Empty) => "empty".to_owned(),
            Err(JsonError::Torn) => "torn".to_owned(),
            Err(JsonError::Syntax(_)) => "syntax".to_owned(),
        };
        assert_eq!(actual, expected);
    }

    #[test]
    fn plain_lines_pass() {
        check(r#"{"a":[1,"x\n\u00e9",null]}"#, r#"{"a":[1,"x\né",null]}"#);
        check(b"\xef\xbb\xbf{\"a\":1}\r", r#"{"a":1}"#);
    }

    #[test]
    fn large_lines_parse_the_same() {
        let text = "a\\n\\u00e9\\\"b ".repeat(LARGE_LINE_BYTES / 8);
        let line = format!(r#"{{"a":"{text}","b":[1,-2.5e3,null]}}"#);
        assert!(line.len() > LARGE_LINE_BYTES);
        let expected: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(parse_line(line.as_bytes()).unwrap(), expected);
        let torn = &line.as_bytes()[..line.len() - 1];
        assert!(matches!(parse_line(torn), Err(JsonError::Torn)));
    }

    #[test]
    fn lone_surrogates_become_replacement_characters() {
        check(r#""a\ud83db""#, "\"a\u{fffd}b\"");
        check(r#""a\ude00""#, "\"a\u{fffd}\"");
        check(r#""\ud83d\ud83d\ude00""#, "\"\u{fffd}😀\"");
        check(r#""\ud83d\n""#, "\"\u{fffd}\\n\"");
        check(r#""\\ud83d \ud83d""#, "\"\\\\ud83d \u{fffd}\"");
    }

    #[test]
    fn bad_utf8_and_control_characters_are_repaired() {
        check(b"{\"a\":\"x\xff\xfey\"}", "{\"a\":\"x\u{fffd}\u{fffd}y\"}");
        check(b"\"a\tb\x00c\"", r#""a\tb\u0000c""#);
        check(b"\x00\x00{\"a\":1}\x00", r#"{"a":1}"#);
    }

    #[test]
    fn damage_is_an_error_with_a_reason() {
        check("", "empty");
        check(b" \x00\r", "empty");
        check(r#"{"a":"b"#, "torn");
        check(r#"{"a":"\ud83d"#, "torn");
        check(r#"{"a":1}{"a":2}"#, "syntax");
        check(r#"{"a":1e400}"#, "syntax");
        check(r#""\x""#, "syntax");
        check(b"\"\\\n\"", "syntax");
        check("[".repeat(100_000), "syntax");
        check(r#"{"a":"#.repeat(100_000), "syntax");
    }

    proptest! {
        #[test]
        fn any_bytes_do_not_panic(line in any::<Vec<u8>>()) {
            let _ = parse_line(&line);
        }

        #[test]
        fn any_bytes_inside_a_string_give_the_text_unescape_gives(
            inside in r#"([a-z é😀\t]|\\u[dD][89a-fA-F][0-9a-f]{2}|\\u00[0-9a-f]{2}|\\[nrtbf/\\"]){0,12}"#,
        ) {
            let value = parse_line(format!("\"{inside}\"").as_bytes()).unwrap();
            prop_assert_eq!(value.as_str().unwrap(), unescape(inside.as_bytes()));
        }
    }
}

//! Writes JSON that is safe to print: terminal controls are escaped.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, Serializer};

use crate::sanitize::is_control_like;

/// Writes a value as compact JSON and escapes every character that could control a terminal.
///
/// JSON itself requires that only for characters below U+0020.
pub fn write_json(out: impl Write, value: &impl Serialize) -> serde_json::Result<()> {
    value.serialize(&mut Serializer::with_formatter(out, PrintableFormatter(CompactFormatter)))
}

struct PrintableFormatter(CompactFormatter);

impl Formatter for PrintableFormatter {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(is_control_like) {
            self.0.write_string_fragment(out, &rest[..at])?;
            let Some(char) = rest[at..].chars().next() else { break };
            for unit in char.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}")?;
            }
            rest = &rest[at + char.len_utf8()..];
        }
        self.0.write_string_fragment(out, rest)
    }
}

#[cfg(test)]
mod tests {
    use super::write_json;

    #[test]
    fn what_a_terminal_obeys_is_escaped_and_reads_the_same() {
        let text =
            "a\u{9b}31m \u{7f} \u{202e}b\u{2066}c\u{200f} \u{e0041} \x1b \u{2028} é 漢字 👩‍👩‍👧 \"/\\";
        let mut out = Vec::new();
        write_json(&mut out, &serde_json::json!({ "text": text, text: 1 })).unwrap();
        let out = String::from_utf8(out).unwrap();
        for escape in [
            "\\u009b",
            "\\u007f",
            "\\u202e",
            "\\u2066",
            "\\u200f",
            "\\udb40\\udc41",
            "\\u001b",
            "\\u2028",
        ] {
            assert_eq!(out.matches(escape).count(), 2, "{escape}: {out}");
        }
        assert!(out.contains("é 漢字 👩‍👩‍👧"), "what is only text stays: {out}");
        let back: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert_eq!(back["text"], text);
    }
}

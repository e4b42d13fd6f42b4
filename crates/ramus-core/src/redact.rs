//! Finds secrets and personal data in lines of JSON or in text, and removes them.
//!
//! A line is changed as bytes, before it is parsed, so nothing that is made from it can contain the
//! secret. Only text inside strings is replaced, so the line stays valid JSON.
//!
//! A scan makes one pass from left to right. Every look back or ahead is bounded, so it takes linear time
//! on any input.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

mod assignment;
mod block;
mod command;
mod name;
mod rules;
mod scan;
mod shape;
mod text;
mod value;

#[cfg(test)]
mod tests;

use scan::SecretScanner;

/// How often each rule found something.
pub type RedactionCounts = BTreeMap<&'static str, u64>;

/// Something that should not be passed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretFinding {
    pub rule: &'static str,
    pub range: Range<usize>,
    /// The length of the part that is the same in all secrets of this kind, such as `ghp_`.
    pub public_prefix: usize,
}

/// How the bytes are written, which decides where a string ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// One line of a session file: an unescaped `"` ends a string.
    JsonLine,
    /// Text, which may quote JSON.
    Text,
}

/// Removes secrets and personal data from a line of JSON.
pub fn redact_line<'a>(line: Cow<'a, [u8]>, found: &mut RedactionCounts) -> Cow<'a, [u8]> {
    let line = match unescape_ascii(&line) {
        Cow::Borrowed(_) => line,
        Cow::Owned(plain) => Cow::Owned(plain),
    };
    replace_findings(line, Encoding::JsonLine, found)
}

/// Removes secrets and personal data from a text.
pub fn redact_text<'a>(text: &'a str, found: &mut RedactionCounts) -> Cow<'a, str> {
    match replace_findings(Cow::Borrowed(text.as_bytes()), Encoding::Text, found) {
        Cow::Borrowed(_) => Cow::Borrowed(text),
        Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
    }
}

/// Calls back with each secret and its bytes; addresses and home directories are none.
pub fn each_secret(bytes: &[u8], encoding: Encoding, mut each: impl FnMut(&SecretFinding, &[u8])) {
    let bytes = match encoding {
        Encoding::JsonLine => unescape_ascii(bytes),
        Encoding::Text => Cow::Borrowed(bytes),
    };
    let secrets = SecretScanner::new(&bytes, encoding);
    for finding in secrets.filter(|finding| !matches!(finding.rule, HOME | EMAIL)) {
        each(&finding, &bytes[finding.range.clone()]);
    }
}

/// Returns how a secret may be shown: only what all of its kind begin with, and its length.
pub fn mask_secret(finding: &SecretFinding, secret: &[u8]) -> String {
    let prefix = String::from_utf8_lossy(&secret[..finding.public_prefix.min(secret.len())]);
    let length = String::from_utf8_lossy(secret).chars().count();
    format!("{prefix}… ({length} characters)")
}

const HOME: &str = "home-directory";
const EMAIL: &str = "email-address";

fn replace_findings<'a>(
    bytes: Cow<'a, [u8]>,
    encoding: Encoding,
    found: &mut RedactionCounts,
) -> Cow<'a, [u8]> {
    let mut out: Option<Vec<u8>> = None;
    let mut kept = 0;
    for finding in SecretScanner::new(&bytes, encoding) {
        *found.entry(finding.rule).or_default() += 1;
        let out = out.get_or_insert_with(|| Vec::with_capacity(bytes.len()));
        out.extend_from_slice(&bytes[kept..finding.range.start]);
        match finding.rule {
            HOME => out.push(b'~'),
            rule => out.extend_from_slice(format!("[redacted:{rule}]").as_bytes()),
        }
        kept = finding.range.end;
    }
    match out {
        None => bytes,
        Some(mut out) => {
            out.extend_from_slice(&bytes[kept..]);
            Cow::Owned(out)
        }
    }
}

/// Replaces escapes such as `\u0067` with the letters they encode, so that they hide nothing.
///
/// Quotes, backslashes and control characters stay escaped: the meaning of the line does not change.
fn unescape_ascii(line: &[u8]) -> Cow<'_, [u8]> {
    let mut out: Option<Vec<u8>> = None;
    let (mut kept, mut from) = (0, 0);
    while let Some(found) = memchr::memmem::find(&line[from..], b"\\u00") {
        let at = from + found;
        from = at + 4;
        let slashes = line[..at].iter().rev().take_while(|byte| **byte == b'\\').count();
        let hex = line.get(at + 4..at + 6).and_then(|hex| std::str::from_utf8(hex).ok());
        let byte = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        let is_plain = |byte: &u8| (b' '..127).contains(byte) && !b"\"\\".contains(byte);
        let Some(byte) = byte.filter(is_plain).filter(|_| slashes % 2 == 0) else { continue };
        let out = out.get_or_insert_with(|| Vec::with_capacity(line.len()));
        out.extend_from_slice(&line[kept..at]);
        out.push(byte);
        kept = at + 6;
        from = kept;
    }
    match out {
        None => Cow::Borrowed(line),
        Some(mut out) => {
            out.extend_from_slice(&line[kept..]);
            Cow::Owned(out)
        }
    }
}

//! Finds private keys in blocks of several lines, which may be escaped, numbered or quoted line by line.

use std::ops::Range;

use super::rules::ByteClass;
use super::text::{blank_length, line_start, run_length};

/// The largest size of a key with all its lines.
const MAX_KEY_BYTES: usize = 16 * 1024;

/// Finds a block from `-----BEGIN … PRIVATE KEY` to its end, or to the end of what there is of it.
pub(super) fn find_private_key(bytes: &[u8], at: usize, is_json: bool) -> Option<Range<usize>> {
    let title_length = title_line_length(&bytes[at..], b"BEGIN ")?;
    let inside = at + title_length;
    let limit = bytes.len().min(inside + MAX_KEY_BYTES);
    let end = memchr::memmem::find_iter(&bytes[inside..limit], b"END ").find_map(|found| {
        let dashes =
            bytes[..inside + found].iter().rev().take_while(|byte| matches!(byte, b'-' | b' '));
        let start = inside + found - dashes.count();
        title_line_length(&bytes[start..], b"END ").map(|length| (start, start + length))
    });
    let whole = end.filter(|(start, end)| {
        let is_whole = !is_json || is_inside_strings(&bytes[inside..*end]);
        is_whole && holds_key(&bytes[inside..*start])
    });
    if let Some((_, end)) = whole {
        return Some(at..end);
    }
    let lines = key_lines(&bytes[inside..limit]);
    holds_key(&bytes[inside..inside + lines]).then_some(at..inside + lines)
}

/// Finds the last lines of a key without its beginning.
pub(super) fn find_private_key_tail(bytes: &[u8], at: usize, kept: usize) -> Option<Range<usize>> {
    let length = title_line_length(&bytes[at..], b"END ")?;
    let (mut start, mut line_end) = (at, at);
    while at - line_end < MAX_KEY_BYTES {
        let line = line_start(bytes, line_end, 200).max(kept);
        let text = &bytes[line..line_end];
        // Before the title itself there may be a line number.
        let is_indent = line_end == at && text.len() <= 12;
        if longest_run(text) < 16 && !is_indent {
            break;
        }
        start = line;
        let newline = newline_before(&bytes[kept..line]);
        if newline == 0 {
            break;
        }
        line_end = line - newline;
    }
    holds_key(&bytes[start..at]).then_some(start..at + length)
}

/// Finds the lines of a PuTTY key after `Private-Lines: 14`.
pub(super) fn find_putty_key(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let number = bytes[at..].strip_prefix(b": ")?;
    let digits = number.iter().take(4).take_while(|byte| byte.is_ascii_digit()).count();
    let start = at + 2 + digits;
    let start = start + blank_length(&bytes[start..]);
    let limit = bytes.len().min(start + MAX_KEY_BYTES);
    let end = start + key_lines(&bytes[start..limit]);
    holds_key(&bytes[start..end]).then_some(start..end)
}

/// Returns the length of the newline that the bytes end with.
fn newline_before(bytes: &[u8]) -> usize {
    match bytes.last() {
        Some(b'\n' | b'\r') => 1,
        Some(b'n' | b'r') => {
            let slashes = bytes[..bytes.len() - 1].iter().rev().take_while(|byte| **byte == b'\\');
            match slashes.count() {
                0 => 0,
                slashes => slashes + 1,
            }
        }
        _ => 0,
    }
}

/// Returns the length of a line such as `-----BEGIN RSA PRIVATE KEY-----`.
fn title_line_length(bytes: &[u8], verb: &[u8]) -> Option<usize> {
    let dashes = bytes.iter().take_while(|byte| **byte == b'-').count();
    let space = usize::from(bytes.get(dashes) == Some(&b' '));
    if !(4..=5).contains(&dashes) {
        return None;
    }
    let rest = bytes[dashes + space..].strip_prefix(verb)?;
    let title = &rest[..rest.len().min(60)];
    let title = &title[..memchr::memmem::find(title, b"----")?];
    memchr::memmem::find(title, b"PRIVATE KEY")?;
    let after = dashes + space + verb.len() + title.len();
    Some(after + bytes[after..].iter().take_while(|byte| **byte == b'-').count())
}

/// Whether there is something that looks like a key, and no ellipsis or program text.
fn holds_key(bytes: &[u8]) -> bool {
    if longest_run(bytes) >= 24 {
        return true;
    }
    let (mut at, mut total) = (0, 0);
    while at < bytes.len() {
        let key = run_length(&bytes[at..], ByteClass::Base64);
        let skipped = if key > 0 { key } else { blank_length(&bytes[at..]) };
        if skipped == 0 {
            return false;
        }
        total += key;
        at += skipped;
    }
    total >= 10
}

fn longest_run(bytes: &[u8]) -> usize {
    bytes.split(|byte| !ByteClass::Base64.contains(*byte)).map(<[u8]>::len).max().unwrap_or(0)
}

/// Whether JSON between two positions opens and closes only strings, as in a list of lines.
fn is_inside_strings(bytes: &[u8]) -> bool {
    let (mut in_string, mut escaped) = (true, false);
    for byte in bytes {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b',' | b' ' | b'\n' | b'\r' | b'\t' => {}
            _ => return false,
        }
    }
    in_string
}

/// Returns the length of the lines from the start that belong to a key.
fn key_lines(bytes: &[u8]) -> usize {
    let mut at = 0;
    loop {
        let mut next = at;
        loop {
            let length = blank_length(&bytes[next..]);
            if length == 0 || next - at > 64 {
                break;
            }
            next += length;
        }
        // Line numbers, `+` of a patch, quotes of a program.
        let mark = bytes[next..].iter().take(12).take_while(|byte| is_line_mark(**byte)).count();
        let key = next + mark + run_length(&bytes[next + mark..], ByteClass::Base64);
        let header = run_length(&bytes[next..], ByteClass::Word);
        let is_header = bytes[next + header..].starts_with(b": ") && header > 3;
        if is_header {
            let rest = bytes[next..].iter().take(120).take_while(|byte| !b"\\\n\"".contains(byte));
            at = next + rest.count();
        } else if key - next - mark >= 4 && (next > at || at == 0) {
            at = key;
        } else {
            return at;
        }
    }
}

fn is_line_mark(byte: u8) -> bool {
    byte.is_ascii_digit() || b"+|>'\" \t:".contains(&byte) || byte > 127
}

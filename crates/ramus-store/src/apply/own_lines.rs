//! Lines that ramus added to a session, found again among those of others.

use std::ops::Range;
use std::path::Path;

use super::ApplyError;
use super::swap::begins_with;
use crate::disk;
use crate::real_path::real_path;
use crate::stamp::Stamp;

/// What was found of the lines that a killed process appended.
pub(super) enum Found {
    Nothing,
    Ours(Vec<Range<u64>>),
    Unclear(String),
}

/// Finds lines of ours that are incomplete or follow an incomplete line of another program.
pub(super) fn our_lines(file: &Path, before: &Stamp, text: &str) -> Result<Found, ApplyError> {
    if !disk::path_exists(file)? {
        return Ok(Found::Nothing);
    }
    let file = &*real_path(file).map_err(|source| disk::WriteError::new(file, source))?;
    if !begins_with(before, file)? {
        return Ok(Found::Nothing);
    }
    let (rest, text) = (disk::read_from(file, before.len)?, text.as_bytes());
    let at = |start: usize, len: usize| {
        let start = before.len + start as u64;
        std::iter::once(start..start + len as u64).collect()
    };
    if rest.is_empty() {
        return Ok(Found::Nothing);
    }
    if let Some(start) = find_lines(&rest, text) {
        return Ok(Found::Ours(at(start, text.len())));
    }
    // Our text was cut off, at the beginning or after lines of another program. A partial line of another
    // program that begins exactly like ours loses nothing.
    let tail = memchr::memrchr(b'\n', &rest).map_or(0, |at| at + 1);
    if text.starts_with(&rest) {
        return Ok(Found::Ours(at(0, rest.len())));
    }
    if tail < rest.len() && text.starts_with(&rest[tail..]) {
        return Ok(Found::Ours(at(tail, rest.len() - tail)));
    }
    // Our text was cut off and another program appended after it. Its text begins where a complete record does.
    let shared = rest.iter().zip(text).take_while(|(a, b)| a == b).count();
    if shared == 0 {
        return Ok(Found::Nothing);
    }
    let begins_record = |start: usize| {
        is_record(rest[start..].split(|byte| *byte == b'\n').next().unwrap_or_default())
    };
    Ok(match (1..=shared).rev().find(|start| begins_record(*start)) {
        Some(start) if !begins_record(0) => Found::Ours(at(0, start)),
        // A complete line that happens to begin like ours belongs to the other program.
        _ if begins_record(0) => Found::Nothing,
        _ => {
            let words = "may contain part of a line that ramus began to write; run `ramus check`";
            Found::Unclear(format!("{} {words}", file.display()))
        }
    })
}

/// Whether a line is a complete JSON object.
pub(super) fn is_record(line: &[u8]) -> bool {
    line.first() == Some(&b'{') && serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok()
}

/// Whether the appended text is in the file and begins on a new line.
pub(super) fn has_lines(file: &Path, before: &Stamp, text: &str) -> Result<bool, ApplyError> {
    if !disk::path_exists(file)? {
        return Ok(false);
    }
    let file = &*real_path(file).map_err(|source| disk::WriteError::new(file, source))?;
    if disk::read_len(file)? < before.len {
        return Ok(false);
    }
    let (rest, text) = (disk::read_from(file, before.len)?, text.as_bytes());
    let is_line = |at: usize| at == 0 || text.first() == Some(&b'\n') || rest[at - 1] == b'\n';
    Ok(find_lines(&rest, text).is_some_and(is_line))
}

/// Returns the part of `rest` that covers `range`, where `rest` begins at offset `start` of a file.
pub(super) fn between(rest: &[u8], start: u64, range: Range<u64>) -> &[u8] {
    let at = |offset: u64| usize::try_from(offset - start).unwrap_or(usize::MAX).min(rest.len());
    rest.get(at(range.start)..at(range.end)).unwrap_or_default()
}

/// Finds our lines after the known end of a file.
///
/// A mere line end, which `check --fix` puts behind a line that broke off, is ours only where it ends
/// that line at once or leaves an empty one: any other ends a line of somebody else.
fn find_lines(rest: &[u8], text: &[u8]) -> Option<usize> {
    if text != b"\n" || rest.starts_with(text) {
        return memchr::memmem::find(rest, text);
    }
    memchr::memmem::find(rest, b"\n\n").map(|at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::find_lines;

    #[test]
    fn a_newline_of_another_program_is_not_ours() {
        assert_eq!(find_lines(b"\n{}\n", b"\n"), Some(0));
        assert_eq!(find_lines(b"{}\n\n", b"\n"), Some(3));
        assert_eq!(find_lines(b"{}\n", b"\n"), None);
        assert_eq!(find_lines(b"{}\n{\"a\":1}\n", b"{\"a\":1}\n"), Some(3));
    }
}

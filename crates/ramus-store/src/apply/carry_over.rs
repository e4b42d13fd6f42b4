//! Copies lines that other programs append to a file without its name to the file that has it now.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::Duration;

use super::ApplyError;
use super::own_lines::is_record;
use crate::disk::{self, WriteError};

/// The pause between two checks, in which other programs can finish a write.
const LOOK_INTERVAL: Duration = Duration::from_millis(if cfg!(test) { 0 } else { 10 });
/// After this many checks the rest is left to the next command.
const MAX_LOOKS: u32 = 50;

/// Appends to `file` what `from` has after offset `known`, until two checks in a row find nothing new.
/// Returns up to which offset `from` has been carried over.
///
/// An earlier process may have begun already. Then `since` is the offset in `file` after which lines
/// must not be added twice.
pub(super) fn carry_over(
    from: &Path,
    known: u64,
    file: &Path,
    since: Option<u64>,
    notes: &mut Vec<String>,
) -> Result<u64, ApplyError> {
    let (mut at, mut since) = (known, since);
    let mut bytes = 0;
    for look in 0..MAX_LOOKS {
        let carried = carry_over_once(from, at, file, since.take())?;
        bytes += carried.added;
        let is_quiet = carried.known == at && carried.is_whole;
        at = carried.known;
        if is_quiet && look > 0 {
            break;
        }
        std::thread::sleep(LOOK_INTERVAL);
    }
    if bytes > 0 {
        let name = file.display();
        notes.push(format!("{bytes} bytes that another program appended to {name} were kept"));
    }
    Ok(at)
}

/// The result of one check of an old file.
pub(super) struct CarryOver {
    /// Up to which offset the old file has been carried over.
    pub(super) known: u64,
    /// How many bytes were added to the new one.
    pub(super) added: u64,
    /// The old file ends with a complete line.
    pub(super) is_whole: bool,
}

/// Appends the complete lines that `from` has after offset `known` to `file`, in one write.
pub(super) fn carry_over_once(
    from: &Path,
    known: u64,
    file: &Path,
    since: Option<u64>,
) -> Result<CarryOver, ApplyError> {
    let rest = disk::read_from(from, known)?;
    let end = memchr::memrchr(b'\n', &rest).map_or(0, |at| at + 1);
    let mut lines = rest[..end].to_vec();
    let mut is_continued = false;
    if let Some(since) = since.filter(|_| end > 0) {
        let others = disk::read_from(file, since)?;
        lines = lines_not_in(&lines, &others);
        // A crash cut a line off while it was carried over. Append only the rest of it.
        let tail = &others[memchr::memrchr(b'\n', &others).map_or(0, |at| at + 1)..];
        if !tail.is_empty() && lines.starts_with(tail) {
            is_continued = true;
            lines.drain(..tail.len());
        }
    }
    let added = lines.len() as u64;
    if !lines.is_empty() {
        let out = disk::open_to_append(file)?;
        // The file may lack its last newline.
        let tail = incomplete_line(&out).map_err(|source| WriteError::new(file, source))?;
        if !is_continued && !tail.is_empty() && !completes_record(tail, &lines) {
            lines.insert(0, b'\n');
        }
        disk::append_bytes(file, &out, &lines, &mut Vec::new())?;
        disk::sync_file(file, &out)?;
    }
    Ok(CarryOver { known: known + end as u64, added, is_whole: end == rest.len() })
}

/// Returns the lines that are not among `others`. Repeated lines are matched one by one.
fn lines_not_in(lines: &[u8], others: &[u8]) -> Vec<u8> {
    let mut counts: HashMap<&[u8], u32> = HashMap::new();
    for line in others.split_inclusive(|byte| *byte == b'\n') {
        *counts.entry(line).or_default() += 1;
    }
    let is_new = |line: &&[u8]| match counts.get_mut(*line) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    };
    lines.split_inclusive(|byte| *byte == b'\n').filter(is_new).collect::<Vec<_>>().concat()
}

/// A longer line is not read: no record is that long.
const MAX_LINE_BYTES: u64 = 128 * 1024 * 1024;

/// Returns what a file has after its last newline, or the end of that.
fn incomplete_line(mut file: &fs::File) -> io::Result<Vec<u8>> {
    let len = file.metadata()?.len();
    let mut window = 4096;
    loop {
        let start = len.saturating_sub(window);
        let mut end = Vec::new();
        file.seek(SeekFrom::Start(start))?;
        file.take(len - start).read_to_end(&mut end)?;
        match memchr::memrchr(b'\n', &end) {
            Some(at) => return Ok(end.split_off(at + 1)),
            None if start == 0 || window >= MAX_LINE_BYTES => return Ok(end),
            None => window *= 16,
        }
    }
}

/// Whether the first line is the rest of an incomplete one: another program wrote a record in two parts.
fn completes_record(mut tail: Vec<u8>, lines: &[u8]) -> bool {
    tail.extend(lines.split(|byte| *byte == b'\n').next().unwrap_or_default());
    is_record(&tail)
}

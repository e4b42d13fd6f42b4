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
        let lines = NewLines::read(from, at)?;
        let is_quiet = lines.bytes.is_empty() && lines.is_whole;
        at = lines.to;
        bytes += lines.append_to(file, since.take())?;
        if is_quiet && look > 0 {
            break;
        }
        std::thread::sleep(LOOK_INTERVAL);
    }
    notes.extend(carried_note(bytes, file));
    Ok(at)
}

/// Says how much was carried over, if anything.
pub(super) fn carried_note(bytes: u64, file: &Path) -> Option<String> {
    let name = file.display();
    (bytes > 0).then(|| format!("{bytes} bytes that another program appended to {name} were kept"))
}

/// The complete lines that a file has after some offset.
pub(super) struct NewLines {
    pub(super) bytes: Vec<u8>,
    /// The offset of their end.
    pub(super) to: u64,
    /// Nothing follows them: no line is incomplete.
    is_whole: bool,
}

impl NewLines {
    pub(super) fn read(from: &Path, known: u64) -> Result<Self, ApplyError> {
        let mut bytes = disk::read_from(from, known)?;
        let end = memchr::memrchr(b'\n', &bytes).map_or(0, |at| at + 1);
        let is_whole = end == bytes.len();
        bytes.truncate(end);
        Ok(Self { bytes, to: known + end as u64, is_whole })
    }

    /// Reads the lines up to an offset that was the end of a line.
    pub(super) fn read_range(from: &Path, known: u64, to: u64) -> Result<Self, ApplyError> {
        let mut bytes = disk::read_from(from, known)?;
        bytes.truncate(usize::try_from(to.saturating_sub(known)).unwrap_or(usize::MAX));
        Ok(Self { bytes, to, is_whole: true })
    }

    /// Appends them to a file in one write. Returns how many bytes were added.
    ///
    /// With `since` a process that no longer runs may have added them, or some of them, after this offset.
    pub(super) fn append_to(self, file: &Path, since: Option<u64>) -> Result<u64, ApplyError> {
        let mut lines = self.bytes;
        if lines.is_empty() {
            return Ok(0);
        }
        let mut is_continued = false;
        if let Some(since) = since {
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
        Ok(added)
    }
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

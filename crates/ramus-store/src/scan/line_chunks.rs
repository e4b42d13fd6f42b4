//! Reads files in chunks of complete lines that stay in the CPU cache while they are searched.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use memchr::{memchr, memchr_iter, memmem, memrchr};
use ramus_core::line::LONGEST_LINE;
use ramus_core::time::Time;

use crate::cache::ChunkVerdict;
use crate::overlay;

/// Some complete lines of a file.
pub(crate) struct LineChunk<'a> {
    pub(crate) bytes: &'a [u8],
    /// Offset of the first byte.
    pub(super) at: u64,
    /// Number of the first line, from 1.
    pub(super) line: u32,
}

/// Small enough to stay in the L2 cache between reading and searching.
const CHUNK_BYTES: usize = 256 * 1024;

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = RefCell::new(vec![0; CHUNK_BYTES]);
}

/// Whether lines were skipped because they are too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SkippedLines {
    Nothing,
    Lines,
}

/// Reads a file in chunks of complete lines. A last line without a newline counts as complete (R1).
///
/// Lines longer than [`LONGEST_LINE`] are skipped.
pub(crate) fn read_line_chunks(
    path: &Path,
    mut each: impl FnMut(LineChunk<'_>),
) -> io::Result<SkippedLines> {
    let mut file = overlay::open(path)?;
    BUFFER.with_borrow_mut(|buffer| {
        let (mut held, mut at, mut line) = (0, 0, 1);
        let mut left_out = SkippedLines::Nothing;
        loop {
            if held as u64 > LONGEST_LINE {
                left_out = SkippedLines::Lines;
                let Some((length, next)) = skip_line(&mut file, buffer)? else { break };
                at += held as u64 + length;
                line += 1;
                held = next;
            }
            if held == buffer.len() {
                // Reserved memory costs nothing until it is used, and growing in steps would copy the line.
                buffer.reserve_exact(LONGEST_LINE as usize + CHUNK_BYTES - held);
                buffer.resize((held * 2).min(buffer.capacity()), 0);
            }
            let read = match file.read(&mut buffer[held..]) {
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let filled = held + read;
            let whole = match memrchr(b'\n', &buffer[..filled]) {
                _ if read == 0 => filled,
                Some(newline) => newline + 1,
                None => 0,
            };
            if whole > 0 {
                each(LineChunk { bytes: &buffer[..whole], at, line });
                line += memchr_iter(b'\n', &buffer[..whole]).count() as u32;
                at += whole as u64;
                buffer.copy_within(whole..filled, 0);
            }
            held = filled - whole;
            if read == 0 {
                break;
            }
        }
        // Release the memory of a very long line.
        buffer.truncate(4 * CHUNK_BYTES);
        buffer.shrink_to(4 * CHUNK_BYTES);
        Ok(left_out)
    })
}

/// Skips to the end of a line. Returns how many bytes were skipped, and how many bytes of the next line are
/// at the start of the buffer. `None`: the file ends first.
fn skip_line(file: &mut File, buffer: &mut [u8]) -> io::Result<Option<(u64, usize)>> {
    let mut length = 0;
    loop {
        let read = match file.read(&mut buffer[..CHUNK_BYTES]) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if read == 0 {
            return Ok(None);
        }
        if let Some(newline) = memchr(b'\n', &buffer[..read]) {
            buffer.copy_within(newline + 1..read, 0);
            return Ok(Some((length + newline as u64 + 1, read - newline - 1)));
        }
        length += read as u64;
    }
}

/// Reads the chunks of a file that may match.
pub(super) fn read_matching_chunks(
    path: &Path,
    seen: &[ChunkVerdict],
    mut each: impl FnMut(LineChunk<'_>),
) -> io::Result<()> {
    let mut file = overlay::open(path)?;
    let (mut at, mut line) = (0, 1);
    let mut bytes = Vec::new();
    for verdict in seen {
        if verdict.may_match {
            bytes.resize(verdict.bytes as usize, 0);
            file.seek(SeekFrom::Start(at))?;
            file.read_exact(&mut bytes)?;
            each(LineChunk { bytes: &bytes, at, line });
        }
        at += verdict.bytes;
        line += verdict.lines;
    }
    Ok(())
}

/// How much of a file's end is searched for its last time.
const TAIL_BYTES: u64 = 64 * 1024;

/// Returns the newest time near the end of a file, for titles and summaries, which have none themselves.
pub(super) fn last_record_time(path: &Path) -> io::Result<Option<Time>> {
    newest_time_in_tail(&mut overlay::open(path)?, TAIL_BYTES)
}

/// How much of a file's end is usually enough to find its last time.
const SHORT_TAIL_BYTES: u64 = 8 * 1024;

/// Like [`last_record_time`], but tries a shorter part first.
pub(super) fn quick_last_record_time(path: &Path) -> io::Result<Option<Time>> {
    let mut file = overlay::open(path)?;
    match newest_time_in_tail(&mut file, SHORT_TAIL_BYTES)? {
        None => newest_time_in_tail(&mut file, TAIL_BYTES),
        time => Ok(time),
    }
}

fn newest_time_in_tail(file: &mut File, length: u64) -> io::Result<Option<Time>> {
    let start = file.metadata()?.len().saturating_sub(length);
    file.seek(SeekFrom::Start(start))?;
    let mut tail = Vec::with_capacity(length as usize);
    file.take(length).read_to_end(&mut tail)?;
    let key = b"\"timestamp\":\"";
    let times = memmem::find_iter(&tail, key)
        .filter_map(|at| Time::parse(tail.get(at + key.len()..at + key.len() + 24)?));
    Ok(times.max())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_whole_lines_that_add_up_to_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        let long = "x".repeat(CHUNK_BYTES + 10);
        for text in [
            "",
            "\n",
            "a\nb",
            "a\n\nb\n",
            &format!("a\n{long}\nb\n{long}"),
            &"ab\n".repeat(CHUNK_BYTES),
        ] {
            std::fs::write(&path, text).unwrap();
            let mut all = Vec::new();
            let left_out = read_line_chunks(&path, |piece| {
                assert_eq!(piece.at, all.len() as u64);
                let before = all.iter().filter(|byte| **byte == b'\n').count();
                assert_eq!(piece.line as usize, before + 1);
                assert!(all.last().is_none_or(|last| *last == b'\n'), "a piece begins with a line");
                all.extend_from_slice(piece.bytes);
            });
            assert_eq!(left_out.unwrap(), SkippedLines::Nothing);
            assert!(all == text.as_bytes());
        }
    }

    #[test]
    fn the_last_time_is_the_newest_near_the_end() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        let stamp =
            |second: u32| format!("{{\"timestamp\":\"2026-01-01T00:00:0{second}.000Z\"}}\n");
        let millis = |time: Option<Time>| time.map(|time| time.as_millis() % 60_000);
        std::fs::write(&path, stamp(7) + &stamp(9) + &stamp(8) + "{\"type\":\"title\"}\n").unwrap();
        assert_eq!(millis(last_record_time(&path).unwrap()), Some(9_000));
        assert_eq!(millis(quick_last_record_time(&path).unwrap()), Some(9_000));
        // A long record at the end: read more of the file.
        let long = "x".repeat(SHORT_TAIL_BYTES as usize + 1);
        std::fs::write(&path, stamp(7) + &long).unwrap();
        assert_eq!(millis(quick_last_record_time(&path).unwrap()), Some(7_000));
        std::fs::write(&path, "").unwrap();
        assert_eq!(quick_last_record_time(&path).unwrap(), None);
    }
}

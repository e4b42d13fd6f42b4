//! Reads lines before the point where following begins.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use super::FollowedLines;
use super::tracked_file::OpenedFile;
use crate::claude_dir::HistoryFile;
use crate::error::PathError;
use crate::regular_file;

/// How much of a file is read at once.
const READ_BYTES: usize = 256 * 1024;

/// Reads complete lines that end at an offset: about `most` bytes, and at least one line.
pub fn lines_before(path: &Path, end: u64, most: u64) -> Result<FollowedLines, PathError> {
    let error = |source| PathError::new(path, source);
    let mut opened = OpenedFile::open(HistoryFile::from_path(path)?).map_err(error)?;
    let mut start = end.saturating_sub(most);
    loop {
        let mut bytes = opened.read_range(start, end).map_err(error)?;
        if start == 0 {
            return Ok(FollowedLines { at: 0, bytes });
        }
        // The first line is incomplete.
        if let Some(newline) = memchr::memchr(b'\n', &bytes).filter(|at| at + 1 < bytes.len()) {
            bytes.drain(..=newline);
            return Ok(FollowedLines { at: start + newline as u64 + 1, bytes });
        }
        start = start.saturating_sub(end - start);
    }
}

/// Returns the number of the line that contains an offset, from 1.
pub fn line_at(path: &Path, offset: u64) -> Result<u32, PathError> {
    let error = |source| PathError::new(path, source);
    let mut before =
        BufReader::with_capacity(READ_BYTES, regular_file::open_for_reading(path).map_err(error)?)
            .take(offset);
    let mut line = 1;
    loop {
        let bytes = before.fill_buf().map_err(error)?;
        if bytes.is_empty() {
            return Ok(line);
        }
        line += memchr::memchr_iter(b'\n', bytes).count() as u32;
        let length = bytes.len();
        before.consume(length);
    }
}

/// Reads the complete lines at the beginning of a file, at most about `most` bytes of them.
pub fn first_lines(path: &Path, most: u64) -> Result<FollowedLines, PathError> {
    let error = |source| PathError::new(path, source);
    let mut opened = OpenedFile::open(HistoryFile::from_path(path)?).map_err(error)?;
    let mut bytes = opened.read_range(0, most).map_err(error)?;
    bytes.truncate(memchr::memrchr(b'\n', &bytes).map_or(0, |newline| newline + 1));
    Ok(FollowedLines { at: 0, bytes })
}

//! What stands before the place where following begins.

use std::path::Path;

use super::Lines;
use super::tracked::Opened;
use crate::error::PathError;
use crate::place::HistoryFile;

/// Reads complete lines that end at an offset, about `most` bytes of them, and at least one line.
pub fn lines_before(path: &Path, end: u64, most: u64) -> Result<Lines, PathError> {
    let error = |source| PathError::new(path, source);
    let mut opened = Opened::open(HistoryFile::at(path)?).map_err(error)?;
    let mut start = end.saturating_sub(most);
    loop {
        let mut bytes = opened.bytes(start, end).map_err(error)?;
        if start == 0 {
            return Ok(Lines { at: 0, bytes });
        }
        // What stands before the first newline is the end of a line that began earlier.
        if let Some(newline) = memchr::memchr(b'\n', &bytes).filter(|at| at + 1 < bytes.len()) {
            bytes.drain(..=newline);
            return Ok(Lines { at: start + newline as u64 + 1, bytes });
        }
        start = start.saturating_sub(end - start);
    }
}

/// Reads the complete lines at the beginning of a file, at most about `most` bytes of them.
pub fn first_lines(path: &Path, most: u64) -> Result<Lines, PathError> {
    let error = |source| PathError::new(path, source);
    let mut opened = Opened::open(HistoryFile::at(path)?).map_err(error)?;
    let mut bytes = opened.bytes(0, most).map_err(error)?;
    bytes.truncate(memchr::memrchr(b'\n', &bytes).map_or(0, |newline| newline + 1));
    Ok(Lines { at: 0, bytes })
}

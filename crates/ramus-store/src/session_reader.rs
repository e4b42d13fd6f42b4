//! One open session file: reads all of it once, then single records through a window in memory.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ramus_core::history::History;
use ramus_core::record::ByteSpan;
use ramus_core::resume::ResumeRule;
use ramus_core::session::Session;

use crate::buffer_pool;
use crate::claude_dir::HistoryFile;
use crate::error::PathError;
use crate::overlay;

/// How much is read at once. Small enough to stay in the CPU cache until it is parsed.
const WINDOW_BYTES: u64 = 512 * 1024;

/// An open session file. A window of it is in memory and moves to the requested part.
#[derive(Debug)]
pub struct SessionReader {
    path: PathBuf,
    file: File,
    /// The length when it was opened. What is appended later is ignored.
    length: u64,
    /// The offset of the window in the file.
    at: u64,
    window: Vec<u8>,
}

impl SessionReader {
    /// Opens a session file and reads its records.
    ///
    /// `known` is an earlier reading. It is used instead if the file has not changed since it was listed.
    pub fn open_with_history(
        file: &HistoryFile,
        known: Option<Arc<History>>,
        rule: ResumeRule,
    ) -> Result<(Self, Arc<History>), PathError> {
        let path = &file.path;
        let error = |source| PathError::new(path, source);
        let (mut source, metadata) = Self::open(path).map_err(error)?;
        let is_as_listed =
            metadata.len() == file.bytes && metadata.modified().ok() == Some(file.modified);
        let history = match known.filter(|_| is_as_listed) {
            Some(history) => history,
            None => {
                let mut session = Session::default();
                source.for_each_chunk(|chunk| session.push(chunk)).map_err(error)?;
                session.finish_last_line();
                Arc::new(History::new(session, rule))
            }
        };
        Ok((source, history))
    }

    /// Returns the bytes of a record.
    pub fn read_record(&mut self, span: ByteSpan) -> Result<&[u8], PathError> {
        self.load_range(span.offset, span.end_offset())
            .map_err(|source| PathError::new(&self.path, source))?;
        Ok(self.loaded_bytes(span.offset, span.end_offset()))
    }

    /// Returns the whole line that contains a record, without its newline.
    pub fn read_line(&mut self, span: ByteSpan) -> Result<&[u8], PathError> {
        let (start, end) =
            self.load_line(span).map_err(|source| PathError::new(&self.path, source))?;
        Ok(self.loaded_bytes(start, end))
    }

    /// Frees the memory of a record that was larger than the window. What is made of it may be as large.
    pub fn release_large_record(&mut self) {
        if self.window.capacity() > 4 * WINDOW_BYTES as usize {
            self.window = Vec::new();
        }
    }

    fn open(path: &Path) -> io::Result<(Self, Metadata)> {
        let file = overlay::open(path)?;
        let metadata = file.metadata()?;
        let length = metadata.len();
        let window = buffer_pool::take_buffer(length.min(WINDOW_BYTES) as usize);
        Ok((Self { path: path.to_owned(), file, length, at: 0, window }, metadata))
    }

    fn for_each_chunk(&mut self, mut each: impl FnMut(&[u8])) -> io::Result<()> {
        let mut at = 0;
        while at < self.length {
            let end = (at + WINDOW_BYTES).min(self.length);
            self.load_range(at, end)?;
            each(self.loaded_bytes(at, end));
            at = end;
        }
        Ok(())
    }

    /// Loads a part of the file and what follows it, unless the part is already in memory.
    fn load_range(&mut self, from: u64, to: u64) -> io::Result<()> {
        if self.at <= from && to <= self.at + self.window.len() as u64 {
            return Ok(());
        }
        if to > self.length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let room = (to - from).max(WINDOW_BYTES).min(self.length - from);
        self.at = from;
        self.window.clear();
        self.window.reserve(room as usize);
        self.file.seek(SeekFrom::Start(from))?;
        self.file.by_ref().take(room).read_to_end(&mut self.window)?;
        match self.window.len() as u64 >= to - from {
            true => Ok(()),
            false => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// Returns bytes that were loaded.
    fn loaded_bytes(&self, from: u64, to: u64) -> &[u8] {
        &self.window[(from - self.at) as usize..(to - self.at) as usize]
    }

    /// Finds the line that contains a record, and loads it.
    fn load_line(&mut self, span: ByteSpan) -> io::Result<(u64, u64)> {
        let start = self.find_line_start(span.offset)?;
        let end = self.find_line_end(span.end_offset())?;
        self.load_range(start, end)?;
        Ok((start, end))
    }

    fn find_line_start(&mut self, mut at: u64) -> io::Result<u64> {
        while at > 0 {
            let from = at.saturating_sub(64);
            self.load_range(from, at)?;
            if let Some(newline) = memchr::memrchr(b'\n', self.loaded_bytes(from, at)) {
                return Ok(from + newline as u64 + 1);
            }
            at = from;
        }
        Ok(0)
    }

    fn find_line_end(&mut self, mut at: u64) -> io::Result<u64> {
        while at < self.length {
            let to = (at + 64).min(self.length);
            self.load_range(at, to)?;
            if let Some(newline) = memchr::memchr(b'\n', self.loaded_bytes(at, to)) {
                return Ok(at + newline as u64);
            }
            at = to;
        }
        Ok(self.length)
    }
}

impl Drop for SessionReader {
    fn drop(&mut self) {
        buffer_pool::return_buffer(std::mem::take(&mut self.window));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of many lengths, one of them longer than the window.
    fn lines() -> Vec<String> {
        (0..600)
            .map(|n: usize| match n {
                300 => format!("{n}:{}", "x".repeat(WINDOW_BYTES as usize * 2)),
                _ => format!("{n}:{}", "y".repeat(n * 37 % 9000)),
            })
            .collect()
    }

    #[test]
    fn the_memory_of_a_large_record_can_be_freed_and_it_is_read_again() {
        let text = "x".repeat(WINDOW_BYTES as usize * 8);
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        std::fs::write(&path, &text).unwrap();
        let (mut source, _) = SessionReader::open(&path).unwrap();
        let span = ByteSpan { offset: 3, len: text.len() as u32 - 3 };
        for _ in 0..2 {
            assert_eq!(source.read_record(span).unwrap(), &text.as_bytes()[3..]);
            source.release_large_record();
            assert_eq!(source.window.capacity(), 0);
        }
    }

    #[test]
    fn records_and_lines_are_found_in_any_order() {
        let lines = lines();
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        std::fs::write(&path, lines.join("\n")).unwrap();
        let (mut source, _) = SessionReader::open(&path).unwrap();
        let mut at = 0;
        let mut starts = Vec::new();
        for line in &lines {
            starts.push(at);
            at += line.len() as u64 + 1;
        }
        let forth = 0..lines.len();
        for n in forth.clone().chain(forth.rev().step_by(7)) {
            let line = &lines[n];
            // A record may be a part of its line.
            let span = ByteSpan { offset: starts[n] + 1, len: line.len() as u32 - 1 };
            assert_eq!(source.read_record(span).unwrap(), &line.as_bytes()[1..], "{n}");
            assert_eq!(source.read_line(span).unwrap(), line.as_bytes(), "{n}");
        }
        let beyond = ByteSpan { offset: at, len: 9 };
        assert!(source.read_record(beyond).is_err());
    }
}

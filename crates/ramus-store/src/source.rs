//! The bytes of one session file, for reading it and then its records.

use std::borrow::Cow;
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ramus_core::history::History;
use ramus_core::record::ByteSpan;
use ramus_core::resume::Rule;
use ramus_core::session::Session;

use crate::error::PathError;
use crate::place::HistoryFile;
use crate::spare;

/// Files up to this size are read once and held.
const HELD: u64 = 64 * 1024 * 1024;
/// How much is read at once from a larger one.
const CHUNK: usize = 256 * 1024;

/// An open session file: in memory if it is small, else on the disk.
#[derive(Debug)]
pub struct Source {
    path: PathBuf,
    bytes: Bytes,
}

#[derive(Debug)]
enum Bytes {
    Memory(Vec<u8>),
    Disk(File),
}

impl Source {
    /// Opens a session file and reads its records, unless they are known already.
    ///
    /// `known` is what was read before; it counts if the file has not changed since it was listed.
    pub fn read(
        file: &HistoryFile,
        known: Option<Arc<History>>,
        rule: Rule,
    ) -> Result<(Self, Arc<History>), PathError> {
        let path = &file.path;
        let error = |source| PathError::new(path, source);
        let (mut bytes, metadata) = Bytes::open(path).map_err(error)?;
        let is_as_listed =
            metadata.len() == file.bytes && metadata.modified().ok() == Some(file.modified);
        let history = match known.filter(|_| is_as_listed) {
            Some(history) => history,
            None => {
                let mut session = Session::default();
                bytes.each(|chunk| session.push(chunk)).map_err(error)?;
                session.end();
                Arc::new(History::new(session, rule))
            }
        };
        Ok((Self { path: path.to_owned(), bytes }, history))
    }

    /// Returns the bytes of a record.
    pub fn record(&mut self, span: ByteSpan) -> Result<Cow<'_, [u8]>, PathError> {
        let bytes = self.bytes.slice(span.at, span.end());
        bytes.map_err(|source| PathError::new(&self.path, source))
    }

    /// Returns the whole line that a record stands in, without its newline.
    pub fn line(&mut self, span: ByteSpan) -> Result<Cow<'_, [u8]>, PathError> {
        let line = self.bytes.line(span);
        line.map_err(|source| PathError::new(&self.path, source))
    }
}

impl Drop for Bytes {
    fn drop(&mut self) {
        if let Self::Memory(bytes) = self {
            spare::give(std::mem::take(bytes));
        }
    }
}

impl Bytes {
    fn open(path: &Path) -> io::Result<(Self, Metadata)> {
        let mut file = File::open(path)?;
        let metadata = file.metadata()?;
        let length = metadata.len();
        if length > HELD {
            return Ok((Self::Disk(file), metadata));
        }
        let mut bytes = spare::take(length as usize + 1);
        // What is appended meanwhile is for the next time.
        file.by_ref().take(length).read_to_end(&mut bytes)?;
        Ok((Self::Memory(bytes), metadata))
    }

    fn each(&mut self, mut each: impl FnMut(&[u8])) -> io::Result<()> {
        match self {
            Self::Memory(bytes) => bytes.chunks(CHUNK).for_each(each),
            Self::Disk(file) => {
                let mut buffer = vec![0; CHUNK];
                loop {
                    match file.read(&mut buffer) {
                        Ok(0) => break,
                        Ok(read) => each(&buffer[..read]),
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                        Err(error) => return Err(error),
                    }
                }
            }
        }
        Ok(())
    }

    fn slice(&mut self, from: u64, to: u64) -> io::Result<Cow<'_, [u8]>> {
        match self {
            Self::Memory(bytes) => {
                let slice = bytes.get(from as usize..to as usize);
                slice.map(Cow::Borrowed).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
            }
            Self::Disk(file) => {
                let mut bytes = vec![0; (to - from) as usize];
                file.seek(SeekFrom::Start(from))?;
                file.read_exact(&mut bytes)?;
                Ok(Cow::Owned(bytes))
            }
        }
    }

    fn line(&mut self, span: ByteSpan) -> io::Result<Cow<'_, [u8]>> {
        let start = self.line_start(span.at)?;
        let end = self.line_end(span.end())?;
        self.slice(start, end)
    }

    fn line_start(&mut self, mut at: u64) -> io::Result<u64> {
        while at > 0 {
            let from = at.saturating_sub(64);
            let before = self.slice(from, at)?;
            if let Some(newline) = memchr::memrchr(b'\n', &before) {
                return Ok(from + newline as u64 + 1);
            }
            at = from;
        }
        Ok(0)
    }

    fn line_end(&mut self, mut at: u64) -> io::Result<u64> {
        let length = match self {
            Self::Memory(bytes) => bytes.len() as u64,
            Self::Disk(file) => file.metadata()?.len(),
        };
        while at < length {
            let to = (at + 64).min(length);
            let after = self.slice(at, to)?;
            if let Some(newline) = memchr::memchr(b'\n', &after) {
                return Ok(at + newline as u64);
            }
            at = to;
        }
        Ok(length)
    }
}

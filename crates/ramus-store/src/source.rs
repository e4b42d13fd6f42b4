//! The bytes of one session file, for reading it and then its records.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use ramus_core::history::History;
use ramus_core::record::ByteSpan;
use ramus_core::resume::Rule;
use ramus_core::session::Session;

use crate::error::PathError;

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
    /// Opens a session file and reads its records.
    pub fn read(path: &Path, rule: Rule) -> Result<(Self, History), PathError> {
        let error = |source| PathError::new(path, source);
        let mut bytes = Bytes::open(path).map_err(error)?;
        let mut session = Session::default();
        bytes.each(|chunk| session.push(chunk)).map_err(error)?;
        session.end();
        Ok((Self { path: path.to_owned(), bytes }, History::new(session, rule)))
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

impl Bytes {
    fn open(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        if length > HELD {
            return Ok(Self::Disk(file));
        }
        let mut bytes = Vec::with_capacity(length as usize);
        // What is appended meanwhile is for the next time.
        file.by_ref().take(length).read_to_end(&mut bytes)?;
        Ok(Self::Memory(bytes))
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

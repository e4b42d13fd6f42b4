//! A file into a session, and a record's bytes on demand.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use ramus_core::history::History;
use ramus_core::record::ByteSpan;
use ramus_core::resume::Rule;
use ramus_core::session::Session;

use crate::error::PathError;

/// Small enough to stay in the second level cache between reading and scanning.
const CHUNK: usize = 256 * 1024;

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = RefCell::new(vec![0; CHUNK]);
}

/// Reads a session file from front to back.
///
/// Content never makes this fail; only the disk does. A file that grows,
/// shrinks or is replaced meanwhile gives what was there when it was read.
pub fn read(path: &Path) -> Result<Session, PathError> {
    let mut session = Session::default();
    read_into(&mut session, path).map_err(|source| PathError::new(path, source))?;
    session.end();
    Ok(session)
}

/// Reads a session file with its tree, folds and branches.
///
/// ```no_run
/// use ramus_core::resume::Rule;
///
/// let history = ramus_store::from_jsonl("session.jsonl".as_ref(), Rule::Client)?;
/// for conversation in &history.branches.conversations {
///     println!("{} {} messages", conversation.status, conversation.messages);
/// }
/// # Ok::<(), ramus_store::PathError>(())
/// ```
pub fn from_jsonl(path: &Path, rule: Rule) -> Result<History, PathError> {
    Ok(History::new(read(path)?, rule))
}

fn read_into(session: &mut Session, path: &Path) -> io::Result<()> {
    let mut file = File::open(path)?;
    BUFFER.with_borrow_mut(|buffer| {
        loop {
            match file.read(buffer) {
                Ok(0) => return Ok(()),
                Ok(read) => session.push(&buffer[..read]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    })
}

/// An open session file, for reading bodies by their byte span.
#[derive(Debug)]
pub struct Bodies {
    path: PathBuf,
    file: File,
}

impl Bodies {
    /// Opens a file for reading single records.
    pub fn open(path: &Path) -> Result<Self, PathError> {
        let file = File::open(path).map_err(|source| PathError::new(path, source))?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Reads the bytes of one record.
    pub fn bytes(&mut self, span: ByteSpan) -> Result<Vec<u8>, PathError> {
        let mut bytes = vec![0; span.len as usize];
        self.file
            .seek(SeekFrom::Start(span.at))
            .and_then(|_| self.file.read_exact(&mut bytes))
            .map_err(|source| PathError::new(&self.path, source))?;
        Ok(bytes)
    }
}

/// How much of a spilled output is read at most.
const SPILLED: u64 = 64 * 1024 * 1024;

/// Reads an output that was too large for its record, from where the session keeps such.
///
/// A record names a path, maybe of another machine. Only the file of that name
/// in the session's own `tool-results` is read: a transcript must not make us
/// open anything else. `None`: it is gone.
pub fn spilled(session: &Path, named: &Path) -> Option<String> {
    let name = named.file_name()?;
    let beside = std::iter::once(session.with_extension(""));
    // An agent's file lies some levels below the directory of its session.
    let above = session.ancestors().skip(1).take(4).map(Path::to_owned);
    let path = beside
        .chain(above)
        .map(|dir| dir.join("tool-results").join(name))
        .find(|path| path.is_file())?;
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(SPILLED).read_to_end(&mut bytes)).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

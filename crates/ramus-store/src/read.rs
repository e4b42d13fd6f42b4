//! Reads session files: whole ones into a [`Session`], single records by their byte span.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use ramus_core::branches::Conversation;
use ramus_core::history::History;
use ramus_core::message::Message;
use ramus_core::record::ByteSpan;
use ramus_core::resume::ResumeRule;
use ramus_core::session::Session;
use ramus_core::time::Time;

use crate::error::PathError;
use crate::overlay;
use crate::regular_file;

/// Small enough to stay in the CPU cache between reading and scanning. Measured: 5 % less CPU than 256 KB.
const CHUNK_BYTES: usize = 64 * 1024;
/// A longer incomplete line is passed on before its end has been read.
const MAX_WAITING_BYTES: usize = 4 * 1024 * 1024;

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = RefCell::new(vec![0; CHUNK_BYTES]);
}

/// Reads a session file from front to back.
///
/// Only the disk makes this fail, never the content. If the file changes while it is
/// read, the result is what was read.
pub fn read_session(path: &Path) -> Result<Session, PathError> {
    read_session_as(Session::default(), path)
}

/// Reads a file into a session, which may be configured to keep more than usual.
pub(crate) fn read_session_as(mut session: Session, path: &Path) -> Result<Session, PathError> {
    read_into_session(&mut session, path).map_err(|source| PathError::new(path, source))?;
    session.finish_last_line();
    Ok(session)
}

/// Reads a session file with its tree, folds and branches.
///
/// ```no_run
/// use ramus_core::resume::ResumeRule;
///
/// let history = ramus_store::from_jsonl("session.jsonl".as_ref(), ResumeRule::Client)?;
/// for conversation in &history.branches.conversations {
///     println!("{} {} messages", conversation.status, conversation.messages);
/// }
/// # Ok::<(), ramus_store::PathError>(())
/// ```
pub fn from_jsonl(path: &Path, rule: ResumeRule) -> Result<History, PathError> {
    Ok(History::new(read_session(path)?, rule))
}

fn read_into_session(session: &mut Session, path: &Path) -> io::Result<()> {
    let mut file = overlay::open(path)?;
    BUFFER.with_borrow_mut(|buffer| {
        // An incomplete line waits at the start of the buffer, in memory that is already in the CPU cache.
        let mut held = 0;
        loop {
            if buffer.len() < held + CHUNK_BYTES {
                buffer.resize((held + CHUNK_BYTES).max(held * 2), 0);
            }
            match file.read(&mut buffer[held..held + CHUNK_BYTES]) {
                Ok(0) => {
                    session.push(&buffer[..held]);
                    return Ok(());
                }
                Ok(read) => {
                    let end = held + read;
                    let newline = memchr::memrchr(b'\n', &buffer[held..end]);
                    let whole = match newline {
                        Some(newline) => held + newline + 1,
                        None if end > MAX_WAITING_BYTES => end,
                        None => 0,
                    };
                    session.push(&buffer[..whole]);
                    buffer.copy_within(whole..end, 0);
                    held = end - whole;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    })
}

/// Returns the first working directory that a file's records name, reading no further than that.
pub(crate) fn read_working_dir(path: &Path) -> io::Result<Option<String>> {
    let mut session = Session::default();
    let mut file = overlay::open(path)?;
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        if let Some(cwd) = session.facts().cwd.as_deref() {
            return Ok(Some(cwd.to_owned()));
        }
        match file.read(&mut chunk) {
            Ok(0) => break,
            Ok(read) => session.push(&chunk[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    session.finish_last_line();
    Ok(session.facts().cwd.as_deref().map(str::to_owned))
}

/// An open session file, for reading bodies by their byte span.
#[derive(Debug)]
pub struct RecordReader {
    path: PathBuf,
    file: File,
}

impl RecordReader {
    /// Opens a file for reading single records.
    pub fn open(path: &Path) -> Result<Self, PathError> {
        let file = overlay::open(path).map_err(|source| PathError::new(path, source))?;
        Ok(Self { path: path.to_owned(), file })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the bytes of one record.
    pub fn read_record(&mut self, span: ByteSpan) -> Result<Vec<u8>, PathError> {
        read_span(&mut self.file, span).map_err(|source| PathError::new(&self.path, source))
    }
}

impl RecordReader {
    /// Reads the messages of a conversation in order, each when the iterator reaches it.
    ///
    /// ```
    /// use ramus_core::resume::ResumeRule;
    /// use ramus_store::{RecordReader, from_jsonl};
    ///
    /// # let home = testkit::TestHome::new();
    /// # let path = home.write_session("-app/s.jsonl", "a user hello\nb < a assistant hi");
    /// let history = from_jsonl(&path, ResumeRule::Client)?;
    /// let mut bodies = RecordReader::open(&path)?;
    /// let conversation = history.branches.resuming_conversation().expect("there is something to resume");
    /// for message in bodies.read_messages(&history, conversation) {
    ///     let message = message?;
    ///     println!("{}: {}", message.role.as_str(), message.text());
    /// }
    /// # Ok::<(), ramus_store::PathError>(())
    /// ```
    pub fn read_messages<'a>(
        &'a mut self,
        history: &'a History,
        conversation: &Conversation,
    ) -> impl Iterator<Item = Result<Message, PathError>> + 'a {
        history.messages(conversation, |span| self.read_record(span))
    }
}

/// Reads a piece of a file.
pub(crate) fn read_span(file: &mut File, span: ByteSpan) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; span.len as usize];
    file.seek(SeekFrom::Start(span.offset))?;
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// The most that is read of a spilled output.
pub(crate) const MAX_SPILLED_BYTES: u64 = 64 * 1024 * 1024;

/// Reads an output that was too large for its record.
///
/// The record names a path, possibly from another machine. Only a file of that name
/// in the session's own `tool-results` is read, because a transcript must not make us
/// open other files. `None`: there is no such file.
pub fn read_spilled_output(session: &Path, named: &Path) -> Option<String> {
    let name = named.file_name()?;
    // The file of an agent is in `subagents` below its session's directory.
    let agents =
        session.ancestors().find(|dir| dir.file_name().is_some_and(|name| name == "subagents"));
    let dir =
        agents.and_then(Path::parent).map_or_else(|| session.with_extension(""), Path::to_owned);
    let results = dir.join("tool-results");
    let path = results.join(name);
    // A symbolic link could point anywhere.
    if !overlay::look(&path).is_ok_and(|look| look.is_some())
        || !overlay::is_real_dir(&results)
        || !overlay::is_real_dir(&dir)
    {
        return None;
    }
    let mut bytes = Vec::new();
    overlay::open(&path)
        .and_then(|file| file.take(MAX_SPILLED_BYTES).read_to_end(&mut bytes))
        .ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Reads a small text file such as the settings. `None`: there is no such file.
pub fn read_optional_text(path: &Path) -> Result<Option<String>, PathError> {
    let text = regular_file::read_limited(path, regular_file::SMALL_FILE_BYTES).and_then(|bytes| {
        String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    });
    match text {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(PathError::new(path, source)),
    }
}

/// How much of a file's end is read to find its last timestamp.
const TAIL_BYTES: u64 = 64 * 1024;

/// Returns the newest timestamp near the end of a session file. `None`: it has none, or cannot be read.
pub fn read_last_active(path: &Path) -> Option<Time> {
    let mut file = overlay::open(path).ok()?;
    let len = file.metadata().ok()?.len();
    let start = len.saturating_sub(TAIL_BYTES);
    let mut tail = Vec::new();
    file.seek(SeekFrom::Start(start))
        .and_then(|_| file.take(TAIL_BYTES).read_to_end(&mut tail))
        .ok()?;
    let mut session = Session::default();
    // The first line is incomplete unless the whole file was read.
    let whole = if start == 0 {
        0
    } else {
        tail.iter().position(|byte| *byte == b'\n').map_or(tail.len(), |at| at + 1)
    };
    session.push(&tail[whole..]);
    session.finish_last_line();
    match session.facts().last_active {
        None if start > 0 => read_session(path).ok()?.facts().last_active,
        time => time,
    }
}

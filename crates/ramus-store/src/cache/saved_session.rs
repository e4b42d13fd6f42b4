//! Stores large sessions after parsing. If such a file has grown, only the new part is parsed.

use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use bitcode::{Decode, Encode};
use ramus_core::record::ByteSpan;
use ramus_core::session::Session;
use rayon::prelude::*;
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

use super::file_identity::FileIdentity;
use super::{HistoryCache, frame_file};
use crate::error::PathError;
use crate::overlay;
use crate::private_access::create_private_dirs;
use crate::read::{read_session_as, read_span};
use crate::regular_file;

/// Smaller files are parsed faster than a cache entry could be read.
const MIN_SAVED_BYTES: u64 = 2 * 1024 * 1024;
/// The old part of a grown file is compared in pieces of this size.
const PIECE_BYTES: u64 = 1024 * 1024;
/// The size limit of one entry.
const MAX_SAVED_BYTES: u64 = 1 << 30;

/// A stored session.
#[derive(Encode, Decode)]
struct SavedSession {
    identity: FileIdentity,
    /// The hashes of all pieces; the last piece may be shorter.
    pieces: Vec<u64>,
    session: Vec<u8>,
}

impl HistoryCache {
    /// Reads a session file, from the cache if possible.
    pub fn read_session(&self, path: &Path) -> Result<Session, PathError> {
        self.read_session_as(Session::default, path)
    }

    /// Like `read`, and keeps what the replies used.
    pub(crate) fn read_session_with_usage(&self, path: &Path) -> Result<Session, PathError> {
        self.read_session_as(Session::with_usage, path)
    }

    fn read_session_as(
        &self,
        new: impl Fn() -> Session,
        path: &Path,
    ) -> Result<Session, PathError> {
        let (length, identity) = match overlay::archived_file(path) {
            Some(file) => (file.bytes, Some(file.identity)),
            None => {
                let meta = fs::metadata(path).map_err(|source| PathError::new(path, source))?;
                (meta.len(), FileIdentity::of_settled(path, &meta))
            }
        };
        if length < MIN_SAVED_BYTES || self.dir.is_none() {
            return read_session_as(new(), path);
        }
        let table = self.load_saved(path);
        let same = table.as_ref().filter(|table| Some(table.identity) == identity);
        if let Some(session) = same.and_then(|table| table.decode_session(path)) {
            return Ok(session);
        }
        let grown = table.filter(|table| table.identity.file_len() < length);
        // The entry always includes usage, so that one entry serves every caller.
        let anew =
            || SessionReading { session: Session::with_usage(), ..SessionReading::default() };
        let mut reading = grown.and_then(|table| table.resume_reading(path)).unwrap_or_else(anew);
        reading.read_rest(path).map_err(|source| PathError::new(path, source))?;
        self.save_reading(path, identity, &reading);
        reading.session.finish_last_line();
        Ok(reading.session)
    }

    fn load_saved(&self, path: &Path) -> Option<SavedSession> {
        let bytes =
            regular_file::read_limited(&self.frame_file_path(path, "table")?, MAX_SAVED_BYTES)
                .ok()?;
        bitcode::decode(frame_file::content_frames(&bytes).0.first()?).ok()
    }

    fn save_reading(&self, path: &Path, identity: Option<FileIdentity>, reading: &SessionReading) {
        if let (Some(pack), Some(identity)) = (self.frame_file_path(path, "table"), identity)
            && let Some(session) = reading.session.to_bytes()
            && identity.is_still_valid(path)
        {
            // Two processes may write it at once and damage it. A damaged entry is ignored.
            let table = SavedSession { identity, pieces: reading.piece_hashes(), session };
            let made = pack.parent().map_or(Ok(()), create_private_dirs);
            // A failed write is harmless: the file is parsed again next time.
            drop(
                made.and_then(|()| {
                    frame_file::replace_frames(&pack, path, &bitcode::encode(&table))
                }),
            );
        }
    }
}

impl SavedSession {
    fn decode_session(&self, path: &Path) -> Option<Session> {
        let mut file = overlay::open(path).ok()?;
        Session::from_bytes(&self.session, |span| read_span(&mut file, span).ok())
    }

    /// Returns the state to continue parsing from, if the file still begins with its old content.
    fn resume_reading(&self, path: &Path) -> Option<SessionReading> {
        let old = self.identity.file_len();
        let is_same = self.pieces.par_iter().enumerate().all(|(at, hash)| {
            let at = at as u64 * PIECE_BYTES;
            let span = ByteSpan { offset: at, len: PIECE_BYTES.min(old - at) as u32 };
            let piece = overlay::open(path).and_then(|mut file| read_span(&mut file, span));
            piece.is_ok_and(|piece| xxh3_64(&piece) == *hash)
        });
        let session = self.decode_session(path).filter(|_| is_same)?;
        let whole = (old / PIECE_BYTES) as usize;
        let mut open = Xxh3Default::new();
        let span = ByteSpan { offset: whole as u64 * PIECE_BYTES, len: (old % PIECE_BYTES) as u32 };
        open.update(&read_span(&mut overlay::open(path).ok()?, span).ok()?);
        Some(SessionReading { session, pieces: self.pieces[..whole].to_vec(), open, read: old })
    }
}

/// A file while it is parsed.
#[derive(Default)]
struct SessionReading {
    session: Session,
    pieces: Vec<u64>,
    /// The hash of the incomplete last piece.
    open: Xxh3Default,
    read: u64,
}

impl SessionReading {
    fn read_rest(&mut self, path: &Path) -> io::Result<()> {
        let mut file = overlay::open(path)?;
        file.seek(SeekFrom::Start(self.read))?;
        let mut buffer = vec![0; 64 * 1024];
        loop {
            match file.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(read) => self.push_bytes(&buffer[..read]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn push_bytes(&mut self, bytes: &[u8]) {
        self.session.push(bytes);
        let mut rest = bytes;
        while !rest.is_empty() {
            let room = (PIECE_BYTES - self.read % PIECE_BYTES) as usize;
            let (now, later) = rest.split_at(rest.len().min(room));
            self.open.update(now);
            self.read += now.len() as u64;
            if self.read.is_multiple_of(PIECE_BYTES) {
                self.pieces.push(self.open.digest());
                self.open.reset();
            }
            rest = later;
        }
    }

    fn piece_hashes(&self) -> Vec<u64> {
        let open = (!self.read.is_multiple_of(PIECE_BYTES)).then(|| self.open.digest());
        self.pieces.iter().copied().chain(open).collect()
    }
}

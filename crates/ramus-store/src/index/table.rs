//! Stores large sessions after parsing. If such a file has grown, only the new part is parsed.

use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use bitcode::{Decode, Encode};
use ramus_core::record::ByteSpan;
use ramus_core::session::Session;
use rayon::prelude::*;
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

use super::identity::Identity;
use super::{Index, make_dir, pack};
use crate::error::PathError;
use crate::read::{read_as, read_at};
use crate::regular;

/// Smaller files are parsed faster than a cache entry could be read.
const LARGE: u64 = 2 * 1024 * 1024;
/// The old part of a grown file is compared in pieces of this size.
const PIECE: u64 = 1024 * 1024;
/// The size limit of one entry.
const LARGEST: u64 = 1 << 30;

/// A stored session.
#[derive(Encode, Decode)]
struct Table {
    identity: Identity,
    /// The hashes of all pieces; the last piece may be shorter.
    pieces: Vec<u64>,
    session: Vec<u8>,
}

impl Index {
    /// Reads a session file, from the cache if possible.
    pub fn read(&self, path: &Path) -> Result<Session, PathError> {
        self.read_as(Session::default, path)
    }

    /// Like `read`, and keeps what the replies used.
    pub(crate) fn read_with_uses(&self, path: &Path) -> Result<Session, PathError> {
        self.read_as(Session::with_uses, path)
    }

    fn read_as(&self, new: impl Fn() -> Session, path: &Path) -> Result<Session, PathError> {
        let meta = fs::metadata(path).map_err(|source| PathError::new(path, source))?;
        if meta.len() < LARGE || self.dir.is_none() {
            return read_as(new(), path);
        }
        let identity = Identity::of(&meta);
        let table = self.table(path);
        let same = table.as_ref().filter(|table| Some(table.identity) == identity);
        if let Some(session) = same.and_then(|table| table.session(path)) {
            return Ok(session);
        }
        let grown = table.filter(|table| table.identity.bytes() < meta.len());
        // The entry always includes usage, so that one entry serves every caller.
        let anew = || Reading { session: Session::with_uses(), ..Reading::default() };
        let mut reading = grown.and_then(|table| table.grown(path)).unwrap_or_else(anew);
        reading.read_on(path).map_err(|source| PathError::new(path, source))?;
        self.keep(path, identity, &reading);
        reading.session.end();
        Ok(reading.session)
    }

    fn table(&self, path: &Path) -> Option<Table> {
        let bytes = regular::read(&self.pack(path, "table")?, LARGEST).ok()?;
        bitcode::decode(pack::frames(&bytes).0.first()?).ok()
    }

    fn keep(&self, path: &Path, identity: Option<Identity>, reading: &Reading) {
        if let (Some(pack), Some(identity)) = (self.pack(path, "table"), identity)
            && let Some(session) = reading.session.table()
            && identity.still_is(path)
        {
            // Two processes may write it at once and damage it. A damaged entry is ignored.
            let table = Table { identity, pieces: reading.hashes(), session };
            let made = pack.parent().map_or(Ok(()), make_dir);
            // A failed write is harmless: the file is parsed again next time.
            drop(made.and_then(|()| pack::replace(&pack, path, &bitcode::encode(&table))));
        }
    }
}

impl Table {
    fn session(&self, path: &Path) -> Option<Session> {
        let mut file = regular::open(path).ok()?;
        Session::from_table(&self.session, |span| read_at(&mut file, span).ok())
    }

    /// Returns the state to continue parsing from, if the file still begins with its old content.
    fn grown(&self, path: &Path) -> Option<Reading> {
        let old = self.identity.bytes();
        let is_same = self.pieces.par_iter().enumerate().all(|(at, hash)| {
            let at = at as u64 * PIECE;
            let span = ByteSpan { at, len: PIECE.min(old - at) as u32 };
            let piece = regular::open(path).and_then(|mut file| read_at(&mut file, span));
            piece.is_ok_and(|piece| xxh3_64(&piece) == *hash)
        });
        let session = self.session(path).filter(|_| is_same)?;
        let whole = (old / PIECE) as usize;
        let mut open = Xxh3Default::new();
        let span = ByteSpan { at: whole as u64 * PIECE, len: (old % PIECE) as u32 };
        open.update(&read_at(&mut regular::open(path).ok()?, span).ok()?);
        Some(Reading { session, pieces: self.pieces[..whole].to_vec(), open, read: old })
    }
}

/// A file while it is parsed.
#[derive(Default)]
struct Reading {
    session: Session,
    pieces: Vec<u64>,
    /// The hash of the incomplete last piece.
    open: Xxh3Default,
    read: u64,
}

impl Reading {
    fn read_on(&mut self, path: &Path) -> io::Result<()> {
        let mut file = regular::open(path)?;
        file.seek(SeekFrom::Start(self.read))?;
        let mut buffer = vec![0; 64 * 1024];
        loop {
            match file.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(read) => self.take(&buffer[..read]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        self.session.push(bytes);
        let mut rest = bytes;
        while !rest.is_empty() {
            let room = (PIECE - self.read % PIECE) as usize;
            let (now, later) = rest.split_at(rest.len().min(room));
            self.open.update(now);
            self.read += now.len() as u64;
            if self.read.is_multiple_of(PIECE) {
                self.pieces.push(self.open.digest());
                self.open.reset();
            }
            rest = later;
        }
    }

    fn hashes(&self) -> Vec<u64> {
        let open = (!self.read.is_multiple_of(PIECE)).then(|| self.open.digest());
        self.pieces.iter().copied().chain(open).collect()
    }
}

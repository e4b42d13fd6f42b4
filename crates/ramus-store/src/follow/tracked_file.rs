//! One followed file: identifies it, and reads appended lines.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use xxhash_rust::xxh3::xxh3_64;

use ramus_core::line::LONGEST_LINE;

use super::{FollowStart, FollowedLines};
use crate::claude_dir::HistoryFile;
use crate::file_id::FileId;
use crate::regular_file;

/// How much is read at once. A longer line is still sent as a whole.
const CHUNK_BYTES: u64 = 256 * 1024;
/// How many bytes at the beginning, and at the end of the part that was read, identify a file.
const FINGERPRINT_BYTES: u64 = 1024;

/// A file and how far it was read.
#[derive(Debug)]
pub(super) struct TrackedFile {
    pub(super) file: HistoryFile,
    pub(super) id: Option<FileId>,
    /// Offset after the last line that was sent.
    pub(super) read: u64,
    /// There is no newline between `read` and this offset.
    searched: u64,
    /// Fingerprints of the first and the last bytes before `read`.
    head: u64,
    tail: u64,
}

/// A file as it is now.
pub(super) struct OpenedFile {
    handle: File,
    pub(super) file: HistoryFile,
    pub(super) id: Option<FileId>,
    len: u64,
    /// The last fingerprint, cached because many lost files are compared with one new file.
    last_fingerprint: Option<(u64, u64, u64)>,
}

impl OpenedFile {
    pub(super) fn open(mut file: HistoryFile) -> io::Result<Self> {
        let handle = regular_file::open_for_reading(&file.path)?;
        let metadata = handle.metadata()?;
        file.bytes = metadata.len();
        file.modified = metadata.modified().unwrap_or(file.modified);
        let id = FileId::from_file(&handle).ok();
        Ok(Self { handle, id, len: metadata.len(), file, last_fingerprint: None })
    }

    /// Reads a range, or less if the file was truncated.
    pub(super) fn read_range(&mut self, from: u64, to: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(to.saturating_sub(from) as usize);
        self.handle.seek(SeekFrom::Start(from))?;
        self.handle.by_ref().take(to.saturating_sub(from)).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn fingerprint(&mut self, from: u64, to: u64) -> io::Result<u64> {
        if let Some((_, _, print)) =
            self.last_fingerprint.filter(|known| (known.0, known.1) == (from, to))
        {
            return Ok(print);
        }
        let print = xxh3_64(&self.read_range(from, to)?);
        self.last_fingerprint = Some((from, to, print));
        Ok(print)
    }

    /// Returns the offset after the last newline.
    fn last_line_end(&mut self) -> io::Result<u64> {
        let mut end = self.len;
        while end > 0 {
            let start = end.saturating_sub(4096);
            if let Some(newline) = memchr::memrchr(b'\n', &self.read_range(start, end)?) {
                return Ok(start + newline as u64 + 1);
            }
            end = start;
        }
        Ok(0)
    }
}

impl TrackedFile {
    pub(super) fn new(opened: &mut OpenedFile, start: FollowStart) -> io::Result<Self> {
        let read = match start {
            FollowStart::Beginning => 0,
            FollowStart::End => opened.last_line_end()?,
        };
        let mut new = Self {
            file: opened.file.clone(),
            id: opened.id,
            read,
            searched: read,
            head: 0,
            tail: 0,
        };
        new.update_fingerprints(opened)?;
        Ok(new)
    }

    /// Whether the file's metadata is unchanged, so that it need not be opened.
    pub(super) fn looks_like(&self, file: &HistoryFile) -> bool {
        // Two files written in the same clock tick have the same date and may have the same size, so a
        // file that changed a moment ago is opened.
        let is_settled = file.identity.is_some() || cfg!(not(unix));
        is_settled
            && self.file.identity == file.identity
            && (self.file.bytes, self.file.modified) == (file.bytes, file.modified)
    }

    /// Whether the opened file has the content that was read of this one, at the same offsets.
    pub(super) fn is_same_file(&self, opened: &mut OpenedFile) -> io::Result<bool> {
        Ok(opened.len >= self.read
            && opened.fingerprint(0, self.read.min(FINGERPRINT_BYTES))? == self.head
            && opened.fingerprint(self.read.saturating_sub(FINGERPRINT_BYTES), self.read)?
                == self.tail)
    }

    /// Updates the stored metadata, without reading the file.
    pub(super) fn update_metadata(&mut self, opened: &OpenedFile) {
        self.file = opened.file.clone();
        self.id = opened.id;
    }

    /// Returns the next complete lines; `None`: there are none yet.
    pub(super) fn next_lines(
        &mut self,
        opened: &mut OpenedFile,
    ) -> io::Result<Option<FollowedLines>> {
        while self.searched < opened.len {
            let from = self.searched;
            let mut bytes = opened.read_range(from, opened.len.min(from + CHUNK_BYTES))?;
            if bytes.is_empty() {
                break;
            }
            self.searched += bytes.len() as u64;
            let Some(newline) = memchr::memrchr(b'\n', &bytes) else { continue };
            let first = from + memchr::memchr(b'\n', &bytes).unwrap_or(newline) as u64 + 1;
            if first - self.read > LONGEST_LINE {
                // The line is too long and is skipped. Receivers notice the gap in the offsets.
                (self.read, self.searched) = (first, first);
                self.update_fingerprints(opened)?;
                continue;
            }
            let at = self.read;
            let end = from + newline as u64 + 1;
            if from == at {
                bytes.truncate(newline + 1);
            } else {
                bytes = opened.read_range(at, end)?;
            }
            // The file was truncated while it was read. The next check reports it.
            if at + bytes.len() as u64 != end {
                break;
            }
            self.read = end;
            if self.searched < opened.len {
                self.searched = end;
            }
            self.update_fingerprints(opened)?;
            return Ok(Some(FollowedLines { at, bytes }));
        }
        Ok(None)
    }

    fn update_fingerprints(&mut self, opened: &mut OpenedFile) -> io::Result<()> {
        self.head = opened.fingerprint(0, self.read.min(FINGERPRINT_BYTES))?;
        self.tail = opened.fingerprint(self.read.saturating_sub(FINGERPRINT_BYTES), self.read)?;
        Ok(())
    }
}

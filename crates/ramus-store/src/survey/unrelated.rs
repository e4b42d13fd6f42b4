//! Proves by a search through raw bytes that a file has nothing to do with a session, without parsing it.
//!
//! Nearly all sessions of a project are unrelated, and reading them all only to say so costs more than drawing the
//! one session that is asked for.

use std::cell::OnceCell;
use std::io::{self, Read};
use std::path::Path;

use memchr::memmem::Finder;
use ramus_core::history::History;
use ramus_core::ids::RecordUuid;
use rustc_hash::FxHashSet;

use crate::claude_dir::HistoryFile;
use crate::overlay;
use crate::prompt_history::read_noted_prompts;

const CHUNK_BYTES: usize = 64 * 1024;
/// The end of a chunk that is searched again with the next one. An id and the name of its field are shorter.
const OVERLAP_BYTES: usize = 256;

/// What a file contains if it is related to a session (R31): the session's id, or a uuid of one of its records or of
/// one that it misses.
pub(super) struct RelatedFileSearch<'a> {
    file: &'a HistoryFile,
    history: &'a History,
    missing: FxHashSet<RecordUuid>,
    id: Finder<'a>,
    uuid_field: Finder<'static>,
    clear: Finder<'static>,
    /// Whether `/clear` was typed in the session, which begins another one that does not name it.
    was_cleared: OnceCell<bool>,
}

impl<'a> RelatedFileSearch<'a> {
    pub(super) fn new(file: &'a HistoryFile, history: &'a History) -> Self {
        Self {
            file,
            history,
            missing: history.record_tree.missing_parents().iter().map(|(_, name)| *name).collect(),
            id: Finder::new(file.id.as_bytes()),
            uuid_field: Finder::new("uid\""),
            clear: Finder::new("/clear"),
            was_cleared: OnceCell::new(),
        }
    }

    /// Whether a session may be related. `Ok(false)` is certain.
    pub(super) fn may_be_related(&self, other: &HistoryFile) -> io::Result<bool> {
        let facts = self.history.session.facts();
        let forked = facts.forked_from.iter().map(|(session, _)| session);
        let mut named = forked.chain(&facts.merged_from).chain(&facts.session_ids);
        if named.any(|id| **id == *other.id) {
            return Ok(true);
        }
        let mut file = overlay::open(&other.path)?;
        let mut buffer = vec![0; OVERLAP_BYTES + CHUNK_BYTES];
        let mut held = 0;
        loop {
            let read = match file.read(&mut buffer[held..]) {
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let end = held + read;
            if self.is_mentioned(&buffer[..end], read == 0) {
                return Ok(true);
            }
            if read == 0 {
                return Ok(false);
            }
            held = end.min(OVERLAP_BYTES);
            buffer.copy_within(end - held..end, 0);
        }
    }

    fn is_mentioned(&self, bytes: &[u8], is_end: bool) -> bool {
        self.id.find(bytes).is_some()
            || self.clear.find(bytes).is_some() && self.was_cleared()
            || self.uuid_field.find_iter(bytes).any(|at| {
                // A match that begins near the end is found again, with the bytes after it.
                let is_whole = is_end || at + OVERLAP_BYTES <= bytes.len();
                is_whole && self.is_known_uuid(&bytes[at + self.uuid_field.needle().len()..])
            })
    }

    /// Whether the value of a field is a uuid that relates the file, or cannot be determined.
    fn is_known_uuid(&self, after_name: &[u8]) -> bool {
        let Some(value) = after_name.trim_ascii_start().strip_prefix(b":") else { return false };
        let Some(text) = value.trim_ascii_start().strip_prefix(b"\"") else { return false };
        let Some(end) = memchr::memchr2(b'"', b'\\', text).filter(|end| text[*end] == b'"') else {
            return true;
        };
        let name = RecordUuid::new(&text[..end]);
        self.missing.contains(&name) || self.history.node_by_uuid(name).is_some()
    }

    fn was_cleared(&self) -> bool {
        *self.was_cleared.get_or_init(|| {
            let root = self.file.path.parent().and_then(Path::parent).and_then(Path::parent);
            let notes = root.map(|root| read_noted_prompts(root).unwrap_or_default());
            let is_clear =
                |session: &str, text: &str| session == self.file.id && text.trim() == "/clear";
            notes.into_iter().flatten().any(|note| is_clear(&note.session, &note.text))
        })
    }
}

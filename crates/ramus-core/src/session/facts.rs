//! Facts about a whole file, collected from its records.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use bitcode::{Decode, Encode};

use crate::body::json;
use crate::envelope::Envelope;
use crate::ids::RecordUuid;
use crate::record::{Record, RecordKind, RecordRole};
use crate::time::Time;

/// The most session ids that are kept of one file; copies of copies have a handful.
const MAX_SESSION_IDS: usize = 64;

/// Facts about a whole file, collected from its records.
#[derive(Clone, Debug, Default, Encode, Decode)]
pub struct SessionFacts {
    pub bytes: u64,
    /// The newest client version in any record.
    pub version: Option<ClientVersion>,
    /// The first working directory.
    pub cwd: Option<Box<str>>,
    pub git_branch: Option<Box<str>>,
    /// The first `agentId` of a sidechain record.
    pub agent: Option<Box<str>>,
    /// The session ids in order of appearance; copies keep the old one (R5).
    pub session_ids: Vec<Box<str>>,
    /// The session it was forked from and the last message copied, by the last `forkedFrom`.
    pub forked_from: Option<(Box<str>, Box<str>)>,
    /// The sessions it was merged from, in order of appearance.
    pub merged_from: Vec<Box<str>>,
    pub started: Option<Time>,
    pub last_active: Option<Time>,
    /// The uuids of the compaction boundaries.
    pub compactions: Vec<RecordUuid>,
    pub sidechain_records: u32,
    /// Thinking blocks, and those whose text is withheld (R17).
    pub thinking: u32,
    pub withheld_thinking: u32,
    /// Records of API errors.
    pub api_errors: u32,
    /// How many `system` records there are of each subtype.
    pub system: BTreeMap<Box<str>, u32>,
}

/// A client version as written, ordered by its numbers.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct ClientVersion {
    pub numbers: (u32, u32, u32),
    pub text: Box<str>,
}

impl ClientVersion {
    /// Reads `2.1.120` and the like; `None` when it does not begin with a number.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(['.', '-', '+']).map(|part| part.parse::<u32>().ok());
        let major = parts.next()??;
        let minor = parts.next().flatten().unwrap_or(0);
        let patch = parts.next().flatten().unwrap_or(0);
        Some(Self { numbers: (major, minor, patch), text: text.into() })
    }
}

impl PartialOrd for ClientVersion {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ClientVersion {
    fn cmp(&self, other: &Self) -> Ordering {
        self.numbers.cmp(&other.numbers).then_with(|| self.text.cmp(&other.text))
    }
}

impl SessionFacts {
    pub(super) fn add_record(&mut self, found: &Envelope<'_>, record: &Record) {
        if let Some(text) = found.version
            && self.version.as_ref().is_none_or(|newest| newest.text.as_bytes() != text)
            && let Some(version) = ClientVersion::parse(&json::unescape(text))
            && self.version.as_ref().is_none_or(|newest| version > *newest)
        {
            self.version = Some(version);
        }
        if let Some(id) = found.session_id
            && self.session_ids.last().is_none_or(|last| last.as_bytes() != id)
        {
            let id: Box<str> = json::unescape(id).into();
            if self.session_ids.len() < MAX_SESSION_IDS && !self.session_ids.contains(&id) {
                self.session_ids.push(id);
            }
        }
        fill_once(&mut self.cwd, found.cwd);
        fill_once(&mut self.git_branch, found.git_branch);
        fill_once(&mut self.agent, found.agent_id);
        match found.forked_from.filter(|(session, _)| !session.is_empty()) {
            Some((session, message)) => {
                self.forked_from =
                    Some((json::unescape(session).into(), json::unescape(message).into()));
            }
            // A fork of a merged session keeps `mergedFrom` on the records it copies.
            None => found.merged_from.iter().for_each(|(session, _)| self.add_merged(session)),
        }
        if let Some(time) = record.time {
            self.started = Some(self.started.map_or(time, |first| first.min(time)));
            self.last_active = Some(self.last_active.map_or(time, |last| last.max(time)));
        }
        if record.role == RecordRole::CompactBoundary {
            self.compactions.extend(record.uuid);
        }
        if record.kind == RecordKind::System && !record.recovered {
            let subtype = json::unescape(found.subtype.unwrap_or_default());
            match self.system.get_mut(&*subtype) {
                Some(count) => *count += 1,
                None => drop(self.system.insert(subtype.into(), 1)),
            }
        }
        let is_error = record.api_error || found.subtype == Some(b"api_error");
        self.api_errors += u32::from(is_error);
        self.sidechain_records += u32::from(record.sidechain);
        self.thinking += found.thinking;
        self.withheld_thinking += found.withheld;
    }
}

impl SessionFacts {
    fn add_merged(&mut self, session: &[u8]) {
        let is_known = self.merged_from.iter().any(|known| known.as_bytes() == session);
        if !session.is_empty() && !is_known && self.merged_from.len() < MAX_SESSION_IDS {
            let session: Box<str> = json::unescape(session).into();
            if !self.merged_from.contains(&session) {
                self.merged_from.push(session);
            }
        }
    }
}

fn fill_once(slot: &mut Option<Box<str>>, raw: Option<&[u8]>) {
    if slot.is_none()
        && let Some(raw) = raw.filter(|raw| !raw.is_empty())
    {
        *slot = Some(json::unescape(raw).into());
    }
}

//! The contents of a pack, and where its sessions were added.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Written;

/// A pack that was written or listed.
#[derive(Debug, Serialize)]
pub struct Packed {
    /// The size of the pack; null: it was not written to a file.
    pub bytes: Option<u64>,
    /// The size of its files together.
    pub total_bytes: u64,
    pub redacted: bool,
    pub sessions: Vec<PackedSessionEntry>,
    /// The redactions, by rule; null: nothing was redacted now.
    pub redactions: Option<BTreeMap<&'static str, u64>>,
    /// Files and directories that cannot be packed, or with redaction are not text.
    pub left_out: Vec<String>,
}

#[derive(Debug, Serialize)]
pub struct PackedSessionEntry {
    pub id: String,
    pub title: String,
    pub directory: Option<String>,
    pub version: Option<String>,
    pub started: Option<String>,
    pub last_active: Option<String>,
    pub messages: u32,
    pub conversations: u32,
    pub agents: u32,
    pub files: Vec<PackedFileEntry>,
}

#[derive(Debug, Serialize)]
pub struct PackedFileEntry {
    pub name: String,
    pub bytes: u64,
    pub sha256: String,
}

/// A pack whose sessions were placed, or would be.
#[derive(Debug, Serialize)]
pub struct Unpacked {
    #[serde(flatten)]
    pub written: Written,
    /// The directory to continue in.
    pub directory: String,
    pub sessions: Vec<UnpackedSession>,
}

#[derive(Debug, Serialize)]
pub struct UnpackedSession {
    pub id: String,
    /// Its id in the pack.
    pub packed_id: String,
    pub file: String,
    pub resume_leaf: Option<String>,
    /// How many records got other paths or another id.
    pub rewritten_records: u64,
}

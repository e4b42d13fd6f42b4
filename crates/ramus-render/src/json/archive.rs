//! The answers of the `archive` commands.

use serde::Serialize;

/// What `archive add` did.
#[derive(Debug, Serialize)]
pub struct ArchiveAdd {
    pub archive: String,
    /// Files that were examined.
    pub files: u64,
    pub unchanged: u64,
    pub new: u64,
    pub grown: u64,
    pub rewritten: u64,
    pub skipped: u64,
    pub added_bytes: u64,
    /// What was stored for them, compressed.
    pub stored_bytes: u64,
    /// Only if secrets were removed before sending: files that were not sent because they are not text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<u64>,
}

/// What `archive init` prepared.
#[derive(Debug, Serialize)]
pub struct ArchiveInit {
    pub archive: String,
    pub team: bool,
}

/// What `archive share` and `archive unshare` did.
#[derive(Debug, Serialize)]
pub struct ArchiveShare {
    pub project: String,
    pub shared: bool,
    /// Whether it was different before.
    pub changed: bool,
}

/// The size of an archive.
#[derive(Debug, Serialize)]
pub struct ArchiveStatus {
    pub archive: String,
    pub exists: bool,
    pub sessions: u64,
    pub files: u64,
    pub generations: u64,
    pub chunks: u64,
    /// The length of all generations together.
    pub bytes: u64,
    /// The same, compressed.
    pub packed_bytes: u64,
    /// The length of the archive's file.
    pub file_bytes: u64,
    pub last_added: Option<String>,
    /// Files of the Claude directories that are not archived as they are now.
    pub pending_files: u64,
    /// Whether the settings of the client run `archive add` when a session ends.
    pub hook: bool,
    /// Whether a systemd timer or launchd agent runs it every hour.
    pub timer: bool,
}

#[derive(Debug, Serialize)]
pub struct ArchiveList {
    pub sessions: Vec<ArchiveSession>,
}

/// An archived session.
#[derive(Debug, Serialize)]
pub struct ArchiveSession {
    pub id: String,
    /// Null: nothing but its id is known.
    pub title: Option<String>,
    pub project: Option<String>,
    pub root: String,
    /// Relative to the Claude directory; null: only other files of the session are archived.
    pub file: Option<String>,
    /// Whether the session's own file is still there.
    pub on_disk: bool,
    pub files: usize,
    pub bytes: u64,
    pub modified: Option<String>,
    pub added: Option<String>,
    /// The contents that the session's own file had, oldest first.
    pub generations: Vec<ArchiveGeneration>,
}

#[derive(Debug, Serialize)]
pub struct ArchiveGeneration {
    pub number: u32,
    pub bytes: u64,
    pub blake3: String,
    pub modified: String,
    pub added: String,
    /// Secrets were removed before it was sent; only if so.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub redacted: bool,
}

/// What `archive verify` found.
#[derive(Debug, Serialize)]
pub struct ArchiveVerify {
    pub archive: String,
    pub files: u64,
    pub generations: u64,
    pub bytes: u64,
    pub damaged: Vec<ArchiveDamage>,
}

#[derive(Debug, Serialize)]
pub struct ArchiveDamage {
    pub file: String,
    pub session: String,
    pub generation: u32,
    pub problem: String,
}

/// What `archive forget` removed.
#[derive(Debug, Serialize)]
pub struct ArchiveForget {
    pub session: String,
    pub files: u64,
    pub generations: u64,
    pub bytes: u64,
}

/// What `archive export` wrote.
#[derive(Debug, Serialize)]
pub struct ArchiveExport {
    pub dir: String,
    pub sessions: usize,
    pub files: usize,
    pub bytes: u64,
}

/// What `archive install` and `archive uninstall` changed, or would.
#[derive(Debug, Serialize)]
pub struct ArchiveSettings {
    /// Number in the log; null: nothing was written.
    pub op: Option<u64>,
    pub with: &'static str,
    pub files: Vec<String>,
    pub installed: bool,
    pub changed: bool,
}

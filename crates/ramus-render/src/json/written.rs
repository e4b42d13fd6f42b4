//! The output of commands that write, and the log.

use serde::Serialize;

/// An operation that was carried out, or would be.
#[derive(Debug, Serialize)]
pub struct Written {
    /// Its number in the log; null: nothing was written.
    pub op: Option<u64>,
    pub operation: &'static str,
    pub session: String,
    pub file: String,
    pub resume_leaf: Option<String>,
    pub appended_bytes: u64,
    /// The copy that was kept of the session before.
    pub backup: Option<String>,
    pub resume_command: Option<String>,
    /// How many messages up to there Claude Code does not load.
    pub left_out: u32,
    pub undoes: Option<u64>,
}

/// How to resume at a message in Claude Code.
#[derive(Debug, Serialize)]
pub struct Resumable {
    pub session: String,
    /// The message that is resumed.
    pub leaf: String,
    /// What must be done first: `nothing`, `goto-or-fork` or `fork`.
    pub first_step: &'static str,
    /// One line for a shell that does all of it.
    pub command: String,
    /// How the client is started once that is done.
    pub program: String,
    pub args: Vec<String>,
    pub directory: Option<String>,
    pub directory_exists: bool,
    /// The value of `CLAUDE_CONFIG_DIR`; null: the client finds the session without it.
    pub claude_dir: Option<String>,
    /// The process of a client that has the session open.
    pub open_in: Option<u32>,
}

/// A repair of one session.
#[derive(Debug, Serialize)]
pub struct FixAnswer {
    #[serde(flatten)]
    pub written: Written,
    /// The repaired session, which is not changed unless only lines were added.
    pub of: String,
    pub repairs: Vec<String>,
}

#[derive(Debug, Serialize)]
pub struct Log {
    pub operations: Vec<LogEntry>,
}

#[derive(Debug, Serialize)]
pub struct LogEntry {
    pub op: u64,
    pub at: String,
    pub operation: &'static str,
    pub session: String,
    pub file: String,
    pub words: String,
    pub done: bool,
    pub undone_by: Option<u64>,
    pub undoes: Option<u64>,
    pub backup: Option<String>,
}

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
    /// How many messages that are read up to there Claude Code goes on without.
    pub left_out: u32,
    pub undoes: Option<u64>,
}

/// A repair of one session.
#[derive(Debug, Serialize)]
pub struct FixAnswer {
    #[serde(flatten)]
    pub written: Written,
    /// The session that was repaired, which stays as it is unless only lines were added.
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

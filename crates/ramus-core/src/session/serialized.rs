//! Stores an analysed session as bytes and loads it again.
//!
//! The text of messages is not stored: the previews of prompts are read from the file again, by the byte
//! spans of their records.

use super::{NodeId, Session, has_preview};
use crate::envelope::scan_envelope;
use crate::record::ByteSpan;
use crate::usage::UsageLog;

impl Session {
    /// Serializes the session; `None`: it ends within a line, or has data that is not stored.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        let is_kept =
            self.lines.is_at_line_end() && self.tool_log.is_none() && self.inspector.is_none();
        let runs = self.usage_log().map(UsageLog::model_runs).unwrap_or_default();
        is_kept.then(|| bitcode::encode(&(bitcode::encode(self), runs)))
    }

    /// Loads a session; `read` returns the bytes of a record.
    pub fn from_bytes(
        table: &[u8],
        mut read: impl FnMut(ByteSpan) -> Option<Vec<u8>>,
    ) -> Option<Self> {
        let (session, runs): (Vec<u8>, Vec<_>) = bitcode::decode(table).ok()?;
        let mut session: Self = bitcode::decode(&session).ok()?;
        if let Some(uses) = &mut session.usage_log {
            uses.restore_runs(runs);
        }
        for id in (0..session.records.len() as u32).map(NodeId) {
            let record = session.record(id);
            let (span, kind, role) = (record.span, record.kind, record.role);
            if has_preview(kind, role) {
                let bytes = read(span)?;
                let found = scan_envelope(&bytes).ok()?;
                session.take_preview(id, &found, kind, role);
            }
        }
        Some(session)
    }
}

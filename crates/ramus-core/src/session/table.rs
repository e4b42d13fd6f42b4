//! A session as bytes, to be taken up again where it was left.
//!
//! What people and models said is not among them: the first words of prompts are read from the file
//! again, by where their records stand.

use super::{NodeId, Session, has_words};
use crate::envelope::scan;
use crate::record::ByteSpan;

impl Session {
    /// Writes down what was read; `None`: it ends within a line, or more was asked for than is kept.
    pub fn table(&self) -> Option<Vec<u8>> {
        let is_plain = self.uses.is_none() && self.tool_log.is_none();
        (self.lines.is_at_line_end() && is_plain).then(|| bitcode::encode(self))
    }

    /// Takes a session up again; `read` hands out the bytes of its records.
    pub fn from_table(
        table: &[u8],
        mut read: impl FnMut(ByteSpan) -> Option<Vec<u8>>,
    ) -> Option<Self> {
        let mut session: Self = bitcode::decode(table).ok()?;
        for id in (0..session.records.len() as u32).map(NodeId) {
            let record = session.record(id);
            let (span, kind, voice) = (record.span, record.kind, record.voice);
            if has_words(kind, voice) {
                let bytes = read(span)?;
                let found = scan(&bytes).ok()?;
                session.take_words(id, &found, kind, voice);
            }
        }
        Some(session)
    }
}

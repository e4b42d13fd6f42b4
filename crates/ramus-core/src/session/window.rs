//! Keeps only the last records of a session, for following files that are too large to keep.

use super::{NodeId, Session};
use crate::record::Record;

impl Session {
    /// Adds a record of another session, with everything that its links need.
    pub(crate) fn append(&mut self, from: &Self, id: NodeId) {
        let own = NodeId(self.records.len() as u32);
        let record = from.record(id);
        let tools_at = self.tool_ids.len() as u32;
        self.tool_ids.extend_from_slice(from.tool_ids(record));
        if let Some(words) = from.words(id) {
            self.words.push(own, words);
        }
        self.sources.extend(from.source(id).map(|source| (own, source)));
        if !from.parts(id).is_empty() {
            self.parts.push((own, from.parts(id).to_vec()));
        }
        if let Ok(at) = from.preserved.binary_search_by_key(&id, |(boundary, _)| *boundary) {
            self.preserved.push((own, from.preserved[at].1.clone()));
        }
        for name in [record.name, record.parent].into_iter().flatten() {
            if let Some(spelling) = from.spellings.get(&name) {
                self.spellings.insert(name, spelling.clone());
            }
        }
        self.records.push(Record { tools_at, ..record.clone() });
    }

    /// Returns a session with the last records of this one, as [`append`](Self::append) added them.
    pub(crate) fn last_records(&self, count: usize) -> Self {
        let mut last = Self::default();
        for index in self.records.len().saturating_sub(count)..self.records.len() {
            last.append(self, NodeId(index as u32));
        }
        last
    }
}

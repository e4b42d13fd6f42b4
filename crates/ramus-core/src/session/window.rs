//! Keeps only the last records of a session, for following files that are too large to keep.

use super::{NodeId, Session};
use crate::record::Record;

impl Session {
    /// Adds a record of another session, with everything that its links need.
    pub(crate) fn append_record(&mut self, from: &Self, id: NodeId) {
        let own = NodeId(self.records.len() as u32);
        let record = from.record(id);
        let tools_at = self.tool_ids.len() as u32;
        self.tool_ids.extend_from_slice(from.tool_ids(record));
        if let Some(words) = from.preview_text(id) {
            self.previews.push_text(own, words);
        }
        self.source_uuids.extend(from.source_uuid(id).map(|source| (own, source)));
        if !from.part_hashes(id).is_empty() {
            self.part_hashes.push((own, from.part_hashes(id).to_vec()));
        }
        if let Ok(at) = from.preserved.binary_search_by_key(&id, |(boundary, _)| *boundary) {
            self.preserved.push((own, from.preserved[at].1.clone()));
        }
        for name in [record.uuid, record.parent_uuid].into_iter().flatten() {
            if let Some(spelling) = from.uuid_texts.get(&name) {
                self.uuid_texts.insert(name, spelling.clone());
            }
        }
        self.records.push(Record { first_tool: tools_at, ..record.clone() });
    }

    /// Returns a session with the last records of this one, as [`append_record`](Self::append_record) added them.
    pub(crate) fn last_records(&self, count: usize) -> Self {
        let mut last = Self::default();
        for index in self.records.len().saturating_sub(count)..self.records.len() {
            last.append_record(self, NodeId(index as u32));
        }
        last
    }
}

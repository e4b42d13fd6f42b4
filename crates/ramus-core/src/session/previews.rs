//! The previews of records in one allocation: there may be as many as records.

use super::NodeId;

/// Texts of records, in file order.
#[derive(Clone, Debug, Default)]
pub(super) struct PreviewTexts {
    /// Each record and the end of its text; it begins where the previous one ends.
    ends: Vec<(NodeId, u32)>,
    text: String,
}

impl PreviewTexts {
    /// Adds the text of a record that comes after all others. Beyond four gigabytes none is kept.
    pub(super) fn push_text(&mut self, id: NodeId, text: &str) {
        if let Ok(end) = u32::try_from(self.text.len() + text.len()) {
            self.text.push_str(text);
            self.ends.push((id, end));
        }
    }

    pub(super) fn text_of(&self, id: NodeId) -> Option<&str> {
        let at = self.ends.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before].1);
        self.text.get(start as usize..self.ends[at].1 as usize)
    }
}

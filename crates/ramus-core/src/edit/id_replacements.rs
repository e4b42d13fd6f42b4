//! Replaces ids wherever a line contains them.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::cursor::{BrokenJson, JsonCursor};
use crate::ids::{IdHash, RecordUuid};

/// The new ids of copied records.
///
/// Records are identified by uuid; message ids, tool call ids and names of backups by hash.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct IdReplacements {
    pub(super) uuids: UuidReplacements,
    pub(super) ids: FxHashMap<IdHash, String>,
}

/// New uuids by the old ones, sorted. A merge has half a million of these, one for each exchange.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct UuidReplacements(Box<[(RecordUuid, NewUuid)]>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum NewUuid {
    Canonical(RecordUuid),
    Other(Box<str>),
}

impl UuidReplacements {
    /// Makes a new uuid for each of these, in their order.
    pub(super) fn new(old: Vec<RecordUuid>, new_id: &mut dyn FnMut() -> String) -> Self {
        let mut firsts: Vec<(RecordUuid, usize)> =
            old.into_iter().enumerate().map(|(index, name)| (name, index)).collect();
        firsts.sort_unstable();
        firsts.dedup_by_key(|(name, _)| *name);
        firsts.sort_unstable_by_key(|(_, index)| *index);
        let renamed = firsts.into_iter().map(|(name, _)| (name, NewUuid::new(&new_id())));
        let mut renamed: Box<[_]> = renamed.collect();
        renamed.sort_unstable_by_key(|(name, _)| *name);
        Self(renamed)
    }

    pub(super) fn get(&self, old: RecordUuid) -> Option<String> {
        let at = self.0.binary_search_by_key(&old, |(name, _)| *name).ok()?;
        Some(match &self.0[at].1 {
            NewUuid::Canonical(uuid) => uuid.to_string(),
            NewUuid::Other(text) => String::from(&**text),
        })
    }
}

impl NewUuid {
    fn new(text: &str) -> Self {
        let canonical = RecordUuid::parse_canonical(text.as_bytes());
        canonical.map_or_else(|| Self::Other(text.into()), Self::Canonical)
    }
}

/// Fields with text or provenance, which never contain an id of this session.
const TEXT_FIELDS: &[&[u8]] = &[
    b"content",
    b"text",
    b"prompt",
    b"stdout",
    b"stderr",
    b"command",
    b"summary",
    b"lastPrompt",
    b"toolUseResult",
    b"forkedFrom",
    b"mergedFrom",
];

/// The depth up to which ids are searched for; the client writes nothing deeper.
const MAX_DEPTH: u32 = 8;

type LineEdits = Vec<(Range<usize>, String)>;

impl IdReplacements {
    pub(super) fn is_empty(&self) -> bool {
        self.uuids.0.is_empty() && self.ids.is_empty()
    }

    /// Returns the replacements to make in a line.
    pub(super) fn edits_in_line(&self, line: &[u8]) -> LineEdits {
        let mut edits = LineEdits::new();
        let mut cursor = JsonCursor::new(line, 0);
        let walked = cursor.walk_object(|cursor, key| match key {
            b"message" => self.walk_message(cursor, &mut edits),
            _ => self.walk_field(cursor, key, 0, &mut edits),
        });
        if walked.is_ok() { edits } else { LineEdits::new() }
    }

    /// In a message, only its own id and those of tool calls are ids.
    fn walk_message(
        &self,
        cursor: &mut JsonCursor<'_>,
        edits: &mut LineEdits,
    ) -> Result<(), BrokenJson> {
        cursor.walk_object(|cursor, key| match key {
            b"id" => self.walk_value(cursor, MAX_DEPTH, edits),
            b"content" => cursor.walk_array(|cursor| {
                cursor.walk_object(|cursor, key| match key {
                    b"id" | b"tool_use_id" => self.walk_value(cursor, MAX_DEPTH, edits),
                    _ => cursor.skip_value(),
                })
            }),
            _ => cursor.skip_value(),
        })
    }

    fn walk_field(
        &self,
        cursor: &mut JsonCursor<'_>,
        key: &[u8],
        depth: u32,
        edits: &mut LineEdits,
    ) -> Result<(), BrokenJson> {
        if TEXT_FIELDS.contains(&key) {
            cursor.skip_value()
        } else {
            self.walk_value(cursor, depth, edits)
        }
    }

    fn walk_value(
        &self,
        cursor: &mut JsonCursor<'_>,
        depth: u32,
        edits: &mut LineEdits,
    ) -> Result<(), BrokenJson> {
        match cursor.peek_byte() {
            Some(b'"') => {
                let start = cursor.position();
                let old = cursor.read_string()?;
                if let Some(new) = self.replacement_for(old) {
                    edits
                        .push((start..cursor.position(), serde_json::Value::from(new).to_string()));
                }
                Ok(())
            }
            Some(b'{') if depth < MAX_DEPTH => {
                cursor.walk_object(|cursor, key| self.walk_field(cursor, key, depth + 1, edits))
            }
            Some(b'[') if depth < MAX_DEPTH => {
                cursor.walk_array(|cursor| self.walk_value(cursor, depth + 1, edits))
            }
            _ => cursor.skip_value(),
        }
    }

    fn replacement_for(&self, old: &[u8]) -> Option<String> {
        let named = self.uuids.get(RecordUuid::new(old));
        named.or_else(|| self.ids.get(&IdHash::new(old)).cloned())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::edit::splice::Splice;

    fn renamed(old: &str, new: &str) -> IdReplacements {
        let uuids =
            UuidReplacements::new(vec![RecordUuid::new(old.as_bytes())], &mut || new.into());
        IdReplacements { uuids, ..IdReplacements::default() }
    }

    #[test]
    fn each_old_uuid_has_one_new_uuid() {
        let names = ["b", "a", "b", "c", "a"].map(|name| RecordUuid::new(name.as_bytes()));
        let mut made = 0;
        let renames = UuidReplacements::new(names.to_vec(), &mut || {
            made += 1;
            // Others than the client's keep their spelling.
            if made == 3 {
                "odd-3".into()
            } else {
                format!("{made:08x}-0000-4000-8000-000000000000")
            }
        });
        let new = |name: &str| renames.get(RecordUuid::new(name.as_bytes()));
        let expected = [
            "00000002-0000-4000-8000-000000000000",
            "00000001-0000-4000-8000-000000000000",
            "odd-3",
        ];
        assert_eq!(["a", "b", "c"].map(new), expected.map(|id| Some(id.to_owned())));
        assert_eq!((made, new("d")), (3, None));
    }

    #[test]
    fn ids_change_wherever_they_are_named_and_words_do_not() {
        let mut renames = renamed("u1", "n1");
        renames.ids.insert(IdHash::new(b"t1"), "t2".into());
        let mut splice = Splice::default();
        splice.set_text("parentUuid", "elsewhere");
        splice.replace_ids(&Arc::new(renames));
        let line = r#"{"parentUuid":"u1","uuid":"u1","sourceToolAssistantUUID":"u1","forkedFrom":{"messageUuid":"u1"},"compactMetadata":{"preservedMessages":{"uuids":["u1","u2"]}},"snapshot":{"messageId":"u1"},"message":{"role":"user","content":[{"type":"text","text":"u1"},{"type":"tool_result","tool_use_id":"t1","content":"t1"},{"type":"tool_use","id":"t1","input":{"id":"t1"}}]},"toolUseResult":{"id":"t1"}}"#;
        let expected = r#"{"parentUuid":"elsewhere","uuid":"n1","sourceToolAssistantUUID":"n1","forkedFrom":{"messageUuid":"u1"},"compactMetadata":{"preservedMessages":{"uuids":["n1","u2"]}},"snapshot":{"messageId":"n1"},"message":{"role":"user","content":[{"type":"text","text":"u1"},{"type":"tool_result","tool_use_id":"t2","content":"t1"},{"type":"tool_use","id":"t2","input":{"id":"t1"}}]},"toolUseResult":{"id":"t1"}}"#;
        assert_eq!(String::from_utf8(splice.apply_to(line.as_bytes())).unwrap(), expected);
    }

    #[test]
    fn deep_and_broken_lines_are_left_alone() {
        let renames = renamed("u1", "n1");
        let deep = format!(r#"{{"a":{}"u1"{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
        assert!(renames.edits_in_line(deep.as_bytes()).is_empty());
        assert!(renames.edits_in_line(br#"{"uuid":"u1","a":"#).is_empty());
        assert!(renames.edits_in_line(b"17").is_empty());
    }
}

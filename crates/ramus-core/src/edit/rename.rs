//! Replaces ids wherever a line contains them.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::cursor::{Broken, Cursor};
use crate::name::{Key, Name};

/// The new ids of copied records.
///
/// Records are identified by uuid; message ids, tool call ids and names of backups by hash.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Renames {
    pub(super) names: FxHashMap<Name, String>,
    pub(super) keys: FxHashMap<Key, String>,
}

/// Fields with text or provenance, which never contain an id of this session.
const SPOKEN: &[&[u8]] = &[
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

/// How deep ids are looked for; nothing the client writes is deeper.
const DEEPEST: u32 = 8;

type Edits = Vec<(Range<usize>, String)>;

impl Renames {
    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty() && self.keys.is_empty()
    }

    /// Returns the replacements to make in a line.
    pub(super) fn in_line(&self, line: &[u8]) -> Edits {
        let mut edits = Edits::new();
        let mut cursor = Cursor::new(line, 0);
        let walked = cursor.object(|cursor, key| match key {
            b"message" => self.message(cursor, &mut edits),
            _ => self.field(cursor, key, 0, &mut edits),
        });
        if walked.is_ok() { edits } else { Edits::new() }
    }

    /// In a message, only its own id and those of tool calls are ids.
    fn message(&self, cursor: &mut Cursor<'_>, edits: &mut Edits) -> Result<(), Broken> {
        cursor.object(|cursor, key| match key {
            b"id" => self.value(cursor, DEEPEST, edits),
            b"content" => cursor.array(|cursor| {
                cursor.object(|cursor, key| match key {
                    b"id" | b"tool_use_id" => self.value(cursor, DEEPEST, edits),
                    _ => cursor.skip(),
                })
            }),
            _ => cursor.skip(),
        })
    }

    fn field(
        &self,
        cursor: &mut Cursor<'_>,
        key: &[u8],
        depth: u32,
        edits: &mut Edits,
    ) -> Result<(), Broken> {
        if SPOKEN.contains(&key) { cursor.skip() } else { self.value(cursor, depth, edits) }
    }

    fn value(&self, cursor: &mut Cursor<'_>, depth: u32, edits: &mut Edits) -> Result<(), Broken> {
        match cursor.peek() {
            Some(b'"') => {
                let start = cursor.pos();
                let old = cursor.string()?;
                if let Some(new) = self.of(old) {
                    edits.push((start..cursor.pos(), serde_json::Value::from(new).to_string()));
                }
                Ok(())
            }
            Some(b'{') if depth < DEEPEST => {
                cursor.object(|cursor, key| self.field(cursor, key, depth + 1, edits))
            }
            Some(b'[') if depth < DEEPEST => {
                cursor.array(|cursor| self.value(cursor, depth + 1, edits))
            }
            _ => cursor.skip(),
        }
    }

    fn of(&self, old: &[u8]) -> Option<&str> {
        let named = self.names.get(&Name::new(old));
        named.or_else(|| self.keys.get(&Key::new(old))).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::edit::splice::Splice;

    #[test]
    fn ids_change_wherever_they_are_named_and_words_do_not() {
        let mut renames = Renames::default();
        renames.names.insert(Name::new(b"u1"), "n1".into());
        renames.keys.insert(Key::new(b"t1"), "t2".into());
        let mut splice = Splice::default();
        splice.set("parentUuid", "elsewhere");
        splice.rename(&Arc::new(renames));
        let line = r#"{"parentUuid":"u1","uuid":"u1","sourceToolAssistantUUID":"u1","forkedFrom":{"messageUuid":"u1"},"compactMetadata":{"preservedMessages":{"uuids":["u1","u2"]}},"snapshot":{"messageId":"u1"},"message":{"role":"user","content":[{"type":"text","text":"u1"},{"type":"tool_result","tool_use_id":"t1","content":"t1"},{"type":"tool_use","id":"t1","input":{"id":"t1"}}]},"toolUseResult":{"id":"t1"}}"#;
        let expected = r#"{"parentUuid":"elsewhere","uuid":"n1","sourceToolAssistantUUID":"n1","forkedFrom":{"messageUuid":"u1"},"compactMetadata":{"preservedMessages":{"uuids":["n1","u2"]}},"snapshot":{"messageId":"n1"},"message":{"role":"user","content":[{"type":"text","text":"u1"},{"type":"tool_result","tool_use_id":"t2","content":"t1"},{"type":"tool_use","id":"t2","input":{"id":"t1"}}]},"toolUseResult":{"id":"t1"}}"#;
        assert_eq!(String::from_utf8(splice.apply(line.as_bytes())).unwrap(), expected);
    }

    #[test]
    fn deep_and_broken_lines_are_left_alone() {
        let mut renames = Renames::default();
        renames.names.insert(Name::new(b"u1"), "n1".into());
        let deep = format!(r#"{{"a":{}"u1"{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
        assert!(renames.in_line(deep.as_bytes()).is_empty());
        assert!(renames.in_line(br#"{"uuid":"u1","a":"#).is_empty());
        assert!(renames.in_line(b"17").is_empty());
    }
}

//! Replaces fields of one line: the rest of it stays byte for byte (R23).

use std::ops::Range;
use std::sync::Arc;

use super::id_replacements::IdReplacements;
use crate::cursor::JsonCursor;
use crate::ids::RecordUuid;
use crate::time::Time;

/// What to change in a copied line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Splice {
    /// What is the same in all lines of a copy: there may be millions of them, so a splice is small.
    shared: Option<Arc<SharedChanges>>,
    /// The record that a line was copied from.
    copied_record: Option<RecordUuid>,
    /// Ids that are replaced wherever they occur.
    id_replacements: Option<Arc<IdReplacements>>,
    /// What few lines need.
    own: Option<Box<OwnChanges>>,
    parent: Option<RecordUuid>,
    time: Option<Time>,
}

/// What changes in all lines of a copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct SharedChanges {
    fields: Vec<(&'static str, FieldChange)>,
    /// The field for the provenance of a line, and the session it was copied from, as JSON.
    provenance: Option<(ProvenanceField, Arc<str>)>,
}

/// What changes in one line only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct OwnChanges {
    fields: Vec<(&'static str, FieldChange)>,
    /// Blocks of the message that are removed, by index.
    dropped_blocks: Vec<usize>,
}

/// The field in which a copied line names its origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProvenanceField {
    ForkedFrom,
    MergedFrom,
}

impl ProvenanceField {
    pub(crate) fn field_name(self) -> &'static str {
        match self {
            Self::ForkedFrom => "forkedFrom",
            Self::MergedFrom => "mergedFrom",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum FieldChange {
    /// Replaces the value if the field exists.
    Set(String),
    /// Replace it, or add it at the end.
    Put(String),
    Drop,
}

impl Splice {
    /// Moves a record to another session.
    pub fn for_session(id: &str) -> Self {
        let id = json_string(id);
        let changes =
            ["sessionId", "session_id"].map(|field| (field, FieldChange::Set(id.clone())));
        let shared = SharedChanges { fields: changes.into(), provenance: None };
        Self { shared: Some(Arc::new(shared)), ..Self::default() }
    }

    /// Sets the field for the provenance of all lines; `session` is the id of their session as JSON.
    pub(crate) fn set_provenance_field(&mut self, field: ProvenanceField, session: &Arc<str>) {
        self.shared_changes().provenance = Some((field, Arc::clone(session)));
    }

    /// Gives a field another value in all lines that have it.
    pub(crate) fn set_shared_text(&mut self, field: &'static str, text: &str) {
        self.shared_changes().fields.push((field, FieldChange::Set(json_string(text))));
    }

    /// Leaves a field out of all lines.
    pub(crate) fn drop_shared_field(&mut self, name: &'static str) {
        self.shared_changes().fields.push((name, FieldChange::Drop));
    }

    fn shared_changes(&mut self) -> &mut SharedChanges {
        Arc::make_mut(self.shared.get_or_insert_default())
    }

    /// Writes into the field for the provenance which record a line was copied from.
    pub(crate) fn put_provenance(&mut self, record: RecordUuid) {
        self.copied_record = Some(record);
    }

    /// Makes a record the child of another one.
    pub(crate) fn put_parent(&mut self, parent: &str) {
        match RecordUuid::parse_canonical(parent.as_bytes()) {
            Some(parent) => self.parent = Some(parent),
            None => self.put_raw("parentUuid", json_string(parent)),
        }
    }

    /// Gives a record a time; `None`: it keeps its own.
    pub(crate) fn set_time(&mut self, time: Option<Time>) {
        self.time = time;
    }

    /// Returns the time that a record gets.
    pub(crate) fn time(&self) -> Option<Time> {
        self.time
    }

    /// Gives a field another value, in those lines that have it.
    pub(crate) fn set_text(&mut self, field: &'static str, text: &str) {
        self.own_changes().fields.push((field, FieldChange::Set(json_string(text))));
    }

    /// Gives a field another value that is written as it is.
    pub(crate) fn set_raw(&mut self, field: &'static str, json: impl Into<String>) {
        self.own_changes().fields.push((field, FieldChange::Set(json.into())));
    }

    /// Gives a field a value, in all lines.
    pub(crate) fn put_raw(&mut self, name: &'static str, json: impl Into<String>) {
        self.own_changes().fields.push((name, FieldChange::Put(json.into())));
    }

    /// Replaces ids wherever they occur; fields that are set keep their value.
    pub(crate) fn replace_ids(&mut self, renames: &Arc<IdReplacements>) {
        self.id_replacements = Some(Arc::clone(renames));
    }

    /// Leaves blocks of the message out.
    pub(crate) fn drop_blocks(&mut self, mut blocks: Vec<usize>) {
        blocks.sort_unstable();
        self.own_changes().dropped_blocks = blocks;
    }

    /// Leaves a field out.
    pub(crate) fn drop_field(&mut self, name: &'static str) {
        self.own_changes().fields.push((name, FieldChange::Drop));
    }

    fn own_changes(&mut self) -> &mut OwnChanges {
        self.own.get_or_insert_default()
    }

    /// Returns the line with the changes applied.
    ///
    /// A line that is not an object is returned as it is.
    pub fn apply_to(&self, line: &[u8]) -> Vec<u8> {
        let Some(entries) = object_entries(line, 0) else { return line.to_vec() };
        let mut edits: Vec<(Range<usize>, String)> = Vec::new();
        let mut added = String::new();
        let provenance = self.shared.as_ref().and_then(|shared| shared.provenance.as_ref());
        let origin = provenance.zip(self.copied_record).map(|((field, session), record)| {
            let json = format!(r#"{{"sessionId":{session},"messageUuid":"{record}"}}"#);
            (field.field_name(), FieldChange::Put(json))
        });
        let put = |field, text: String| (field, FieldChange::Put(format!("\"{text}\"")));
        let parent = self.parent.map(|parent| put("parentUuid", parent.to_string()));
        let time = self.time.map(|time| put("timestamp", time.to_string()));
        let shared = self.shared.iter().flat_map(|shared| &shared.fields);
        let own = self.own.iter().flat_map(|own| &own.fields);
        let changes = shared.chain(&origin).chain(own).chain(&parent).chain(&time);
        for (field, change) in changes {
            let found = field_values(&entries, field);
            match change {
                FieldChange::Put(json) if found.is_empty() => {
                    added.push(',');
                    added.push_str(&json_string(field));
                    added.push(':');
                    added.push_str(json);
                }
                FieldChange::Set(json) | FieldChange::Put(json) => {
                    edits.extend(found.into_iter().map(|value| (value, json.clone())));
                }
                FieldChange::Drop => {
                    edits.extend(
                        dropped_fields(&entries, field).map(|range| (range, String::new())),
                    );
                }
            }
        }
        if let Some(renames) = &self.id_replacements {
            edits.extend(renames.edits_in_line(line));
        }
        if let Some(own) = self.own.as_ref().filter(|own| !own.dropped_blocks.is_empty()) {
            edits.extend(dropped_blocks(line, &entries, &own.dropped_blocks));
        }
        if let Some(last) = entries.last().filter(|_| !added.is_empty()) {
            edits.push((last.value.end..last.value.end, added));
        }
        apply_edits(line, edits)
    }
}

pub(super) fn json_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Applies replacements that do not overlap.
pub(super) fn apply_edits(line: &[u8], mut edits: Vec<(Range<usize>, String)>) -> Vec<u8> {
    edits.sort_by_key(|(range, _)| (range.start, range.end));
    // With room for a newline: if the vector had to grow, a large line would be in memory three times.
    let added: usize = edits.iter().map(|(_, text)| text.len()).sum();
    let mut out = Vec::with_capacity(line.len() + added + 1);
    let mut done = 0;
    for (range, text) in edits {
        if range.start < done {
            continue;
        }
        out.extend_from_slice(&line[done..range.start]);
        out.extend_from_slice(text.as_bytes());
        done = range.end;
    }
    out.extend_from_slice(&line[done..]);
    out
}

/// A key and its value in an object.
struct ObjectEntry<'a> {
    key: &'a [u8],
    /// Where it begins: after the bracket or the comma before it.
    from: usize,
    value: Range<usize>,
}

/// Lists the members of the object at `at`; `None`: there is no complete object.
fn object_entries(line: &[u8], at: usize) -> Option<Vec<ObjectEntry<'_>>> {
    let mut cursor = JsonCursor::new(line, at);
    if cursor.peek_byte() != Some(b'{') {
        return None;
    }
    let mut from = cursor.position() + 1;
    let mut entries = Vec::new();
    cursor
        .walk_object(|cursor, key| {
            cursor.peek_byte();
            let start = cursor.position();
            cursor.skip_value()?;
            let value = start..cursor.position();
            entries.push(ObjectEntry { key, from, value });
            cursor.peek_byte();
            from = cursor.position() + 1;
            Ok(())
        })
        .ok()?;
    Some(entries)
}

/// Returns the values of a field; a repeated key has several.
fn field_values(entries: &[ObjectEntry<'_>], field: &str) -> Vec<Range<usize>> {
    let named = entries.iter().filter(|entry| entry.key == field.as_bytes());
    named.map(|entry| entry.value.clone()).collect()
}

/// Returns the pieces to leave out, each with one of its commas.
fn dropped_fields<'a>(
    entries: &'a [ObjectEntry<'a>],
    name: &'a str,
) -> impl Iterator<Item = Range<usize>> + 'a {
    entries.iter().enumerate().filter(move |(_, entry)| entry.key == name.as_bytes()).map(
        |(index, entry)| match index.checked_sub(1).and_then(|before| entries.get(before)) {
            Some(before) => before.value.end..entry.value.end,
            None => entry.from..entries.get(1).map_or(entry.value.end, |next| next.from),
        },
    )
}

/// Returns the pieces to leave out of a message's content, each with one of its commas.
fn dropped_blocks(
    line: &[u8],
    entries: &[ObjectEntry<'_>],
    dropped: &[usize],
) -> Vec<(Range<usize>, String)> {
    let Some(message) = entries.iter().find(|entry| entry.key == b"message") else {
        return Vec::new();
    };
    let Some(entries) = self::object_entries(line, message.value.start) else { return Vec::new() };
    let Some(content) = entries.iter().find(|entry| entry.key == b"content") else {
        return Vec::new();
    };
    let mut blocks: Vec<Range<usize>> = Vec::new();
    let mut cursor = JsonCursor::new(line, content.value.start);
    let walked = cursor.walk_array(|cursor| {
        cursor.peek_byte();
        let start = cursor.position();
        cursor.skip_value()?;
        blocks.push(start..cursor.position());
        Ok(())
    });
    if walked.is_err() {
        return Vec::new();
    }
    let mut pieces = Vec::new();
    let mut is_first = true;
    for (index, block) in blocks.iter().enumerate() {
        if dropped.binary_search(&index).is_err() {
            is_first = false;
            continue;
        }
        let piece = match (is_first, blocks.get(index + 1)) {
            (true, Some(next)) => block.start..next.start,
            (true, None) => block.clone(),
            (false, _) => blocks[index - 1].end..block.end,
        };
        pieces.push((piece, String::new()));
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::Splice;

    #[track_caller]
    fn check(splice: &Splice, line: &str, expected: &str) {
        assert_eq!(String::from_utf8(splice.apply_to(line.as_bytes())).unwrap(), expected);
    }

    #[test]
    fn only_the_named_fields_change() {
        let mut splice = Splice::default();
        splice.set_text("sessionId", "new");
        splice.put_raw("forkedFrom", r#"{"sessionId":"old"}"#);
        check(
            &splice,
            r#"{"sessionId":"old","message":{"id":"m","content":"\ud83d \"sessionId\":\"old\""},"n":1.50}"#,
            r#"{"sessionId":"new","message":{"id":"m","content":"\ud83d \"sessionId\":\"old\""},"n":1.50,"forkedFrom":{"sessionId":"old"}}"#,
        );
        check(&splice, r#"{"a":1}"#, r#"{"a":1,"forkedFrom":{"sessionId":"old"}}"#);
        check(
            &splice,
            r#"{"forkedFrom":null,"a":1}"#,
            r#"{"forkedFrom":{"sessionId":"old"},"a":1}"#,
        );
    }

    #[test]
    fn a_field_is_left_out_with_its_comma() {
        let mut splice = Splice::default();
        splice.drop_field("agentId");
        check(&splice, r#"{"agentId":"a","b":1}"#, r#"{"b":1}"#);
        check(&splice, r#"{"b":1,"agentId":"a"}"#, r#"{"b":1}"#);
        check(&splice, r#"{"b":1,"agentId":{"x":[1,2]},"c":2}"#, r#"{"b":1,"c":2}"#);
        check(&splice, r#"{"agentId":"a"}"#, "{}");
        check(&splice, r#"{ "b" : 1 , "agentId" : "a" , "c" : 2 }"#, r#"{ "b" : 1 , "c" : 2 }"#);
    }

    #[test]
    fn blocks_are_left_out() {
        let drop = |blocks: &[usize]| {
            let mut splice = Splice::default();
            splice.drop_blocks(blocks.to_vec());
            splice
        };
        let line = r#"{"a":1,"message":{"content":[{"n":0}, {"n":1},{"n":2}],"id":"m"}}"#;
        let with =
            |content: &str| format!(r#"{{"a":1,"message":{{"content":[{content}],"id":"m"}}}}"#);
        check(&drop(&[0]), line, &with(r#"{"n":1},{"n":2}"#));
        check(&drop(&[1]), line, &with(r#"{"n":0},{"n":2}"#));
        check(&drop(&[0, 1]), line, &with(r#"{"n":2}"#));
        check(&drop(&[1, 2]), line, &with(r#"{"n":0}"#));
        check(&drop(&[0, 2]), line, &with(r#"{"n":1}"#));
        check(&drop(&[0, 1, 2]), line, &with(""));
        check(&drop(&[7]), line, line);
        check(
            &drop(&[0]),
            r#"{"message":{"content":"text"}}"#,
            r#"{"message":{"content":"text"}}"#,
        );
    }

    #[test]
    fn what_is_no_object_comes_back() {
        let mut splice = Splice::default();
        splice.drop_field("a");
        for line in ["", "[1]", r#"{"a":1"#, "nonsense"] {
            check(&splice, line, line);
        }
    }
}

//! Rewrites the records of a session that moves to another directory or gets another id.
//!
//! Fields with a path or the session's id are rewritten. Text of people, the model and tools is not: there
//! a path is part of the text.

use std::borrow::Cow;
use std::ops::Range;

use super::splice::{apply_edits, json_string};
use crate::body::json::unescape;
use crate::cursor::{BrokenJson, JsonCursor};

/// The paths and the session id to replace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Relocation {
    /// The old and the new id.
    session_ids: Option<(String, String)>,
    /// Old and new paths, without a slash at the end, the longest old one first.
    paths: Vec<(String, String)>,
}

/// Fields whose value is a path, at any depth outside of messages.
const PATH_FIELDS: &[&[u8]] = &[
    b"cwd",
    b"originalCwd",
    b"relocatedCwd",
    b"backgroundCwdHint",
    b"workingDirectory",
    b"worktreePath",
    b"filePath",
    b"planFilePath",
    b"filename",
    b"filenames",
    b"trackingPath",
    b"realParentDir",
    b"persistedOutputPath",
    b"outputFile",
    b"scriptPath",
    b"transcriptDir",
];

/// Fields with text, whatever the fields inside them are called.
const TEXT_FIELDS: &[&[u8]] = &[b"message", b"content", b"input", b"forkedFrom", b"mergedFrom"];

/// The depth up to which paths are searched; the client writes nothing deeper.
const MAX_DEPTH: u32 = 8;

type PathEdits = Vec<(Range<usize>, String)>;

impl Relocation {
    /// Takes the old and the new id of a session; `None`: the id stays.
    pub fn new(session: Option<(&str, &str)>) -> Self {
        let session_ids = session.map(|(old, new)| (old.to_owned(), new.to_owned()));
        Self { session_ids, paths: Vec::new() }
    }

    /// Replaces a path, and the beginning of all paths below it. Of equal old paths the first one counts.
    pub fn map_path(&mut self, old: &str, new: &str) {
        let (old, new) = (without_slash(old), without_slash(new));
        let is_known = self.paths.iter().any(|(known, _)| known == old);
        if old.is_empty() || is_known {
            return;
        }
        let at = self.paths.partition_point(|(known, _)| known.len() >= old.len());
        self.paths.insert(at, (old.to_owned(), new.to_owned()));
    }

    /// Whether nothing is replaced.
    pub fn is_empty(&self) -> bool {
        self.session_ids.is_none() && self.paths.iter().all(|(old, new)| old == new)
    }

    /// Returns a line with its paths and session id replaced; a line that is not an object is returned as it is.
    pub fn apply_to<'a>(&self, line: &'a [u8]) -> Cow<'a, [u8]> {
        let mut edits = PathEdits::new();
        let mut cursor = JsonCursor::new(line, 0);
        let walked = cursor.walk_object(|cursor, key| match (key, &self.session_ids) {
            (b"sessionId" | b"session_id", Some((old, new))) => {
                let start = cursor.position();
                if cursor.read_string_or_skip()?.is_some_and(|id| unescape(id) == **old) {
                    edits.push((start..cursor.position(), json_string(new)));
                }
                Ok(())
            }
            _ => self.walk_field(line, cursor, key, 0, &mut edits),
        });
        if walked.is_err() || edits.is_empty() {
            return Cow::Borrowed(line);
        }
        Cow::Owned(apply_edits(line, edits))
    }

    fn walk_field(
        &self,
        line: &[u8],
        cursor: &mut JsonCursor<'_>,
        key: &[u8],
        depth: u32,
        edits: &mut PathEdits,
    ) -> Result<(), BrokenJson> {
        if TEXT_FIELDS.contains(&key) {
            return cursor.skip_value();
        }
        if PATH_FIELDS.contains(&key) {
            return match cursor.peek_byte() {
                Some(b'[') => cursor.walk_array(|cursor| self.walk_path(cursor, edits)),
                _ => self.walk_path(cursor, edits),
            };
        }
        let is_backups = key == b"trackedFileBackups";
        match cursor.peek_byte() {
            Some(b'{') if depth < MAX_DEPTH => cursor.walk_object(|cursor, key| {
                if is_backups && let Some(new) = self.moved_path(key) {
                    let start = key.as_ptr().addr() - line.as_ptr().addr();
                    edits.push((start - 1..start + key.len() + 1, json_string(&new)));
                }
                self.walk_field(line, cursor, key, depth + 1, edits)
            }),
            Some(b'[') if depth < MAX_DEPTH => {
                cursor.walk_array(|cursor| self.walk_field(line, cursor, b"", depth + 1, edits))
            }
            _ => cursor.skip_value(),
        }
    }

    fn walk_path(
        &self,
        cursor: &mut JsonCursor<'_>,
        edits: &mut PathEdits,
    ) -> Result<(), BrokenJson> {
        cursor.peek_byte();
        let start = cursor.position();
        if let Some(new) = cursor.read_string_or_skip()?.and_then(|old| self.moved_path(old)) {
            edits.push((start..cursor.position(), json_string(&new)));
        }
        Ok(())
    }

    /// Returns the new path for one written in JSON; `None`: it stays.
    fn moved_path(&self, raw: &[u8]) -> Option<String> {
        let path = unescape(raw);
        let (new, rest) = self.paths.iter().find_map(|(old, new)| {
            let rest = path.strip_prefix(old.as_str())?;
            (rest.is_empty() || rest.starts_with(['/', '\\'])).then_some((new, rest))
        })?;
        Some(format!("{new}{rest}"))
    }
}

fn without_slash(path: &str) -> &str {
    path.strip_suffix(['/', '\\']).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::Relocation;

    #[track_caller]
    fn check(line: &str, expected: &str) {
        let mut moved = Relocation::new(Some(("old", "new")));
        moved.map_path("/home/a/app/", "/srv/my app");
        moved.map_path("/home/a", "/root");
        moved.map_path("/home/a", "/ignored");
        assert_eq!(String::from_utf8_lossy(&moved.apply_to(line.as_bytes())), expected);
    }

    #[test]
    fn paths_and_the_id_are_replaced_and_words_are_not() {
        check(
            r#"{"cwd":"/home/a/app/src","sessionId":"old","message":{"cwd":"/home/a/app","content":"/home/a/app"}}"#,
            r#"{"cwd":"/srv/my app/src","sessionId":"new","message":{"cwd":"/home/a/app","content":"/home/a/app"}}"#,
        );
        check(
            r#"{"sessionId":"other","cwd":"/home/a","toolUseResult":{"stdout":"/home/a/app","file":{"filePath":"/home/a/app/x"},"filenames":["/home/a/y","z"]}}"#,
            r#"{"sessionId":"other","cwd":"/root","toolUseResult":{"stdout":"/home/a/app","file":{"filePath":"/srv/my app/x"},"filenames":["/root/y","z"]}}"#,
        );
        check(
            r#"{"snapshot":{"trackedFileBackups":{"/home/a/app/x":{"realParentDir":"/home/a/app"},"src/y":{}}}}"#,
            r#"{"snapshot":{"trackedFileBackups":{"/srv/my app/x":{"realParentDir":"/srv/my app"},"src/y":{}}}}"#,
        );
    }

    #[test]
    fn only_whole_names_of_directories_are_replaced() {
        check(r#"{"cwd":"/home/a/apple"}"#, r#"{"cwd":"/root/apple"}"#);
        check(r#"{"cwd":"/home/ab"}"#, r#"{"cwd":"/home/ab"}"#);
        check(r#"{"cwd":"x/home/a"}"#, r#"{"cwd":"x/home/a"}"#);
    }

    #[test]
    fn damaged_lines_and_deep_ones_come_back() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        for line in ["", "[1]", r#"{"cwd":"/home/a""#, "\"cwd\"", &format!("{{\"x\":{deep}}}")] {
            check(line, line);
        }
    }
}

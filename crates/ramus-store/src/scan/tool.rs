//! Filters tool calls and their results by tool name and by file.

use std::io;
use std::path::Path;

use memchr::memmem;
use ramus_core::body::{Block, Body, ToolUse};
use ramus_core::name::Key;
use rustc_hash::FxHashSet;

use super::pieces::pieces;

/// Selects calls of a tool, calls that touch a file, and their results.
#[derive(Clone, Debug, Default)]
pub struct ToolFilter {
    /// The tool's name, ignoring case.
    pub name: Option<String>,
    /// A path or the end of one.
    pub file: Option<String>,
}

/// Whether a record is selected.
pub(super) enum Verdict {
    Yes,
    No,
    /// Only if one of these calls is.
    Answers(Vec<Key>),
}

impl ToolFilter {
    pub(super) fn judge(&self, record: &[u8]) -> Verdict {
        let Ok(body) = Body::parse(record) else { return Verdict::No };
        let answered: Vec<Key> = body
            .blocks()
            .iter()
            .filter_map(|block| match block {
                Block::ToolResult(result) => Some(Key::new(result.tool_use_id.as_bytes())),
                _ => None,
            })
            .collect();
        match &body {
            _ if calls(&body).any(|call| self.is_meant(call)) => Verdict::Yes,
            _ if !answered.is_empty() => Verdict::Answers(answered),
            Body::ToolUse(body) | Body::ToolResult(body) => {
                let name = body.tool_name.clone().unwrap_or_default();
                let input = body.input.clone().unwrap_or_default();
                match self.is_meant(&ToolUse { id: String::new(), name, input, caller: None }) {
                    true => Verdict::Yes,
                    false => Verdict::No,
                }
            }
            _ => Verdict::No,
        }
    }

    /// Returns the ids of all calls in a file that are selected.
    pub(super) fn calls(&self, path: &Path) -> io::Result<FxHashSet<Key>> {
        let mut meant = FxHashSet::default();
        let finder = memmem::Finder::new(b"tool_use");
        pieces(path, |piece| {
            let lines = piece.bytes.split(|byte| *byte == b'\n');
            for line in lines.filter(|line| finder.find(line).is_some()) {
                let Ok(body) = Body::parse(line) else { continue };
                let ids = calls(&body).filter(|call| self.is_meant(call));
                meant.extend(ids.map(|call| Key::new(call.id.as_bytes())));
            }
        })?;
        Ok(meant)
    }

    fn is_meant(&self, call: &ToolUse) -> bool {
        self.name.as_ref().is_none_or(|name| call.name.eq_ignore_ascii_case(name))
            && self.file.as_ref().is_none_or(|file| touches(call, file))
    }
}

fn calls(body: &Body) -> impl Iterator<Item = &ToolUse> {
    body.blocks().iter().filter_map(|block| match block {
        Block::ToolUse(call) | Block::ServerToolUse(call) => Some(call),
        _ => None,
    })
}

/// Whether a call names a file, as its path or in its command.
fn touches(call: &ToolUse, file: &str) -> bool {
    let file = file.trim_start_matches("./").trim_end_matches('/');
    let input = |key| call.input.get(key).and_then(serde_json::Value::as_str);
    let paths = ["file_path", "notebook_path", "path", "filePath"].into_iter().filter_map(input);
    let mut named = paths.chain(input("command").into_iter().flat_map(|command| {
        command.split(|char: char| char.is_whitespace() || "'\"`;|&<>()=".contains(char))
    }));
    named.any(|path| is_end(path.trim_start_matches("./"), file))
}

/// Whether `file` matches whole components of `path`: all of it, its end, or a directory in it.
fn is_end(path: &str, file: &str) -> bool {
    if file.is_empty() {
        return false;
    }
    let found = path.match_indices(file);
    found.into_iter().any(|(at, _)| {
        let before = at == 0 || file.starts_with('/') || path[..at].ends_with('/');
        let after = &path[at + file.len()..];
        before && (after.is_empty() || after.starts_with('/'))
    })
}

#[cfg(test)]
mod tests {
    use super::is_end;

    #[test]
    fn a_file_is_meant_by_its_last_parts() {
        assert!(is_end("/home/dev/app/src/main.rs", "main.rs"));
        assert!(is_end("/home/dev/app/src/main.rs", "src/main.rs"));
        assert!(is_end("/home/dev/app/src/main.rs", "/home/dev/app/src/main.rs"));
        assert!(is_end("/home/dev/app/src/main.rs", "app/src"));
        assert!(!is_end("/home/dev/app/src/main.rs", "ain.rs"));
        assert!(!is_end("/home/dev/app/src/main.rs", "src/main"));
        assert!(!is_end("/home/dev/app/src/main.rs", ""));
    }
}

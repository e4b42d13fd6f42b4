//! Filters tool calls and their results by tool name and by file.

use std::io;
use std::path::Path;

use memchr::memmem;
use ramus_core::body::{ContentBlock, RecordBody, ToolUse};
use ramus_core::ids::IdHash;
use rustc_hash::FxHashSet;

use super::line_chunks::read_line_chunks;

/// Selects calls of some tools, calls that touch some files, and their results. An empty list selects all.
#[derive(Clone, Debug, Default)]
pub struct ToolFilter {
    /// Names of tools, ignoring case.
    pub names: Vec<String>,
    /// Paths or the ends of them.
    pub files: Vec<String>,
}

/// Whether a record is selected.
pub(super) enum ToolVerdict {
    Yes,
    No,
    /// Only if one of these calls is.
    Answers(Vec<IdHash>),
}

impl ToolFilter {
    pub(super) fn judge_record(&self, record: &[u8]) -> ToolVerdict {
        let Ok(body) = RecordBody::parse(record) else { return ToolVerdict::No };
        let answered: Vec<IdHash> = body
            .content_blocks()
            .iter()
            .filter_map(|block| match block {
                ContentBlock::ToolResult(result) => {
                    Some(IdHash::new(result.tool_use_id.as_bytes()))
                }
                _ => None,
            })
            .collect();
        match &body {
            _ if tool_calls(&body).any(|call| self.matches_call(call)) => ToolVerdict::Yes,
            _ if !answered.is_empty() => ToolVerdict::Answers(answered),
            RecordBody::ToolUse(body) | RecordBody::ToolResult(body) => {
                let name = body.tool_name.clone().unwrap_or_default();
                let input = body.input.clone().unwrap_or_default();
                match self.matches_call(&ToolUse { id: String::new(), name, input, caller: None }) {
                    true => ToolVerdict::Yes,
                    false => ToolVerdict::No,
                }
            }
            _ => ToolVerdict::No,
        }
    }

    /// Returns the ids of all calls in a file that are selected.
    pub(super) fn matching_call_ids(&self, path: &Path) -> io::Result<FxHashSet<IdHash>> {
        let mut meant = FxHashSet::default();
        let finder = memmem::Finder::new(b"tool_use");
        read_line_chunks(path, |piece| {
            let lines = piece.bytes.split(|byte| *byte == b'\n');
            for line in lines.filter(|line| finder.find(line).is_some()) {
                let Ok(body) = RecordBody::parse(line) else { continue };
                let ids = tool_calls(&body).filter(|call| self.matches_call(call));
                meant.extend(ids.map(|call| IdHash::new(call.id.as_bytes())));
            }
        })?;
        Ok(meant)
    }

    fn matches_call(&self, call: &ToolUse) -> bool {
        let is_named = |name: &String| call.name.eq_ignore_ascii_case(name);
        (self.names.is_empty() || self.names.iter().any(is_named))
            && (self.files.is_empty() || self.files.iter().any(|file| touches_file(call, file)))
    }
}

fn tool_calls(body: &RecordBody) -> impl Iterator<Item = &ToolUse> {
    body.content_blocks().iter().filter_map(|block| match block {
        ContentBlock::ToolUse(call) | ContentBlock::ServerToolUse(call) => Some(call),
        _ => None,
    })
}

/// Whether a call names a file, as its path or in its command.
fn touches_file(call: &ToolUse, file: &str) -> bool {
    let input = |key| call.input.get(key).and_then(serde_json::Value::as_str);
    let paths = ["file_path", "notebook_path", "path", "filePath"].into_iter().filter_map(input);
    let mut named = paths.chain(input("command").into_iter().flat_map(|command| {
        command.split(|char: char| char.is_whitespace() || "'\"`;|&<>()=".contains(char))
    }));
    named.any(|path| is_path_suffix(path, file))
}

/// Whether `file` matches whole components of `path`: all of it, its end, or a directory in it.
fn is_path_suffix(path: &str, file: &str) -> bool {
    // Clients on Windows write both separators, and so do people.
    let (path, file) = (path.replace('\\', "/"), file.replace('\\', "/"));
    let path = path.trim_start_matches("./");
    let file = file.trim_start_matches("./").trim_end_matches('/');
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
    use super::is_path_suffix;

    #[test]
    fn a_file_is_meant_by_its_last_parts() {
        assert!(is_path_suffix("/home/dev/app/src/main.rs", "main.rs"));
        assert!(is_path_suffix("/home/dev/app/src/main.rs", "src/main.rs"));
        assert!(is_path_suffix("/home/dev/app/src/main.rs", "/home/dev/app/src/main.rs"));
        assert!(is_path_suffix("/home/dev/app/src/main.rs", "app/src"));
        assert!(is_path_suffix(r"C:\dev\app\src\main.rs", "./src/main.rs"));
        assert!(is_path_suffix("C:/dev/app/src/main.rs", r"src\main.rs"));
        assert!(is_path_suffix(r".\src\main.rs", r"src\"));
        assert!(!is_path_suffix(r"C:\dev\app\src\main.rs", r"rc\main.rs"));
        assert!(!is_path_suffix("/home/dev/app/src/main.rs", "ain.rs"));
        assert!(!is_path_suffix("/home/dev/app/src/main.rs", "src/main"));
        assert!(!is_path_suffix("/home/dev/app/src/main.rs", ""));
    }
}

//! Follows a path into the earlier sessions that it continues (R13).

use std::io::{self, Read};
use std::path::Path as FilePath;
use std::sync::Arc;

use memchr::memmem::Finder;
use ramus_core::history::{ConversationPath, History};
use ramus_core::ids::RecordUuid;
use ramus_core::resume::ResumeRule;

use crate::claude_dir::{FileRole, HistoryFile};
use crate::error::PathError;
use crate::overlay;
use crate::read::from_jsonl;

/// The part of a path that is in one file.
#[derive(Debug)]
pub struct LinkedPathPart {
    pub file: HistoryFile,
    pub history: Arc<History>,
    pub path: ConversationPath,
}

/// The limit for the number of sessions in a path. Longer chains do not occur.
const MAX_PARTS: usize = 64;

/// Follows a path back through the sessions that it continues. Returns the oldest part first.
pub fn trace_path(
    files: &[HistoryFile],
    file: HistoryFile,
    history: impl Into<Arc<History>>,
    path: ConversationPath,
    rule: ResumeRule,
) -> Result<Vec<LinkedPathPart>, PathError> {
    let mut parts = vec![LinkedPathPart { file, history: history.into(), path }];
    while parts.len() < MAX_PARTS {
        let Some(earlier) = find_earlier_part(files, &parts, rule)? else { break };
        parts.push(earlier);
    }
    parts.reverse();
    Ok(parts)
}

/// Finds the part that the last one of `parts` continues.
fn find_earlier_part(
    files: &[HistoryFile],
    parts: &[LinkedPathPart],
    rule: ResumeRule,
) -> Result<Option<LinkedPathPart>, PathError> {
    let Some(LinkedPathPart { history, path, .. }) = parts.last() else { return Ok(None) };
    let Some(root) =
        path.messages.first().map(|message| history.message_tree.message(*message).head)
    else {
        return Ok(None);
    };
    let missing = history.record_tree.missing_parents().iter().find(|(node, _)| *node == root);
    let Some((_, name)) = missing else { return Ok(None) };
    let spelling = history.session.uuid_text(*name);
    for file in files.iter().filter(|file| file.role == FileRole::Session) {
        if parts.iter().any(|part| part.file.path == file.path)
            || !file_mentions(&file.path, &spelling)?
        {
            continue;
        }
        let history = from_jsonl(&file.path, rule)?;
        let node = history.node_by_uuid(RecordUuid::new(spelling.as_bytes()));
        if let Some(path) = node.and_then(|node| history.path_to(node)) {
            return Ok(Some(LinkedPathPart { file: file.clone(), history: history.into(), path }));
        }
    }
    Ok(None)
}

/// Whether a file contains a text anywhere.
fn file_mentions(path: &FilePath, spelling: &str) -> Result<bool, PathError> {
    let finder = Finder::new(spelling);
    let mut held = Vec::new();
    let mut buffer = vec![0; 256 * 1024];
    let mut file = overlay::open(path).map_err(|source| PathError::new(path, source))?;
    loop {
        let read = match file.read(&mut buffer) {
            Ok(0) => return Ok(false),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(source) => return Err(PathError::new(path, source)),
        };
        held.extend_from_slice(&buffer[..read]);
        if finder.find(&held).is_some() {
            return Ok(true);
        }
        // The text may span two chunks.
        held.drain(..held.len().saturating_sub(spelling.len()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_across_two_pieces() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        let name = "0123abcd-name";
        for start in [0, 256 * 1024 - 5, 256 * 1024, 300_000] {
            let mut text = vec![b'.'; start];
            text.extend_from_slice(name.as_bytes());
            text.extend_from_slice(&[b'.'; 100]);
            std::fs::write(&path, &text).unwrap();
            assert!(file_mentions(&path, name).unwrap(), "{start}");
            assert!(!file_mentions(&path, "0123abcd-nama").unwrap(), "{start}");
        }
    }
}

//! Follows a path into the earlier sessions that it continues (R13).

use std::io::{self, Read};
use std::path::Path as FilePath;
use std::sync::Arc;

use memchr::memmem::Finder;
use ramus_core::history::{History, Path};
use ramus_core::name::Name;
use ramus_core::resume::Rule;

use crate::error::PathError;
use crate::place::{FileRole, HistoryFile};
use crate::read::from_jsonl;
use crate::regular;

/// The part of a path that is in one file.
#[derive(Debug)]
pub struct Part {
    pub file: HistoryFile,
    pub history: Arc<History>,
    pub path: Path,
}

/// The limit for the number of sessions in a path. Longer chains do not occur.
const LONGEST: usize = 64;

/// Follows a path back through the sessions that it continues. Returns the oldest part first.
pub fn trace(
    files: &[HistoryFile],
    file: HistoryFile,
    history: impl Into<Arc<History>>,
    path: Path,
    rule: Rule,
) -> Result<Vec<Part>, PathError> {
    let mut parts = vec![Part { file, history: history.into(), path }];
    while parts.len() < LONGEST {
        let Some(earlier) = earlier(files, &parts, rule)? else { break };
        parts.push(earlier);
    }
    parts.reverse();
    Ok(parts)
}

/// Finds the part that the last one of `parts` continues.
fn earlier(files: &[HistoryFile], parts: &[Part], rule: Rule) -> Result<Option<Part>, PathError> {
    let Some(Part { history, path, .. }) = parts.last() else { return Ok(None) };
    let Some(root) = path.folds.first().map(|fold| history.folds.fold(*fold).head) else {
        return Ok(None);
    };
    let missing = history.tree.missing().iter().find(|(node, _)| *node == root);
    let Some((_, name)) = missing else { return Ok(None) };
    let spelling = history.session.spell(*name);
    for file in files.iter().filter(|file| file.role == FileRole::Session) {
        if parts.iter().any(|part| part.file.path == file.path) || !mentions(&file.path, &spelling)?
        {
            continue;
        }
        let history = from_jsonl(&file.path, rule)?;
        let node = history.tree.find(Name::new(spelling.as_bytes()));
        if let Some(path) = node.and_then(|node| history.path_to(node)) {
            return Ok(Some(Part { file: file.clone(), history: history.into(), path }));
        }
    }
    Ok(None)
}

/// Whether a file contains a text anywhere.
fn mentions(path: &FilePath, spelling: &str) -> Result<bool, PathError> {
    let finder = Finder::new(spelling);
    let mut held = Vec::new();
    let mut buffer = vec![0; 256 * 1024];
    let mut file = regular::open(path).map_err(|source| PathError::new(path, source))?;
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
            assert!(mentions(&path, name).unwrap(), "{start}");
            assert!(!mentions(&path, "0123abcd-nama").unwrap(), "{start}");
        }
    }
}

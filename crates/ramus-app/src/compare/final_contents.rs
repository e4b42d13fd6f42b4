//! Final file contents, taken from the client's backups where they are more reliable than tool results.

use std::path::PathBuf;

use ramus_core::compare::{FilePair, SideFileChange, TextContent};
use ramus_core::files::{BackupReader, ContentSource, FileContent, FileState, PathPoint};
use ramus_store::files_at::files_at_point;
use ramus_store::trace::LinkedPathPart;
use ramus_store::{FileHistory, PathError};

/// Completes the ends of one side's files; `side` picks that side of a pair.
pub(super) fn complete_contents(
    roots: &[PathBuf],
    parts: &[LinkedPathPart],
    files: &mut [FilePair],
    side: fn(&mut FilePair) -> &mut SideFileChange,
) -> Result<(), PathError> {
    let tracks = |part: &LinkedPathPart| part.history.session.checkpoint_records().next().is_some();
    let Some(last) = parts.last().filter(|_| !files.is_empty() && parts.iter().any(tracks)) else {
        return Ok(());
    };
    let mut backups = FileHistory::open(roots, parts);
    let end = PathPoint { cut: last.path.nodes.len(), sent_prompt: None };
    let ends = files_at_point(parts, end, &mut backups)?;
    for pair in files {
        let Some(end) = ends.iter().find(|end| end.path == pair.path) else { continue };
        let is_sure = end.source == ContentSource::Snapshot && end.doubt.is_none();
        let change = side(pair);
        if (is_sure || change.after == TextContent::Unknown)
            && let Some(content) = final_content(end, &mut backups)
        {
            if !change.changed {
                change.before = content.clone();
            }
            change.after = content;
        }
    }
    Ok(())
}

fn final_content(file: &FileState, backups: &mut FileHistory) -> Option<TextContent> {
    let bytes = match &file.content {
        FileContent::Backup(backup) => backups.read_backup(backup)?,
        FileContent::Bytes(bytes) => bytes.clone(),
        FileContent::Absent => return Some(TextContent::Absent),
        FileContent::Unknown => return None,
    };
    String::from_utf8(bytes).ok().map(TextContent::Text)
}

//! What files hold in the end, where the client's backups know it better than tools tell.

use std::path::PathBuf;

use ramus_core::compare::{Content, FileChange, FilePair};
use ramus_core::files::{Backups, FileState, Held, Moment, Source};
use ramus_store::files_at::files_of;
use ramus_store::trace::Part;
use ramus_store::{FileHistory, PathError};

/// Completes the ends of one side's files; `side` picks that side of a pair.
pub(super) fn complete(
    roots: &[PathBuf],
    parts: &[Part],
    files: &mut [FilePair],
    side: fn(&mut FilePair) -> &mut FileChange,
) -> Result<(), PathError> {
    let tracks = |part: &Part| part.history.session.snapshots().next().is_some();
    let Some(last) = parts.last().filter(|_| !files.is_empty() && parts.iter().any(tracks)) else {
        return Ok(());
    };
    let mut backups = FileHistory::open(roots, parts);
    let end = Moment { cut: last.path.nodes.len(), sent: None };
    let ends = files_of(parts, end, &mut backups)?;
    for pair in files {
        let Some(end) = ends.iter().find(|end| end.path == pair.path) else { continue };
        let is_sure = end.source == Source::Snapshot && end.doubt.is_none();
        let change = side(pair);
        if (is_sure || change.after == Content::Unknown)
            && let Some(content) = content(end, &mut backups)
        {
            if !change.changed {
                change.before = content.clone();
            }
            change.after = content;
        }
    }
    Ok(())
}

fn content(file: &FileState, backups: &mut FileHistory) -> Option<Content> {
    let bytes = match &file.held {
        Held::Backup(backup) => backups.read(backup)?,
        Held::Bytes(bytes) => bytes.clone(),
        Held::Absent => return Some(Content::Absent),
        Held::Unknown => return None,
    };
    String::from_utf8(bytes).ok().map(Content::Text)
}

//! Detects file backups that were made too late.
//!
//! The first backup of a file should have its content before the first edit. Some clients (2.0.74 in
//! nearly every run) copy the file while the tool is already writing, so that the backup has the
//! content after the edit. The result of that edit records both, so the error can be detected and
//! corrected.

use std::collections::BTreeMap;

use super::checkpoints::{CheckpointHistory, FirstEntry};
use super::file_event::{FileEvent, file_events};
use super::file_path::absolute_path;
use super::text::{TextFormat, decode_text, encode_text, is_same_text};
use super::{BackupReader, BackupRef, FileContent};
use crate::body::RecordBody;
use crate::compare::{PathPart, TextContent, change_by_call};
use crate::history::ConversationPath;
use crate::session::NodeId;
use crate::turn::path_turns;

/// Returns the real content of files before their first change, if the first backup is wrong, and that backup.
pub(super) fn late_backup_corrections(
    part: usize,
    path_part: &PathPart<'_>,
    tracked: &CheckpointHistory,
    bodies: &mut dyn FnMut(NodeId) -> Option<RecordBody>,
    backups: &mut dyn BackupReader,
) -> BTreeMap<String, (FileContent, BackupRef)> {
    let mut corrected = BTreeMap::new();
    for (path, first) in &tracked.first_entries {
        let Some((before, after)) = first_change(path_part, path, first, bodies) else { continue };
        let Some(name) = &first.entry.name else { continue };
        let backup = BackupRef { part, name: name.to_string(), version: first.entry.version };
        let Some((copy, how)) = backups.read_backup(&backup).and_then(|bytes| decode_text(&bytes))
        else {
            continue;
        };
        let holds = |content: &TextContent| match content {
            TextContent::Text(text) => is_same_text(text, &copy),
            TextContent::Absent | TextContent::Unknown => false,
        };
        if holds(&after) && !holds(&before) {
            corrected.insert(path.to_string(), (content_from_text(before, how), backup));
        }
    }
    corrected
}

fn content_from_text(before: TextContent, how: TextFormat) -> FileContent {
    match before {
        TextContent::Text(text) => FileContent::Bytes(encode_text(&text, how)),
        TextContent::Absent => FileContent::Absent,
        TextContent::Unknown => FileContent::Unknown,
    }
}

/// Returns what the change for which a file was first backed up found and left.
fn first_change(
    path_part: &PathPart<'_>,
    path: &str,
    first: &FirstEntry,
    bodies: &mut dyn FnMut(NodeId) -> Option<RecordBody>,
) -> Option<(TextContent, TextContent)> {
    let history = path_part.history;
    let message_id = history.message_tree.message_of(history.node_by_uuid(first.changed_by)?)?;
    let message = ConversationPath {
        messages: vec![message_id],
        nodes: history.message_tree.records_of(message_id).to_vec(),
    };
    let cwd = history.session.facts().cwd.as_deref().unwrap_or_default();
    for turn in path_turns(history, &message, bodies).without_forks() {
        for event in file_events(&turn) {
            if let FileEvent::Changed { path: changed, call, output } = event
                && absolute_path(cwd, changed) == path
            {
                let change = change_by_call(output, call, &TextContent::Unknown)?;
                let known = change.before != TextContent::Unknown;
                return known.then_some((change.before, change.after));
            }
        }
    }
    None
}

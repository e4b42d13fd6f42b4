//! Reads the client's checkpoints: which backup had a file's content when a prompt was sent.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::file_path::absolute_path;
use crate::body::{FileBackup, FileHistoryDelta, FileHistorySnapshot, Metadata, RecordBody};
use crate::compare::PathPart;
use crate::ids::RecordUuid;
use crate::session::NodeId;

/// All checkpoints of one session that concern a path.
#[derive(Debug, Default)]
pub(super) struct CheckpointHistory {
    /// The checkpoint of each prompt of the path, by the prompt's uuid.
    pub(super) by_prompt: FxHashMap<RecordUuid, CheckpointFiles>,
    /// The oldest entry of every file that was ever tracked, on whatever branch.
    pub(super) first_entries: BTreeMap<String, FirstEntry>,
}

/// The files that were tracked when a prompt was sent, by their paths.
pub(super) type CheckpointFiles = BTreeMap<String, CheckpointEntry>;

/// One file of a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CheckpointEntry {
    /// `None`: the file did not exist.
    pub(super) name: Option<String>,
    pub(super) version: u64,
}

/// How tracking of a file began.
#[derive(Clone, Debug)]
pub(super) struct FirstEntry {
    pub(super) entry: CheckpointEntry,
    /// The prompt whose checkpoint it was added to.
    pub(super) prompt: RecordUuid,
    /// The message that was about to change it.
    pub(super) changed_by: RecordUuid,
}

impl CheckpointHistory {
    /// Reads the checkpoints of a session. Of prompts off the path, only the first entry of a file is
    /// kept.
    pub(super) fn from_records(
        stretch: &PathPart<'_>,
        bodies: &mut dyn FnMut(NodeId) -> Option<RecordBody>,
    ) -> Self {
        let session = &stretch.history.session;
        let cwd = session.facts().cwd.as_deref().unwrap_or_default();
        let on_path: FxHashSet<RecordUuid> =
            stretch.path.nodes.iter().filter_map(|node| session.record(*node).uuid).collect();
        let mut tracked = Self::default();
        let mut added = Vec::new();
        for (node, _) in session.checkpoint_records() {
            let Some(RecordBody::Metadata(metadata)) = bodies(node) else { continue };
            match *metadata {
                Metadata::FileHistorySnapshot(snapshot) => {
                    tracked.take_snapshot(snapshot, cwd, &on_path);
                }
                Metadata::FileHistoryDelta(delta) => added.extend(tracked.take_delta(delta, cwd)),
                _ => {}
            }
        }
        // A delta may come before the checkpoint that it adds to.
        for (prompt, path, entry) in
            added.into_iter().filter(|(prompt, ..)| on_path.contains(prompt))
        {
            tracked.by_prompt.entry(prompt).or_default().entry(path).or_insert(entry);
        }
        tracked
    }

    /// Adds a complete checkpoint; the last one of a prompt counts.
    fn take_snapshot(
        &mut self,
        snapshot: FileHistorySnapshot,
        cwd: &str,
        on_path: &FxHashSet<RecordUuid>,
    ) {
        let prompt = RecordUuid::new(snapshot.snapshot_message_id.as_bytes());
        let by = RecordUuid::new(snapshot.message_id.as_bytes());
        let mut entries = CheckpointFiles::new();
        for (key, backup) in snapshot.backups {
            let path = absolute_path(cwd, &key);
            let Some(entry) = CheckpointEntry::from_backup(backup) else { continue };
            self.take_first(&path, &entry, prompt, by);
            entries.insert(path, entry);
        }
        if on_path.contains(&prompt) {
            self.by_prompt.insert(prompt, entries);
        }
    }

    fn take_delta(
        &mut self,
        delta: FileHistoryDelta,
        cwd: &str,
    ) -> Option<(RecordUuid, String, CheckpointEntry)> {
        let prompt = RecordUuid::new(delta.snapshot_message_id.as_bytes());
        let path = absolute_path(cwd, &delta.tracking_path);
        let entry = CheckpointEntry::from_backup(delta.backup)?;
        self.take_first(&path, &entry, prompt, RecordUuid::new(delta.message_id.as_bytes()));
        Some((prompt, path, entry))
    }

    fn take_first(
        &mut self,
        path: &str,
        entry: &CheckpointEntry,
        prompt: RecordUuid,
        by: RecordUuid,
    ) {
        if self.first_entries.get(path).is_none_or(|first| entry.version < first.entry.version) {
            let first = FirstEntry { entry: entry.clone(), prompt, changed_by: by };
            self.first_entries.insert(path.to_owned(), first);
        }
    }
}

impl CheckpointEntry {
    fn from_backup(backup: FileBackup) -> Option<Self> {
        let FileBackup { backup_file_name: name, version, .. } = backup;
        (version > 0).then_some(Self { name, version })
    }
}

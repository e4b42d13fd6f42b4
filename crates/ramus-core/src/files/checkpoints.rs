//! Reads the client's checkpoints: which backup had a file's content when a prompt was sent.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::file_path::absolute_path;
use crate::body::{FileBackup, FileHistoryDelta, FileHistorySnapshot, Metadata, RecordBody};
use crate::ids::RecordUuid;
use crate::session::{NodeId, Session};

/// All checkpoints of one session.
#[derive(Clone, Debug, Default)]
pub(crate) struct CheckpointHistory {
    /// The checkpoint of each prompt, by the prompt's uuid.
    pub(super) by_prompt: FxHashMap<RecordUuid, CheckpointFiles>,
    /// The oldest entry of every file that was ever tracked, on whatever branch.
    pub(super) first_entries: BTreeMap<Arc<str>, FirstEntry>,
}

/// The files that were tracked when a prompt was sent, by their paths.
pub(super) type CheckpointFiles = BTreeMap<Arc<str>, CheckpointEntry>;

/// One file of a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CheckpointEntry {
    /// `None`: the file did not exist.
    pub(super) name: Option<Arc<str>>,
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
    /// Reads the checkpoints of a session.
    pub(crate) fn from_records(
        session: &Session,
        bodies: &mut dyn FnMut(NodeId) -> Option<RecordBody>,
    ) -> Self {
        let mut reader = CheckpointReader {
            cwd: session.facts().cwd.as_deref().unwrap_or_default(),
            paths: FxHashMap::default(),
            names: FxHashSet::default(),
            checkpoints: Self::default(),
        };
        let mut added = Vec::new();
        for (node, _) in session.checkpoint_records() {
            let Some(RecordBody::Metadata(metadata)) = bodies(node) else { continue };
            match *metadata {
                Metadata::FileHistorySnapshot(snapshot) => reader.take_snapshot(snapshot),
                Metadata::FileHistoryDelta(delta) => added.extend(reader.take_delta(delta)),
                _ => {}
            }
        }
        // A delta may come before the checkpoint that it adds to.
        let mut tracked = reader.checkpoints;
        for (prompt, path, entry) in added {
            tracked.by_prompt.entry(prompt).or_default().entry(path).or_insert(entry);
        }
        tracked
    }
}

/// Collects checkpoints. Each of them names all files again, so every path and name is stored once.
struct CheckpointReader<'a> {
    cwd: &'a str,
    /// The absolute path of each path in the records.
    paths: FxHashMap<String, Arc<str>>,
    names: FxHashSet<Arc<str>>,
    checkpoints: CheckpointHistory,
}

impl CheckpointReader<'_> {
    /// Adds a complete checkpoint; the last one of a prompt counts.
    fn take_snapshot(&mut self, snapshot: FileHistorySnapshot) {
        let prompt = RecordUuid::new(snapshot.snapshot_message_id.as_bytes());
        let by = RecordUuid::new(snapshot.message_id.as_bytes());
        let mut entries = CheckpointFiles::new();
        for (key, backup) in snapshot.backups {
            let path = self.absolute_path(key);
            let Some(entry) = self.entry_from_backup(backup) else { continue };
            self.take_first(&path, &entry, prompt, by);
            entries.insert(path, entry);
        }
        self.checkpoints.by_prompt.insert(prompt, entries);
    }

    fn take_delta(
        &mut self,
        delta: FileHistoryDelta,
    ) -> Option<(RecordUuid, Arc<str>, CheckpointEntry)> {
        let prompt = RecordUuid::new(delta.snapshot_message_id.as_bytes());
        let path = self.absolute_path(delta.tracking_path);
        let entry = self.entry_from_backup(delta.backup)?;
        self.take_first(&path, &entry, prompt, RecordUuid::new(delta.message_id.as_bytes()));
        Some((prompt, path, entry))
    }

    fn take_first(
        &mut self,
        path: &Arc<str>,
        entry: &CheckpointEntry,
        prompt: RecordUuid,
        by: RecordUuid,
    ) {
        let firsts = &mut self.checkpoints.first_entries;
        if firsts.get(path).is_none_or(|first| entry.version < first.entry.version) {
            let first = FirstEntry { entry: entry.clone(), prompt, changed_by: by };
            firsts.insert(path.clone(), first);
        }
    }

    fn absolute_path(&mut self, key: String) -> Arc<str> {
        if let Some(path) = self.paths.get(&key) {
            return path.clone();
        }
        let path: Arc<str> = absolute_path(self.cwd, &key).into();
        self.paths.insert(key, path.clone());
        path
    }

    fn entry_from_backup(&mut self, backup: FileBackup) -> Option<CheckpointEntry> {
        let FileBackup { backup_file_name: name, version, .. } = backup;
        let name = name.filter(|_| version > 0).map(|name| match self.names.get(&*name) {
            Some(held) => held.clone(),
            None => {
                let name: Arc<str> = name.into();
                self.names.insert(name.clone());
                name
            }
        });
        (version > 0).then_some(CheckpointEntry { name, version })
    }
}

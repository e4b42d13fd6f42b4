//! Reads the client's checkpoints: which backup had a file's content when a prompt was sent.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::place::absolute;
use crate::body::{Body, FileBackup, FileHistoryDelta, FileHistorySnapshot, Metadata};
use crate::compare::Stretch;
use crate::name::Name;
use crate::session::NodeId;

/// All checkpoints of one session that concern a path.
#[derive(Debug, Default)]
pub(super) struct Tracked {
    /// The checkpoint of each prompt of the path, by the prompt's uuid.
    pub(super) snapshots: FxHashMap<Name, Snapshot>,
    /// The oldest entry of every file that was ever tracked, on whatever branch.
    pub(super) first: BTreeMap<String, First>,
}

/// The files that were tracked when a prompt was sent, by their paths.
pub(super) type Snapshot = BTreeMap<String, Entry>;

/// One file of a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// `None`: the file did not exist.
    pub(super) name: Option<String>,
    pub(super) version: u64,
}

/// How tracking of a file began.
#[derive(Clone, Debug)]
pub(super) struct First {
    pub(super) entry: Entry,
    /// The prompt whose checkpoint it was added to.
    pub(super) prompt: Name,
    /// The message that was about to change it.
    pub(super) by: Name,
}

impl Tracked {
    /// Reads the checkpoints of a session. Of prompts off the path, only the first entry of a file is
    /// kept.
    pub(super) fn read(
        stretch: &Stretch<'_>,
        bodies: &mut dyn FnMut(NodeId) -> Option<Body>,
    ) -> Self {
        let session = &stretch.history.session;
        let cwd = session.facts().cwd.as_deref().unwrap_or_default();
        let on_path: FxHashSet<Name> =
            stretch.path.nodes.iter().filter_map(|node| session.record(*node).name).collect();
        let mut tracked = Self::default();
        let mut added = Vec::new();
        for (node, _) in session.snapshots() {
            let Some(Body::Metadata(metadata)) = bodies(node) else { continue };
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
            tracked.snapshots.entry(prompt).or_default().entry(path).or_insert(entry);
        }
        tracked
    }

    /// Adds a complete checkpoint; the last one of a prompt counts.
    fn take_snapshot(
        &mut self,
        snapshot: FileHistorySnapshot,
        cwd: &str,
        on_path: &FxHashSet<Name>,
    ) {
        let prompt = Name::new(snapshot.snapshot_message_id.as_bytes());
        let by = Name::new(snapshot.message_id.as_bytes());
        let mut entries = Snapshot::new();
        for (key, backup) in snapshot.backups {
            let path = absolute(cwd, &key);
            let Some(entry) = Entry::of(backup) else { continue };
            self.take_first(&path, &entry, prompt, by);
            entries.insert(path, entry);
        }
        if on_path.contains(&prompt) {
            self.snapshots.insert(prompt, entries);
        }
    }

    fn take_delta(&mut self, delta: FileHistoryDelta, cwd: &str) -> Option<(Name, String, Entry)> {
        let prompt = Name::new(delta.snapshot_message_id.as_bytes());
        let path = absolute(cwd, &delta.tracking_path);
        let entry = Entry::of(delta.backup)?;
        self.take_first(&path, &entry, prompt, Name::new(delta.message_id.as_bytes()));
        Some((prompt, path, entry))
    }

    fn take_first(&mut self, path: &str, entry: &Entry, prompt: Name, by: Name) {
        if self.first.get(path).is_none_or(|first| entry.version < first.entry.version) {
            let first = First { entry: entry.clone(), prompt, by };
            self.first.insert(path.to_owned(), first);
        }
    }
}

impl Entry {
    fn of(backup: FileBackup) -> Option<Self> {
        let FileBackup { backup_file_name: name, version, .. } = backup;
        (version > 0).then_some(Self { name, version })
    }
}

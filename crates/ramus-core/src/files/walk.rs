//! Walks along a path and collects what is known about every file, up to a point and from what follows.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::checkpoints::{CheckpointFiles, CheckpointHistory};
use super::file_event::{FileEvent, file_events};
use super::reconstruct::{FileReconstruction, KnownFile, LaterEvidence, certain_file};
use super::{BackupReader, ContentSource, Doubt, FileContent, FileState, PathPoint, late_backup};
use crate::body::RecordBody;
use crate::compare::PathPart;
use crate::ids::RecordUuid;
use crate::session::NodeId;
use crate::turn::{TurnKind, path_turns};

/// Returns every file that the session tracks, or that its tools changed or read on the path, at a
/// point of the last part.
///
/// The parts should continue beyond the point, to the end of the conversation: later records show
/// what was there before.
pub fn files_at(
    path_parts: &[PathPart<'_>],
    moment: PathPoint,
    bodies: &mut dyn FnMut(usize, NodeId) -> Option<RecordBody>,
    backups: &mut dyn BackupReader,
) -> Vec<FileState> {
    let mut known = FileReconstruction {
        backups,
        path_part: 0,
        cwd: String::new(),
        corrected: BTreeMap::new(),
        known: BTreeMap::new(),
        settled_files: (0, BTreeSet::new()),
        commands: 0,
        later: None,
    };
    for (part, part_of_path) in path_parts.iter().enumerate() {
        let is_last = part + 1 == path_parts.len();
        let moment = is_last.then_some(moment);
        known.walk_part(part, part_of_path, moment, &mut |node| bodies(part, node));
    }
    known.into_file_states()
}

impl FileReconstruction<'_> {
    fn walk_part(
        &mut self,
        part: usize,
        part_of_path: &PathPart<'_>,
        moment: Option<PathPoint>,
        bodies: &mut dyn FnMut(NodeId) -> Option<RecordBody>,
    ) {
        let session = &part_of_path.history.session;
        let tracked = part_of_path.history.checkpoints(bodies);
        self.path_part = part;
        self.cwd = session.facts().cwd.as_deref().unwrap_or_default().to_owned();
        self.corrected =
            late_backup::late_backup_corrections(part, part_of_path, tracked, bodies, self.backups);
        let nodes = &part_of_path.path.nodes;
        let place: FxHashMap<NodeId, usize> = nodes.iter().copied().zip(0..).collect();
        let checkpoints = checkpoints_on_path(
            part_of_path,
            tracked,
            moment.and_then(|moment| moment.sent_prompt),
        );
        let cut = moment.map_or(usize::MAX, |moment| moment.cut);
        self.start_session(tracked);
        self.settle_checkpoint(checkpoints.iter().rfind(|c| c.at < cut || c.is_sent));
        let mut due = checkpoints.iter().peekable();
        let mut spoken = false;
        for turn in path_turns(part_of_path.history, part_of_path.path, bodies).without_forks() {
            let at = turn.nodes.first().and_then(|node| place.get(node)).copied().unwrap_or(0);
            while let Some(next) = due.next_if(|next| next.at <= at) {
                self.pass_point(next.at, cut);
                self.apply_checkpoint(next, tracked);
            }
            self.pass_point(at, cut);
            if self.is_done(tracked) {
                return;
            }
            match turn.kind {
                TurnKind::Prompt(_) | TurnKind::Command(_) => spoken = false,
                TurnKind::Reply(_) => spoken = true,
                _ => {}
            }
            // The checkpoint of a prompt already contains what changed before it was sent.
            let is_early = !spoken && !checkpoints.is_empty();
            for event in file_events(&turn) {
                if !(is_early && matches!(event, FileEvent::ChangedOutside { .. })) {
                    self.apply_event(&event);
                }
            }
        }
        for next in due {
            self.pass_point(next.at, cut);
            self.apply_checkpoint(next, tracked);
        }
    }

    /// Starts a session with the content that files had before they were first changed in it.
    fn start_session(&mut self, tracked: &CheckpointHistory) {
        for path in tracked.first_entries.keys() {
            let is_known =
                self.known.get(&**path).is_some_and(|now| now.content != FileContent::Unknown);
            if !is_known {
                let first = self.first_content(path, tracked);
                self.known.insert(path.to_string(), first);
            }
        }
    }

    fn settle_checkpoint(&mut self, last: Option<&Checkpoint<'_>>) {
        self.settled_files = (last.map_or(0, |last| last.at), BTreeSet::new());
        for (path, entry) in last.into_iter().flat_map(|last| last.entries) {
            if self.backup_content(entry).is_some() {
                self.settled_files.1.insert(path.to_string());
            }
        }
    }

    fn pass_point(&mut self, at: usize, cut: usize) {
        if at >= cut && self.later.is_none() {
            self.later = Some(LaterEvidence::default());
        }
    }

    /// Whether nothing that follows can add anything.
    fn is_done(&self, tracked: &CheckpointHistory) -> bool {
        let checked = self.later.as_ref().is_some_and(|after| after.checked);
        let known = |now: &KnownFile| now.content != FileContent::Unknown;
        checked && !tracked.first_entries.is_empty() && self.known.values().all(known)
    }

    fn apply_checkpoint(&mut self, checkpoint: &Checkpoint<'_>, tracked: &CheckpointHistory) {
        if self.later.is_some() && !checkpoint.is_sent {
            return self.learn_from_next(checkpoint);
        }
        if checkpoint.at >= self.settled_files.0 {
            self.settled_files.1.clear();
        }
        for (path, entry) in checkpoint.entries {
            if self.settled_files.1.contains(&**path) {
                continue;
            }
            let is_first = tracked.first_entries.get(path).is_some_and(|first| {
                first.prompt == checkpoint.prompt_uuid && first.entry == *entry
            });
            let known = match self.corrected.get(&**path).filter(|_| is_first) {
                Some((held, backup)) => {
                    let doubt = Doubt::LateBackup(backup.clone());
                    self.known_file(held.clone(), ContentSource::Original, Some(doubt))
                }
                None => self.content_from_entry(path, entry, ContentSource::Snapshot),
            };
            self.known.insert(path.to_string(), known);
        }
        if checkpoint.is_sent {
            // As in the client: files that the checkpoint does not name get their first content.
            for path in
                tracked.first_entries.keys().filter(|path| !checkpoint.entries.contains_key(*path))
            {
                let first = self.first_content(path, tracked);
                self.known.insert(path.to_string(), first);
            }
            self.later = Some(LaterEvidence { checked: true, ..LaterEvidence::default() });
        }
    }

    /// Learns from the checkpoint after the point.
    fn learn_from_next(&mut self, checkpoint: &Checkpoint<'_>) {
        let Some(after) = &mut self.later else { return };
        let ran = after.commands;
        let is_next = !std::mem::replace(&mut after.checked, true) && checkpoint.is_first;
        let changed = after.changed.clone();
        for (path, entry) in
            checkpoint.entries.iter().filter(|(path, _)| !changed.contains(&***path))
        {
            let Some(held) = self.backup_content(entry) else { continue };
            let Some(now) = self.known.get(&**path) else { continue };
            let stale = now.commands.map_or(0, |commands| self.commands - commands);
            if now.content == FileContent::Unknown {
                let doubt = (ran > 0).then_some(Doubt::CommandsRan(ran));
                self.known.insert(
                    path.to_string(),
                    KnownFile { doubt, ..certain_file(held, ContentSource::Next) },
                );
            } else if stale > 0 && is_next && ran == 0 {
                let known = now.content.clone();
                if self.is_same_content(&known, &held) {
                    if let Some(now) = self.known.get_mut(&**path) {
                        now.commands = None;
                    }
                } else {
                    let doubt = Some(Doubt::CommandsRan(stale));
                    self.known.insert(
                        path.to_string(),
                        KnownFile { doubt, ..certain_file(held, ContentSource::Next) },
                    );
                }
            }
        }
    }
}

/// A prompt of the path and the files that were tracked when it was sent.
struct Checkpoint<'a> {
    at: usize,
    prompt_uuid: RecordUuid,
    entries: &'a CheckpointFiles,
    /// It is the prompt of the requested point.
    is_sent: bool,
    /// It was the first message there. A prompt that was sent later, after going back, shows nothing
    /// about the time before the first.
    is_first: bool,
}

fn checkpoints_on_path<'a>(
    part_of_path: &PathPart<'_>,
    tracked: &'a CheckpointHistory,
    sent: Option<NodeId>,
) -> Vec<Checkpoint<'a>> {
    let message_tree = &part_of_path.history.message_tree;
    let is_first = |node: NodeId| {
        let Some(message) = message_tree.message_of(node) else { return false };
        let Some(parent) = message_tree.message(message).parent else { return true };
        message_tree.dialogue_children(parent).next() == Some(message)
    };
    let checkpoint = |(at, node): (usize, &NodeId)| {
        let name = part_of_path.history.session.record(*node).uuid?;
        let entries = tracked.by_prompt.get(&name)?;
        let (is_sent, is_first) = (Some(*node) == sent, is_first(*node));
        Some(Checkpoint { at, prompt_uuid: name, entries, is_sent, is_first })
    };
    part_of_path.path.nodes.iter().enumerate().filter_map(checkpoint).collect()
}

//! Walks along a path and collects what is known about every file, up to a point and from what follows.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::known::{After, Known, Now, settled};
use super::told::{Told, told};
use super::tracked::{Snapshot, Tracked};
use super::{Backups, Doubt, FileState, Held, Moment, Source, late};
use crate::body::Body;
use crate::compare::Stretch;
use crate::name::Name;
use crate::session::NodeId;
use crate::turn::{TurnKind, turns};

/// Returns every file that the session tracks, or that its tools changed or read on the path, at a
/// point of the last part.
///
/// The parts should continue beyond the point, to the end of the conversation: later records show
/// what was there before.
pub fn files(
    stretches: &[Stretch<'_>],
    moment: Moment,
    bodies: &mut dyn FnMut(usize, NodeId) -> Option<Body>,
    backups: &mut dyn Backups,
) -> Vec<FileState> {
    let mut known = Known {
        backups,
        part: 0,
        cwd: String::new(),
        corrected: BTreeMap::new(),
        now: BTreeMap::new(),
        settled: (0, BTreeSet::new()),
        commands: 0,
        after: None,
    };
    for (part, stretch) in stretches.iter().enumerate() {
        let is_last = part + 1 == stretches.len();
        let moment = is_last.then_some(moment);
        known.stretch(part, stretch, moment, &mut |node| bodies(part, node));
    }
    known.finish()
}

impl Known<'_> {
    fn stretch(
        &mut self,
        part: usize,
        stretch: &Stretch<'_>,
        moment: Option<Moment>,
        bodies: &mut dyn FnMut(NodeId) -> Option<Body>,
    ) {
        let session = &stretch.history.session;
        let tracked = Tracked::read(stretch, bodies);
        self.part = part;
        self.cwd = session.facts().cwd.as_deref().unwrap_or_default().to_owned();
        self.corrected = late::corrections(part, stretch, &tracked, bodies, self.backups);
        let nodes = &stretch.path.nodes;
        let place: FxHashMap<NodeId, usize> = nodes.iter().copied().zip(0..).collect();
        let checkpoints = checkpoints(stretch, &tracked, moment.and_then(|moment| moment.sent));
        let cut = moment.map_or(usize::MAX, |moment| moment.cut);
        self.start(&tracked);
        self.settle(checkpoints.iter().rfind(|c| c.at < cut || c.is_sent));
        let mut due = checkpoints.iter().peekable();
        let mut spoken = false;
        for turn in turns(stretch.history, stretch.path, bodies) {
            let at = turn.nodes.first().and_then(|node| place.get(node)).copied().unwrap_or(0);
            while let Some(next) = due.next_if(|next| next.at <= at) {
                self.pass(next.at, cut);
                self.checkpoint(next, &tracked);
            }
            self.pass(at, cut);
            if self.is_done(&tracked) {
                return;
            }
            match turn.kind {
                TurnKind::Prompt(_) | TurnKind::Command(_) => spoken = false,
                TurnKind::Answer(_) => spoken = true,
                _ => {}
            }
            // The checkpoint of a prompt already contains what changed before it was sent.
            let is_early = !spoken && !tracked.snapshots.is_empty();
            for told in told(&turn) {
                if !(is_early && matches!(told, Told::Touched { .. })) {
                    self.take(&told);
                }
            }
        }
        for next in due {
            self.pass(next.at, cut);
            self.checkpoint(next, &tracked);
        }
    }

    /// Starts a session with the content that files had before they were first changed in it.
    fn start(&mut self, tracked: &Tracked) {
        for path in tracked.first.keys() {
            let is_known = self.now.get(path).is_some_and(|now| now.held != Held::Unknown);
            if !is_known {
                let first = self.first(path, tracked);
                self.now.insert(path.clone(), first);
            }
        }
    }

    fn settle(&mut self, last: Option<&Checkpoint<'_>>) {
        self.settled = (last.map_or(0, |last| last.at), BTreeSet::new());
        for (path, entry) in last.into_iter().flat_map(|last| last.entries) {
            if self.held(entry).is_some() {
                self.settled.1.insert(path.clone());
            }
        }
    }

    fn pass(&mut self, at: usize, cut: usize) {
        if at >= cut && self.after.is_none() {
            self.after = Some(After::default());
        }
    }

    /// Whether nothing that follows can add anything.
    fn is_done(&self, tracked: &Tracked) -> bool {
        let checked = self.after.as_ref().is_some_and(|after| after.checked);
        let known = |now: &Now| now.held != Held::Unknown;
        checked && !tracked.first.is_empty() && self.now.values().all(known)
    }

    fn checkpoint(&mut self, checkpoint: &Checkpoint<'_>, tracked: &Tracked) {
        if self.after.is_some() && !checkpoint.is_sent {
            return self.next_checkpoint(checkpoint);
        }
        if checkpoint.at >= self.settled.0 {
            self.settled.1.clear();
        }
        for (path, entry) in checkpoint.entries {
            if self.settled.1.contains(path) {
                continue;
            }
            let is_first = tracked
                .first
                .get(path)
                .is_some_and(|first| first.prompt == checkpoint.name && first.entry == *entry);
            let known = match self.corrected.get(path).filter(|_| is_first) {
                Some((held, backup)) => {
                    let doubt = Doubt::LateBackup(backup.clone());
                    self.now(held.clone(), Source::Original, Some(doubt))
                }
                None => self.entry(path, entry, Source::Snapshot),
            };
            self.now.insert(path.clone(), known);
        }
        if checkpoint.is_sent {
            // As in the client: files that the checkpoint does not name get their first content.
            for path in tracked.first.keys().filter(|path| !checkpoint.entries.contains_key(*path))
            {
                let first = self.first(path, tracked);
                self.now.insert(path.clone(), first);
            }
            self.after = Some(After { checked: true, ..After::default() });
        }
    }

    /// Learns from the checkpoint after the point.
    fn next_checkpoint(&mut self, checkpoint: &Checkpoint<'_>) {
        let Some(after) = &mut self.after else { return };
        let ran = after.commands;
        let is_next = !std::mem::replace(&mut after.checked, true) && checkpoint.is_first;
        let changed = after.changed.clone();
        for (path, entry) in checkpoint.entries.iter().filter(|(path, _)| !changed.contains(*path))
        {
            let Some(held) = self.held(entry) else { continue };
            let Some(now) = self.now.get(path) else { continue };
            let stale = now.commands.map_or(0, |commands| self.commands - commands);
            if now.held == Held::Unknown {
                let doubt = (ran > 0).then_some(Doubt::Ran(ran));
                self.now.insert(path.clone(), Now { doubt, ..settled(held, Source::Next) });
            } else if stale > 0 && is_next && ran == 0 {
                let known = now.held.clone();
                if self.same(&known, &held) {
                    if let Some(now) = self.now.get_mut(path) {
                        now.commands = None;
                    }
                } else {
                    let doubt = Some(Doubt::Ran(stale));
                    self.now.insert(path.clone(), Now { doubt, ..settled(held, Source::Next) });
                }
            }
        }
    }
}

/// A prompt of the path and the files that were tracked when it was sent.
struct Checkpoint<'a> {
    at: usize,
    name: Name,
    entries: &'a Snapshot,
    /// It is the prompt of the requested point.
    is_sent: bool,
    /// It was the first message there. A prompt that was sent later, after going back, shows nothing
    /// about the time before the first.
    is_first: bool,
}

fn checkpoints<'a>(
    stretch: &Stretch<'_>,
    tracked: &'a Tracked,
    sent: Option<NodeId>,
) -> Vec<Checkpoint<'a>> {
    let folds = &stretch.history.folds;
    let is_first = |node: NodeId| {
        let Some(fold) = folds.of(node) else { return false };
        let Some(parent) = folds.fold(fold).parent else { return true };
        folds.speaking_children(parent).next() == Some(fold)
    };
    let checkpoint = |(at, node): (usize, &NodeId)| {
        let name = stretch.history.session.record(*node).name?;
        let entries = tracked.snapshots.get(&name)?;
        let (is_sent, is_first) = (Some(*node) == sent, is_first(*node));
        Some(Checkpoint { at, name, entries, is_sent, is_first })
    };
    stretch.path.nodes.iter().enumerate().filter_map(checkpoint).collect()
}

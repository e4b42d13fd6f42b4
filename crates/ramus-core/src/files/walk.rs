//! The walk along a path: what is known of every file, up to a moment and from what comes after it.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::place::absolute;
use super::text::{Dress, agree, dress, has_windows_ends, undress};
use super::told::{Told, told};
use super::tracked::{Entry, Snapshot, Tracked};
use super::{Backup, Backups, Doubt, FileState, Held, Moment, Source, late};
use crate::body::{Body, HunkLine, ToolOutput, WriteOutput};
use crate::compare::{Content, Stretch, change};
use crate::session::NodeId;
use crate::turn::{Action, Call, TurnKind, turns};

/// Returns every file that the session tracks, or that its tools changed or read on the path, as it
/// was at a moment of the last stretch.
///
/// The stretches should run on beyond the moment, to the end of the
/// conversation: what comes later tells of what was there before.
pub fn files(
    stretches: &[Stretch<'_>],
    moment: Moment,
    bodies: &mut dyn FnMut(usize, NodeId) -> Option<Body>,
    backups: &mut dyn Backups,
) -> Vec<FileState> {
    let mut walk = Walk {
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
        walk.stretch(part, stretch, moment, &mut |node| bodies(part, node));
    }
    walk.finish()
}

struct Walk<'a> {
    backups: &'a mut dyn Backups,
    part: usize,
    cwd: String,
    /// What files held where their first backup is wrong.
    corrected: BTreeMap<String, (Held, Backup)>,
    now: BTreeMap<String, Now>,
    /// Where the last checkpoint before the moment stands, and the files that it tells of anyway.
    settled: (usize, BTreeSet<String>),
    /// How many commands ran so far.
    commands: u32,
    /// Set once the moment has passed.
    after: Option<After>,
}

/// What is known of one file.
struct Now {
    held: Held,
    source: Source,
    doubt: Option<Doubt>,
    /// How many commands had run by then. `None`: it does not matter.
    commands: Option<u32>,
    only_read: bool,
}

/// What happened since the moment.
#[derive(Default)]
struct After {
    commands: u32,
    /// Files that are no longer as they were.
    changed: BTreeSet<String>,
    /// The next checkpoint has been seen.
    checked: bool,
}

impl Walk<'_> {
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
        let checkpoint = |(at, node): (usize, &NodeId)| {
            let name = session.record(*node).name?;
            Some(Checkpoint { at, node: *node, entries: tracked.snapshots.get(&name)?, name })
        };
        let checkpoints: Vec<Checkpoint<'_>> =
            nodes.iter().enumerate().filter_map(checkpoint).collect();
        let cut = moment.map_or(nodes.len(), |moment| moment.cut);
        let sent = moment.and_then(|moment| moment.sent);
        let is_sent = |checkpoint: &&Checkpoint<'_>| Some(checkpoint.node) == sent;
        self.start(&tracked);
        self.settle(checkpoints.iter().rfind(|c| c.at < cut || is_sent(c)));
        let mut due = checkpoints.iter().peekable();
        let mut spoken = false;
        for turn in turns(stretch.history, stretch.path, bodies) {
            let at = turn.nodes.first().and_then(|node| place.get(node)).copied().unwrap_or(0);
            while let Some(next) = due.next_if(|next| next.at <= at) {
                self.pass(next.at, cut, moment.is_some());
                let nearest = is_first_way(stretch, next.node);
                self.checkpoint(next, is_sent(&next), &tracked, nearest);
            }
            self.pass(at, cut, moment.is_some());
            if self.is_done(&tracked) {
                return;
            }
            match turn.kind {
                TurnKind::Prompt(_) | TurnKind::Command(_) => spoken = false,
                TurnKind::Answer(_) => spoken = true,
                _ => {}
            }
            for told in told(&turn) {
                // The checkpoint of a prompt already holds what was changed before it was sent.
                let early = matches!(told, Told::Touched { .. }) && !spoken;
                if !(early && !tracked.snapshots.is_empty()) {
                    self.take(&told);
                }
            }
        }
        for next in due {
            self.pass(next.at, cut, moment.is_some());
            self.checkpoint(next, is_sent(&next), &tracked, false);
        }
    }

    /// Begins a session with what files held before they were ever changed in it.
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

    fn pass(&mut self, at: usize, cut: usize, has_moment: bool) {
        if has_moment && at >= cut && self.after.is_none() {
            self.after = Some(After::default());
        }
    }

    /// Whether nothing that comes later can tell more.
    fn is_done(&self, tracked: &Tracked) -> bool {
        let checked = self.after.as_ref().is_some_and(|after| after.checked);
        let known = |now: &Now| now.held != Held::Unknown;
        checked && !tracked.first.is_empty() && self.now.values().all(known)
    }

    fn checkpoint(
        &mut self,
        checkpoint: &Checkpoint<'_>,
        is_sent: bool,
        tracked: &Tracked,
        nearest: bool,
    ) {
        if self.after.is_some() && !is_sent {
            return self.next_checkpoint(checkpoint.entries, nearest);
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
        if is_sent {
            // The client's own rule: what the checkpoint does not name goes back to its beginning.
            for path in tracked.first.keys().filter(|path| !checkpoint.entries.contains_key(*path))
            {
                let first = self.first(path, tracked);
                self.now.insert(path.clone(), first);
            }
            self.after = Some(After { checked: true, ..After::default() });
        }
    }

    /// Learns from the checkpoint after the moment; `nearest`: nothing else was asked in between.
    fn next_checkpoint(&mut self, entries: &Snapshot, nearest: bool) {
        let Some(after) = &mut self.after else { return };
        let ran = after.commands;
        let is_next = !std::mem::replace(&mut after.checked, true) && nearest;
        let changed = after.changed.clone();
        for (path, entry) in entries.iter().filter(|(path, _)| !changed.contains(*path)) {
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

    fn take(&mut self, told: &Told<'_>) {
        match told {
            Told::Ran => match &mut self.after {
                Some(after) => after.commands += 1,
                None => self.commands += 1,
            },
            Told::Seen { path, text } => self.seen(&absolute(&self.cwd, path), text),
            Told::Touched { path } => self.touched(&absolute(&self.cwd, path)),
            Told::Changed { path, call, output } => {
                self.changed(&absolute(&self.cwd, path), call, *output);
            }
        }
    }

    fn seen(&mut self, path: &str, text: &str) {
        let bytes = || Held::Bytes(text.as_bytes().to_vec());
        if self.after.is_some() {
            return self.reveal(path, bytes(), Source::Read, false);
        }
        if self.settled.1.contains(path) {
            return;
        }
        let held = self.now.get(path).map(|now| now.held.clone());
        let known = held.and_then(|held| self.text(&held)).map(|(text, _)| text);
        let only_read = self.now.get(path).is_none_or(|now| now.only_read);
        if known.is_some_and(|known| agree(&known, text)) {
            let commands = self.commands;
            if let Some(now) = self.now.get_mut(path) {
                now.commands = now.commands.map(|_| commands);
            }
            return;
        }
        let now = self.now(bytes(), Source::Read, None);
        self.now.insert(path.to_owned(), Now { only_read, ..now });
    }

    fn touched(&mut self, path: &str) {
        match &mut self.after {
            Some(after) => drop(after.changed.insert(path.to_owned())),
            None if self.settled.1.contains(path) => {}
            None => {
                let only_read = self.now.get(path).is_none_or(|now| now.only_read);
                let now = self.now(Held::Unknown, Source::Nothing, Some(Doubt::Outside));
                self.now.insert(path.to_owned(), Now { only_read, ..now });
            }
        }
    }

    fn changed(&mut self, path: &str, call: &Call, output: Option<&ToolOutput>) {
        if self.settled.1.contains(path) && self.after.is_none() {
            return;
        }
        let held = self.now.get(path).map(|now| now.held.clone()).unwrap_or_default();
        let whole = matches!(output, Some(ToolOutput::Write(_)))
            || output.is_none() && matches!(call.action(), Action::Write { .. });
        let base = if whole || self.after.is_some() { None } else { self.text(&held) };
        let (content, how) = match (base, held) {
            (Some((text, how)), _) => (Content::Text(text), how),
            (None, Held::Absent) => (Content::Absent, Dress::default()),
            _ => (Content::Unknown, Dress::default()),
        };
        let Some(change) = change(output, call, &content) else { return };
        if self.after.is_some() {
            let before = match change.before {
                Content::Text(text) => Held::Bytes(text.into_bytes()),
                Content::Absent => Held::Absent,
                Content::Unknown => Held::Unknown,
            };
            return self.reveal(path, before, Source::Original, true);
        }
        let now = match change.after {
            Content::Text(text) => {
                let (how, source) = match output {
                    Some(ToolOutput::Write(write)) => (write_dress(write), Source::Write),
                    _ if whole => (how, Source::Write),
                    _ => (how, Source::Edit),
                };
                self.now(Held::Bytes(dress(&text, how)), source, None)
            }
            Content::Absent => self.now(Held::Absent, Source::Edit, None),
            Content::Unknown => self.now(Held::Unknown, Source::Nothing, Some(Doubt::Unseen)),
        };
        self.now.insert(path.to_owned(), now);
    }

    /// Learns from something after the moment what a file held at it.
    fn reveal(&mut self, path: &str, held: Held, source: Source, changes: bool) {
        let Some(after) = &mut self.after else { return };
        let is_first = !after.changed.contains(path);
        if changes {
            after.changed.insert(path.to_owned());
        }
        let ran = after.commands;
        let Some(now) = self.now.get_mut(path) else {
            let doubt = match held {
                Held::Unknown => Some(Doubt::Unseen),
                _ => (ran > 0).then_some(Doubt::Ran(ran)),
            };
            let source = if held == Held::Unknown { Source::Nothing } else { source };
            let now = Now { doubt, only_read: !changes, ..settled(held, source) };
            self.now.insert(path.to_owned(), now);
            return;
        };
        now.only_read &= !changes;
        if is_first && now.held == Held::Unknown && held != Held::Unknown {
            now.doubt = (ran > 0).then_some(Doubt::Ran(ran));
            (now.held, now.source, now.commands) = (held, source, None);
        }
    }

    /// Returns what a file held before it was first changed in this session.
    fn first(&mut self, path: &str, tracked: &Tracked) -> Now {
        if let Some((held, backup)) = self.corrected.get(path) {
            let doubt = Some(Doubt::LateBackup(backup.clone()));
            return Now { doubt, ..settled(held.clone(), Source::Original) };
        }
        let held = tracked.first.get(path).and_then(|first| self.held(&first.entry));
        match held {
            Some(held) => settled(held, Source::First),
            None => {
                let doubt = Some(Doubt::BackupGone);
                Now { doubt, ..settled(Held::Unknown, Source::Nothing) }
            }
        }
    }

    /// Returns what an entry of a checkpoint says; without its backup, what was known anyway.
    fn entry(&mut self, path: &str, entry: &Entry, source: Source) -> Now {
        if let Some(held) = self.held(entry) {
            return self.now(held, source, None);
        }
        let doubt = Some(Doubt::BackupGone);
        match self.now.remove(path) {
            Some(now) if now.held != Held::Unknown && now.source != Source::First => {
                Now { doubt, ..now }
            }
            _ => self.now(Held::Unknown, Source::Nothing, doubt),
        }
    }

    /// `None`: the backup is gone.
    fn held(&mut self, entry: &Entry) -> Option<Held> {
        let Some(name) = &entry.name else { return Some(Held::Absent) };
        let backup = Backup { part: self.part, name: name.clone(), version: entry.version };
        self.backups.size(&backup).map(|_| Held::Backup(backup))
    }

    fn now(&self, held: Held, source: Source, doubt: Option<Doubt>) -> Now {
        Now { held, source, doubt, commands: Some(self.commands), only_read: false }
    }

    fn text(&mut self, held: &Held) -> Option<(String, Dress)> {
        match held {
            Held::Backup(backup) => undress(&self.backups.read(backup)?),
            Held::Bytes(bytes) => undress(bytes),
            Held::Absent | Held::Unknown => None,
        }
    }

    fn same(&mut self, a: &Held, b: &Held) -> bool {
        let mut bytes = |held: &Held| match held {
            Held::Backup(backup) => self.backups.read(backup),
            Held::Bytes(bytes) => Some(bytes.clone()),
            Held::Absent | Held::Unknown => None,
        };
        a == b || matches!((bytes(a), bytes(b)), (Some(a), Some(b)) if a == b)
    }

    fn finish(self) -> Vec<FileState> {
        let commands = self.commands;
        let state = |(path, now): (String, Now)| {
            let ran = now.commands.map_or(0, |then| commands - then);
            let doubt = match now.doubt {
                None if ran > 0 && now.held != Held::Unknown => Some(Doubt::Ran(ran)),
                doubt => doubt,
            };
            let Now { held, source, only_read, .. } = now;
            FileState { path, held, source, doubt, only_read }
        };
        self.now.into_iter().map(state).collect()
    }
}

/// A prompt of the path and the files that were tracked when it was sent.
struct Checkpoint<'a> {
    at: usize,
    node: NodeId,
    name: crate::name::Name,
    entries: &'a Snapshot,
}

/// Something that is so whatever ran before.
fn settled(held: Held, source: Source) -> Now {
    Now { held, source, doubt: None, commands: None, only_read: false }
}

/// Whether a prompt was the first thing ever said at its place: one that was said later, after going
/// back there, tells nothing about the time of the first.
fn is_first_way(stretch: &Stretch<'_>, prompt: NodeId) -> bool {
    let folds = &stretch.history.folds;
    let Some(fold) = folds.of(prompt) else { return false };
    let Some(parent) = folds.fold(fold).parent else { return true };
    folds.speaking_children(parent).next() == Some(fold)
}

/// Tells how a written file lies on the disk: up to 2.1.50 it kept the line ends it had.
fn write_dress(write: &WriteOutput) -> Dress {
    let had = |line: HunkLine<'_>| matches!(line, HunkLine::Removed(text) | HunkLine::Context(text) if text.ends_with('\r'));
    let in_patch = write.patch.hunks.iter().flat_map(|hunk| hunk.changes()).any(had);
    let in_original = write.original_file.as_deref().is_some_and(has_windows_ends);
    Dress { windows: in_patch || in_original, ..Dress::default() }
}

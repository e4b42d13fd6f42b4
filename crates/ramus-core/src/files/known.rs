//! Tracks the known content of every file and applies file events to it.

use std::collections::{BTreeMap, BTreeSet};

use super::place::absolute;
use super::text::{Dress, agree, dress, has_windows_ends, undress};
use super::told::Told;
use super::tracked::{Entry, Tracked};
use super::{Backup, Backups, Doubt, FileState, Held, Source};
use crate::body::{Hunk, HunkLine, ToolOutput, WriteOutput};
use crate::compare::{Content, change};
use crate::turn::{Action, Call};

/// What is known about every file at one position of the walk.
pub(super) struct Known<'a> {
    pub(super) backups: &'a mut dyn Backups,
    pub(super) part: usize,
    pub(super) cwd: String,
    /// The content before the first change, for files whose first backup is wrong.
    pub(super) corrected: BTreeMap<String, (Held, Backup)>,
    pub(super) now: BTreeMap<String, Now>,
    /// The position of the last checkpoint before the point, and the files that it contains.
    pub(super) settled: (usize, BTreeSet<String>),
    /// How many commands ran so far.
    pub(super) commands: u32,
    /// Set once the point has been passed.
    pub(super) after: Option<After>,
}

/// What is known about one file.
pub(super) struct Now {
    pub(super) held: Held,
    pub(super) source: Source,
    pub(super) doubt: Option<Doubt>,
    /// How many commands had run by then. `None`: it does not matter.
    pub(super) commands: Option<u32>,
    pub(super) only_read: bool,
}

/// What happened after the point.
#[derive(Default)]
pub(super) struct After {
    pub(super) commands: u32,
    /// Files that have changed since.
    pub(super) changed: BTreeSet<String>,
    /// The next checkpoint has been applied.
    pub(super) checked: bool,
}

impl Known<'_> {
    pub(super) fn take(&mut self, told: &Told<'_>) {
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

    pub(super) fn seen(&mut self, path: &str, text: &str) {
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

    pub(super) fn touched(&mut self, path: &str) {
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

    pub(super) fn changed(&mut self, path: &str, call: &Call, output: Option<&ToolOutput>) {
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

    /// Uses something after the point to learn the content of a file at the point.
    pub(super) fn reveal(&mut self, path: &str, held: Held, source: Source, changes: bool) {
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

    /// Returns the content of a file before it was first changed in this session.
    pub(super) fn first(&mut self, path: &str, tracked: &Tracked) -> Now {
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

    /// Returns the content that a checkpoint entry gives; without its backup, the content after the tool
    /// calls since the previous checkpoint.
    pub(super) fn entry(&mut self, path: &str, entry: &Entry, source: Source) -> Now {
        if let Some(held) = self.held(entry) {
            return self.now(held, source, None);
        }
        let doubt = Some(Doubt::BackupGone);
        match self.now.remove(path) {
            Some(now) if matches!(now.held, Held::Bytes(_)) => Now { doubt, ..now },
            // A new version means that the content changed.
            _ => self.now(Held::Unknown, Source::Nothing, doubt),
        }
    }

    /// `None`: the backup is gone.
    pub(super) fn held(&mut self, entry: &Entry) -> Option<Held> {
        let Some(name) = &entry.name else { return Some(Held::Absent) };
        let backup = Backup { part: self.part, name: name.clone(), version: entry.version };
        self.backups.size(&backup).map(|_| Held::Backup(backup))
    }

    pub(super) fn now(&self, held: Held, source: Source, doubt: Option<Doubt>) -> Now {
        Now { held, source, doubt, commands: Some(self.commands), only_read: false }
    }

    pub(super) fn text(&mut self, held: &Held) -> Option<(String, Dress)> {
        match held {
            Held::Backup(backup) => undress(&self.backups.read(backup)?),
            Held::Bytes(bytes) => undress(bytes),
            Held::Absent | Held::Unknown => None,
        }
    }

    pub(super) fn same(&mut self, a: &Held, b: &Held) -> bool {
        let mut bytes = |held: &Held| match held {
            Held::Backup(backup) => self.backups.read(backup),
            Held::Bytes(bytes) => Some(bytes.clone()),
            Held::Absent | Held::Unknown => None,
        };
        a == b || matches!((bytes(a), bytes(b)), (Some(a), Some(b)) if a == b)
    }

    pub(super) fn finish(self) -> Vec<FileState> {
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

/// Content that does not depend on the commands that ran before.
pub(super) fn settled(held: Held, source: Source) -> Now {
    Now { held, source, doubt: None, commands: None, only_read: false }
}

/// Determines the line ends of a written file: up to 2.1.50 it kept those it had.
fn write_dress(write: &WriteOutput) -> Dress {
    let had = |line: HunkLine<'_>| matches!(line, HunkLine::Removed(text) | HunkLine::Context(text) if text.ends_with('\r'));
    let in_patch = write.patch.hunks.iter().flat_map(Hunk::changes).any(had);
    let in_original = write.original_file.as_deref().is_some_and(has_windows_ends);
    Dress { windows: in_patch || in_original, ..Dress::default() }
}

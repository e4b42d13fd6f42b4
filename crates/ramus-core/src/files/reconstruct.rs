//! Tracks the known content of every file and applies file events to it.

use std::collections::{BTreeMap, BTreeSet};

use super::checkpoints::{CheckpointEntry, CheckpointHistory};
use super::file_event::FileEvent;
use super::file_path::absolute_path;
use super::text::{TextFormat, decode_text, encode_text, has_windows_ends, is_same_text};
use super::{BackupReader, BackupRef, ContentSource, Doubt, FileContent, FileState};
use crate::body::{HunkLine, PatchHunk, ToolOutput, WriteOutput};
use crate::compare::{TextContent, change_by_call};
use crate::turn::{ToolAction, ToolCall};

/// What is known about every file at one position of the walk.
pub(super) struct FileReconstruction<'a> {
    pub(super) backups: &'a mut dyn BackupReader,
    pub(super) path_part: usize,
    pub(super) cwd: String,
    /// The content before the first change, for files whose first backup is wrong.
    pub(super) corrected: BTreeMap<String, (FileContent, BackupRef)>,
    pub(super) known: BTreeMap<String, KnownFile>,
    /// The position of the last checkpoint before the point, and the files that it contains.
    pub(super) settled_files: (usize, BTreeSet<String>),
    /// How many commands ran so far.
    pub(super) commands: u32,
    /// Set once the point has been passed.
    pub(super) later: Option<LaterEvidence>,
}

/// What is known about one file.
pub(super) struct KnownFile {
    pub(super) content: FileContent,
    pub(super) source: ContentSource,
    pub(super) doubt: Option<Doubt>,
    /// How many commands had run by then. `None`: it does not matter.
    pub(super) commands: Option<u32>,
    pub(super) only_read: bool,
}

/// What happened after the point.
#[derive(Default)]
pub(super) struct LaterEvidence {
    pub(super) commands: u32,
    /// Files that have changed since.
    pub(super) changed: BTreeSet<String>,
    /// The next checkpoint has been applied.
    pub(super) checked: bool,
}

impl FileReconstruction<'_> {
    pub(super) fn apply_event(&mut self, event: &FileEvent<'_>) {
        match event {
            FileEvent::CommandRan => match &mut self.later {
                Some(after) => after.commands += 1,
                None => self.commands += 1,
            },
            FileEvent::Read { path, text } => {
                self.apply_read(&absolute_path(&self.cwd, path), text);
            }
            FileEvent::ChangedOutside { path } => {
                self.apply_outside_change(&absolute_path(&self.cwd, path));
            }
            FileEvent::Changed { path, call, output } => {
                self.apply_tool_change(&absolute_path(&self.cwd, path), call, *output);
            }
        }
    }

    pub(super) fn apply_read(&mut self, path: &str, text: &str) {
        let bytes = || FileContent::Bytes(text.as_bytes().to_vec());
        if self.later.is_some() {
            return self.learn_earlier_content(path, bytes(), ContentSource::Read, false);
        }
        if self.settled_files.1.contains(path) {
            return;
        }
        let held = self.known.get(path).map(|now| now.content.clone());
        let known = held.and_then(|held| self.decode_content(&held)).map(|(text, _)| text);
        let only_read = self.known.get(path).is_none_or(|now| now.only_read);
        if known.is_some_and(|known| is_same_text(&known, text)) {
            let commands = self.commands;
            if let Some(now) = self.known.get_mut(path) {
                now.commands = now.commands.map(|_| commands);
            }
            return;
        }
        let now = self.known_file(bytes(), ContentSource::Read, None);
        self.known.insert(path.to_owned(), KnownFile { only_read, ..now });
    }

    pub(super) fn apply_outside_change(&mut self, path: &str) {
        match &mut self.later {
            Some(after) => drop(after.changed.insert(path.to_owned())),
            None if self.settled_files.1.contains(path) => {}
            None => {
                let only_read = self.known.get(path).is_none_or(|now| now.only_read);
                let now = self.known_file(
                    FileContent::Unknown,
                    ContentSource::Nothing,
                    Some(Doubt::ChangedOutside),
                );
                self.known.insert(path.to_owned(), KnownFile { only_read, ..now });
            }
        }
    }

    pub(super) fn apply_tool_change(
        &mut self,
        path: &str,
        call: &ToolCall,
        output: Option<&ToolOutput>,
    ) {
        if self.settled_files.1.contains(path) && self.later.is_none() {
            return;
        }
        let held = self.known.get(path).map(|now| now.content.clone()).unwrap_or_default();
        let whole = matches!(output, Some(ToolOutput::Write(_)))
            || output.is_none() && matches!(call.action(), ToolAction::Write { .. });
        let base = if whole || self.later.is_some() { None } else { self.decode_content(&held) };
        let (content, how) = match (base, held) {
            (Some((text, how)), _) => (TextContent::Text(text), how),
            (None, FileContent::Absent) => (TextContent::Absent, TextFormat::default()),
            _ => (TextContent::Unknown, TextFormat::default()),
        };
        let Some(change) = change_by_call(output, call, &content) else { return };
        if self.later.is_some() {
            let before = match change.before {
                TextContent::Text(text) => FileContent::Bytes(text.into_bytes()),
                TextContent::Absent => FileContent::Absent,
                TextContent::Unknown => FileContent::Unknown,
            };
            return self.learn_earlier_content(path, before, ContentSource::Original, true);
        }
        let now = match change.after {
            TextContent::Text(text) => {
                let (how, source) = match output {
                    Some(ToolOutput::Write(write)) => (written_format(write), ContentSource::Write),
                    _ if whole => (how, ContentSource::Write),
                    _ => (how, ContentSource::Edit),
                };
                self.known_file(FileContent::Bytes(encode_text(&text, how)), source, None)
            }
            TextContent::Absent => self.known_file(FileContent::Absent, ContentSource::Edit, None),
            TextContent::Unknown => self.known_file(
                FileContent::Unknown,
                ContentSource::Nothing,
                Some(Doubt::NeverRecorded),
            ),
        };
        self.known.insert(path.to_owned(), now);
    }

    /// Uses something after the point to learn the content of a file at the point.
    pub(super) fn learn_earlier_content(
        &mut self,
        path: &str,
        held: FileContent,
        source: ContentSource,
        changes: bool,
    ) {
        let Some(after) = &mut self.later else { return };
        let is_first = !after.changed.contains(path);
        if changes {
            after.changed.insert(path.to_owned());
        }
        let ran = after.commands;
        let Some(now) = self.known.get_mut(path) else {
            let doubt = match held {
                FileContent::Unknown => Some(Doubt::NeverRecorded),
                _ => (ran > 0).then_some(Doubt::CommandsRan(ran)),
            };
            let source = if held == FileContent::Unknown { ContentSource::Nothing } else { source };
            let now = KnownFile { doubt, only_read: !changes, ..certain_file(held, source) };
            self.known.insert(path.to_owned(), now);
            return;
        };
        now.only_read &= !changes;
        if is_first && now.content == FileContent::Unknown && held != FileContent::Unknown {
            now.doubt = (ran > 0).then_some(Doubt::CommandsRan(ran));
            (now.content, now.source, now.commands) = (held, source, None);
        }
    }

    /// Returns the content of a file before it was first changed in this session.
    pub(super) fn first_content(&mut self, path: &str, tracked: &CheckpointHistory) -> KnownFile {
        if let Some((held, backup)) = self.corrected.get(path) {
            let doubt = Some(Doubt::LateBackup(backup.clone()));
            return KnownFile { doubt, ..certain_file(held.clone(), ContentSource::Original) };
        }
        let held =
            tracked.first_entries.get(path).and_then(|first| self.backup_content(&first.entry));
        match held {
            Some(held) => certain_file(held, ContentSource::First),
            None => {
                let doubt = Some(Doubt::BackupGone);
                KnownFile { doubt, ..certain_file(FileContent::Unknown, ContentSource::Nothing) }
            }
        }
    }

    /// Returns the content that a checkpoint entry gives; without its backup, the content after the tool
    /// calls since the previous checkpoint.
    pub(super) fn content_from_entry(
        &mut self,
        path: &str,
        entry: &CheckpointEntry,
        source: ContentSource,
    ) -> KnownFile {
        if let Some(held) = self.backup_content(entry) {
            return self.known_file(held, source, None);
        }
        let doubt = Some(Doubt::BackupGone);
        match self.known.remove(path) {
            Some(now) if matches!(now.content, FileContent::Bytes(_)) => KnownFile { doubt, ..now },
            // A new version means that the content changed.
            _ => self.known_file(FileContent::Unknown, ContentSource::Nothing, doubt),
        }
    }

    /// `None` if the backup no longer exists.
    pub(super) fn backup_content(&mut self, entry: &CheckpointEntry) -> Option<FileContent> {
        let Some(name) = &entry.name else { return Some(FileContent::Absent) };
        let backup =
            BackupRef { part: self.path_part, name: name.to_string(), version: entry.version };
        self.backups.backup_size(&backup).map(|_| FileContent::Backup(backup))
    }

    pub(super) fn known_file(
        &self,
        held: FileContent,
        source: ContentSource,
        doubt: Option<Doubt>,
    ) -> KnownFile {
        KnownFile { content: held, source, doubt, commands: Some(self.commands), only_read: false }
    }

    pub(super) fn decode_content(&mut self, held: &FileContent) -> Option<(String, TextFormat)> {
        match held {
            FileContent::Backup(backup) => decode_text(&self.backups.read_backup(backup)?),
            FileContent::Bytes(bytes) => decode_text(bytes),
            FileContent::Absent | FileContent::Unknown => None,
        }
    }

    pub(super) fn is_same_content(&mut self, a: &FileContent, b: &FileContent) -> bool {
        let mut bytes = |held: &FileContent| match held {
            FileContent::Backup(backup) => self.backups.read_backup(backup),
            FileContent::Bytes(bytes) => Some(bytes.clone()),
            FileContent::Absent | FileContent::Unknown => None,
        };
        a == b || matches!((bytes(a), bytes(b)), (Some(a), Some(b)) if a == b)
    }

    pub(super) fn into_file_states(self) -> Vec<FileState> {
        let commands = self.commands;
        let state = |(path, now): (String, KnownFile)| {
            let ran = now.commands.map_or(0, |then| commands - then);
            let doubt = match now.doubt {
                None if ran > 0 && now.content != FileContent::Unknown => {
                    Some(Doubt::CommandsRan(ran))
                }
                doubt => doubt,
            };
            let KnownFile { content: held, source, only_read, .. } = now;
            FileState { path, content: held, source, doubt, only_read }
        };
        self.known.into_iter().map(state).collect()
    }
}

/// Content that does not depend on the commands that ran before.
pub(super) fn certain_file(held: FileContent, source: ContentSource) -> KnownFile {
    KnownFile { content: held, source, doubt: None, commands: None, only_read: false }
}

/// Determines the line ends of a written file: up to 2.1.50 it kept those it had.
fn written_format(write: &WriteOutput) -> TextFormat {
    let had = |line: HunkLine<'_>| matches!(line, HunkLine::Removed(text) | HunkLine::Context(text) if text.ends_with('\r'));
    let in_patch = write.patch.hunks.iter().flat_map(PatchHunk::tagged_lines).any(had);
    let in_original = write.original_file.as_deref().is_some_and(has_windows_ends);
    TextFormat { windows_line_ends: in_patch || in_original, ..TextFormat::default() }
}

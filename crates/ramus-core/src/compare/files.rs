//! The content of files at the end of a conversation, as far as its tool calls show it.
//!
//! The client records what a tool wrote, and usually the content before it. Commands change files
//! without a record: only a later read shows it.

use std::collections::BTreeMap;

use super::ComparedSide;
use super::change::{change_by_call, changed_path};
use crate::body::{ReadContent, ReadOutput, ToolOutput};
use crate::turn::{AttachedFile, ToolAction, ToolCall, Turn, TurnKind};

/// The content of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TextContent {
    Text(String),
    /// The file does not exist.
    Absent,
    /// The content is not recorded.
    #[default]
    Unknown,
}

impl TextContent {
    /// Returns the text; a file that is not there has none. `None`: it is not known.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Absent => Some(""),
            Self::Unknown => None,
        }
    }

    /// Whether the other one may well be the same: some clients leave out the last newline
    /// when they read, and what is not known contradicts nothing.
    fn agrees_with(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Unknown, _) => true,
            (Self::Text(a), Self::Text(b)) => a.trim_end_matches('\n') == b.trim_end_matches('\n'),
            _ => false,
        }
    }
}

/// What one side did to a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SideFileChange {
    /// Whether this side changed it at all.
    pub changed: bool,
    /// The content where the two conversations diverge.
    pub before: TextContent,
    /// The content at the end.
    pub after: TextContent,
    /// Lines added and removed, summed over all changes.
    pub added: usize,
    pub removed: usize,
}

impl SideFileChange {
    /// Completes the contents: a side that did not change the file has the content that the other side found.
    fn completed_by(&self, other: &Self) -> Self {
        if self.changed {
            return self.clone();
        }
        let known = if self.after.agrees_with(&other.before) { &other.before } else { &self.after };
        Self { before: known.clone(), after: known.clone(), ..self.clone() }
    }
}

/// A file that at least one side changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePair {
    pub path: String,
    pub a: SideFileChange,
    pub b: SideFileChange,
}

impl FilePair {
    /// Whether the two ends differ. `None`: one of them is not known.
    pub fn contents_differ(&self) -> Option<bool> {
        let known = [&self.a, &self.b].iter().all(|side| side.after != TextContent::Unknown);
        known.then(|| self.a.after != self.b.after)
    }
}

/// Returns the files that either side changed, by their paths.
pub fn changed_files(a: &ComparedSide, b: &ComparedSide) -> Vec<FilePair> {
    let (a, b) = (&a.files.0, &b.files.0);
    let mut paths: Vec<&String> = a.keys().chain(b.keys()).collect();
    paths.sort_unstable();
    paths.dedup();
    let pair = |path: &String| {
        let [a, b] = [a, b].map(|side| side.get(path).cloned().unwrap_or_default());
        let changed = a.changed || b.changed;
        changed.then(|| FilePair {
            path: path.clone(),
            a: a.completed_by(&b),
            b: b.completed_by(&a),
        })
    };
    paths.into_iter().filter_map(pair).collect()
}

/// All files that tools touched so far; `after` is their current content.
#[derive(Clone, Debug, Default)]
pub(super) struct TouchedFiles(BTreeMap<String, SideFileChange>);

impl TouchedFiles {
    /// Applies a turn; `own`: it comes after the two conversations diverge.
    pub(super) fn take_turn(&mut self, turn: &Turn, own: bool) {
        if let TurnKind::File(AttachedFile { path, edited: true, .. }) = &turn.kind
            && let Some(file) = self.0.get_mut(path)
        {
            // Something else changed it, and only a part of it was recorded.
            file.after = TextContent::Unknown;
        }
        for call in turn.tool_calls() {
            self.take_call(call, own);
        }
    }

    fn take_call(&mut self, call: &ToolCall, own: bool) {
        let Some(result) = call.result.as_ref().filter(|result| !result.is_error) else { return };
        if let Some(ToolOutput::Read(read)) = &result.output {
            return self.take_read(read, call);
        }
        let Some(path) = changed_path(result.output.as_ref(), call) else { return };
        let now = self.0.get(path).map(|file| file.after.clone()).unwrap_or_default();
        let Some(change) = change_by_call(result.output.as_ref(), call, &now) else { return };
        let file = self.0.entry(path.to_owned()).or_default();
        if own {
            if !file.changed {
                file.before = change.before;
            }
            file.changed = true;
            file.added += change.added;
            file.removed += change.removed;
        }
        file.after = change.after;
    }

    fn take_read(&mut self, read: &ReadOutput, call: &ToolCall) {
        let path = match (&read.file_path, call.action()) {
            (Some(path), _) => path.as_str(),
            (None, ToolAction::Read { path }) => path,
            _ => return,
        };
        let Some(content) = whole_text(read) else { return };
        let file = self.0.entry(path.to_owned()).or_default();
        let read = TextContent::Text(content.to_owned());
        if file.after == TextContent::Unknown || !file.after.agrees_with(&read) {
            file.after = read;
        }
    }
}

/// Returns the text of a file that was read from its beginning to its end.
pub(crate) fn whole_text(read: &ReadOutput) -> Option<&str> {
    match &read.content {
        ReadContent::Text { content, num_lines, start_line, total_lines, truncated: false }
            if *start_line <= 1 && num_lines >= total_lines =>
        {
            Some(content)
        }
        _ => None,
    }
}

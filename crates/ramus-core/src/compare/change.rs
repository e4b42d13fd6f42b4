//! What one tool call did to a file.

use super::edit;
use super::files::Content;
use crate::body::{Replacement, StructuredPatch, ToolOutput, WriteKind};
use crate::turn::{Action, Call};

/// One change of a file.
pub(crate) struct Change {
    pub(crate) before: Content,
    pub(crate) after: Content,
    pub(crate) added: usize,
    pub(crate) removed: usize,
}

/// Returns the file that a call changed.
pub(crate) fn changed_path<'c>(output: Option<&'c ToolOutput>, call: &'c Call) -> Option<&'c str> {
    let named = match output {
        Some(ToolOutput::Edit(edit)) => Some(&*edit.file_path),
        Some(ToolOutput::MultiEdit(edit)) => Some(&*edit.file_path),
        Some(ToolOutput::Write(write)) => Some(&*write.file_path),
        Some(ToolOutput::NotebookEdit(edit)) => edit.notebook_path.as_deref(),
        _ => None,
    };
    named.filter(|path| !path.is_empty()).or_else(|| match call.action() {
        Action::Edit { path, .. } | Action::Write { path, .. } => Some(path),
        _ => None,
    })
}

/// Returns what a call did to a file with the content `now`, as far as is known.
pub(crate) fn change(output: Option<&ToolOutput>, call: &Call, now: &Content) -> Option<Change> {
    let none = StructuredPatch::default();
    let known = |original: &Option<String>| match original {
        // The client may have stored only the beginning of a large file.
        Some(original) => match now {
            Content::Text(now) if now.len() > original.len() && now.starts_with(original) => {
                Content::Text(now.clone())
            }
            _ => Content::Text(original.clone()),
        },
        None => now.clone(),
    };
    Some(match output {
        Some(ToolOutput::Edit(done)) => {
            let edits = std::slice::from_ref(&done.replacement);
            edited(known(&done.original_file), edits, &done.patch, done.user_modified)
        }
        Some(ToolOutput::MultiEdit(done)) => {
            edited(known(&done.original_file), &done.edits, &done.patch, done.user_modified)
        }
        Some(ToolOutput::Write(done)) => {
            let before = match (&done.original_file, done.kind) {
                (Some(text), _) => Content::Text(text.clone()),
                (None, WriteKind::Create) => Content::Absent,
                (None, WriteKind::Update) => now.clone(),
            };
            let lines = match done.kind {
                WriteKind::Create if done.patch.hunks.is_empty() => done.content.lines().count(),
                _ => done.patch.added(),
            };
            let after = Content::Text(done.content.clone());
            Change { before, after, added: lines, removed: done.patch.removed() }
        }
        Some(ToolOutput::NotebookEdit(done)) if done.error.is_none() => Change {
            before: now.clone(),
            after: Content::Unknown,
            added: done.new_source.lines().count(),
            removed: 0,
        },
        Some(ToolOutput::NotebookEdit(_)) => return None,
        // Several results in one record, or a client that stored only text.
        _ => match call.action() {
            Action::Edit { replacements, .. } => edited(now.clone(), &replacements, &none, false),
            Action::Write { content, .. } if call.name != "NotebookEdit" => Change {
                before: now.clone(),
                after: Content::Text(content.to_owned()),
                added: content.lines().count(),
                removed: 0,
            },
            Action::Write { .. } => {
                Change { before: now.clone(), after: Content::Unknown, added: 0, removed: 0 }
            }
            _ => return None,
        },
    })
}

fn edited(
    before: Content,
    edits: &[Replacement],
    patch: &StructuredPatch,
    by_hand: bool,
) -> Change {
    let after = before.text().and_then(|text| edit::applied(text, edits, patch, by_hand));
    let lines =
        |text: fn(&Replacement) -> &str| edits.iter().map(|edit| text(edit).lines().count()).sum();
    let (added, removed) = if patch.hunks.is_empty() {
        (lines(|edit| &edit.new), lines(|edit| &edit.old))
    } else {
        (patch.added(), patch.removed())
    };
    Change { before, after: after.map_or(Content::Unknown, Content::Text), added, removed }
}

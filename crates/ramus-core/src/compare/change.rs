//! What one tool call did to a file.

use super::edit;
use super::files::TextContent;
use crate::body::{Replacement, StructuredPatch, ToolOutput, WriteKind};
use crate::turn::{ToolAction, ToolCall};

/// One change of a file.
pub(crate) struct ToolFileChange {
    pub(crate) before: TextContent,
    pub(crate) after: TextContent,
    pub(crate) added: usize,
    pub(crate) removed: usize,
}

/// Returns the file that a call changed.
pub(crate) fn changed_path<'c>(
    output: Option<&'c ToolOutput>,
    call: &'c ToolCall,
) -> Option<&'c str> {
    let named = match output {
        Some(ToolOutput::Edit(edit)) => Some(&*edit.file_path),
        Some(ToolOutput::MultiEdit(edit)) => Some(&*edit.file_path),
        Some(ToolOutput::Write(write)) => Some(&*write.file_path),
        Some(ToolOutput::NotebookEdit(edit)) => edit.notebook_path.as_deref(),
        _ => None,
    };
    named.filter(|path| !path.is_empty()).or_else(|| match call.action() {
        ToolAction::Edit { path, .. } | ToolAction::Write { path, .. } => Some(path),
        _ => None,
    })
}

/// Returns what a call did to a file with the content `now`, as far as is known.
pub(crate) fn change_by_call(
    output: Option<&ToolOutput>,
    call: &ToolCall,
    now: &TextContent,
) -> Option<ToolFileChange> {
    let none = StructuredPatch::default();
    let known = |original: &Option<String>| match original {
        // The client may have stored only the beginning of a large file.
        Some(original) => match now {
            TextContent::Text(now) if now.len() > original.len() && now.starts_with(original) => {
                TextContent::Text(now.clone())
            }
            _ => TextContent::Text(original.clone()),
        },
        None => now.clone(),
    };
    Some(match output {
        Some(ToolOutput::Edit(done)) => {
            let edits = std::slice::from_ref(&done.replacement);
            change_by_edits(known(&done.original_file), edits, &done.patch, done.user_modified)
        }
        Some(ToolOutput::MultiEdit(done)) => change_by_edits(
            known(&done.original_file),
            &done.edits,
            &done.patch,
            done.user_modified,
        ),
        Some(ToolOutput::Write(done)) => {
            let before = match (&done.original_file, done.kind) {
                (Some(text), _) => TextContent::Text(text.clone()),
                (None, WriteKind::Create) => TextContent::Absent,
                (None, WriteKind::Update) => now.clone(),
            };
            let lines = match done.kind {
                WriteKind::Create if done.patch.hunks.is_empty() => done.content.lines().count(),
                _ => done.patch.added_lines(),
            };
            let after = TextContent::Text(done.content.clone());
            ToolFileChange { before, after, added: lines, removed: done.patch.removed_lines() }
        }
        Some(ToolOutput::NotebookEdit(done)) if done.error.is_none() => ToolFileChange {
            before: now.clone(),
            after: TextContent::Unknown,
            added: done.new_source.lines().count(),
            removed: 0,
        },
        Some(ToolOutput::NotebookEdit(_)) => return None,
        // Several results in one record, or a client that stored only text.
        _ => match call.action() {
            ToolAction::Edit { replacements, .. } => {
                change_by_edits(now.clone(), &replacements, &none, false)
            }
            ToolAction::Write { content, .. } if call.name != "NotebookEdit" => ToolFileChange {
                before: now.clone(),
                after: TextContent::Text(content.to_owned()),
                added: content.lines().count(),
                removed: 0,
            },
            ToolAction::Write { .. } => ToolFileChange {
                before: now.clone(),
                after: TextContent::Unknown,
                added: 0,
                removed: 0,
            },
            _ => return None,
        },
    })
}

fn change_by_edits(
    before: TextContent,
    edits: &[Replacement],
    patch: &StructuredPatch,
    by_hand: bool,
) -> ToolFileChange {
    let after = before.as_text().and_then(|text| edit::apply_edit(text, edits, patch, by_hand));
    let lines =
        |text: fn(&Replacement) -> &str| edits.iter().map(|edit| text(edit).lines().count()).sum();
    let (added, removed) = if patch.hunks.is_empty() {
        (lines(|edit| &edit.new), lines(|edit| &edit.old))
    } else {
        (patch.added_lines(), patch.removed_lines())
    };
    ToolFileChange {
        before,
        after: after.map_or(TextContent::Unknown, TextContent::Text),
        added,
        removed,
    }
}

//! Extracts from a turn what it shows about files.

use crate::body::ToolOutput;
use crate::compare::{changed_path, whole_text};
use crate::turn::{AttachedFile, CommandTurn, ToolAction, ToolCall, Turn, TurnKind};

/// Something that a turn shows about a file.
pub(super) enum FileEvent<'t> {
    /// A tool changed a file.
    Changed { path: &'t str, call: &'t ToolCall, output: Option<&'t ToolOutput> },
    /// A tool read a file whole.
    Read { path: &'t str, text: &'t str },
    /// Something else changed a file.
    ChangedOutside { path: &'t str },
    /// Something ran that may have changed any file.
    CommandRan,
}

/// Returns the file events of a turn, in order.
pub(super) fn file_events(turn: &Turn) -> Vec<FileEvent<'_>> {
    match &turn.kind {
        TurnKind::File(AttachedFile { path, edited: true, .. }) => {
            vec![FileEvent::ChangedOutside { path }]
        }
        TurnKind::Command(CommandTurn { name, .. }) if name == "!" => vec![FileEvent::CommandRan],
        _ => turn.tool_calls().filter_map(event_of_call).collect(),
    }
}

fn event_of_call(call: &ToolCall) -> Option<FileEvent<'_>> {
    let runs = matches!(call.action(), ToolAction::Run { .. } | ToolAction::Delegate { .. });
    // The effect of a third-party tool is unknown.
    if runs || call.name.starts_with("mcp__") {
        return Some(FileEvent::CommandRan);
    }
    let result = call.result.as_ref().filter(|result| !result.is_error)?;
    let output = result.output.as_ref();
    if let Some(ToolOutput::Read(read)) = output {
        let path = match (&read.file_path, call.action()) {
            (Some(path), _) => path.as_str(),
            (None, ToolAction::Read { path }) => path,
            _ => return None,
        };
        // Content that is not text cannot be reconstructed from text.
        let text = whole_text(read).filter(|text| !text.contains('\u{fffd}'))?;
        return Some(FileEvent::Read { path, text });
    }
    changed_path(output, call).map(|path| FileEvent::Changed { path, call, output })
}

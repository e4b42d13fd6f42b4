//! Extracts from a turn what it shows about files.

use crate::body::ToolOutput;
use crate::compare::{changed_path, whole};
use crate::turn::{Action, Attached, Call, Command, Turn, TurnKind};

/// Something that a turn shows about a file.
pub(super) enum Told<'t> {
    /// A tool changed a file.
    Changed { path: &'t str, call: &'t Call, output: Option<&'t ToolOutput> },
    /// A tool read a file whole.
    Seen { path: &'t str, text: &'t str },
    /// Something else changed a file.
    Touched { path: &'t str },
    /// Something ran that may have changed any file.
    Ran,
}

/// Returns the file events of a turn, in order.
pub(super) fn told(turn: &Turn) -> Vec<Told<'_>> {
    match &turn.kind {
        TurnKind::File(Attached { path, edited: true, .. }) => vec![Told::Touched { path }],
        TurnKind::Command(Command { name, .. }) if name == "!" => vec![Told::Ran],
        _ => turn.calls().filter_map(told_by).collect(),
    }
}

fn told_by(call: &Call) -> Option<Told<'_>> {
    let runs = matches!(call.action(), Action::Run { .. } | Action::Delegate { .. });
    // The effect of a third-party tool is unknown.
    if runs || call.name.starts_with("mcp__") {
        return Some(Told::Ran);
    }
    let result = call.result.as_ref().filter(|result| !result.is_error)?;
    let output = result.output.as_ref();
    if let Some(ToolOutput::Read(read)) = output {
        let path = match (&read.file_path, call.action()) {
            (Some(path), _) => path.as_str(),
            (None, Action::Read { path }) => path,
            _ => return None,
        };
        // What cannot be shown as text cannot be put together from it.
        let text = whole(read).filter(|text| !text.contains('\u{fffd}'))?;
        return Some(Told::Seen { path, text });
    }
    changed_path(output, call).map(|path| Told::Changed { path, call, output })
}

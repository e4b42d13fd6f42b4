//! Pins, tags and notes put on a session or a message.

use std::sync::mpsc::Sender;
use std::time::SystemTime;

use ramus_app::Workspace;
use ramus_app::survey::time_from_system;
use ramus_core::annotation::{Annotation, AnnotationChange};
use ramus_render::{Label, Line};

use super::documents::{could_not, error_lines};
use crate::event::{AnnotationEdit, NodeAddress, ScreenEvent};
use crate::panes::annotation::note_text;

/// Changes an annotation; returns what to show.
pub(crate) fn annotate(
    workspace: &Workspace,
    at: &NodeAddress,
    edit: &AnnotationEdit,
    events: &Sender<ScreenEvent>,
) -> ScreenEvent {
    let changed = change_annotation(workspace, at, edit);
    let _ = events.send(ScreenEvent::Annotations(workspace.annotations()));
    changed.map_or_else(could_not, ScreenEvent::Status)
}

fn change_annotation(
    workspace: &Workspace,
    at: &NodeAddress,
    edit: &AnnotationEdit,
) -> Result<Line, Vec<Line>> {
    let address = workspace.address_in(&at.file, at.node.clone());
    let target = address.and_then(|address| workspace.annotation_target(&address));
    let target = target.map_err(|error| error_lines(&error, error.hint()))?;
    let before = workspace.annotations().get(&target).cloned().unwrap_or_default();
    let mut change = AnnotationChange::default();
    match edit {
        AnnotationEdit::TogglePin => change.pinned = Some(!before.pinned),
        AnnotationEdit::Note(note) => change.note = Some(note.trim().to_owned()),
        AnnotationEdit::Tags(tags) => {
            for tag in tags.split([' ', ',']).filter(|tag| !tag.is_empty()) {
                match tag.strip_prefix('-') {
                    Some(tag) => change.remove_tags.push(tag.to_owned()),
                    None => change.add_tags.push(tag.trim_start_matches('#').to_owned()),
                }
            }
        }
    }
    let now = time_from_system(SystemTime::now());
    let after = workspace.annotate(&target, &change, now);
    let after = after.map_err(|error| error_lines(&error, None::<&str>))?;
    let what = if target.message.is_some() { "this message" } else { "this session" };
    Ok(Line::new(&format!("{what}: {}", state_words(&after, edit)), Label::Note))
}

/// Describes an annotation after a change.
fn state_words(after: &Annotation, edit: &AnnotationEdit) -> String {
    let mut words = Vec::new();
    match after.pinned {
        true => words.push("pinned".to_owned()),
        false if *edit == AnnotationEdit::TogglePin => words.push("not pinned".to_owned()),
        false => {}
    }
    words.extend(after.tags.iter().map(|tag| format!("#{tag}")));
    words.extend(note_text(after));
    match words.is_empty() {
        true => "no pin, no tags, no note".to_owned(),
        false => words.join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_named_and_what_was_taken_away() {
        let mut after = Annotation::default();
        let words = |after: &Annotation, edit| state_words(after, &edit);
        let note = || AnnotationEdit::Note(String::new());
        assert_eq!(words(&after, note()), "no pin, no tags, no note");
        assert_eq!(words(&after, AnnotationEdit::TogglePin), "not pinned");
        after.tags.insert("hot".to_owned());
        after.note = "two\nlines".to_owned();
        assert_eq!(words(&after, note()), "#hot “two lines”");
        after.pinned = true;
        assert_eq!(words(&after, note()), "pinned #hot “two lines”");
    }
}

//! Pins, tags and notes put on a session or a message.

use std::sync::mpsc::Sender;
use std::time::SystemTime;

use ramus_app::Workspace;
use ramus_app::survey::time_from_system;
use ramus_core::annotation::AnnotationChange;
use ramus_render::{Label, Line};

use super::documents::{could_not, error_lines};
use crate::event::{AnnotationEdit, NodeAddress, ScreenEvent};

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
    let mut words = vec![if after.pinned { "pinned".to_owned() } else { "not pinned".to_owned() }];
    words.extend(after.tags.iter().map(|tag| format!("#{tag}")));
    words.extend(Some(&after.note).filter(|note| !note.is_empty()).map(|note| format!("“{note}”")));
    Ok(Line::new(&format!("{what}: {}", words.join(" ")), Label::Note))
}

//! Pins, tags and notes, beside what they are about.

use ramus_core::annotation::Annotation;
use ramus_core::digest::one_line;
use ramus_render::{Label, Line};

/// Returns a pin and tags, each with a space behind it.
pub(crate) fn pin_and_tags(annotation: &Annotation) -> Line {
    let mut line = Line::default();
    if annotation.pinned {
        line.push("★ ", Label::Prompt);
    }
    for tag in &annotation.tags {
        line.push(&format!("#{tag} "), Label::Note);
    }
    line
}

/// Returns a note in quotes; `None`: there is none.
pub(crate) fn note_text(annotation: &Annotation) -> Option<String> {
    let note = one_line(&annotation.note);
    (!note.is_empty()).then(|| format!("“{note}”"))
}

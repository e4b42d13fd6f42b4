//! Writes the files that either side changed, and how their final contents differ.

use ramus_core::compare::{Content, FileChange, FilePair};

use super::sheet::{Sheet, Text};
use crate::diff;
use crate::layout;
use crate::span::{Label, Line};
use crate::text::tool::below;

/// Returns how many lines a side added and removed.
///
/// If first and last content are known, that is their difference; otherwise the sum of all
/// changes.
pub fn lines_changed(change: &FileChange) -> (usize, usize) {
    match (change.before.text(), change.after.text()) {
        _ if !change.changed => (0, 0),
        (Some(before), Some(after)) => diff::stat(before, after),
        _ => (change.added, change.removed),
    }
}

pub(super) fn write(sheet: &mut Sheet<'_>, files: &[FilePair]) {
    if files.is_empty() {
        return;
    }
    sheet.heading("Files");
    for (index, file) in files.iter().enumerate() {
        if index > 0 {
            sheet.out.push(Line::default());
        }
        let line = layout::truncate(&title(file, sheet.config.cwd), sheet.config.width);
        sheet.out.push(line);
        if let (Some(a), Some(b), Some(true)) =
            (file.a.after.text(), file.b.after.text(), file.differs())
        {
            sheet.differences(a, b, Text::Code);
        }
    }
}

fn title(file: &FilePair, cwd: &str) -> Line {
    let mut line = Line::new(below(&file.path, cwd), Label::Strong);
    for (side, letter, label) in [(&file.a, "A", Label::Removed), (&file.b, "B", Label::Added)] {
        line.push("  ", Label::Plain);
        line.push(letter, label);
        line.push(" ", Label::Plain);
        line.append(&done(side));
    }
    match file.differs() {
        Some(true) => {}
        Some(false) => line.push("  same final content", Label::Note),
        None => {
            let unknown = |side: &FileChange| side.after == Content::Unknown;
            let text = match (unknown(&file.a), unknown(&file.b)) {
                (true, true) => "final content not recorded",
                (true, false) => "final content on A not recorded",
                _ => "final content on B not recorded",
            };
            line.push(&format!("  {text}"), Label::Note);
        }
    }
    line
}

fn done(side: &FileChange) -> Line {
    if !side.changed {
        let word = if side.after == Content::Absent { "absent" } else { "unchanged" };
        return Line::new(word, Label::Dim);
    }
    let (added, removed) = lines_changed(side);
    let mut line = match (&side.before, &side.after) {
        (Content::Absent, _) => Line::new("new ", Label::Dim),
        _ => Line::default(),
    };
    line.push(&format!("+{added}"), Label::Added);
    line.with(" ", Label::Plain).with(&format!("−{removed}"), Label::Removed)
}

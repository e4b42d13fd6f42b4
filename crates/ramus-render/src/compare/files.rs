//! Writes the files that either side changed, and how their final contents differ.

use ramus_core::compare::{FilePair, SideFileChange, TextContent};

use super::comparison_writer::{ComparedText, ComparisonWriter};
use crate::diff;
use crate::layout;
use crate::span::{Label, Line};
use crate::text::tool_call::relative_path;

/// Returns how many lines a side added and removed.
///
/// If first and last content are known, that is their difference; otherwise the sum of all
/// changes.
pub fn lines_changed(change: &SideFileChange) -> (usize, usize) {
    match (change.before.as_text(), change.after.as_text()) {
        _ if !change.changed => (0, 0),
        (Some(before), Some(after)) => diff::count_changes(before, after),
        _ => (change.added, change.removed),
    }
}

pub(super) fn write_files(sheet: &mut ComparisonWriter<'_>, files: &[FilePair]) {
    if files.is_empty() {
        return;
    }
    sheet.write_heading("Files");
    for (index, file) in files.iter().enumerate() {
        if index > 0 {
            sheet.out.push(Line::default());
        }
        let line = layout::truncate_line(&file_title(file, sheet.config.cwd), sheet.config.width);
        sheet.out.push(line);
        if let (Some(a), Some(b), Some(true)) =
            (file.a.after.as_text(), file.b.after.as_text(), file.contents_differ())
        {
            sheet.write_differences(a, b, ComparedText::Code);
        }
    }
}

fn file_title(file: &FilePair, cwd: &str) -> Line {
    let mut line = Line::new(relative_path(&file.path, cwd), Label::Strong);
    for (side, letter, label) in [(&file.a, "A", Label::Removed), (&file.b, "B", Label::Added)] {
        line.push("  ", Label::Plain);
        line.push(letter, label);
        line.push(" ", Label::Plain);
        line.append(&change_summary(side));
    }
    match file.contents_differ() {
        Some(true) => {}
        Some(false) => line.push("  same final content", Label::Note),
        None => {
            let unknown = |side: &SideFileChange| side.after == TextContent::Unknown;
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

fn change_summary(side: &SideFileChange) -> Line {
    if !side.changed {
        let word = if side.after == TextContent::Absent { "absent" } else { "unchanged" };
        return Line::new(word, Label::Dim);
    }
    let (added, removed) = lines_changed(side);
    let mut line = match (&side.before, &side.after) {
        (TextContent::Absent, _) => Line::new("new ", Label::Dim),
        _ => Line::default(),
    };
    line.push(&format!("+{added}"), Label::Added);
    line.with(" ", Label::Plain).with(&format!("−{removed}"), Label::Removed)
}

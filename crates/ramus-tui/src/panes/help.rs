//! The keys of the pane one is in, on one screen, from the table that binds them.

use ramus_render::layout::{pad_line, truncate_line, wrap_line};
use ramus_render::{Label, Line};

use crate::event::TextDocument;
use crate::keys::{KeyAction, KeyContext, KeyMap};
use crate::panes::document::DocumentPane;

/// Actions that belong together, and what they do in a few words.
type HelpRow = (&'static [KeyAction], &'static str);

const LIST_ROWS: &[HelpRow] = &[
    (&[KeyAction::Down, KeyAction::Up], "move"),
    (&[KeyAction::PageDown, KeyAction::PageUp], "a page"),
    (&[KeyAction::First, KeyAction::Last], "first, last"),
    (&[KeyAction::Enter], "read it"),
    (&[KeyAction::Right, KeyAction::Left], "branches, close them"),
    (&[KeyAction::Resume, KeyAction::ForkResume], "resume, fork and resume"),
    (&[KeyAction::Everywhere], "this project, or all"),
    (&[KeyAction::ByRepository], "recent, project, repo"),
    (&[KeyAction::Back], "clear the search; quit"),
];

/// What can be typed into the search box.
const SEARCH_ROWS: &[(&str, &str)] = &[
    ("word", "titles and contents"),
    ("\"a b\" -c", "a phrase, without c"),
    ("since:7d", "until: project:"),
    ("tool:Bash", "file: role: is:error"),
    ("branch:", "abandoned or active"),
];

const READING_ROWS: &[HelpRow] = &[
    (&[KeyAction::Down, KeyAction::Up], "move"),
    (&[KeyAction::PageDown, KeyAction::PageUp], "a page"),
    (&[KeyAction::HalfDown, KeyAction::HalfUp], "half a page"),
    (&[KeyAction::First, KeyAction::Last], "beginning, end"),
    (&[KeyAction::NextPrompt, KeyAction::PreviousPrompt], "next, previous prompt"),
    (&[KeyAction::NextFork, KeyAction::PreviousFork], "next, previous fork"),
    (&[KeyAction::Left, KeyAction::Right], "switch branch at a fork"),
    (&[KeyAction::Branches, KeyAction::Tree], "all branches, tree"),
    (&[KeyAction::Enter], "open or close"),
    (&[KeyAction::Tools, KeyAction::Thinking, KeyAction::Usage], "calls, thinking, tokens"),
    (&[KeyAction::AgentHere, KeyAction::AgentPane], "agents: here, all"),
    (&[KeyAction::Images, KeyAction::Copy], "open images, copy text"),
    (&[KeyAction::Search, KeyAction::NextHit, KeyAction::PreviousHit], "search here; next, back"),
    (&[KeyAction::Find], "search everything"),
    (&[KeyAction::Files], "files as of here"),
    (&[KeyAction::Diff], "mark a branch, compare"),
    (&[KeyAction::Resume, KeyAction::ForkResume], "resume, fork and resume"),
    (
        &[KeyAction::Goto, KeyAction::Fork, KeyAction::Merge, KeyAction::Undo],
        "go, fork, merge, undo",
    ),
    (&[KeyAction::Live, KeyAction::Back], "follow live, back"),
];

const FILE_ROWS: &[HelpRow] = &[
    (&[KeyAction::Down, KeyAction::Up], "move"),
    (&[KeyAction::PageDown, KeyAction::PageUp], "a page"),
    (&[KeyAction::Enter], "show the file"),
    (&[KeyAction::FileChanges, KeyAction::AllFileChanges], "changes: this, all"),
    (&[KeyAction::SaveFile, KeyAction::SaveAllFiles], "save: this, all"),
    (&[KeyAction::RestoreFile, KeyAction::RestoreAllFiles], "restore: this, all"),
    (&[KeyAction::NextHit, KeyAction::PreviousHit], "next, previous change"),
    (&[KeyAction::Back], "back"),
];

const SESSION_ROWS: &[HelpRow] = &[
    (&[KeyAction::Palette], "all actions by name"),
    (&[KeyAction::Rename], "rename"),
    (&[KeyAction::Pin, KeyAction::Tag, KeyAction::Note], "pin, tag, note"),
    (&[KeyAction::SessionUsage], "tokens and cost"),
    (&[KeyAction::Export, KeyAction::Pack], "export, pack"),
    (&[KeyAction::Archive], "archive what is new"),
    (&[KeyAction::CopyResume], "copy how to resume"),
    (&[KeyAction::Trash, KeyAction::Restore], "trash, restore"),
    (&[KeyAction::Log], "what was done, to undo"),
    (&[KeyAction::NextPane], "next pane"),
    #[cfg(unix)]
    (&[KeyAction::Redraw, KeyAction::Suspend], "redraw, suspend"),
    #[cfg(not(unix))]
    (&[KeyAction::Redraw], "redraw"),
    (&[KeyAction::Help], "these keys"),
    (&[KeyAction::Quit], "quit"),
];

/// The mouse, for which there is no table.
const MOUSE_ROW: (&str, &str) = ("click, wheel", "select, open; scroll");

/// The widest names of keys that stay whole.
const KEYS_WIDTH: usize = 13;
/// From this width on there are two columns.
const TWO_COLUMNS: usize = 72;

/// Returns the list of keys for a page of some columns.
pub(crate) fn help_pane(keys: &KeyMap, place: KeyContext, width: usize) -> DocumentPane {
    let left = match place {
        KeyContext::Anywhere => list_lines(keys),
        KeyContext::Files => section_lines(keys, false, "In the files as of a message", FILE_ROWS),
        KeyContext::Moving | KeyContext::Reading => {
            section_lines(keys, false, "In a transcript or a tree", READING_ROWS)
        }
    };
    // Letters are text in the list.
    let typing = place == KeyContext::Anywhere;
    let mut right = section_lines(keys, typing, "The session here", SESSION_ROWS);
    right.push(plain_row(MOUSE_ROW));
    let lines = match width {
        TWO_COLUMNS.. => side_by_side(left, right, width),
        _ => {
            let lines = left.into_iter().chain([Line::default()]).chain(right);
            lines.flat_map(|line| wrap_line(&line, width, KEYS_WIDTH + 1)).collect()
        }
    };
    let page = TextDocument::new(Line::new("Keys", Label::Heading), lines);
    let mut pane = DocumentPane::new(page);
    pane.is_help = true;
    pane
}

fn list_lines(keys: &KeyMap) -> Vec<Line> {
    let mut lines = section_lines(keys, true, "In the list", LIST_ROWS);
    lines.push(Line::default());
    lines.push(Line::new("What is typed is searched", Label::Heading));
    lines.extend(SEARCH_ROWS.iter().map(|row| plain_row(*row)));
    lines
}

fn section_lines(keys: &KeyMap, typing: bool, title: &str, rows: &[HelpRow]) -> Vec<Line> {
    let row = |(actions, words): &HelpRow| plain_row((&group_keys(keys, typing, actions), words));
    let rows = rows.iter().map(row);
    [Line::new(title, Label::Heading)].into_iter().chain(rows).collect()
}

fn plain_row((keys, words): (&str, &str)) -> Line {
    pad_line(Line::new(keys, Label::Code), KEYS_WIDTH)
        .with(" ", Label::Plain)
        .with(words, Label::Plain)
}

/// Returns the keys of some actions: the first of each, then the second of each, as many as fit.
fn group_keys(keys: &KeyMap, typing: bool, actions: &[KeyAction]) -> String {
    let names = actions.iter().map(|action| keys.short_names(*action, typing));
    let names: Vec<Vec<String>> = names.collect();
    let most = names.iter().map(Vec::len).max().unwrap_or(0);
    let mut text = String::new();
    for nth in 0..most {
        let more: Vec<&str> = names.iter().filter_map(|own| own.get(nth)).map(|s| &**s).collect();
        let more = more.join(" ");
        if !text.is_empty() && text.chars().count() + 1 + more.chars().count() > KEYS_WIDTH {
            break;
        }
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&more);
    }
    text
}

fn side_by_side(left: Vec<Line>, right: Vec<Line>, width: usize) -> Vec<Line> {
    let column = width / 2;
    let rows = left.len().max(right.len());
    let mut left = left.into_iter();
    let mut right = right.into_iter();
    let row = |_| {
        let line = pad_line(truncate_line(&left.next().unwrap_or_default(), column - 1), column);
        line.with_line(&right.next().unwrap_or_default())
    };
    (0..rows).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::KEY_BINDINGS;

    #[test]
    fn every_action_is_in_the_help() {
        let rows = [LIST_ROWS, READING_ROWS, FILE_ROWS, SESSION_ROWS].concat();
        for binding in KEY_BINDINGS {
            let action = binding.action;
            assert!(rows.iter().any(|(actions, _)| actions.contains(&action)), "{action:?}");
        }
    }

    #[test]
    fn the_help_of_a_pane_fits_on_the_smallest_usual_screen() {
        let keys = KeyMap::default();
        for place in [KeyContext::Anywhere, KeyContext::Reading, KeyContext::Files] {
            let lines = help_pane(&keys, place, 76).page.lines;
            // 24 rows without head, foot and frame.
            assert!(lines.len() <= 20, "{} lines", lines.len());
            for line in &lines {
                assert!(line.width() <= 76 && !line.to_text().contains('…'), "{line:?}");
            }
        }
    }
}

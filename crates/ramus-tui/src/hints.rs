//! The keys that matter most right now, for the line at the lower edge.

use ramus_render::{Label, Line};

use crate::keys::{KeyAction, KeyMap};
use crate::panes::document::DocumentPane;
use crate::panes::transcript::TranscriptPane;
use crate::state::{Focus, Overlay, ScreenState};

/// A key and what it does right now.
struct KeyHint {
    key: String,
    label: &'static str,
    /// Hints that are shown on screens of any width: help and quit.
    is_vital: bool,
}

/// Columns between two hints.
pub(crate) const HINT_GAP: usize = 2;

/// Returns as many hints as fit; what matters less is left out first.
pub(crate) fn hints_line(state: &ScreenState, room: usize) -> Line {
    let hints = key_hints(state);
    let shown = fitting_hints(&hints, room);
    let mut line = Line::default();
    for (hint, _) in hints.iter().zip(shown).filter(|(_, is_shown)| *is_shown) {
        line.push(if line.is_empty() { " " } else { "  " }, Label::Plain);
        line.append(&hint.hint_line());
    }
    line
}

impl KeyHint {
    fn hint_line(&self) -> Line {
        Line::new(&self.key, Label::Strong).with(&format!(" {}", self.label), Label::Dim)
    }

    fn vital(self) -> Self {
        Self { is_vital: true, ..self }
    }
}

/// Decides which hints fit; the vital ones come first.
fn fitting_hints(hints: &[KeyHint], room: usize) -> Vec<bool> {
    let mut shown: Vec<bool> = hints.iter().map(|hint| hint.is_vital).collect();
    let width = |hint: &KeyHint| hint.hint_line().width() + HINT_GAP;
    let mut used: usize = hints.iter().filter(|hint| hint.is_vital).map(width).sum();
    for (hint, shown) in hints.iter().zip(&mut shown).filter(|(hint, _)| !hint.is_vital) {
        // The last one needs no gap behind it.
        if used + width(hint) <= room + HINT_GAP {
            used += width(hint);
            *shown = true;
        }
    }
    shown
}

/// Names keys as they are bound.
#[derive(Clone, Copy)]
struct HintWriter<'a> {
    keys: &'a KeyMap,
    /// Letters are text.
    typing: bool,
}

impl HintWriter<'_> {
    /// Returns the hint of an action: its letter, or where letters are text another key. `None`: the user
    /// bound no key to it.
    fn action(self, action: KeyAction, label: &'static str) -> Option<KeyHint> {
        let mut names = self.keys.short_names(action, self.typing);
        let name = if self.typing { names.into_iter().next() } else { names.pop() };
        name.map(|key| fixed_key(&key, label))
    }

    /// Returns the hint of actions that belong together.
    fn group(self, actions: &[KeyAction], gap: &str, label: &'static str) -> Option<KeyHint> {
        let first = |action: &KeyAction| {
            let names = self.keys.short_names(*action, self.typing);
            names.into_iter().next()
        };
        let names: Option<Vec<String>> = actions.iter().map(first).collect();
        Some(fixed_key(&names?.join(gap), label))
    }

    fn moving(self, label: &'static str) -> Option<KeyHint> {
        self.group(&[KeyAction::Up, KeyAction::Down], "", label)
    }

    fn back(self, label: &'static str) -> Option<KeyHint> {
        self.action(KeyAction::Back, label).map(KeyHint::vital)
    }

    fn help(self) -> Option<KeyHint> {
        self.action(KeyAction::Help, "keys").map(KeyHint::vital)
    }
}

/// Returns the hint of a key that cannot be bound to something else.
fn fixed_key(key: &str, label: &'static str) -> KeyHint {
    KeyHint { key: key.to_owned(), label, is_vital: false }
}

/// Returns the keys that matter most right now.
fn key_hints(state: &ScreenState) -> Vec<KeyHint> {
    let write = HintWriter { keys: &state.keys, typing: false };
    if state.no_history_reason.is_some() && state.overlay.is_none() {
        let back = write.back("quit");
        return [Some(fixed_key("d", "sample history").vital()), back]
            .into_iter()
            .flatten()
            .collect();
    }
    let hints = match (&state.overlay, state.focus) {
        (Some(overlay), _) => overlay_hints(overlay, state.marked.is_some(), write),
        (None, Focus::List) => list_hints(state),
        (None, Focus::Tree) => vec![
            write.moving("move both"),
            write.action(KeyAction::Enter, "read"),
            write.action(KeyAction::Resume, "resume"),
            write.help(),
            write.back("close"),
        ],
        (None, Focus::Transcript) => reading_hints(state, write),
    };
    hints.into_iter().flatten().collect()
}

fn overlay_hints(
    overlay: &Overlay,
    is_marked: bool,
    write: HintWriter<'_>,
) -> Vec<Option<KeyHint>> {
    let enter = |label| write.action(KeyAction::Enter, label);
    match overlay {
        Overlay::Menu(menu) if !menu.question.is_empty() => vec![
            Some(fixed_key("y", "yes").vital()),
            Some(fixed_key("n", "no").vital()),
            write.moving("scroll"),
        ],
        Overlay::Menu(menu) if menu.has_selection() => {
            vec![write.moving("move"), enter("choose"), write.back("close")]
        }
        Overlay::Menu(_) => vec![
            Some(fixed_key("letter", "choose").vital()),
            write.moving("move"),
            write.back("close"),
        ],
        Overlay::Document(page) if page.page.files.is_some() => file_hints(page, write),
        Overlay::Document(page) if page.page.has_stops => vec![
            write.moving("scroll"),
            write.group(
                &[KeyAction::NextHit, KeyAction::PreviousHit],
                " ",
                "next, previous difference",
            ),
            write.back("close"),
        ],
        Overlay::Document(page) if !page.page.links.is_empty() => {
            vec![write.moving("move"), enter("open"), write.back("close")]
        }
        Overlay::Document(_) => vec![write.moving("scroll"), write.back("close")],
        Overlay::Branches(_) => vec![
            write.moving("move"),
            enter("read"),
            write.action(KeyAction::Resume, "resume"),
            write.action(KeyAction::Diff, if is_marked { "compare" } else { "mark to compare" }),
            write.back("close"),
        ],
        Overlay::Agents(_) => vec![write.moving("move"), enter("open"), write.back("close")],
        Overlay::Palette(_) => {
            let write = HintWriter { typing: true, ..write };
            vec![write.moving("move"), enter("run"), write.back("close")]
        }
    }
}

fn reading_hints(state: &ScreenState, write: HintWriter<'_>) -> Vec<Option<KeyHint>> {
    let reading = state.open_transcript();
    let mut hints = Vec::new();
    if state.marked.is_some() {
        hints.push(write.action(KeyAction::Diff, "compare"));
    }
    if reading.is_some_and(|reading| reading.search_state().is_some()) {
        hints.push(write.group(&[KeyAction::NextHit, KeyAction::PreviousHit], " ", "matches"));
    }
    hints.push(write.action(KeyAction::Enter, "open"));
    if reading.is_some_and(TranscriptPane::shows_images) {
        hints.push(write.action(KeyAction::Images, "images"));
    }
    if reading.is_some_and(TranscriptPane::at_fork) {
        hints.push(write.group(&[KeyAction::Left, KeyAction::Right], "", "switch branch"));
    }
    hints.extend([
        write.action(KeyAction::Resume, "resume"),
        write.action(KeyAction::Branches, "branches"),
        write.action(KeyAction::Tree, "tree"),
        write.action(KeyAction::Search, "search"),
        write.action(KeyAction::Palette, "actions"),
        write.action(KeyAction::Find, "find"),
        write.help(),
        write.back("back"),
    ]);
    hints
}

/// Returns what can be done with the files of a page: small letters mean the one at the cursor.
fn file_hints(page: &DocumentPane, write: HintWriter<'_>) -> Vec<Option<KeyHint>> {
    let is_list = !page.page.links.is_empty();
    let mut hints = vec![write.moving(if is_list { "move" } else { "scroll" })];
    if is_list {
        hints.push(write.action(KeyAction::Enter, "show"));
    }
    let jumps = [KeyAction::NextHit, KeyAction::PreviousHit];
    hints.push(match page.page.has_stops {
        true => write.group(&jumps, " ", "next, previous change"),
        false => write.action(KeyAction::FileChanges, "changes since"),
    });
    hints.push(write.action(KeyAction::SaveFile, "save"));
    hints.push(write.action(KeyAction::RestoreFile, "restore"));
    if is_list {
        let all = [KeyAction::AllFileChanges, KeyAction::SaveAllFiles, KeyAction::RestoreAllFiles];
        hints.push(write.group(&all, " ", "the same for all"));
    }
    hints.push(write.back("close"));
    hints
}

/// Letters, and `?` behind the first of them, are typed into the search box: only keys that do something
/// else are offered.
fn list_hints(state: &ScreenState) -> Vec<Option<KeyHint>> {
    let is_filtered = !state.list.filter.text.is_empty();
    let write = HintWriter { keys: &state.keys, typing: true };
    let mut hints =
        vec![write.action(KeyAction::Enter, "read"), write.action(KeyAction::Resume, "resume")];
    if !is_filtered {
        hints.push(Some(fixed_key("type", "search")));
    }
    hints.push(write.action(KeyAction::Right, "branches"));
    hints.push(write.action(KeyAction::Palette, "actions"));
    if !state.stack.is_empty() {
        hints.push(write.action(KeyAction::NextPane, "transcript"));
    }
    let help = if is_filtered { write.help() } else { Some(fixed_key("?", "keys").vital()) };
    hints.push(help);
    hints.push(write.back(if is_filtered { "clear" } else { "quit" }));
    hints
}

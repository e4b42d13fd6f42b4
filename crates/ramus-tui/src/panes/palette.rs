//! Every action, found by its name.

use ramus_render::layout::truncate_line;
use ramus_render::{Label, Line};
use ratatui::layout::Rect;

use crate::canvas::Canvas;
use crate::cursor::RowCursor;
use crate::input::TextInput;
use crate::keys::{KeyAction, KeyContext, KeyMap};

/// An action, its keys and what it does.
type PaletteRow = (KeyAction, String, &'static str);

/// The actions that match the typed text.
#[derive(Debug, Default)]
pub(crate) struct PalettePane {
    pub(crate) input: TextInput,
    /// The best first.
    pub(crate) rows: Vec<PaletteRow>,
    pub(crate) cursor: RowCursor,
}

impl PalettePane {
    pub(crate) fn new(keys: &KeyMap) -> Self {
        let mut pane = Self::default();
        pane.update_rows(keys);
        pane
    }

    /// Lists the actions that match the typed text.
    pub(crate) fn update_rows(&mut self, keys: &KeyMap) {
        let mut found: Vec<((bool, usize), PaletteRow)> = Vec::new();
        for binding in &keys.bindings {
            let action = binding.action;
            // Opening the palette closes a page with files.
            let is_elsewhere = action == KeyAction::Palette || binding.scope == KeyContext::Files;
            if is_elsewhere || found.iter().any(|(_, row)| row.0 == action) {
                continue;
            }
            let name = action.name();
            let text = format!("{} {name}", binding.help);
            if let Some(distance) = fuzzy_distance(&text, &self.input.text) {
                // Who types the name of an action means it.
                let is_named = name.starts_with(&self.input.text.trim().to_lowercase());
                found.push(((!is_named, distance), (action, keys.keys_of(action), binding.help)));
            }
        }
        found.sort_by_key(|(distance, row)| (*distance, is_rarely_sought(row.0)));
        self.rows = found.into_iter().map(|(_, row)| row).collect();
        self.cursor = RowCursor::default();
    }

    pub(crate) fn selected_action(&self) -> Option<KeyAction> {
        self.rows.get(self.cursor.at).map(|(action, ..)| *action)
    }
}

/// Whether nobody opens the palette for an action: everybody knows the keys that move, and the first row must
/// not be the one that quits.
fn is_rarely_sought(action: KeyAction) -> bool {
    use KeyAction::{
        Back, Down, Enter, First, HalfDown, HalfUp, Last, Left, NextPane, PageDown, PageUp, Quit,
        Redraw, Right, Suspend, Up,
    };
    matches!(
        action,
        Down | Up
            | PageDown
            | PageUp
            | HalfDown
            | HalfUp
            | First
            | Last
            | Right
            | Left
            | Enter
            | Back
            | NextPane
            | Redraw
            | Suspend
            | Quit
    )
}

/// Returns how far the letters that were typed are from being one piece of a text; `None`: they do not occur in
/// this order.
fn fuzzy_distance(text: &str, typed: &str) -> Option<usize> {
    let (text, typed) = (text.to_lowercase(), typed.to_lowercase());
    let typed = typed.trim();
    if let Some(at) = text.find(typed) {
        let begins_word = text[..at].chars().next_back().is_none_or(|char| !char.is_alphanumeric());
        return Some(usize::from(!begins_word));
    }
    let (mut rest, mut distance) = (&*text, 2);
    for letter in typed.chars().filter(|letter| !letter.is_whitespace()) {
        let at = rest.find(letter)?;
        distance += at;
        rest = &rest[at + letter.len_utf8()..];
    }
    Some(distance)
}

pub(crate) fn draw_palette(pane: &mut PalettePane, canvas: &mut Canvas<'_>, area: Rect) {
    let inner = canvas.draw_frame(area, &Line::new("Actions", Label::Heading));
    canvas.draw_line(inner, 0, &pane.input.input_line("❯ ", usize::from(inner.width)));
    let rows = Rect { y: inner.y + 1, height: inner.height.saturating_sub(1), ..inner };
    let window = pane.cursor.visible_rows(pane.rows.len(), usize::from(rows.height));
    for (y, index) in (0..).zip(window) {
        let (_, keys, help) = &pane.rows[index];
        let right = Line::new(keys, Label::Code);
        let room = usize::from(rows.width).saturating_sub(right.width() + 1);
        canvas.draw_line(rows, y, &truncate_line(&Line::plain(help), room));
        canvas.line_right(rows, y, &right);
        if index == pane.cursor.at {
            canvas.restyle_row(rows, y, canvas.theme.selected_style(true));
        }
    }
    if pane.rows.is_empty() {
        canvas.draw_line(rows, 1, &Line::new("no matching action", Label::Dim));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_are_found_by_parts_of_their_names() {
        let keys = KeyMap::default();
        let mut pane = PalettePane::new(&keys);
        for (typed, action) in [
            ("rename", KeyAction::Rename),
            ("trash", KeyAction::Trash),
            ("resume", KeyAction::Resume),
            ("nxtfork", KeyAction::NextFork),
        ] {
            typed.clone_into(&mut pane.input.text);
            pane.update_rows(&keys);
            assert_eq!(pane.selected_action(), Some(action), "{typed}: {:?}", pane.rows);
        }
        // Nothing was typed: Enter does not leave the screens.
        pane.input.text.clear();
        pane.update_rows(&keys);
        assert_eq!(pane.selected_action(), Some(KeyAction::Find), "{:?}", pane.rows);
        assert!(is_rarely_sought(pane.rows.last().unwrap().0), "{:?}", pane.rows);
        "zzzz".clone_into(&mut pane.input.text);
        pane.update_rows(&keys);
        assert!(pane.rows.is_empty());
    }
}

//! Mouse actions: select, open, scroll.

use ratatui::crossterm::event::{KeyCode, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect, Size};

use crate::event::Effect;
use crate::keys::KeyAction;
use crate::panes::transcript::MARGIN;
use crate::state::{Focus, Overlay, ScreenState};

/// How far one notch of the wheel scrolls.
const ROWS_PER_NOTCH: isize = 3;

impl ScreenState {
    pub(super) fn handle_mouse(&mut self, mouse: MouseEvent) -> Vec<Effect> {
        let place = Position { x: mouse.column, y: mouse.row };
        match mouse.kind {
            MouseEventKind::ScrollDown => self.scroll_at(place, ROWS_PER_NOTCH),
            MouseEventKind::ScrollUp => self.scroll_at(place, -ROWS_PER_NOTCH),
            MouseEventKind::Down(MouseButton::Left) => return self.click_at(place),
            _ => {}
        }
        Vec::new()
    }

    fn scroll_at(&mut self, place: Position, by: isize) {
        let areas = self.screen_areas();
        let height = usize::from(areas.body.height).saturating_sub(2);
        match &mut self.overlay {
            Some(Overlay::Document(page)) => return page.scroll_lines(by, height),
            Some(Overlay::Branches(branches)) => {
                let len = branches.chapter.history.branches.conversations.len();
                return branches.cursor.move_by(by, len);
            }
            Some(Overlay::Agents(agents)) => {
                return agents.cursor.move_by(by.signum(), agents.agents.len());
            }
            Some(Overlay::Palette(palette)) => {
                return palette.cursor.move_by(by.signum(), palette.rows.len());
            }
            Some(Overlay::Menu(menu)) => {
                return menu.move_by(if menu.question.is_empty() { by.signum() } else { by });
            }
            None => {}
        }
        let is_in = |area: Option<Rect>| area.is_some_and(|area| area.contains(place));
        if is_in(areas.list) {
            self.list.cursor.move_by(by, self.list.rows.len());
        } else if is_in(areas.preview)
            && let Some(preview) = &mut self.preview
        {
            preview.reading.scroll_with_cursor(by);
        } else if is_in(areas.tree)
            && let Some(tree) = &mut self.tree
        {
            let len = tree.drawing.as_ref().map_or(0, |drawing| drawing.lines.len());
            let height = areas.tree.map_or(1, |area| usize::from(area.height).saturating_sub(1));
            tree.cursor.scroll_rows(by, len, height);
        } else if is_in(areas.transcript)
            && let Some(reading) = self.stack.last_mut()
        {
            reading.scroll_with_cursor(by);
        }
    }

    fn click_at(&mut self, place: Position) -> Vec<Effect> {
        if self.overlay.is_some() {
            return self.click_overlay(place);
        }
        let areas = self.screen_areas();
        if let Some(area) = areas.list.filter(|area| area.contains(place)) {
            self.focus = Focus::List;
            let line = usize::from(place.y - area.y).checked_sub(1);
            let Some(row) = line.and_then(|line| self.list.row_at_line(line)) else {
                return Vec::new();
            };
            if self.list.cursor.click_at(row) {
                return self.list_key(KeyCode::Enter.into(), Some(KeyAction::Enter));
            }
            return Vec::new();
        }
        if let Some(area) = areas.tree.filter(|area| area.contains(place))
            && let Some(tree) = &mut self.tree
        {
            self.focus = Focus::Tree;
            let len = tree.drawing.as_ref().map_or(0, |drawing| drawing.lines.len());
            tree.cursor.click_row(usize::from(place.y - area.y), len);
            if let (Some(node), Some(reading)) = (tree.selected_node(), self.stack.last_mut()) {
                reading.show_node(node);
            }
            return self.earlier_effect().into_iter().collect();
        }
        if let Some(area) = areas.transcript.filter(|area| area.contains(place))
            && let Some(reading) = self.stack.last_mut()
        {
            self.focus = Focus::Transcript;
            let Some((item, line)) = reading.at_row(place.y - area.y) else { return Vec::new() };
            let column = usize::from((place.x - area.x).saturating_sub(MARGIN));
            if reading.click_fork(item, line, column) {
                return self.earlier_effect().into_iter().collect();
            }
            let item = reading.resting_item(item);
            if reading.cursor == item {
                reading.toggle_block();
            }
            reading.cursor = item;
        }
        Vec::new()
    }

    /// Selects a row of the overlay; a second click opens it; a click outside closes the overlay.
    fn click_overlay(&mut self, place: Position) -> Vec<Effect> {
        let body = self.screen_areas().body;
        let Some(overlay) = &mut self.overlay else { return Vec::new() };
        let area = overlay.overlay_area(body);
        if !area.contains(place) {
            return self.close_overlay();
        }
        let height = usize::from(area.height).saturating_sub(2);
        let inner = Size { width: area.width.saturating_sub(4), height: height as u16 };
        let row = usize::from(place.y - area.y).checked_sub(1).filter(|row| *row < height);
        let Some(row) = row else { return Vec::new() };
        let again = match overlay {
            Overlay::Document(page) => page.click_link(row),
            Overlay::Branches(branches) => {
                let len = branches.chapter.history.branches.conversations.len();
                branches.cursor.click_row(row, len)
            }
            Overlay::Agents(agents) => agents.cursor.click_row(row, agents.agents.len()),
            Overlay::Palette(palette) => {
                // The first row is the input.
                let Some(row) = row.checked_sub(1) else { return Vec::new() };
                palette.cursor.click_row(row, palette.rows.len())
            }
            Overlay::Menu(menu) => {
                let Some(effect) = menu.click_choice(row, inner) else { return Vec::new() };
                return self.apply_choice(effect);
            }
        };
        if again {
            self.overlay_key(KeyCode::Enter.into(), Some(KeyAction::Enter))
        } else {
            Vec::new()
        }
    }
}

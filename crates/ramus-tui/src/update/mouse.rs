//! What the mouse does: go there, open, scroll.

use ratatui::crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect};

use crate::event::Effect;
use crate::keys::Action;
use crate::state::{Focus, Overlay, State};

/// How far one notch of the wheel scrolls.
const NOTCH: isize = 3;

impl State {
    pub(super) fn mouse(&mut self, mouse: MouseEvent) -> Vec<Effect> {
        let place = Position { x: mouse.column, y: mouse.row };
        match mouse.kind {
            MouseEventKind::ScrollDown => self.wheel(place, NOTCH),
            MouseEventKind::ScrollUp => self.wheel(place, -NOTCH),
            MouseEventKind::Down(MouseButton::Left) => return self.click(place),
            _ => {}
        }
        Vec::new()
    }

    fn wheel(&mut self, place: Position, by: isize) {
        let areas = self.areas();
        let height = usize::from(areas.body.height).saturating_sub(2);
        match &mut self.overlay {
            Some(Overlay::Page(page)) => return page.scroll(by, height),
            Some(Overlay::Branches(branches)) => {
                let len = branches.chapter.history.branches.conversations.len();
                return branches.cursor.move_by(by, len);
            }
            Some(Overlay::Results(results)) => {
                return results.cursor.move_by(by.signum(), results.messages.len());
            }
            Some(Overlay::Agents(agents)) => {
                return agents.cursor.move_by(by.signum(), agents.agents.len());
            }
            Some(Overlay::Menu(_)) => return,
            None => {}
        }
        let is_in = |area: Option<Rect>| area.is_some_and(|area| area.contains(place));
        if is_in(areas.list) {
            let height = areas.list.map_or(1, |area| usize::from(area.height).saturating_sub(1));
            self.list.cursor.scroll(by, self.list.rows.len(), height);
        } else if is_in(areas.tree)
            && let Some(tree) = &mut self.tree
        {
            let len = tree.drawing.as_ref().map_or(0, |drawing| drawing.lines.len());
            let height = areas.tree.map_or(1, |area| usize::from(area.height).saturating_sub(1));
            tree.cursor.scroll(by, len, height);
        } else if is_in(areas.transcript)
            && let Some(reading) = self.stack.last_mut()
        {
            reading.scroll(by);
        }
    }

    fn click(&mut self, place: Position) -> Vec<Effect> {
        if self.overlay.is_some() {
            return Vec::new();
        }
        let areas = self.areas();
        if let Some(area) = areas.list.filter(|area| area.contains(place)) {
            self.focus = Focus::List;
            let row = usize::from(place.y - area.y);
            let Some(row) = row.checked_sub(1) else { return Vec::new() };
            let at = self.list.cursor.top + row;
            if at >= self.list.rows.len() {
                return Vec::new();
            }
            let again = std::mem::replace(&mut self.list.cursor.at, at) == at;
            return if again {
                self.list.update(Action::Enter, 1).unwrap_or_default()
            } else {
                Vec::new()
            };
        }
        if let Some(area) = areas.tree.filter(|area| area.contains(place))
            && let Some(tree) = &mut self.tree
        {
            self.focus = Focus::Tree;
            tree.cursor.at = tree.cursor.top + usize::from(place.y - area.y);
            if let (Some(node), Some(reading)) = (tree.node(), self.stack.last_mut()) {
                reading.show_node(node);
            }
        }
        if let Some(area) = areas.transcript.filter(|area| area.contains(place))
            && let Some(reading) = self.stack.last_mut()
        {
            self.focus = Focus::Transcript;
            if let Some(item) = reading.item_at(place.y - area.y) {
                if reading.cursor == item {
                    reading.toggle();
                }
                reading.cursor = item;
            }
        }
        Vec::new()
    }
}

//! All agents of a session, to open one as a pane.

use ramus_core::name::short_id;
use ramus_render::layout::truncate;
use ramus_render::text::count;
use ramus_render::{Label, Line};
use ratatui::layout::Rect;

use crate::canvas::Canvas;
use crate::cursor::Cursor;
use crate::event::AgentInfo;
use crate::keys::Action;
use crate::panes::branches::move_in;
use crate::theme::Theme;

/// The list of agents.
#[derive(Debug)]
pub(crate) struct Agents {
    pub(crate) agents: Vec<AgentInfo>,
    pub(crate) cursor: Cursor,
}

impl Agents {
    /// Moves; `false`: the key asks for something else.
    pub(crate) fn update(&mut self, action: Action, height: usize) -> bool {
        move_in(&mut self.cursor, action, self.agents.len(), height)
    }
}

pub(crate) fn view(agents: &mut Agents, canvas: &mut Canvas<'_>, area: Rect) {
    let title = Line::new("Agents ", Label::Heading)
        .with(&format!("{} · Enter opens one", agents.agents.len()), Label::Dim);
    let inner = canvas.frame(area, &title);
    let window = agents.cursor.window(agents.agents.len(), usize::from(inner.height));
    for (y, index) in (0..).zip(window) {
        let agent = &agents.agents[index];
        let indent = " ".repeat(usize::from(agent.depth.min(8)) * 2);
        let left =
            Line::plain(&indent).with("▸ ", Label::ToolName).with(&agent.label, Label::Plain);
        let id = short_id(&agent.id);
        let right =
            Line::new(&format!("{}  ", count(agent.records as usize, "record")), Label::Dim)
                .with(if id.is_empty() { "inline" } else { id }, Label::Id);
        let room = usize::from(inner.width).saturating_sub(right.width() + 1);
        canvas.line(inner, y, &truncate(&left, room));
        canvas.line_right(inner, y, &right);
        if index == agents.cursor.at {
            canvas.look(inner, y, Theme::selected(true));
        }
    }
}

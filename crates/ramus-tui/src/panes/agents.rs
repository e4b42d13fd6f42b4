//! All agents of a session, to open one as a pane.

use ramus_core::ids::ShortIds;
use ramus_render::layout::truncate_line;
use ramus_render::text::count_noun;
use ramus_render::{Label, Line};
use ratatui::layout::Rect;

use crate::canvas::Canvas;
use crate::cursor::RowCursor;
use crate::event::AgentInfo;
use crate::keys::KeyAction;
use crate::panes::branches::move_in;

/// The list of agents.
#[derive(Debug)]
pub(crate) struct AgentsPane {
    pub(crate) agents: Vec<AgentInfo>,
    pub(crate) cursor: RowCursor,
}

impl AgentsPane {
    /// Moves; `false`: the key asks for something else.
    pub(crate) fn apply_action(&mut self, action: KeyAction, height: usize) -> bool {
        move_in(&mut self.cursor, action, self.agents.len(), height)
    }
}

pub(crate) fn draw_agents(
    agents: &mut AgentsPane,
    canvas: &mut Canvas<'_>,
    area: Rect,
    short_ids: &ShortIds,
) {
    let title = Line::new("Agents ", Label::Heading)
        .with(&format!("{} · Enter opens one", agents.agents.len()), Label::Dim);
    let inner = canvas.draw_frame(area, &title);
    let window = agents.cursor.visible_rows(agents.agents.len(), usize::from(inner.height));
    for (y, index) in (0..).zip(window) {
        let agent = &agents.agents[index];
        let indent = " ".repeat(usize::from(agent.depth.min(8)) * 2);
        let left =
            Line::plain(&indent).with("▸ ", Label::ToolName).with(&agent.label, Label::Plain);
        let id = short_ids.shorten_id(&agent.id);
        let right =
            Line::new(&format!("{}  ", count_noun(agent.records as usize, "record")), Label::Dim)
                .with(if id.is_empty() { "inline" } else { id }, Label::Id);
        let room = usize::from(inner.width).saturating_sub(right.width() + 1);
        canvas.draw_line(inner, y, &truncate_line(&left, room));
        canvas.line_right(inner, y, &right);
        if index == agents.cursor.at {
            canvas.restyle_row(inner, y, canvas.theme.selected_style(true));
        }
    }
}

//! The tree of the session next to its transcript, with a shared cursor.

use std::path::PathBuf;
use std::sync::Arc;

use ramus_core::ids::ShortIds;
use ramus_core::session::NodeId;
use ramus_render::layout::truncate_line;
use ramus_render::outline::{TreeOutline, TreeRowKind};
use ramus_render::{Label, Line};
use ratatui::layout::Rect;

use crate::canvas::Canvas;
use crate::cursor::RowCursor;
use crate::event::{AgentInfo, Chapter};
use crate::keys::KeyAction;

/// What is needed to draw a tree.
#[derive(Clone, Debug)]
pub(crate) struct TreeRequest {
    pub(crate) chapter: Arc<Chapter>,
    pub(crate) agents: Vec<AgentInfo>,
    pub(crate) short_ids: ShortIds,
    pub(crate) width: u16,
}

/// A drawn tree: a line for each row.
#[derive(Debug)]
pub(crate) struct TreeDrawing {
    pub(crate) file: PathBuf,
    pub(crate) outline: TreeOutline,
    pub(crate) lines: Vec<Line>,
    /// What the signs mean.
    pub(crate) legend: Line,
}

/// The tree pane.
#[derive(Debug, Default)]
pub(crate) struct TreePane {
    /// `None`: still being drawn.
    pub(crate) drawing: Option<TreeDrawing>,
    pub(crate) cursor: RowCursor,
}

impl TreePane {
    /// Handles a key and returns the node to show, if it changed.
    pub(crate) fn apply_action(
        &mut self,
        action: KeyAction,
        height: usize,
    ) -> Option<Option<NodeId>> {
        let len = self.drawing.as_ref().map_or(0, |drawing| drawing.lines.len());
        let page = height.saturating_sub(1).max(1) as isize;
        match action {
            KeyAction::Down => self.cursor.move_by(1, len),
            KeyAction::Up => self.cursor.move_by(-1, len),
            KeyAction::PageDown => self.cursor.move_by(page, len),
            KeyAction::PageUp => self.cursor.move_by(-page, len),
            KeyAction::HalfDown => self.cursor.move_by(page / 2, len),
            KeyAction::HalfUp => self.cursor.move_by(-page / 2, len),
            KeyAction::First => self.cursor.at = 0,
            KeyAction::Last => self.cursor.at = len.saturating_sub(1),
            _ => return None,
        }
        Some(self.selected_node())
    }

    /// Returns how many rows it needs with its legend. `None`: not known yet.
    pub(crate) fn needed_rows(&self) -> Option<usize> {
        Some(self.drawing.as_ref()?.lines.len() + 1)
    }

    /// Returns the node at the cursor.
    pub(crate) fn selected_node(&self) -> Option<NodeId> {
        let rows = &self.drawing.as_ref()?.outline.rows;
        let row = rows.get(self.cursor.at)?;
        // An agent in a separate file is below its call, which is the row above.
        match &row.kind {
            TreeRowKind::Sidechain { agent: Some(_) } => rows[..self.cursor.at]
                .iter()
                .rev()
                .find(|other| other.column < row.column)
                .map(|r| r.last),
            _ => Some(row.first),
        }
    }

    /// Returns the id of the agent at the cursor.
    pub(crate) fn selected_agent(&self) -> Option<&str> {
        match &self.drawing.as_ref()?.outline.rows.get(self.cursor.at)?.kind {
            TreeRowKind::Sidechain { agent: Some(agent) } => Some(agent),
            _ => None,
        }
    }

    /// Goes to the row of a node.
    pub(crate) fn select_node(&mut self, node: NodeId) {
        let row = self.drawing.as_ref().and_then(|drawing| drawing.outline.row_of(node));
        if let Some(row) = row {
            self.cursor.at = row;
        }
    }
}

pub(crate) fn draw_tree(tree: &mut TreePane, canvas: &mut Canvas<'_>, area: Rect, focus: bool) {
    let Some(drawing) = &tree.drawing else {
        return canvas.draw_line_at(area, 1, 0, &Line::new("drawing …", Label::Dim));
    };
    let rows = Rect { height: area.height.saturating_sub(1), ..area };
    let window = tree.cursor.visible_rows(drawing.lines.len(), usize::from(rows.height));
    for (y, index) in (0..).zip(window.clone()) {
        let text = Rect { width: rows.width.saturating_sub(1), ..rows };
        canvas.draw_line(text, y, &drawing.lines[index]);
        if index == tree.cursor.at {
            canvas.restyle_row(text, y, canvas.theme.selected_style(focus));
        }
    }
    let len = drawing.lines.len().max(1) as f64;
    canvas.draw_scrollbar(rows, window.start as f64 / len, window.end as f64 / len);
    canvas.draw_line(
        area,
        area.height.saturating_sub(1),
        &truncate_line(&drawing.legend, usize::from(area.width)),
    );
}

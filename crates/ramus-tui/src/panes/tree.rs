//! The tree of the session beside its transcript; one cursor for both.

use std::path::PathBuf;
use std::sync::Arc;

use ramus_core::session::NodeId;
use ramus_render::layout::truncate;
use ramus_render::outline::{Outline, RowKind};
use ramus_render::{Label, Line};
use ratatui::layout::Rect;

use crate::canvas::Canvas;
use crate::cursor::Cursor;
use crate::event::{AgentInfo, Chapter};
use crate::keys::Action;
use crate::theme::Theme;

/// What is needed to draw a tree.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) chapter: Arc<Chapter>,
    pub(crate) agents: Vec<AgentInfo>,
    pub(crate) width: u16,
}

/// A drawn tree: a line for each row.
#[derive(Debug)]
pub(crate) struct Drawing {
    pub(crate) file: PathBuf,
    pub(crate) outline: Outline,
    pub(crate) lines: Vec<Line>,
    /// What the signs mean.
    pub(crate) legend: Line,
}

/// The tree pane.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    /// `None`: still being drawn.
    pub(crate) drawing: Option<Drawing>,
    pub(crate) cursor: Cursor,
}

impl Tree {
    /// Does what a key asks for and returns the node to show, if another one is meant now.
    pub(crate) fn update(&mut self, action: Action, height: usize) -> Option<Option<NodeId>> {
        let len = self.drawing.as_ref().map_or(0, |drawing| drawing.lines.len());
        let page = height.saturating_sub(1).max(1) as isize;
        match action {
            Action::Down => self.cursor.move_by(1, len),
            Action::Up => self.cursor.move_by(-1, len),
            Action::PageDown => self.cursor.move_by(page, len),
            Action::PageUp => self.cursor.move_by(-page, len),
            Action::HalfDown => self.cursor.move_by(page / 2, len),
            Action::HalfUp => self.cursor.move_by(-page / 2, len),
            Action::First => self.cursor.at = 0,
            Action::Last => self.cursor.at = len.saturating_sub(1),
            _ => return None,
        }
        Some(self.node())
    }

    /// Returns the node at the cursor.
    pub(crate) fn node(&self) -> Option<NodeId> {
        let rows = &self.drawing.as_ref()?.outline.rows;
        let row = rows.get(self.cursor.at)?;
        // An agent in a file of its own hangs at its call, which is the row above.
        match &row.kind {
            RowKind::Sidechain { agent: Some(_) } => rows[..self.cursor.at]
                .iter()
                .rev()
                .find(|other| other.lane < row.lane)
                .map(|r| r.last),
            _ => Some(row.first),
        }
    }

    /// Returns the id of the agent at the cursor.
    pub(crate) fn agent(&self) -> Option<&str> {
        match &self.drawing.as_ref()?.outline.rows.get(self.cursor.at)?.kind {
            RowKind::Sidechain { agent: Some(agent) } => Some(agent),
            _ => None,
        }
    }

    /// Goes to the row of a node.
    pub(crate) fn follow(&mut self, node: NodeId) {
        let row = self.drawing.as_ref().and_then(|drawing| drawing.outline.row_of(node));
        if let Some(row) = row {
            self.cursor.at = row;
        }
    }
}

pub(crate) fn view(tree: &mut Tree, canvas: &mut Canvas<'_>, area: Rect, focus: bool) {
    let Some(drawing) = &tree.drawing else {
        return canvas.line_at(area, 1, 0, &Line::new("drawing …", Label::Dim));
    };
    let rows = Rect { height: area.height.saturating_sub(1), ..area };
    let window = tree.cursor.window(drawing.lines.len(), usize::from(rows.height));
    for (y, index) in (0..).zip(window.clone()) {
        let text = Rect { width: rows.width.saturating_sub(1), ..rows };
        canvas.line(text, y, &drawing.lines[index]);
        if index == tree.cursor.at {
            canvas.look(text, y, Theme::selected(focus));
        }
    }
    let len = drawing.lines.len().max(1) as f64;
    canvas.scrollbar(rows, window.start as f64 / len, window.end as f64 / len);
    canvas.line(
        area,
        area.height.saturating_sub(1),
        &truncate(&drawing.legend, usize::from(area.width)),
    );
}

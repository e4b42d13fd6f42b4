//! The first screen for users without any history.

use ramus_render::{Label, Line, layout};
use ratatui::layout::Rect;

use crate::canvas::Canvas;

/// Explains that there is no history, and what to do.
pub(crate) fn draw_welcome(why: &str, canvas: &mut Canvas<'_>, area: Rect) {
    let width = usize::from(area.width).saturating_sub(4).min(72);
    let text = [
        Line::new("ramus", Label::Active).with("  every branch of your Claude Code conversations", Label::Strong),
        Line::default(),
        Line::plain("No history found: ").with(why, Label::Dim),
        Line::default(),
        Line::plain("Claude Code creates one when you use it. If yours is somewhere else, start ramus with ")
            .with("--claude-dir DIR", Label::Code)
            .with(", the directory that contains ", Label::Plain)
            .with("projects", Label::Code)
            .with(".", Label::Plain),
        Line::default(),
        Line::new(" d ", Label::Prompt).with(" write a sample history to ./ramus-demo and open it", Label::Plain),
        Line::new(" q ", Label::Prompt).with(" leave", Label::Plain),
    ];
    let lines: Vec<Line> = text.iter().flat_map(|line| layout::wrap_line(line, width, 0)).collect();
    let top = area.height.saturating_sub(lines.len() as u16) / 3;
    let left = area.width.saturating_sub(width as u16) / 2;
    for (y, line) in (top..).zip(&lines) {
        canvas.draw_line_at(area, left, y, line);
    }
}

//! Labelled lines onto the screen.

use ramus_render::layout;
use ramus_render::{Label, Line};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};

use crate::theme::ScreenTheme;

/// A part of the screen that can be written on.
pub(crate) struct Canvas<'b> {
    pub(crate) buffer: &'b mut Buffer,
    pub(crate) theme: ScreenTheme,
}

impl Canvas<'_> {
    /// Writes a line from the left edge of an area on; a line that is too long is cut with a mark.
    pub(crate) fn draw_line(&mut self, area: Rect, y: u16, line: &Line) {
        self.draw_line_at(area, 0, y, line);
    }

    /// Writes a line some columns into an area, at a row of it.
    ///
    /// Parts outside of the screen are left out: writing there would panic.
    pub(crate) fn draw_line_at(&mut self, area: Rect, x: u16, y: u16, line: &Line) {
        let area = area.intersection(self.buffer.area);
        if y >= area.height || x >= area.width {
            return;
        }
        let room = area.width - x;
        let cut;
        let line = if line.width() > usize::from(room) {
            cut = layout::truncate_line(line, usize::from(room));
            &cut
        } else {
            line
        };
        let (mut at, row) = (area.x + x, area.y + y);
        // Otherwise the earlier style of the cells would stay: a title on a dim frame would be dim.
        let width = u16::try_from(line.width()).unwrap_or(room).min(room);
        self.clear_area(Rect { x: at, y: row, width, height: 1 });
        for span in &line.0 {
            let left = usize::from((area.x + area.width).saturating_sub(at));
            let style = self.theme.label_style(span.label);
            let text = self.theme.symbols.apply_to(span.text());
            (at, _) = self.buffer.set_stringn(at, row, text, left, style);
        }
    }

    /// Writes a line that ends at the right edge of an area.
    pub(crate) fn line_right(&mut self, area: Rect, y: u16, line: &Line) {
        let width = u16::try_from(line.width()).unwrap_or(u16::MAX).min(area.width);
        let x = area.width - width;
        // Earlier content would show through.
        if y < area.height {
            self.clear_area(Rect { x: area.x + x, y: area.y + y, width, height: 1 });
        }
        self.draw_line_at(area, x, y, line);
    }

    /// Changes the look of a row without changing what it says. What stands out in it by being
    /// reversed, such as a match, still does when the row is.
    pub(crate) fn restyle_row(&mut self, area: Rect, y: u16, style: Style) {
        if y >= area.height {
            return;
        }
        let row = Rect { y: area.y + y, height: 1, ..area }.intersection(self.buffer.area);
        for place in row.columns() {
            let cell = &mut self.buffer[(place.x, place.y)];
            let stands_out = cell.modifier.contains(Modifier::REVERSED);
            // A match keeps what is behind it.
            let own_bg = (cell.bg != Color::Reset && style.bg.is_some()).then_some(cell.bg);
            cell.set_style(style);
            cell.bg = own_bg.unwrap_or(cell.bg);
            if stands_out && style.add_modifier.contains(Modifier::REVERSED) {
                cell.modifier.remove(Modifier::REVERSED);
            }
        }
    }

    /// Empties an area.
    pub(crate) fn clear_area(&mut self, area: Rect) {
        let area = area.intersection(self.buffer.area);
        for row in area.rows() {
            for place in row.columns() {
                self.buffer[(place.x, place.y)].reset();
            }
        }
    }

    /// Draws a frame with a title and returns what is inside.
    pub(crate) fn draw_frame(&mut self, area: Rect, title: &Line) -> Rect {
        self.clear_area(area);
        if area.width < 4 || area.height < 3 {
            return area;
        }
        let dash = "─".repeat(usize::from(area.width) - 2);
        let edge = |left: &str, right: &str| Line::new(&format!("{left}{dash}{right}"), Label::Dim);
        self.draw_line(area, 0, &edge("╭", "╮"));
        for y in 1..area.height - 1 {
            self.draw_line(area, y, &Line::new("│", Label::Dim));
            self.draw_line_at(area, area.width - 1, y, &Line::new("│", Label::Dim));
        }
        self.draw_line(area, area.height - 1, &edge("╰", "╯"));
        let mut heading = Line::plain(" ");
        heading.append(&layout::truncate_line(title, usize::from(area.width).saturating_sub(6)));
        heading.push(" ", Label::Plain);
        self.draw_line_at(area, 2, 0, &heading);
        Rect { x: area.x + 2, y: area.y + 1, width: area.width - 4, height: area.height - 2 }
    }

    /// Draws where one is in something long, at the right edge of an area.
    pub(crate) fn draw_scrollbar(&mut self, area: Rect, start: f64, end: f64) {
        if area.height == 0 || area.width == 0 || end <= start || (start <= 0.0 && end >= 1.0) {
            return;
        }
        let height = f64::from(area.height);
        let first = (start * height).floor().clamp(0.0, height - 1.0) as u16;
        let last = (end * height).ceil().clamp(f64::from(first) + 1.0, height) as u16;
        for y in first..last {
            self.draw_line_at(area, area.width - 1, y, &Line::new("▐", Label::Dim));
        }
    }
}

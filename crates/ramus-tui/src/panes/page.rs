//! Lines to read through: a comparison, a file.

use ramus_render::{Label, Line};
use ratatui::layout::Rect;

use crate::canvas::Canvas;
use crate::keys::Action;

/// A long text and how far it is scrolled.
#[derive(Debug, Default)]
pub(crate) struct Page {
    pub(crate) title: Line,
    pub(crate) lines: Vec<Line>,
    pub(crate) top: usize,
}

impl Page {
    pub(crate) fn new(title: Line, lines: Vec<Line>) -> Self {
        Self { title, lines, top: 0 }
    }

    /// Scrolls; `false`: the key asks for something else.
    pub(crate) fn update(&mut self, action: Action, height: usize) -> bool {
        let page = height.saturating_sub(2).max(1) as isize;
        match action {
            Action::Down => self.scroll(1, height),
            Action::Up => self.scroll(-1, height),
            Action::PageDown => self.scroll(page, height),
            Action::PageUp => self.scroll(-page, height),
            Action::HalfDown => self.scroll(page / 2, height),
            Action::HalfUp => self.scroll(-page / 2, height),
            Action::First => self.top = 0,
            Action::Last => self.scroll(isize::MAX, height),
            _ => return false,
        }
        true
    }

    pub(crate) fn scroll(&mut self, by: isize, height: usize) {
        let last = self.lines.len().saturating_sub(height);
        self.top = self.top.saturating_add_signed(by).min(last);
    }
}

pub(crate) fn view(page: &mut Page, canvas: &mut Canvas<'_>, area: Rect) {
    let inner = canvas.frame(area, &page.title);
    page.scroll(0, usize::from(inner.height));
    let shown = page.lines.iter().skip(page.top).take(usize::from(inner.height));
    for (y, line) in (0..).zip(shown) {
        canvas.line(inner, y, line);
    }
    let len = page.lines.len().max(1) as f64;
    let end = (page.top + usize::from(inner.height)) as f64;
    let bar = Rect { width: inner.width + 2, ..inner };
    canvas.scrollbar(bar, page.top as f64 / len, end / len);
    let close = Line::new(" q closes ", Label::Dim);
    let foot = Rect { width: area.width.saturating_sub(2), ..area };
    canvas.line_right(foot, area.height.saturating_sub(1), &close);
}

//! Lines to read through: a comparison, files and what they held.

use ramus_render::layout::fold;
use ramus_render::{Label, Line};
use ratatui::layout::Rect;

use crate::canvas::Canvas;
use crate::event::{Page, Question};
use crate::keys::Action;
use crate::state::Overlay;
use crate::theme::Theme;

/// A long text and how far it is scrolled.
#[derive(Debug, Default)]
pub(crate) struct Pane {
    pub(crate) page: Page,
    /// Its lines as wide as there is room.
    lines: Vec<Line>,
    width: usize,
    top: usize,
    /// Which of its links the cursor is on.
    link: usize,
    /// What it lies over.
    pub(crate) under: Option<Box<Overlay>>,
    /// It lists the keys.
    pub(crate) is_help: bool,
}

impl Pane {
    pub(crate) fn new(page: Page) -> Self {
        Self { page, ..Self::default() }
    }

    /// Lies over something that is there again when it is closed.
    pub(crate) fn over(self, under: Option<Box<Overlay>>) -> Self {
        Self { under, ..self }
    }

    /// Makes the lines fit; a list of links has one row for each as it is.
    fn fit(&mut self, width: usize) {
        if self.width == width {
            return;
        }
        self.width = width;
        self.lines = if self.page.links.is_empty() {
            self.page.lines.iter().flat_map(|line| fold(line, width)).collect()
        } else {
            self.page.lines.clone()
        };
    }

    /// Scrolls, or goes from link to link; `false`: the key asks for something else.
    pub(crate) fn update(&mut self, action: Action, height: usize) -> bool {
        let page = height.saturating_sub(2).max(1) as isize;
        match action {
            Action::Down => self.step(1, height),
            Action::Up => self.step(-1, height),
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

    fn step(&mut self, by: isize, height: usize) {
        let links = &self.page.links;
        if links.is_empty() {
            return self.scroll(by, height);
        }
        self.link = self.link.saturating_add_signed(by).min(links.len() - 1);
        let line = links[self.link].0;
        self.top = self.top.clamp((line + 1).saturating_sub(height), line);
    }

    pub(crate) fn scroll(&mut self, by: isize, height: usize) {
        let last = self.lines.len().saturating_sub(height);
        self.top = self.top.saturating_add_signed(by).min(last);
    }

    /// Goes to the link at a row that is seen; whether it was there already.
    pub(crate) fn click(&mut self, row: usize) -> bool {
        let line = self.top + row;
        let link = self.page.links.iter().position(|(at, _)| *at == line);
        link.is_some_and(|link| std::mem::replace(&mut self.link, link) == link)
    }

    /// Returns where the link at the cursor leads.
    pub(crate) fn question(&self) -> Option<&Question> {
        self.page.links.get(self.link).map(|(_, question)| question)
    }
}

pub(crate) fn view(pane: &mut Pane, canvas: &mut Canvas<'_>, area: Rect) {
    let inner = canvas.frame(area, &pane.page.title);
    pane.fit(usize::from(inner.width));
    pane.scroll(0, usize::from(inner.height));
    let selected = pane.page.links.get(pane.link).map(|(line, _)| *line);
    let lines = pane.lines.iter().enumerate().skip(pane.top);
    for (y, (index, line)) in (0..inner.height).zip(lines) {
        canvas.line(inner, y, line);
        if Some(index) == selected {
            canvas.look(inner, y, Theme::selected(true));
        }
    }
    let len = pane.lines.len().max(1) as f64;
    let end = (pane.top + usize::from(inner.height)) as f64;
    let bar = Rect { width: inner.width + 2, ..inner };
    canvas.scrollbar(bar, pane.top as f64 / len, end / len);
    let close = Line::new(" q closes ", Label::Dim);
    let foot = Rect { width: area.width.saturating_sub(2), ..area };
    canvas.line_right(foot, area.height.saturating_sub(1), &close);
}

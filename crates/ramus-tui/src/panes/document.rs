//! A pane with lines to read: a comparison, a list of files, a file.

use ramus_render::layout::fold_line;
use ramus_render::{Label, Line, Span};
use ratatui::layout::Rect;

use crate::canvas::Canvas;
use crate::event::{DocumentRequest, TextDocument};
use crate::keys::KeyAction;
use crate::state::Overlay;

/// A long text and how far it is scrolled.
#[derive(Debug, Default)]
pub(crate) struct DocumentPane {
    pub(crate) page: TextDocument,
    /// Its lines, wrapped to the available width.
    lines: Vec<Line>,
    width: usize,
    top: usize,
    /// Which of its links the cursor is on.
    link: usize,
    /// The pane below it.
    pub(crate) under: Option<Box<Overlay>>,
    /// It lists the keys.
    pub(crate) is_help: bool,
}

impl DocumentPane {
    pub(crate) fn new(page: TextDocument) -> Self {
        Self { page, ..Self::default() }
    }

    /// Opens over another pane, which returns when this one is closed.
    pub(crate) fn on_top_of(self, under: Option<Box<Overlay>>) -> Self {
        Self { under, ..self }
    }

    /// Makes the lines fit; a list of links has one row for each as it is.
    fn fit_lines(&mut self, width: usize) {
        if self.width == width {
            return;
        }
        self.width = width;
        self.lines = if self.page.links.is_empty() {
            self.page.lines.iter().flat_map(|line| fold_line(line, width)).collect()
        } else {
            self.page.lines.clone()
        };
    }

    /// Scrolls, or goes from link to link; `false`: the key asks for something else.
    pub(crate) fn apply_action(&mut self, action: KeyAction, height: usize) -> bool {
        let page = height.saturating_sub(2).max(1) as isize;
        match action {
            KeyAction::Down => self.move_link(1, height),
            KeyAction::Up => self.move_link(-1, height),
            KeyAction::PageDown => self.scroll_lines(page, height),
            KeyAction::PageUp => self.scroll_lines(-page, height),
            KeyAction::HalfDown => self.scroll_lines(page / 2, height),
            KeyAction::HalfUp => self.scroll_lines(-page / 2, height),
            KeyAction::First => self.top = 0,
            KeyAction::Last => self.scroll_lines(isize::MAX, height),
            _ => return false,
        }
        true
    }

    /// Goes to the next paragraph, or the one before.
    pub(crate) fn jump_to_stop(&mut self, forward: bool, height: usize) {
        let is_exchange = |line: &Line| {
            let begins = |span: &Span| match span.label {
                Label::Prompt => span.text().starts_with('❯'),
                label => label == Label::Heading,
            };
            line.0.iter().any(begins)
        };
        // Conversations are compared by their exchanges, files one after the other.
        let has_exchanges = self.lines.iter().any(is_exchange);
        let is_stop = |at: &usize| {
            let above = at.checked_sub(1).map(|above| self.lines[above].is_empty());
            let is_paragraph = !self.lines[*at].is_empty() && above != Some(false);
            if has_exchanges { is_exchange(&self.lines[*at]) } else { is_paragraph }
        };
        let top = self.top.min(self.lines.len());
        let found = if forward {
            (top + 1..self.lines.len()).find(is_stop)
        } else {
            (0..top).rev().find(is_stop)
        };
        // Before the first one is the beginning.
        if let Some(line) = found.or((!forward).then_some(0)) {
            self.top = line;
            self.scroll_lines(0, height);
        }
    }

    fn move_link(&mut self, by: isize, height: usize) {
        let links = &self.page.links;
        if links.is_empty() {
            return self.scroll_lines(by, height);
        }
        self.link = self.link.saturating_add_signed(by).min(links.len() - 1);
        let line = links[self.link].0;
        self.top = self.top.clamp((line + 1).saturating_sub(height), line);
    }

    pub(crate) fn scroll_lines(&mut self, by: isize, height: usize) {
        let last = self.lines.len().saturating_sub(height);
        self.top = self.top.saturating_add_signed(by).min(last);
    }

    /// Goes to the link at a row that is seen; whether it was there already.
    pub(crate) fn click_link(&mut self, row: usize) -> bool {
        let line = self.top + row;
        let link = self.page.links.iter().position(|(at, _)| *at == line);
        link.is_some_and(|link| std::mem::replace(&mut self.link, link) == link)
    }

    /// Returns where the link at the cursor leads.
    pub(crate) fn selected_link(&self) -> Option<&DocumentRequest> {
        self.page.links.get(self.link).map(|(_, question)| question)
    }
}

pub(crate) fn draw_document(pane: &mut DocumentPane, canvas: &mut Canvas<'_>, area: Rect) {
    let inner = canvas.draw_frame(area, &pane.page.title);
    pane.fit_lines(usize::from(inner.width));
    pane.scroll_lines(0, usize::from(inner.height));
    let selected = pane.page.links.get(pane.link).map(|(line, _)| *line);
    let lines = pane.lines.iter().enumerate().skip(pane.top);
    for (y, (index, line)) in (0..inner.height).zip(lines) {
        canvas.draw_line(inner, y, line);
        if Some(index) == selected {
            canvas.restyle_row(inner, y, canvas.theme.selected_style(true));
        }
    }
    let len = pane.lines.len().max(1) as f64;
    let end = (pane.top + usize::from(inner.height)) as f64;
    let bar = Rect { width: inner.width + 2, ..inner };
    canvas.draw_scrollbar(bar, pane.top as f64 / len, end / len);
    let close = Line::new(" q closes ", Label::Dim);
    let foot = Rect { width: area.width.saturating_sub(2), ..area };
    canvas.line_right(foot, area.height.saturating_sub(1), &close);
}

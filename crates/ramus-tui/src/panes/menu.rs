//! A few choices, each by a letter.

use ramus_render::{Label, Line};
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::Rect;

use crate::canvas::Canvas;
use crate::event::Effect;
use crate::keys::{self, KeyAction};

/// Some choices and what each does.
#[derive(Debug)]
pub(crate) struct MenuPane {
    pub(crate) title: &'static str,
    /// The text above the choices; it may be longer than the screen.
    pub(crate) lines: Vec<Line>,
    /// The question below the text, always visible.
    pub(crate) question: String,
    pub(crate) choices: Vec<MenuChoice>,
    pub(crate) top: usize,
}

/// A letter, its description, and its effect.
#[derive(Debug)]
pub(crate) struct MenuChoice {
    pub(crate) letter: char,
    pub(crate) label: String,
    pub(crate) effect: Option<Effect>,
}

impl MenuPane {
    pub(crate) fn new(title: &'static str, choices: Vec<MenuChoice>) -> Self {
        Self { title, lines: Vec::new(), question: String::new(), choices, top: 0 }
    }

    /// Takes the effect of a letter; `None`: it is no choice.
    ///
    /// Only the letter itself chooses: a plan must not be carried out by Ctrl-Y.
    pub(crate) fn choose_letter(&mut self, key: KeyEvent) -> Option<Option<Effect>> {
        let letter = keys::plain_letter(key)?;
        let choice = self.choices.iter_mut().find(|choice| choice.letter == letter)?;
        Some(choice.effect.take())
    }

    /// Takes the effect of the choice at a row; `None`: there is none.
    pub(crate) fn click_choice(&mut self, row: usize, rows: usize) -> Option<Option<Effect>> {
        let first = self.text_rows(rows).min(self.lines.len()) + self.question_rows();
        Some(self.choices.get_mut(row.checked_sub(first)?)?.effect.take())
    }

    /// Returns how many rows are left for the text above the choices.
    fn text_rows(&self, rows: usize) -> usize {
        rows.saturating_sub(self.choices.len() + self.question_rows())
    }

    /// Returns how many rows the question takes.
    fn question_rows(&self) -> usize {
        if self.question.is_empty() { 0 } else { 3 }
    }

    /// Scrolls the text.
    pub(crate) fn scroll_text(&mut self, action: KeyAction, height: usize) {
        let page = self.text_rows(height).max(1) as isize;
        self.top = self.top.saturating_add_signed(match action {
            KeyAction::Down => 1,
            KeyAction::Up => -1,
            KeyAction::PageDown | KeyAction::Last => page,
            KeyAction::PageUp | KeyAction::First => -page,
            _ => 0,
        });
    }

    /// Takes the effect of leaving a question open: the answer is no.
    pub(crate) fn refusal_effect(self) -> Option<Effect> {
        let last = self.choices.into_iter().next_back().and_then(|choice| choice.effect);
        last.filter(|effect| matches!(effect, Effect::Answer(_, false)))
    }

    /// Returns how many rows it needs with its frame.
    pub(crate) fn needed_rows(&self) -> usize {
        self.lines.len() + self.question_rows() + self.choices.len() + 2
    }
}

impl MenuChoice {
    pub(crate) fn new(letter: char, label: impl Into<String>, effect: Option<Effect>) -> Self {
        Self { letter, label: label.into(), effect }
    }
}

pub(crate) fn draw_menu(menu: &mut MenuPane, canvas: &mut Canvas<'_>, area: Rect) {
    let inner = canvas.draw_frame(area, &Line::new(menu.title, Label::Heading));
    let room = menu.text_rows(usize::from(inner.height));
    menu.top = menu.top.min(menu.lines.len().saturating_sub(room));
    let mut y = 0;
    for line in menu.lines.iter().skip(menu.top).take(room) {
        canvas.draw_line(inner, y, line);
        y += 1;
    }
    let len = menu.lines.len().max(1) as f64;
    let bar = Rect { width: inner.width + 2, height: y, ..inner };
    canvas.draw_scrollbar(bar, menu.top as f64 / len, (menu.top + room) as f64 / len);
    if !menu.question.is_empty() {
        canvas.draw_line(inner, y + 1, &Line::new(&menu.question, Label::Strong));
    }
    y += menu.question_rows() as u16;
    for choice in &menu.choices {
        let line = Line::new(&format!(" {} ", choice.letter), Label::Prompt)
            .with(&format!(" {}", choice.label), Label::Plain);
        canvas.draw_line(inner, y, &line);
        y += 1;
    }
}

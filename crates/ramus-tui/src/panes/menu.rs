//! A few choices, each by a letter.

use ramus_render::{Label, Line};
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::Rect;

use crate::canvas::Canvas;
use crate::event::Effect;
use crate::keys::{self, Action};

/// Some choices and what each does.
#[derive(Debug)]
pub(crate) struct Menu {
    pub(crate) title: &'static str,
    /// Said above the choices; may be longer than there is room.
    pub(crate) lines: Vec<Line>,
    /// Asked below what is said, and always in sight.
    pub(crate) question: String,
    pub(crate) choices: Vec<Choice>,
    pub(crate) top: usize,
}

/// A letter, what it stands for, and what it does.
#[derive(Debug)]
pub(crate) struct Choice {
    pub(crate) letter: char,
    pub(crate) label: String,
    pub(crate) effect: Option<Effect>,
}

impl Menu {
    pub(crate) fn new(title: &'static str, choices: Vec<Choice>) -> Self {
        Self { title, lines: Vec::new(), question: String::new(), choices, top: 0 }
    }

    /// Takes the effect of a letter; `None`: it is no choice.
    ///
    /// Only the letter itself chooses: a plan must not be carried out by Ctrl-Y.
    pub(crate) fn choose(&mut self, key: KeyEvent) -> Option<Option<Effect>> {
        let letter = keys::plain_letter(key)?;
        let choice = self.choices.iter_mut().find(|choice| choice.letter == letter)?;
        Some(choice.effect.take())
    }

    /// Takes the effect of the choice at a row of so many; `None`: there is none.
    pub(crate) fn click(&mut self, row: usize, rows: usize) -> Option<Option<Effect>> {
        let first = self.room(rows).min(self.lines.len()) + self.gap();
        Some(self.choices.get_mut(row.checked_sub(first)?)?.effect.take())
    }

    /// Returns how many of some rows are left for what is said above the choices.
    fn room(&self, rows: usize) -> usize {
        rows.saturating_sub(self.choices.len() + self.gap())
    }

    /// Returns how many rows a question takes between what is said and the choices.
    fn gap(&self) -> usize {
        if self.question.is_empty() { 0 } else { 3 }
    }

    /// Scrolls what is said.
    pub(crate) fn update(&mut self, action: Action, height: usize) {
        let page = self.room(height).max(1) as isize;
        self.top = self.top.saturating_add_signed(match action {
            Action::Down => 1,
            Action::Up => -1,
            Action::PageDown | Action::Last => page,
            Action::PageUp | Action::First => -page,
            _ => 0,
        });
    }

    /// Takes the effect of leaving a question open: the answer is no.
    pub(crate) fn refused(self) -> Option<Effect> {
        let last = self.choices.into_iter().next_back().and_then(|choice| choice.effect);
        last.filter(|effect| matches!(effect, Effect::Answer(_, false)))
    }

    /// Returns how many rows it needs with its frame.
    pub(crate) fn height(&self) -> usize {
        self.lines.len() + self.gap() + self.choices.len() + 2
    }
}

impl Choice {
    pub(crate) fn new(letter: char, label: impl Into<String>, effect: Option<Effect>) -> Self {
        Self { letter, label: label.into(), effect }
    }
}

pub(crate) fn view(menu: &mut Menu, canvas: &mut Canvas<'_>, area: Rect) {
    let inner = canvas.frame(area, &Line::new(menu.title, Label::Heading));
    let room = menu.room(usize::from(inner.height));
    menu.top = menu.top.min(menu.lines.len().saturating_sub(room));
    let mut y = 0;
    for line in menu.lines.iter().skip(menu.top).take(room) {
        canvas.line(inner, y, line);
        y += 1;
    }
    let len = menu.lines.len().max(1) as f64;
    let bar = Rect { width: inner.width + 2, height: y, ..inner };
    canvas.scrollbar(bar, menu.top as f64 / len, (menu.top + room) as f64 / len);
    if !menu.question.is_empty() {
        canvas.line(inner, y + 1, &Line::new(&menu.question, Label::Strong));
    }
    y += menu.gap() as u16;
    for choice in &menu.choices {
        let line = Line::new(&format!(" {} ", choice.letter), Label::Prompt)
            .with(&format!(" {}", choice.label), Label::Plain);
        canvas.line(inner, y, &line);
        y += 1;
    }
}

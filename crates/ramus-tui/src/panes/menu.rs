//! A few choices, each by a letter.

use ramus_render::layout::wrap_line;
use ramus_render::{Label, Line};
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::{Rect, Size};

use crate::canvas::Canvas;
use crate::event::Effect;
use crate::keys::{self, KeyAction};

/// Some choices and what each does.
#[derive(Debug)]
pub(crate) struct MenuPane {
    pub(crate) title: &'static str,
    /// The text above the choices; it may be longer than the screen.
    pub(crate) lines: Vec<Line>,
    /// The question below the text, always visible. Only its letters answer it.
    pub(crate) question: String,
    pub(crate) choices: Vec<MenuChoice>,
    pub(crate) top: usize,
    /// The choice that Enter takes, once an arrow has gone to one; a question has none.
    at: Option<usize>,
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
        Self { title, lines: Vec::new(), question: String::new(), choices, top: 0, at: None }
    }

    /// Takes the effect of a letter; `None`: it is no choice.
    ///
    /// Only the letter itself chooses: a plan must not be carried out by Ctrl-Y.
    pub(crate) fn choose_letter(&mut self, key: KeyEvent) -> Option<Option<Effect>> {
        let letter = keys::plain_letter(key)?;
        let choice = self.choices.iter_mut().find(|choice| choice.letter == letter)?;
        Some(choice.effect.take())
    }

    /// Whether an arrow has gone to a choice.
    pub(crate) fn has_selection(&self) -> bool {
        self.at.is_some()
    }

    /// Takes the effect of the choice at the cursor; `None`: there is no cursor.
    pub(crate) fn choose_selected(&mut self) -> Option<Option<Effect>> {
        Some(self.choices.get_mut(self.at?)?.effect.take())
    }

    /// Takes the effect of the choice at a row of an area of this size; `None`: there is none.
    pub(crate) fn click_choice(&mut self, row: usize, size: Size) -> Option<Option<Effect>> {
        let width = usize::from(size.width);
        let text = self.text_lines(width).len().min(self.text_rows(size));
        let first = text + self.question_lines(width).len();
        let (choice, _) = self.choice_lines(width).into_iter().nth(row.checked_sub(first)?)?;
        Some(self.choices[choice].effect.take())
    }

    fn text_lines(&self, width: usize) -> Vec<Line> {
        self.lines.iter().flat_map(|line| wrap_line(line, width, 4)).collect()
    }

    fn question_lines(&self, width: usize) -> Vec<Line> {
        if self.question.is_empty() {
            return Vec::new();
        }
        let question = wrap_line(&Line::new(&self.question, Label::Strong), width, 0);
        let gap = std::iter::once(Line::default());
        gap.clone().chain(question).chain(gap).collect()
    }

    /// Returns the lines of all choices, each with the number of its choice.
    fn choice_lines(&self, width: usize) -> Vec<(usize, Line)> {
        let mut lines = Vec::new();
        for (index, choice) in self.choices.iter().enumerate() {
            let label = Line::plain(&choice.label);
            let wrapped = wrap_line(&label, width.saturating_sub(4), 0).into_iter().enumerate();
            lines.extend(wrapped.map(|(part, line)| {
                let letter = if part == 0 { choice.letter } else { ' ' };
                let letter = Line::new(&format!(" {letter} "), Label::Prompt);
                (index, letter.with(" ", Label::Plain).with_line(&line))
            }));
        }
        lines
    }

    /// Returns how many rows are left for the text above the choices.
    fn text_rows(&self, size: Size) -> usize {
        let width = usize::from(size.width);
        let below = self.choice_lines(width).len() + self.question_lines(width).len();
        usize::from(size.height).saturating_sub(below)
    }

    /// Scrolls the text above a question, or moves from choice to choice.
    pub(crate) fn apply_action(&mut self, action: KeyAction, size: Size) {
        let page = self.text_rows(size).max(1) as isize;
        let by = match action {
            KeyAction::Down => 1,
            KeyAction::Up => -1,
            KeyAction::PageDown | KeyAction::Last => page,
            KeyAction::PageUp | KeyAction::First => -page,
            _ => 0,
        };
        self.move_by(by);
    }

    pub(crate) fn move_by(&mut self, by: isize) {
        if self.question.is_empty() {
            let last = self.choices.len().saturating_sub(1);
            let first = if by < 0 { last } else { 0 };
            let next = |at: usize| at.saturating_add_signed(by).min(last);
            self.at = (by != 0).then(|| self.at.map_or(first, next)).or(self.at);
        } else {
            self.top = self.top.saturating_add_signed(by);
        }
    }

    /// Takes the effect of leaving a question open: the answer is no.
    pub(crate) fn refusal_effect(self) -> Option<Effect> {
        let last = self.choices.into_iter().next_back().and_then(|choice| choice.effect);
        last.filter(|effect| matches!(effect, Effect::Answer(_, false)))
    }

    /// Returns how many rows it needs with its frame, with so many columns inside.
    pub(crate) fn needed_rows(&self, width: usize) -> usize {
        let text = self.text_lines(width).len() + self.question_lines(width).len();
        text + self.choice_lines(width).len() + 2
    }
}

impl MenuChoice {
    pub(crate) fn new(letter: char, label: impl Into<String>, effect: Option<Effect>) -> Self {
        Self { letter, label: label.into(), effect }
    }
}

pub(crate) fn draw_menu(menu: &mut MenuPane, canvas: &mut Canvas<'_>, area: Rect) {
    let inner = canvas.draw_frame(area, &Line::new(menu.title, Label::Heading));
    let width = usize::from(inner.width);
    let room = menu.text_rows(inner.as_size());
    let text = menu.text_lines(width);
    menu.top = menu.top.min(text.len().saturating_sub(room));
    let shown = text.iter().skip(menu.top).take(room);
    let above: Vec<&Line> = shown.collect();
    let bar = Rect { width: inner.width + 2, height: above.len() as u16, ..inner };
    let len = text.len().max(1) as f64;
    canvas.draw_scrollbar(bar, menu.top as f64 / len, (menu.top + room) as f64 / len);
    let mut y = 0;
    for line in above.into_iter().chain(&menu.question_lines(width)) {
        canvas.draw_line(inner, y, line);
        y += 1;
    }
    for (choice, line) in menu.choice_lines(width) {
        canvas.draw_line(inner, y, &line);
        if Some(choice) == menu.at {
            canvas.restyle_row(inner, y, canvas.theme.selected_style(true));
        }
        y += 1;
    }
}

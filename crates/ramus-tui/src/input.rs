//! A line that is being typed.

use ramus_render::{Label, Line, layout};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Text with a cursor at its end; editing is what a filter and a search need, no more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TextInput {
    pub(crate) text: String,
}

impl TextInput {
    /// Takes a key; `false`: it is not for typing.
    pub(crate) fn type_key(&mut self, key: KeyEvent) -> bool {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('u') if control => self.text.clear(),
            KeyCode::Char('w') if control => {
                let kept = self.text.trim_end().rfind(' ').map_or(0, |space| space + 1);
                self.text.truncate(kept);
            }
            KeyCode::Char(char) if !control && !key.modifiers.contains(KeyModifiers::ALT) => {
                self.text.push(char);
            }
            KeyCode::Backspace if !self.text.is_empty() => {
                self.text.pop();
            }
            _ => return false,
        }
        true
    }

    /// Returns the text behind a sign, its end in sight, with a cursor.
    pub(crate) fn input_line(&self, sign: &str, width: usize) -> Line {
        let mut line = Line::new(sign, Label::Prompt);
        let room = width.saturating_sub(line.width() + 1);
        let clean = Line::plain(&self.text).to_text();
        line.push(layout::fitting_end(&clean, room), Label::Plain);
        line.push("▏", Label::Active);
        line
    }
}

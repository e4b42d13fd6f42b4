//! A line that is being typed.

use ramus_render::{Label, Line, layout};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Text with a cursor in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TextInput {
    pub(crate) text: String,
    /// How many characters are behind the cursor: whoever replaces the text leaves it at the end.
    after: usize,
}

impl TextInput {
    pub(crate) fn new(text: String) -> Self {
        Self { text, after: 0 }
    }

    /// Takes a key; `false`: it is not for typing.
    pub(crate) fn type_key(&mut self, key: KeyEvent) -> bool {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let at = self.cursor();
        match key.code {
            KeyCode::Char('u') if control => drop(self.text.drain(..at)),
            KeyCode::Char('w') if control => {
                let kept = self.text[..at].trim_end().rfind(' ').map_or(0, |space| space + 1);
                self.text.drain(kept..at);
            }
            KeyCode::Char(char) if !control && !key.modifiers.contains(KeyModifiers::ALT) => {
                self.text.insert(at, char);
            }
            KeyCode::Backspace if at > 0 => {
                if let Some((before, _)) = self.text[..at].char_indices().next_back() {
                    self.text.remove(before);
                }
            }
            _ => return false,
        }
        true
    }

    /// Takes a key that types, moves the cursor or deletes the character behind it; these keys do other
    /// things where there are rows below the text.
    pub(crate) fn edit_key(&mut self, key: KeyEvent) {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let at = self.cursor();
        match key.code {
            KeyCode::Char('a') if control => self.after = self.text.chars().count(),
            KeyCode::Char('e') if control => self.after = 0,
            KeyCode::Home => self.after = self.text.chars().count(),
            KeyCode::End => self.after = 0,
            KeyCode::Left if at > 0 => self.after += 1,
            KeyCode::Right if at < self.text.len() => self.after -= 1,
            KeyCode::Delete if at < self.text.len() => {
                self.text.remove(at);
                self.after -= 1;
            }
            _ => {
                self.type_key(key);
            }
        }
    }

    /// Inserts what was pasted.
    pub(crate) fn paste(&mut self, text: &str) {
        let at = self.cursor();
        self.text.insert_str(at, text);
    }

    /// Returns where in the text the cursor is.
    fn cursor(&mut self) -> usize {
        self.after = self.after.min(self.text.chars().count());
        self.split_at_cursor().0.len()
    }

    fn split_at_cursor(&self) -> (&str, &str) {
        let at = match self.after {
            0 => self.text.len(),
            after => self.text.char_indices().nth_back(after - 1).map_or(0, |(at, _)| at),
        };
        self.text.split_at(at)
    }

    /// Returns the text behind a sign, its cursor in sight.
    pub(crate) fn input_line(&self, sign: &str, width: usize) -> Line {
        let mut line = Line::new(sign, Label::Prompt);
        let clean = |text: &str| Line::plain(text).to_text();
        let (before, after) = self.split_at_cursor();
        let room = width.saturating_sub(line.width() + 1);
        let before = clean(before);
        let before = layout::fitting_end(&before, room);
        let left = room - layout::display_width(before).min(room);
        line.push(before, Label::Plain);
        line.push("▏", Label::Active);
        line.append(&layout::truncate_line(&Line::plain(&clean(after)), left));
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(input: &mut TextInput, code: KeyCode, modifiers: KeyModifiers) {
        input.edit_key(KeyEvent::new(code, modifiers));
    }

    #[test]
    fn text_is_edited_where_the_cursor_is() {
        let mut input = TextInput::new("a tée 漢字 pot".to_owned());
        let (plain, control) = (KeyModifiers::NONE, KeyModifiers::CONTROL);
        for _ in 0.."pot".len() {
            press(&mut input, KeyCode::Left, plain);
        }
        press(&mut input, KeyCode::Backspace, plain);
        press(&mut input, KeyCode::Backspace, plain);
        assert_eq!(input.input_line("", 40).to_text(), "a tée 漢▏pot");
        press(&mut input, KeyCode::Char('x'), plain);
        press(&mut input, KeyCode::Delete, plain);
        assert_eq!(input.input_line("", 40).to_text(), "a tée 漢x▏ot");
        assert_eq!(input.input_line("", 5).to_text(), " 漢x▏", "the cursor is in sight");
        press(&mut input, KeyCode::Char('w'), control);
        assert_eq!(input.text, "a tée ot");
        press(&mut input, KeyCode::Home, plain);
        press(&mut input, KeyCode::Left, plain);
        input.paste("To ");
        assert_eq!(input.input_line("", 40).to_text(), "To ▏a tée ot");
        press(&mut input, KeyCode::Char('u'), control);
        press(&mut input, KeyCode::End, plain);
        press(&mut input, KeyCode::Right, plain);
        press(&mut input, KeyCode::Delete, plain);
        assert_eq!(input.input_line("", 40).to_text(), "a tée ot▏");
        // Another text takes its place: the cursor is in it.
        press(&mut input, KeyCode::Char('a'), control);
        "x".clone_into(&mut input.text);
        press(&mut input, KeyCode::Backspace, plain);
        assert_eq!(input.text, "x", "nothing is before the cursor");
        input.text.clear();
        press(&mut input, KeyCode::Char('y'), plain);
        assert_eq!(input.text, "y");
    }
}

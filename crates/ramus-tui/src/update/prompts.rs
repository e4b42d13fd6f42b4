//! Lines that are typed at the lower edge: titles, tags, notes, names of files, words to search for.

use ramus_core::query::Query;
use ratatui::crossterm::event::{KeyCode, KeyEvent};

use crate::event::{AnnotationEdit, Effect};
use crate::input::TextInput;
use crate::panes::transcript::TranscriptSearch;
use crate::state::{Focus, InputPrompt, InputPromptKind, Overlay, ScreenState};

impl ScreenState {
    /// Asks for a line of text; it begins with what it replaces.
    pub(crate) fn open_prompt(&mut self, kind: InputPromptKind) -> Vec<Effect> {
        let text = match &kind {
            InputPromptKind::Rename => self.given_title(),
            InputPromptKind::Note => self.annotation_here().map(|annotation| &*annotation.note),
            _ => None,
        };
        let input = TextInput::new(text.unwrap_or_default().to_owned());
        self.prompt = Some(InputPrompt { kind, input });
        Vec::new()
    }

    /// Returns the title that the session at the cursor was given; a prompt that is shown in its place is none.
    fn given_title(&self) -> Option<&str> {
        let session = self.list.session_of(&self.session_here()?.file)?;
        session.given_title.as_deref()
    }

    pub(super) fn prompt_key(&mut self, key: KeyEvent) -> Vec<Effect> {
        let Some(prompt) = &mut self.prompt else { return Vec::new() };
        match key.code {
            KeyCode::Esc => self.prompt = None,
            KeyCode::Backspace if prompt.input.text.is_empty() => self.prompt = None,
            KeyCode::Enter => return self.submit_prompt(),
            _ => prompt.input.edit_key(key),
        }
        Vec::new()
    }

    fn submit_prompt(&mut self) -> Vec<Effect> {
        let Some(InputPrompt { kind, input }) = self.prompt.take() else { return Vec::new() };
        let text = input.text;
        match kind {
            InputPromptKind::Rename => return self.rename_session(&text),
            InputPromptKind::Tag => return self.annotate_here(AnnotationEdit::Tags(text)),
            InputPromptKind::Note => return self.annotate_here(AnnotationEdit::Note(text)),
            InputPromptKind::SaveFiles(files) => return self.save_files(files, &text),
            InputPromptKind::Here => {}
        }
        let Ok(query) = Query::from_words(&text) else {
            if let Some(reading) = self.stack.last_mut() {
                reading.search = None;
            }
            return Vec::new();
        };
        let Some(reading) = self.stack.last_mut() else { return Vec::new() };
        let (is_given, is_quiet) = (false, false);
        let search = TranscriptSearch { text: text.clone(), query, hits: None, is_given, is_quiet };
        reading.search = Some(search);
        vec![Effect::SearchHere(reading.chapter.clone(), text)]
    }

    pub(super) fn paste_text(&mut self, text: &str) -> Vec<Effect> {
        // The words of several lines stay apart.
        let parts = text.split(|char: char| char.is_control()).filter(|part| !part.is_empty());
        let text = parts.collect::<Vec<_>>().join(" ");
        if let Some(prompt) = &mut self.prompt {
            prompt.input.paste(&text);
        } else if let Some(Overlay::Palette(palette)) = &mut self.overlay {
            palette.input.paste(&text);
            palette.update_rows(&self.keys);
        } else if self.focus == Focus::List && self.overlay.is_none() {
            self.list.filter.paste(&text);
            return self.list.apply_filter();
        }
        Vec::new()
    }
}

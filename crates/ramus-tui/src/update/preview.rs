//! The preview follows the cursor of the list.

use crate::event::{Effect, OpenMode, OpenedChapter};
use crate::panes::preview::PreviewPane;
use crate::panes::transcript::TranscriptSearch;
use crate::state::{Overlay, ScreenState};

impl ScreenState {
    /// Asks to read the session at the list's cursor, if the preview is visible and shows another one.
    pub(super) fn preview_effect(&mut self) -> Option<Effect> {
        self.screen_areas().preview?;
        if matches!(self.overlay, Some(Overlay::Document(_))) {
            return None;
        }
        let Some(request) = self.list.chosen_request() else {
            (self.preview, self.preview_wanted) = (None, None);
            return None;
        };
        let wanted = (request.file.path.clone(), request.target.clone());
        if self.preview_wanted.as_ref() == Some(&wanted) {
            return None;
        }
        self.preview_wanted = Some(wanted);
        Some(Effect::Preview(Box::new(request)))
    }

    /// Shows the session that was read, if the cursor is still on it.
    pub(super) fn show_preview(&mut self, opened: OpenedChapter) {
        let OpenedChapter { chapter, target, opening, .. } = opened;
        let is_wanted = self
            .preview_wanted
            .as_ref()
            .is_some_and(|(path, wanted)| *path == chapter.file.path && *wanted == target);
        if !is_wanted {
            return;
        }
        let marked = self.list.search.words_to_mark();
        let marked = marked.filter(|_| matches!(opening, OpenMode::Hit | OpenMode::Titled));
        let search = marked.map(|(text, query)| TranscriptSearch {
            text,
            query,
            hits: Some(Vec::new()),
            is_given: true,
            is_quiet: false,
        });
        self.preview = Some(PreviewPane::new(chapter, target, search));
    }

    /// Returns the session at the list's cursor, if the preview has read it: it opens without waiting.
    pub(super) fn previewed_chapter(&self) -> Option<OpenedChapter> {
        let request = self.list.chosen_request()?;
        let preview = self.preview.as_ref()?;
        self.screen_areas().preview?;
        preview.shows(&request.file.path, &request.target).then(|| OpenedChapter {
            chapter: preview.reading.chapter.clone(),
            target: request.target,
            opening: request.opening,
            agents: Vec::new(),
        })
    }
}

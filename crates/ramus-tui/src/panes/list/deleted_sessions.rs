//! Sessions that the client deleted: only their prompts are left.

use ramus_core::ids::ShortIds;
use ramus_render::{Label, Line};
use ramus_store::prompt_history::{GoneSession, NotedPrompt};

use super::{ListPane, ListRow};
use crate::event::TextDocument;

impl ListPane {
    /// Takes what the client deletes soon and what it deleted.
    pub(crate) fn set_cleanup(&mut self, due: Option<String>, gone: Vec<GoneSession>) {
        (self.due, self.gone) = (due, gone);
        self.rebuild_rows();
    }

    /// Returns the rows of sessions that are gone, below all others.
    pub(super) fn deleted_rows(&self) -> Vec<ListRow> {
        let head = (!self.gone.is_empty()).then_some(ListRow::Deleted);
        let shown = if self.shows_gone { self.gone.len() } else { 0 };
        head.into_iter().chain((0..shown).map(ListRow::Gone)).collect()
    }

    /// Returns those that match the filter.
    pub(super) fn matching_deleted(&self) -> impl Iterator<Item = ListRow> {
        let fits = |gone: &GoneSession| {
            let prompts = gone.prompts.iter().map(|prompt| &*prompt.text);
            let texts: Vec<&str> = prompts.chain(gone.project.as_deref()).collect();
            self.words.words_missing_from(&texts).is_empty()
        };
        let fitting = self.gone.iter().enumerate().filter(move |(_, gone)| fits(gone));
        fitting.map(|(n, _)| ListRow::Gone(n))
    }
}

/// Returns the prompts of a deleted session as a document.
pub(crate) fn prompts_document<'a>(
    session: &str,
    prompts: impl IntoIterator<Item = &'a NotedPrompt>,
    short_ids: &ShortIds,
) -> TextDocument {
    let mut lines =
        vec![Line::new("Claude Code deleted this session. Only its prompts are left.", Label::Dim)];
    for prompt in prompts {
        let time = prompt.time.map(|time| time.to_string()).unwrap_or_default();
        lines.push(Line::default());
        lines.push(Line::new(time.get(..16).unwrap_or(&time), Label::Time));
        lines.extend(prompt.text.lines().map(Line::plain));
    }
    let title =
        Line::new("Prompts of ", Label::Heading).with(short_ids.shorten_id(session), Label::Id);
    TextDocument { title, lines, ..TextDocument::default() }
}

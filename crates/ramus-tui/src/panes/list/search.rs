//! The search box of the list: passages of sessions that match the typed text.

use std::collections::HashMap;

use ramus_core::query::{CaseRule, FilterKey, HitBranch, MatchOptions, Query, TypedQuery};
use ramus_core::session::NodeId;
use ramus_core::time::Time;
use ramus_render::snippet::Snippet;
use ramus_render::{Label, Line};
use ramus_store::claude_dir::HistoryFile;

use super::ProjectRow;

/// What to search for, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FindRequest {
    pub(crate) text: String,
    /// All projects, not only the current one.
    pub(crate) everywhere: bool,
}

/// A message that was found.
#[derive(Clone, Debug)]
pub(crate) struct FoundMessage {
    pub(crate) file: HistoryFile,
    /// It is in a separate file, not in the session's.
    pub(crate) spilled: bool,
    pub(crate) session: String,
    pub(crate) node: Option<NodeId>,
    pub(crate) branch: Option<HitBranch>,
    pub(crate) is_agent: bool,
    pub(crate) kind: &'static str,
    pub(crate) time: Option<Time>,
    pub(crate) snippet: Snippet,
    /// How many other files contain it.
    pub(crate) copies: usize,
}

/// Some more messages that were found.
#[derive(Debug)]
pub(crate) struct SearchUpdate {
    pub(crate) request: FindRequest,
    pub(crate) messages: Vec<FoundMessage>,
    /// What else a reader should know, at the end.
    pub(crate) notes: Vec<String>,
    /// Misspelt words, each with the one that was searched for instead.
    pub(crate) corrected: Vec<(String, String)>,
    /// How many there are in all.
    pub(crate) all: usize,
    pub(crate) done: bool,
    /// Why the text cannot be searched for.
    pub(crate) problem: Option<String>,
}

/// The search text, and the results so far.
#[derive(Debug, Default)]
pub(crate) struct ListSearch {
    request: Option<FindRequest>,
    /// The text to find without its filters; misspelt words are corrected.
    words: String,
    /// `None`: the search has only filters.
    query: Option<Query>,
    pub(crate) messages: Vec<FoundMessage>,
    /// The messages are left over from a search for less, until the first new ones come.
    is_old: bool,
    pub(crate) notes: Vec<String>,
    pub(crate) all: usize,
    pub(crate) done: bool,
    pub(crate) problem: Option<String>,
}

impl ListSearch {
    /// Starts another search; returns the request. `None`: matching titles is enough.
    ///
    /// What was found before and matches still stays until the answer comes: a list that becomes empty at
    /// every key cannot be read.
    pub(super) fn begin_search(&mut self, text: &str, everywhere: bool) -> Option<FindRequest> {
        let typed = TypedQuery::parse(text);
        let options = MatchOptions { case: CaseRule::Ignore, ..MatchOptions::default() };
        let query = Query::from_typed(&typed, options).ok();
        let mut messages = std::mem::take(&mut self.messages);
        let has_words = |message: &FoundMessage| {
            query
                .as_ref()
                .is_some_and(|query| query.find_in_text(&message.snippet.to_text()).is_some())
        };
        let goes_on = self.request.as_ref().is_some_and(|before| {
            before.everywhere == everywhere && text.starts_with(&before.text)
        });
        messages.retain(|message| goes_on && has_words(message));
        let request =
            is_searchable(&typed).then(|| FindRequest { text: text.to_owned(), everywhere });
        *self = Self {
            words: typed.words_text(),
            done: request.is_none(),
            request: request.clone(),
            query,
            messages,
            is_old: true,
            ..Self::default()
        };
        request
    }

    /// Takes what else was found; `false`: something else is searched for by now.
    pub(super) fn add_results(&mut self, found: SearchUpdate) -> bool {
        if self.request.as_ref() != Some(&found.request) {
            return false;
        }
        if std::mem::take(&mut self.is_old) {
            self.messages.clear();
        }
        self.messages.extend(found.messages);
        self.notes.extend(found.notes);
        (self.all, self.done, self.problem) = (found.all, found.done, found.problem);
        if !found.corrected.is_empty() {
            self.correct_words(&found.corrected);
        }
        true
    }

    fn correct_words(&mut self, corrected: &[(String, String)]) {
        let mut typed = TypedQuery::parse_words(&self.words);
        for (wrong, right) in corrected {
            for word in typed.words.iter_mut().filter(|word| word.text == *wrong) {
                word.text.clone_from(right);
            }
        }
        let options = MatchOptions { case: CaseRule::Ignore, ..MatchOptions::default() };
        self.words = typed.words_text();
        self.query = Query::from_typed(&typed, options).ok();
    }

    /// Whether contents are searched: for one letter they are not.
    pub(super) fn has_request(&self) -> bool {
        self.request.is_some()
    }

    /// Whether contents are being searched and nothing was found yet.
    pub(super) fn is_waiting(&self) -> bool {
        !self.done && self.messages.is_empty()
    }

    /// Returns the words and what finds them in a transcript.
    pub(crate) fn words_to_mark(&self) -> Option<(String, Query)> {
        self.query.clone().map(|query| (self.words.clone(), query))
    }

    /// Returns the messages of each session, by indices, the sessions in the order of their first ones.
    pub(super) fn messages_by_session(
        &self,
        projects: &[ProjectRow],
        all: bool,
    ) -> Vec<((usize, usize), Vec<usize>)> {
        let mut by_id: HashMap<&str, Vec<(usize, usize)>> = HashMap::new();
        for (p, project) in projects.iter().enumerate() {
            let shown = project.sessions.iter().enumerate();
            for (s, session) in shown.filter(|(_, session)| all || !session.hidden) {
                by_id.entry(&session.file.id).or_default().push((p, s));
            }
        }
        let mut groups: Vec<((usize, usize), Vec<usize>)> = Vec::new();
        let mut places: HashMap<(usize, usize), usize> = HashMap::new();
        for (index, message) in self.messages.iter().enumerate() {
            let same_id = by_id.get(&*message.session).map(Vec::as_slice).unwrap_or_default();
            let is_own =
                |(p, _): &&(usize, usize)| message.file.path.starts_with(&projects[*p].dir);
            let Some(row) = same_id.iter().find(is_own).or(same_id.first()) else { continue };
            let place = *places.entry(*row).or_insert_with(|| {
                groups.push((*row, Vec::new()));
                groups.len() - 1
            });
            // The row of the session has its title already, and the last prompt is a prompt of it.
            if !matches!(message.kind, "title" | "last-prompt") {
                groups[place].1.push(index);
            }
        }
        groups
    }

    /// Whether a passage of a session is shown, which explains why it is listed.
    pub(super) fn has_passage(&self, session: &str) -> bool {
        self.messages.iter().any(|message| message.session == session)
    }

    /// Returns the text around what matches in a message, for so many columns.
    pub(super) fn passage_line(&self, message: &FoundMessage, label: Label, width: usize) -> Line {
        let Snippet { before, matched, .. } = &message.snippet;
        let range = before.len()..before.len() + matched.len();
        let cut = Snippet::new(&message.snippet.to_text(), &range, width);
        let marks = |text: &str| self.query.as_ref().map(|query| query.match_ranges(text));
        cut.to_line(label, |text| marks(text).unwrap_or_default())
    }
}

/// Whether a text justifies a search through all contents: one letter occurs in all of them.
fn is_searchable(typed: &TypedQuery) -> bool {
    // A filter whose value is still to be typed is no word.
    let is_long = |text: &str| text.len() > 1 && !text.ends_with(':');
    typed.words.iter().any(|word| is_long(&word.text))
        || (typed.words.is_empty() && !typed.filters.is_empty())
}

/// Whether sessions can be found by their names: filters other than the project are about messages.
pub(super) fn names_count(typed: &TypedQuery) -> bool {
    typed.without.is_empty() && typed.filters.iter().all(|filter| filter.key == FilterKey::Scope)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_alone_is_no_search_and_filters_alone_are_one() {
        let mut search = ListSearch::default();
        let mut is_search = |text: &str| search.begin_search(text, true).is_some();
        assert!(!is_search("t"));
        assert!(is_search("te"));
        assert!(is_search("字"), "a word of one character");
        assert!(is_search("tool:Bash"));
        assert!(!is_search("since:"), "what a filter is before its value is typed");
        assert!(!is_search(""));
    }
}

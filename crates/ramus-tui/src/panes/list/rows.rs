//! The rows of the list: all sessions in groups, or those that match the typed text.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use ramus_core::query::{FilterKey, TypedQuery};

use super::filter::MatchPlace;
use super::search::names_count;
use super::{ListFilter, ListGrouping, ListPane, ListRow};

impl ListPane {
    /// Rebuilds the rows.
    pub(crate) fn rebuild_rows(&mut self) {
        self.group_projects();
        let typed = TypedQuery::parse(&self.filter.text);
        self.words = ListFilter::new(&typed);
        self.rows = match self.filter.text.trim().is_empty() {
            true => self.all_rows(),
            false => self.matching_rows(&typed),
        };
        self.cursor.move_by(0, self.rows.len());
    }

    /// Returns the sessions that match: those whose titles do, then those whose contents do as the search
    /// ranks them, then those that have the words elsewhere, such as in the name of their project.
    fn matching_rows(&self, typed: &TypedQuery) -> Vec<ListRow> {
        let named = match names_count(typed) && !self.words.is_empty() {
            true => self.words.matching_sessions(&self.projects, self.all),
            false => Vec::new(),
        };
        let named: Vec<_> =
            named.into_iter().filter(|(_, (p, _))| self.is_searched(*p, typed)).collect();
        let found = self.search.messages_by_session(&self.projects, self.all);
        let passages: HashMap<(usize, usize), &Vec<usize>> =
            found.iter().map(|(row, messages)| (*row, messages)).collect();
        let titled = named.iter().filter(|(place, _)| *place == MatchPlace::Title);
        let order = titled.map(|(_, row)| *row);
        let order = order.chain(found.iter().map(|(row, _)| *row));
        let order = order.chain(named.iter().map(|(_, row)| *row));
        let (mut seen, mut rows) = (HashSet::new(), Vec::new());
        for row in order.filter(|row| seen.insert(*row)) {
            rows.extend(self.session_rows(row.0, row.1));
            let messages = passages.get(&row).into_iter().flat_map(|messages| messages.iter());
            rows.extend(messages.map(|message| ListRow::Passage(row.0, row.1, *message)));
        }
        if names_count(typed) && !self.words.is_empty() {
            rows.extend(self.matching_deleted());
        }
        rows
    }

    /// Whether names of sessions in a project count: those of the one that was typed, else those listed.
    fn is_searched(&self, p: usize, typed: &TypedQuery) -> bool {
        let mut scopes = typed.filters.iter().filter(|filter| filter.key == FilterKey::Scope);
        match scopes.next() {
            Some(scope) => {
                let label = self.projects[p].label.to_lowercase();
                label.contains(&scope.value.to_lowercase())
            }
            None => self.is_in_scope(p),
        }
    }

    fn all_rows(&self) -> Vec<ListRow> {
        let newest_first = |sessions: &mut Vec<(usize, usize)>| {
            sessions.sort_by_key(|(p, s)| Reverse(self.session_at(*p, *s).last_active));
        };
        let mut rows = Vec::new();
        if self.grouping == ListGrouping::Recent {
            let mut sessions: Vec<_> =
                (0..self.projects.len()).flat_map(|p| self.shown_under(p)).collect();
            newest_first(&mut sessions);
            rows.extend(sessions.into_iter().flat_map(|(p, s)| self.session_rows(p, s)));
        } else {
            for p in 0..self.projects.len() {
                let mut sessions: Vec<(usize, usize)> = self.shown_under(p).collect();
                if sessions.is_empty() {
                    continue;
                }
                rows.push(ListRow::Project(p));
                if self.is_closed(&self.projects[p]) {
                    continue;
                }
                newest_first(&mut sessions);
                rows.extend(sessions.into_iter().flat_map(|(p, s)| self.session_rows(p, s)));
            }
        }
        rows.extend(self.deleted_rows());
        rows
    }

    /// Puts projects of one repository under the newest of them, each other one under itself.
    fn group_projects(&mut self) {
        self.members = vec![Vec::new(); self.projects.len()];
        let mut leaders: HashMap<&str, usize> = HashMap::new();
        for (p, project) in self.projects.iter().enumerate() {
            let repository =
                project.repository.as_deref().filter(|_| self.grouping == ListGrouping::Repository);
            let leader = repository.map_or(p, |name| *leaders.entry(name).or_insert(p));
            self.members[leader].push(p);
        }
    }

    /// Whether the sessions of a project are listed.
    pub(super) fn is_in_scope(&self, p: usize) -> bool {
        let is_current = |dir: &PathBuf| self.projects[p].dir == *dir;
        self.everywhere || self.current.as_ref().is_none_or(is_current)
    }

    /// Returns the sessions that are listed under the row of a project.
    pub(crate) fn shown_under(&self, p: usize) -> impl Iterator<Item = (usize, usize)> {
        let projects = self.members.get(p).into_iter().flatten().copied();
        let sessions =
            projects.flat_map(|p| (0..self.projects[p].sessions.len()).map(move |s| (p, s)));
        sessions
            .filter(|(p, s)| self.is_in_scope(*p) && (self.all || !self.session_at(*p, *s).hidden))
    }

    /// Returns the text of a project's row.
    pub(crate) fn project_heading(&self, p: usize) -> String {
        let project = &self.projects[p];
        let repository =
            project.repository.as_ref().filter(|_| self.grouping == ListGrouping::Repository);
        self.shorten_path(repository.unwrap_or(&project.label))
    }

    /// Returns the row of a session, and those of its conversations if they are shown.
    fn session_rows(&self, p: usize, s: usize) -> impl Iterator<Item = ListRow> {
        let session = self.session_at(p, s);
        let shown = if self.is_open(session) { session.conversations.len() } else { 0 };
        let conversations = (0..shown).map(move |c| ListRow::Conversation(p, s, c));
        std::iter::once(ListRow::Session(p, s)).chain(conversations)
    }
}

//! Looking for words in the transcript.

use ramus_core::query::Query;
use ramus_core::session::NodeId;

use super::TranscriptPane;
use crate::event::JumpTarget;

/// The search text, and the messages of the session that match.
#[derive(Debug)]
pub(crate) struct TranscriptSearch {
    pub(crate) text: String,
    pub(crate) query: Query,
    /// `None`: still looking.
    pub(crate) hits: Option<Vec<NodeId>>,
    /// It came with a hit of a global search, not from a search in this session.
    pub(crate) is_given: bool,
    /// The session was opened for its title: its matches are marked, and a key goes to them.
    pub(crate) is_quiet: bool,
}

impl TranscriptPane {
    /// Opens the message that a search found, with the matches marked.
    pub(crate) fn show_hit(&mut self, search: TranscriptSearch, target: &JumpTarget) {
        self.search = Some(search);
        let JumpTarget::Node(node) = target else { return };
        if let Some(item) = self.item_of(self.chapter.history.record_tree.first_copy(*node)) {
            self.open_block(item);
            self.jump_to_hit(item);
        }
    }

    /// Takes the matching messages and goes to the next one.
    pub(crate) fn set_hits(&mut self, hits: Vec<NodeId>) {
        if let Some(search) = &mut self.search {
            search.hits = Some(hits);
            if search.is_quiet {
                return;
            }
            let items = self.hit_items();
            let next = items.iter().find(|item| **item >= self.cursor).or(items.first());
            if let Some(item) = next.copied() {
                self.open_block(item);
                self.jump_to_hit(item);
            }
        }
    }

    /// Returns the matching items of this path.
    fn hit_items(&self) -> Vec<usize> {
        let hits = self.search.as_ref().and_then(|search| search.hits.as_deref());
        let mut items: Vec<usize> =
            hits.unwrap_or_default().iter().filter_map(|node| self.item_of(*node)).collect();
        items.sort_unstable();
        items.dedup();
        items
    }

    /// Goes to the next hit or the one before, round the ends.
    pub(crate) fn next_hit(&mut self, forward: bool) {
        if let Some(search) = &mut self.search {
            search.is_quiet = false;
        }
        let items = self.hit_items();
        if items.is_empty() {
            return self.go_to_other_branch();
        }
        let next = if forward {
            items.iter().find(|item| **item > self.cursor).or(items.first())
        } else {
            items.iter().rev().find(|item| **item < self.cursor).or(items.last())
        };
        if let Some(item) = next.copied() {
            // The match may be in a folded tool call.
            self.open_block(item);
            self.jump_to_hit(item);
        }
    }

    /// Goes to the first match, which is on another branch.
    fn go_to_other_branch(&mut self) {
        let hits = self.search.as_ref().and_then(|search| search.hits.as_deref());
        let Some(node) = hits.and_then(|hits| hits.first().copied()) else { return };
        self.show_node(node);
        if let Some(item) = self.item_of(node) {
            self.open_block(item);
            self.jump_to_hit(item);
        }
    }

    /// Finds the first matching line of an item.
    pub(super) fn hit_line(&self, item: usize) -> Option<usize> {
        let query = &self.search.as_ref()?.query;
        let lines = self.rendered_lines(item)?;
        lines.iter().position(|line| !query.match_ranges(&line.to_text()).is_empty())
    }

    /// Describes the state of the search.
    pub(crate) fn search_state(&self) -> Option<String> {
        let search = self.search.as_ref().filter(|search| !search.is_quiet)?;
        let Some(hits) = &search.hits else {
            return Some(format!("searching “{}” …", search.text));
        };
        let items = self.hit_items();
        let here = items.iter().position(|item| *item == self.cursor);
        let elsewhere = hits.iter().filter(|node| self.item_of(**node).is_none()).count();
        let mut parts = match (items.len(), here) {
            (0, _) => format!("no match for “{}” on this branch", search.text),
            (all, Some(at)) => format!("“{}” {} of {all}", search.text, at + 1),
            (all, None) => format!("“{}” {all} messages", search.text),
        };
        if elsewhere > 0 {
            parts.extend([", ", &elsewhere.to_string(), " elsewhere in the session"]);
        }
        Some(parts)
    }
}

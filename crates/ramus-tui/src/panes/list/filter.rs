//! Finds sessions by their names: whole words and beginnings of words.

use std::cmp::Reverse;
use std::ops::Range;

use ramus_core::query::TypedQuery;

use super::{ProjectRow, SessionRow};

/// The words that were typed; each must be found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ListFilter {
    /// In lower case.
    words: Vec<String>,
}

/// Where a word was found, the best place first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MatchPlace {
    Title,
    Prompt,
    Project,
    Id,
}

impl ListFilter {
    pub(crate) fn new(typed: &TypedQuery) -> Self {
        Self { words: typed.words.iter().map(|word| word.text.to_lowercase()).collect() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Returns where the words occur in a text, in order and apart from each other.
    pub(crate) fn match_ranges(&self, text: &str) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> =
            self.words.iter().flat_map(|word| word_occurrences(text, word)).collect();
        found.sort_by_key(|range| (range.start, Reverse(range.end)));
        let mut marks: Vec<Range<usize>> = Vec::new();
        for range in found {
            if marks.last().is_none_or(|last| last.end <= range.start) {
                marks.push(range);
            }
        }
        marks
    }

    /// Returns those words that none of some texts has.
    pub(super) fn words_missing_from(&self, texts: &[&str]) -> Self {
        let is_there = |word: &String| texts.iter().any(|text| has_word(text, word));
        Self { words: self.words.iter().filter(|word| !is_there(word)).cloned().collect() }
    }

    /// Returns the indices of the sessions that match, each with that of its project and the worst place of a
    /// word: the best first, and of equal ones the newest.
    pub(super) fn matching_sessions(
        &self,
        projects: &[ProjectRow],
        all: bool,
    ) -> Vec<(MatchPlace, (usize, usize))> {
        let mut found = Vec::new();
        for (p, project) in projects.iter().enumerate() {
            for (s, session) in project.sessions.iter().enumerate() {
                if (all || !session.hidden)
                    && let Some(places) = self.match_places(project, session)
                {
                    found.push((places, Reverse(session.last_active), (p, s)));
                }
            }
        }
        found.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
        let worst = |places: &[MatchPlace]| places.first().copied().unwrap_or(MatchPlace::Id);
        found.into_iter().map(|(places, _, row)| (worst(&places), row)).collect()
    }

    /// Returns where the words are found in a session, the worst place first. `None`: one is not.
    fn match_places(&self, project: &ProjectRow, session: &SessionRow) -> Option<Vec<MatchPlace>> {
        let place = |word: &String| {
            let has = |text: &String| has_word(text, word);
            let titles = session.conversations.iter().filter_map(|one| one.title.as_ref());
            if session.title.as_ref().is_some_and(has) {
                Some(MatchPlace::Title)
            } else if session.prompts.iter().chain(titles).any(has) {
                Some(MatchPlace::Prompt)
            } else if has(&project.label) || session.cwd.as_ref().is_some_and(has) {
                Some(MatchPlace::Project)
            } else {
                session.file.id.starts_with(&**word).then_some(MatchPlace::Id)
            }
        };
        let mut places = self.words.iter().map(place).collect::<Option<Vec<MatchPlace>>>()?;
        places.sort_by_key(|place| Reverse(*place));
        Some(places)
    }
}

fn has_word(text: &str, word: &str) -> bool {
    word_occurrences(text, word).next().is_some()
}

/// Finds a word, or words that begin with it. What begins with another sign is found anywhere.
fn word_occurrences<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = Range<usize>> + 't {
    let is_word = word.starts_with(char::is_alphanumeric);
    let first = word.bytes().next().unwrap_or_default();
    // Bytes are looked at rather than characters: thousands of sessions are read at every key. Where
    // the word begins with another letter than a Latin one, every character is a candidate.
    let may_begin = move |byte: u8| match first.is_ascii() {
        true => byte.eq_ignore_ascii_case(&first),
        false => !byte.is_ascii(),
    };
    let candidates = text.bytes().enumerate().filter(move |(_, byte)| may_begin(*byte));
    candidates.filter_map(move |(at, _)| {
        let (before, from) = text.split_at_checked(at)?;
        let char = from.chars().next()?;
        if is_word && before.chars().next_back().is_some_and(|last| is_inside(last, char)) {
            return None;
        }
        Some(at..at + matched_prefix_len(from, word)?)
    })
}

/// Whether two characters belong to one word. `HttpServer` is two words, and so is every
/// character of a script that writes no spaces.
fn is_inside(before: char, char: char) -> bool {
    let is_solid = |char: char| matches!(char, '\u{e00}'..='\u{eff}' | '\u{2e80}'..='\u{a4cf}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}');
    before.is_alphanumeric()
        && char.is_alphanumeric()
        && !(before.is_lowercase() && char.is_uppercase())
        && !is_solid(char)
}

/// Returns how many bytes of a text the word at its beginning takes, whatever its case.
fn matched_prefix_len(text: &str, word: &str) -> Option<usize> {
    let mut wanted = word.chars();
    for (at, char) in text.char_indices() {
        if wanted.as_str().is_empty() {
            return Some(at);
        }
        for lower in char.to_lowercase() {
            if wanted.next() != Some(lower) {
                return None;
            }
        }
    }
    wanted.as_str().is_empty().then_some(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter_for(text: &str) -> ListFilter {
        ListFilter::new(&TypedQuery::parse(text))
    }

    /// Draws a text with what matches in brackets.
    fn marked_text(filter: &str, text: &str) -> String {
        let mut drawing = String::new();
        let mut done = 0;
        for mark in filter_for(filter).match_ranges(text) {
            drawing.extend([&text[done..mark.start], "[", &text[mark.clone()], "]"]);
            done = mark.end;
        }
        drawing + &text[done..]
    }

    #[test]
    fn words_match_whole_or_by_their_beginning() {
        assert_eq!(
            marked_text("play", "Run playwright, display it"),
            "Run [play]wright, display it"
        );
        assert_eq!(marked_text("zzz", "fizzbuzz zigzag zoo jazz"), "fizzbuzz zigzag zoo jazz");
        assert_eq!(marked_text("tea b", "Build a TEApot"), "[B]uild a [TEA]pot");
        assert_eq!(marked_text("server", "an HttpServer"), "an Http[Server]");
        assert_eq!(marked_text("dev/app", "/home/dev/app"), "/home/[dev/app]");
        assert_eq!(marked_text(".rs", "main.rs"), "main[.rs]");
        assert_eq!(marked_text("größe", "Die GRÖSSE, die Größe"), "Die GRÖSSE, die [Größe]");
        assert_eq!(marked_text("字", "漢字"), "漢[字]");
        assert_eq!(marked_text("te tea", "tea"), "[tea]");
        assert_eq!(marked_text("", "tea"), "tea");
    }

    #[test]
    fn a_filter_without_matches_is_reported() {
        let filter = filter_for("tea pot");
        assert_eq!(filter.words_missing_from(&["a pot"]), filter_for("tea"));
        assert!(filter.words_missing_from(&["tea", "pot"]).is_empty());
    }
}

//! A message that matches a query, with everything that front ends draw of it.

use std::ops::Range;

use super::{MatchLevel, TextKind};
use crate::branches::{BranchStatus, Conversation};
use crate::edit::MessageSummary;
use crate::session::NodeId;
use crate::time::Time;

/// A matching message and its location.
#[derive(Clone, Debug)]
pub struct SearchHit {
    /// The session's id; for a record of a sub-agent, the session that started it.
    pub session: String,
    pub title: Option<String>,
    /// The encoded name of the project.
    pub project: Option<String>,
    /// The working directory of the session.
    pub cwd: Option<String>,
    /// The sub-agent whose transcript it is in.
    pub agent: Option<String>,
    /// A record of a sub-agent, in a separate file or not.
    pub is_sidechain: bool,
    /// The path of its file, from the Claude directory on.
    pub file: String,
    pub line: u32,
    /// The node to open: the record itself, or the one it names or belongs to.
    pub node: Option<NodeId>,
    /// The uuid of the record; `None`: it has none, such as a title.
    pub uuid: Option<String>,
    pub kind: TextKind,
    /// Its session was deleted: only the client's prompt history still has the text.
    pub is_prompt_only: bool,
    pub branch: Option<HitBranch>,
    /// The time in the record.
    pub time: Option<Time>,
    /// The time it is sorted by: the last one of its file where the record has none.
    pub sort_time: Option<Time>,
    pub passage: Passage,
    /// The address with whole ids.
    pub address: String,
    /// The address with ids as short as they can be without meaning another message.
    pub short_address: String,
    /// The session's id, shortened by the same rule.
    pub short_session: String,
    /// Every file that has the message, the oldest first.
    pub copies: Vec<HitCopy>,
    /// The messages around it; only if requested.
    pub context: Option<HitContext>,
    /// Why it has its place; only if the best hits come first.
    pub rank: Option<HitRank>,
}

/// Why a hit comes before another.
#[derive(Clone, Debug)]
pub struct HitRank {
    pub level: MatchLevel,
    /// Its score; only comparisons between scores are meaningful.
    pub score: f32,
    /// The place of its session among all, from 0.
    pub session: usize,
    /// The score of the session, and the share of it that comes from its time.
    pub session_score: f32,
    pub recency: f32,
    /// How many more messages of the session match, beyond those that are shown.
    pub more: usize,
    pub terms: Vec<TermRank>,
}

/// What one word adds to the rank of a hit.
#[derive(Clone, Debug)]
pub struct TermRank {
    pub word: String,
    /// The rarer the word, the more.
    pub weight: f32,
    pub form: WordForm,
}

/// How a word matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordForm {
    WholeWord,
    WordStart,
    WordPart,
    /// It is in another message of the session, or nowhere.
    Elsewhere,
}

impl WordForm {
    /// Returns the stable word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::WholeWord => "word",
            Self::WordStart => "start",
            Self::WordPart => "part",
            Self::Elsewhere => "elsewhere",
        }
    }
}

/// The conversation that a message is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HitBranch {
    pub n: u32,
    pub status: BranchStatus,
    /// The client would continue it.
    pub resumes: bool,
}

impl From<&Conversation> for HitBranch {
    fn from(conversation: &Conversation) -> Self {
        let Conversation { number: n, status, resumes, .. } = *conversation;
        Self { n, status, resumes }
    }
}

/// One place where a message is written.
#[derive(Clone, Debug)]
pub struct HitCopy {
    pub file: String,
    pub line: u32,
    pub branch: Option<HitBranch>,
}

/// The messages before and after a hit.
#[derive(Clone, Debug, Default)]
pub struct HitContext {
    /// The oldest first.
    pub before: Vec<MessageSummary>,
    /// All replies and prompts that follow, on every branch.
    pub after: Vec<MessageSummary>,
}

/// The part of a text around a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    pub text: String,
    /// The match in `text`.
    pub range: Range<usize>,
}

impl Passage {
    /// How many bytes belong to a character of a snippet at most: white space is folded and colour codes
    /// are left out of it.
    pub const BYTES_PER_CHARACTER: usize = 8;
    /// A word that the match begins or ends in is shown whole, if it has at most this many letters.
    pub const LONGEST_WORD: usize = 40;

    /// Copies as much of a text as a snippet of `room` characters needs: texts can be megabytes long.
    pub fn cut(text: &str, range: &Range<usize>, room: usize) -> Self {
        let word = (Self::LONGEST_WORD + 1) * char::MAX.len_utf8();
        let near = (room + 1) * Self::BYTES_PER_CHARACTER + word;
        let start = text.floor_char_boundary(range.start.saturating_sub(near));
        let end = text.ceil_char_boundary(range.end.saturating_add(near).min(text.len()));
        let range = range.start - start..range.end - start;
        Self { text: text[start..end].to_owned(), range }
    }
}

#[cfg(test)]
mod tests {
    use super::Passage;

    #[test]
    fn a_passage_keeps_the_match_and_what_is_near() {
        let text = format!("{}harp{}", "é".repeat(5000), "漢".repeat(5000));
        let passage = Passage::cut(&text, &(10_000..10_004), 20);
        assert_eq!(&passage.text[passage.range.clone()], "harp");
        assert!(passage.text.len() < 1000, "{}", passage.text.len());
        let whole = Passage::cut("a harp", &(2..6), 20);
        assert_eq!((&*whole.text, whole.range), ("a harp", 2..6));
    }
}

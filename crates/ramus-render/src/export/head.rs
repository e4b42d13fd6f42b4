//! What stands above a transcript: whose it is, which of how many, and its sums.

use std::sync::Arc;

use ramus_core::time::Time;

/// What is told of a path before its first turn.
#[derive(Clone, Debug, Default)]
pub struct Header {
    pub session: String,
    /// The session whose agent this is; `None`: it is no agent's.
    pub parent: Option<String>,
    pub title: Option<String>,
    /// The directory of the project, or its name where no record says.
    pub project: String,
    pub git_branch: Option<String>,
    pub version: Option<String>,
    /// The number of the path in its session, and how many there are.
    pub path: usize,
    pub paths: usize,
    pub status: &'static str,
    pub resumes: bool,
    pub draft: bool,
    pub leaf: String,
    pub fork_point: Option<String>,
    pub fork_kind: Option<&'static str>,
    pub compactions: usize,
    pub messages: usize,
    pub records: usize,
    pub started: Option<Time>,
    pub ended: Option<Time>,
    pub models: Vec<String>,
    pub tokens: Tokens,
    /// The sessions that the path began in, the oldest first; its own is not among them.
    pub continues: Vec<String>,
    /// All paths of the session, this one too.
    pub siblings: Arc<[Sibling]>,
    /// Where the list of all transcripts is.
    pub index: Option<String>,
}

/// Tokens of a path, each message once (R20).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
}

/// A path of the same session.
#[derive(Clone, Debug, Default)]
pub struct Sibling {
    pub path: usize,
    /// `None`: another session holds all of it, so it has no transcript.
    pub href: Option<String>,
    /// The first words since its fork.
    pub words: String,
    /// The words as [`told`](super::told) writes them.
    pub told: String,
    pub status: &'static str,
    pub resumes: bool,
    pub messages: u32,
}

/// How many other paths the head of a transcript names. All of them in all heads would take the square
/// of their number.
const MOST_SIBLINGS: usize = 100;

impl Header {
    /// Returns the paths that stand nearest to this one, and how many others there are.
    pub(super) fn nearest_siblings(&self) -> (&[Sibling], usize) {
        let all = self.siblings.len();
        let length = all.min(MOST_SIBLINGS);
        let start = self.path.saturating_sub(length / 2).min(all - length);
        (&self.siblings[start..start + length], all - length)
    }

    /// Returns the title, or the id where there is none.
    pub fn name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.session)
    }

    /// Returns the status for people, with what is special about it.
    pub(super) fn status_words(&self) -> String {
        let mut words = self.status.to_uppercase();
        if self.resumes {
            words.push_str(" (Claude Code resumes here)");
        } else if self.draft {
            words.push_str(" (no reply)");
        }
        words
    }

    /// Returns names and values in the order they are told.
    pub(super) fn rows(&self) -> Vec<(&'static str, String)> {
        let mut rows = vec![
            ("Session ID", self.session.clone()),
            ("Path", format!("{} of {}", self.path, self.paths)),
            ("Status", self.status_words()),
        ];
        let mut row = |name, value: Option<String>| {
            rows.extend(value.filter(|value| !value.is_empty()).map(|value| (name, value)));
        };
        row("Agent Of", self.parent.clone());
        row("Fork Point", self.fork_point.clone());
        row(TOTAL, Some(self.messages.to_string()));
        row("Fork Kind", self.fork_kind.map(str::to_owned));
        row("Title", self.title.clone());
        row("Project", Some(self.project.clone()));
        row("Git Branch", self.git_branch.clone());
        row("Continues", Some(self.continues.join(", ")));
        row("Started", self.started.map(stamp));
        row("Ended", self.ended.map(stamp));
        row("Models", Some(self.models.join(", ")));
        row("Client", self.version.clone());
        row("Tokens", self.token_words());
        rows
    }

    fn token_words(&self) -> Option<String> {
        let Tokens { input, output, cache_read, cache_write } = self.tokens;
        (self.tokens != Tokens::default()).then(|| {
            format!(
                "{} input, {} output, {} cache read, {} cache write",
                grouped(input),
                grouped(output),
                grouped(cache_read),
                grouped(cache_write)
            )
        })
    }
}

/// The last row that a transcript has had since the first of them; others follow it.
pub(super) const TOTAL: &str = "Total Messages";

/// Says that the path runs through a compaction, before [`TOTAL`].
pub(super) const COMPACTED: (&str, &str) =
    ("Contains Compact Operation(s)", "Full conversation including compacted segments");

/// Writes a time as it is told to people, in the one zone that is the same everywhere.
pub(super) fn stamp(time: Time) -> String {
    time.timestamp().strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}

pub(super) use crate::text::grouped;

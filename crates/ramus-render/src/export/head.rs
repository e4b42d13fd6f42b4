//! The facts above a transcript: its session, its number among the paths, and its totals.

use std::sync::Arc;

use ramus_core::time::Time;

/// The facts about a path that come before its first turn.
#[derive(Clone, Debug, Default)]
pub struct TranscriptHeader {
    pub session: String,
    /// The session that started this agent. `None`: this is not an agent's transcript.
    pub parent: Option<String>,
    pub title: Option<String>,
    /// The working directory of the project, or its name if no record has it.
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
    pub tokens: PathTokens,
    /// The earlier sessions that the path continues, oldest first.
    pub continues: Vec<String>,
    /// All paths of the session, including this one.
    pub siblings: Arc<[SiblingPath]>,
    /// The link to the list of all transcripts.
    pub index: Option<String>,
}

/// The tokens of a path, each message counted once (R20).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathTokens {
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
}

/// A path of the same session.
#[derive(Clone, Debug, Default)]
pub struct SiblingPath {
    pub path: usize,
    /// `None`: it has no transcript, because another session contains all of it.
    pub href: Option<String>,
    /// The first words after its fork point.
    pub words: String,
    /// The words as formatted by [`format_first_words`](super::format_first_words).
    pub formatted_words: String,
    pub status: &'static str,
    pub resumes: bool,
    pub messages: u32,
}

/// How many other paths the head of a transcript lists. Listing all paths in all heads would be
/// quadratic.
const MOST_SIBLINGS: usize = 100;

impl TranscriptHeader {
    /// Returns the paths nearest to this one, and how many others there are.
    pub(super) fn nearest_siblings(&self) -> (&[SiblingPath], usize) {
        let all = self.siblings.len();
        let length = all.min(MOST_SIBLINGS);
        let start = self.path.saturating_sub(length / 2).min(all - length);
        (&self.siblings[start..start + length], all - length)
    }

    /// Returns the title, or the id if there is none.
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.session)
    }

    /// Returns the status with a remark.
    pub(super) fn status_words(&self) -> String {
        let mut words = self.status.to_uppercase();
        if self.resumes {
            words.push_str(" (Claude Code resumes here)");
        } else if self.draft {
            words.push_str(" (no reply)");
        }
        words
    }

    /// Returns names and values in their order.
    pub(super) fn header_rows(&self) -> Vec<(&'static str, String)> {
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
        row(TOTAL_MESSAGES, Some(self.messages.to_string()));
        row("Fork Kind", self.fork_kind.map(str::to_owned));
        row("Title", self.title.clone());
        row("Project", Some(self.project.clone()));
        row("Git Branch", self.git_branch.clone());
        row("Continues", Some(self.continues.join(", ")));
        row("Started", self.started.map(utc_time));
        row("Ended", self.ended.map(utc_time));
        row("Models", Some(self.models.join(", ")));
        row("Client", self.version.clone());
        row("Tokens", self.token_words());
        rows
    }

    fn token_words(&self) -> Option<String> {
        let PathTokens { input, output, cache_read, cache_write } = self.tokens;
        (self.tokens != PathTokens::default()).then(|| {
            format!(
                "{} input, {} output, {} cache read, {} cache write",
                grouped_digits(input),
                grouped_digits(output),
                grouped_digits(cache_read),
                grouped_digits(cache_write)
            )
        })
    }
}

/// The last row of the original transcript format. Newer rows follow it.
pub(super) const TOTAL_MESSAGES: &str = "Total Messages";

/// The note about compactions, which comes before [`TOTAL_MESSAGES`].
pub(super) const COMPACTED_NOTE: (&str, &str) =
    ("Contains Compact Operation(s)", "Full conversation including compacted segments");

/// Formats a time in UTC, so that the output does not depend on the local time zone.
pub(super) fn utc_time(time: Time) -> String {
    time.to_timestamp().strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}

pub(super) use crate::text::grouped_digits;

//! A path as a document that stands on its own: Markdown, HTML, JSON, text.
//!
//! A document is a head, its turns one after the other, and a foot. Turns can be
//! written before the head is known, which holds sums over all of them. Nothing
//! here depends on when or where it is done: the same path gives the same bytes.

mod call;

mod contain;

mod head;

mod html;

mod markdown;

mod object;

mod plain;

pub mod site;

mod words;

use ramus_core::body::Media;
use ramus_core::session::{NodeId, Session};
use ramus_core::turn::{Call, Turn};

pub use call::{FileDiff, Section, Summary, sections, summary};
pub use head::{Header, Sibling, Tokens};

/// What a transcript is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Markdown,
    Html,
    Json,
    Text,
}

/// How much of tool calls is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tools {
    None,
    /// What was asked and what came of it, long texts cut.
    Brief,
    Full,
}

/// What a document holds, and how it points to others.
#[derive(Clone, Copy)]
pub struct Config<'a> {
    pub thinking: bool,
    pub tools: Tools,
    /// Paths below this directory are shown without it.
    pub cwd: &'a str,
    /// Where the transcript of another way is, by the last record of it.
    pub other: &'a dyn Fn(NodeId) -> Option<String>,
    /// Where the transcript of the agent is that a call started.
    pub agent: &'a dyn Fn(&Call) -> Option<String>,
    /// Where a picture is to be had: a `data:` address or a file. `None`: it is only named.
    pub picture: &'a dyn Fn(&Media) -> Option<String>,
}

impl std::fmt::Debug for Config<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Config").field("tools", &self.tools).finish_non_exhaustive()
    }
}

/// How many ways of a fork are told in one transcript.
pub const MOST_WAYS: usize = 100;

/// Writes the head of a document.
pub fn head(format: Format, header: &Header, out: &mut String) {
    match format {
        Format::Markdown => markdown::head(header, out),
        Format::Html => html::head(header, out),
        Format::Json => object::head(header, out),
        Format::Text => plain::head(header, out),
    }
}

/// Returns the first words of a path as the head of a document shows them; every one of its siblings does.
pub fn told(format: Format, words: &str) -> String {
    match format {
        Format::Markdown => markdown::told(words),
        Format::Html => html::told(words),
        Format::Json | Format::Text => String::new(),
    }
}

/// Writes one turn.
pub fn turn(format: Format, session: &Session, turn: &Turn, config: &Config<'_>, out: &mut String) {
    match format {
        Format::Markdown => markdown::turn(turn, config, out),
        Format::Html => html::turn(turn, config, out),
        Format::Json => object::turn(session, turn, config, out),
        Format::Text => plain::turn(turn, config, out),
    }
}

/// Returns what stands between two turns.
pub fn between(format: Format) -> &'static str {
    match format {
        Format::Markdown | Format::Html => "",
        Format::Json => ",",
        Format::Text => "\n",
    }
}

/// A prompt, a fork or a compaction, for the outline of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutlineEntry {
    pub kind: OutlineKind,
    /// The anchor of the turn, escaped.
    anchor: String,
    /// The first words of it, escaped.
    words: String,
}

/// What an entry of an outline leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutlineKind {
    Prompt,
    Fork,
    Compaction,
}

/// Returns the entry of a turn in the outline. `None`: it has none, or the format has no outline.
pub fn outline_entry(format: Format, turn: &Turn) -> Option<OutlineEntry> {
    match format {
        Format::Html => html::outline_entry(turn),
        Format::Markdown | Format::Json | Format::Text => None,
    }
}

/// Writes the outline of a document and what closes it.
pub fn foot_with_outline<'a>(
    format: Format,
    outline: impl Iterator<Item = &'a OutlineEntry>,
    out: &mut String,
) {
    match format {
        Format::Html => html::foot_with_outline(outline, out),
        Format::Markdown | Format::Json | Format::Text => foot(format, out),
    }
}

/// Writes what closes a document.
pub fn foot(format: Format, out: &mut String) {
    match format {
        Format::Markdown | Format::Text => {}
        Format::Html => html::foot(out),
        Format::Json => object::foot(out),
    }
}

//! Writes a path as a self-contained document: Markdown, HTML, JSON or text.
//!
//! A document has a head, its turns and a foot. Turns can be written before the head, which
//! contains totals over all of them. The output does not depend on when or where it is written:
//! the same path gives the same bytes.

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

/// The format of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Markdown,
    Html,
    Json,
    Text,
}

/// How much of tool calls is included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tools {
    None,
    /// Input and result, with long texts shortened.
    Brief,
    Full,
}

/// What a document contains, and how it links to others.
#[derive(Clone, Copy)]
pub struct Config<'a> {
    pub thinking: bool,
    pub tools: Tools,
    /// Paths below this directory are shown relative to it.
    pub cwd: &'a str,
    /// Returns the link to the transcript of another branch, by the branch's last record.
    pub other: &'a dyn Fn(NodeId) -> Option<String>,
    /// Returns the link to the transcript of the agent that a call started.
    pub agent: &'a dyn Fn(&Call) -> Option<String>,
    /// Returns the address of an image, a `data:` URL or a file. `None`: only its name is shown.
    pub picture: &'a dyn Fn(&Media) -> Option<String>,
}

impl std::fmt::Debug for Config<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Config").field("tools", &self.tools).finish_non_exhaustive()
    }
}

/// How many branches of a fork point are listed in one transcript.
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

/// Formats the first words of a path for the heads of documents. All its siblings show them.
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

/// Returns the separator between two turns.
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

/// What an outline entry leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutlineKind {
    Prompt,
    Fork,
    Compaction,
}

/// Returns the outline entry of a turn. `None`: it has none, or the format has no outline.
pub fn outline_entry(format: Format, turn: &Turn) -> Option<OutlineEntry> {
    match format {
        Format::Html => html::outline_entry(turn),
        Format::Markdown | Format::Json | Format::Text => None,
    }
}

/// Writes the outline and the end of a document.
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

/// Writes the end of a document.
pub fn foot(format: Format, out: &mut String) {
    match format {
        Format::Markdown | Format::Text => {}
        Format::Html => html::foot(out),
        Format::Json => object::foot(out),
    }
}

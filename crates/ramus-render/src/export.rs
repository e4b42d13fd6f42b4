//! Writes a path as a self-contained document: Markdown, HTML, JSON or text.
//!
//! A document has a head, its turns and a foot. Turns can be written before the head, which
//! contains totals over all of them. The output does not depend on when or where it is written:
//! the same path gives the same bytes.

mod call;

mod contained_markdown;

mod head;

mod html;

mod markdown;

mod json_object;

mod plain_text;

pub mod site;

mod phrases;

use std::io::{self, Write};

use ramus_core::body::Media;
use ramus_core::session::{NodeId, Session};
use ramus_core::turn::{ToolCall, Turn};

pub use call::{CallDiff, CallSummary, DocumentSection, document_sections, summarize_call};
pub use head::{PathTokens, SiblingPath, TranscriptHeader};
pub use phrases::{compaction_tokens, fallback_text, hook_verb, notification_text};

/// The format of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentFormat {
    Markdown,
    Html,
    Json,
    Text,
}

/// How much of tool calls is included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolDetail {
    None,
    /// Input and result, with long texts shortened.
    Brief,
    Full,
}

/// What a document contains, and how it links to others.
#[derive(Clone, Copy)]
pub struct ExportConfig<'a> {
    pub thinking: bool,
    pub tools: ToolDetail,
    /// Paths below this directory are shown relative to it.
    pub cwd: &'a str,
    /// Returns the link to the transcript of another branch, by the branch's last record.
    pub branch_link: &'a dyn Fn(NodeId) -> Option<String>,
    /// Returns the link to the transcript of the agent that a call started.
    pub agent_link: &'a dyn Fn(&ToolCall) -> Option<String>,
    /// Returns the address of an image, a `data:` URL or a file. `None`: only its name is shown.
    pub picture_link: &'a dyn Fn(&Media) -> Option<String>,
}

impl std::fmt::Debug for ExportConfig<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Config").field("tools", &self.tools).finish_non_exhaustive()
    }
}

/// How many branches of a fork point are listed in one transcript.
pub const MAX_BRANCHES: usize = 100;

/// Writes the head of a document.
pub fn write_head(format: DocumentFormat, header: &TranscriptHeader, out: &mut String) {
    match format {
        DocumentFormat::Markdown => markdown::write_head(header, out),
        DocumentFormat::Html => html::write_head(header, out),
        DocumentFormat::Json => json_object::write_head(header, out),
        DocumentFormat::Text => plain_text::write_head(header, out),
    }
}

/// Formats the first words of a path for the heads of documents. All its siblings show them.
pub fn format_first_words(format: DocumentFormat, words: &str) -> String {
    match format {
        DocumentFormat::Markdown => markdown::format_first_words(words),
        DocumentFormat::Html => html::format_first_words(words),
        DocumentFormat::Json | DocumentFormat::Text => String::new(),
    }
}

/// Writes one turn of a document for people.
pub fn write_turn(
    format: DocumentFormat,
    turn: &Turn,
    config: &ExportConfig<'_>,
    out: &mut String,
) {
    match format {
        DocumentFormat::Markdown => markdown::write_turn(turn, config, out),
        DocumentFormat::Html => html::write_turn(turn, config, out),
        DocumentFormat::Text => plain_text::write_turn(turn, config, out),
        // See `write_json_turn`.
        DocumentFormat::Json => {}
    }
}

/// Writes one turn as JSON, without holding all of what it writes.
pub fn write_json_turn(
    session: &Session,
    turn: &Turn,
    config: &ExportConfig<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    json_object::write_turn(session, turn, config, out)
}

/// Returns the separator between two turns.
pub fn turn_separator(format: DocumentFormat) -> &'static str {
    match format {
        DocumentFormat::Markdown | DocumentFormat::Html => "",
        DocumentFormat::Json => ",",
        DocumentFormat::Text => "\n",
    }
}

/// How many entries an outline has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutlineCounts {
    pub entries: usize,
    pub prompts: usize,
    pub forks: usize,
}

impl OutlineCounts {
    /// Adds the entries of another part of the document.
    pub fn add(&mut self, other: Self) {
        self.entries += other.entries;
        self.prompts += other.prompts;
        self.forks += other.forks;
    }
}

/// Writes the outline entry of a turn, if it has one and the format has an outline.
pub fn write_outline_entry(format: DocumentFormat, turn: &Turn, out: &mut String) -> OutlineCounts {
    match format {
        DocumentFormat::Html => html::write_outline_entry(turn, out),
        DocumentFormat::Markdown | DocumentFormat::Json | DocumentFormat::Text => {
            OutlineCounts::default()
        }
    }
}

/// Writes what comes between the turns and the entries of the outline.
pub fn write_outline_start(format: DocumentFormat, counts: OutlineCounts, out: &mut String) {
    if format == DocumentFormat::Html {
        html::write_outline_start(counts, out);
    }
}

/// Writes what comes after the entries of the outline: the end of the document.
pub fn write_outline_end(format: DocumentFormat, counts: OutlineCounts, out: &mut String) {
    match format {
        DocumentFormat::Html => html::write_outline_end(counts, out),
        DocumentFormat::Markdown | DocumentFormat::Json | DocumentFormat::Text => {
            write_foot(format, out);
        }
    }
}

/// Writes the end of a document.
pub fn write_foot(format: DocumentFormat, out: &mut String) {
    match format {
        DocumentFormat::Markdown | DocumentFormat::Text => {}
        DocumentFormat::Html => html::write_foot(out),
        DocumentFormat::Json => json_object::write_foot(out),
    }
}

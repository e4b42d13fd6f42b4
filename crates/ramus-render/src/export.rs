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

use ramus_core::body::Media;
use ramus_core::session::{NodeId, Session};
use ramus_core::turn::{ToolCall, Turn};

pub use call::{CallDiff, CallSummary, DocumentSection, document_sections, summarize_call};
pub use head::{PathTokens, SiblingPath, TranscriptHeader};

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

/// Writes one turn.
pub fn write_turn(
    format: DocumentFormat,
    session: &Session,
    turn: &Turn,
    config: &ExportConfig<'_>,
    out: &mut String,
) {
    match format {
        DocumentFormat::Markdown => markdown::write_turn(turn, config, out),
        DocumentFormat::Html => html::write_turn(turn, config, out),
        DocumentFormat::Json => json_object::write_turn(session, turn, config, out),
        DocumentFormat::Text => plain_text::write_turn(turn, config, out),
    }
}

/// Returns the separator between two turns.
pub fn turn_separator(format: DocumentFormat) -> &'static str {
    match format {
        DocumentFormat::Markdown | DocumentFormat::Html => "",
        DocumentFormat::Json => ",",
        DocumentFormat::Text => "\n",
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
pub fn outline_entry(format: DocumentFormat, turn: &Turn) -> Option<OutlineEntry> {
    match format {
        DocumentFormat::Html => html::outline_entry(turn),
        DocumentFormat::Markdown | DocumentFormat::Json | DocumentFormat::Text => None,
    }
}

/// Writes the outline and the end of a document.
pub fn write_foot_with_outline<'a>(
    format: DocumentFormat,
    outline: impl Iterator<Item = &'a OutlineEntry>,
    out: &mut String,
) {
    match format {
        DocumentFormat::Html => html::write_foot_with_outline(outline, out),
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

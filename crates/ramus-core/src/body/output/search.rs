//! Search results: files, lines, web pages, tools.

use crate::body::block::WebHit;
use crate::body::fields::Fields;
use crate::body::json::LazyJson;

/// Files whose names match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GlobOutput {
    pub filenames: Vec<String>,
    pub num_files: u64,
    pub duration_ms: u64,
    pub truncated: bool,
}

impl GlobOutput {
    pub(super) fn from_fields(mut fields: Fields) -> Self {
        Self {
            filenames: fields.take_texts("filenames"),
            num_files: fields.count("numFiles"),
            duration_ms: fields.count("durationMs"),
            truncated: fields.flag("truncated"),
        }
    }
}

/// Lines that match, or the files they are in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GrepOutput {
    /// `content`, `files_with_matches` or `count`.
    pub mode: String,
    pub filenames: Vec<String>,
    pub num_files: u64,
    /// `None` if only files were requested.
    pub content: Option<String>,
    pub num_lines: Option<u64>,
    pub num_matches: Option<u64>,
    /// `None`: nothing was cut off.
    pub applied_limit: Option<u64>,
    pub applied_offset: Option<u64>,
}

impl GrepOutput {
    pub(super) fn from_fields(mut fields: Fields) -> Self {
        Self {
            mode: fields.take_string("mode"),
            filenames: fields.take_texts("filenames"),
            num_files: fields.count("numFiles"),
            content: fields.take_text("content"),
            num_lines: fields.number("numLines"),
            num_matches: fields.number("numMatches"),
            applied_limit: fields.number("appliedLimit"),
            applied_offset: fields.number("appliedOffset"),
        }
    }
}

/// A page, as a model read it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebFetchOutput {
    pub url: String,
    pub code: u64,
    pub code_text: String,
    pub bytes: u64,
    pub result: String,
    pub duration_ms: u64,
}

impl WebFetchOutput {
    pub(super) fn from_fields(mut fields: Fields) -> Self {
        Self {
            url: fields.take_string("url"),
            code: fields.count("code"),
            code_text: fields.take_string("codeText"),
            bytes: fields.count("bytes"),
            result: fields.take_string("result"),
            duration_ms: fields.count("durationMs"),
        }
    }
}

/// Pages that a search found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WebSearchOutput {
    pub query: String,
    pub results: Vec<WebFinding>,
    pub duration_seconds: f64,
    pub search_count: Option<u64>,
}

/// What a web search returns: pages, and text about them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WebFinding {
    Hits(Vec<WebHit>),
    Text(String),
}

impl WebSearchOutput {
    pub(super) fn from_fields(mut fields: Fields) -> Self {
        let finding = |value: LazyJson<'_>| match value.as_text() {
            Some(text) => WebFinding::Text(text.into_owned()),
            None => WebFinding::Hits(
                Fields::from_json(value).take_objects("content").map(WebHit::from_fields).collect(),
            ),
        };
        Self {
            query: fields.take_string("query"),
            results: fields.take_list("results").into_iter().map(finding).collect(),
            duration_seconds: fields.float("durationSeconds").unwrap_or(0.0),
            search_count: fields.number("searchCount"),
        }
    }
}

/// Tools that a search found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolSearchOutput {
    pub query: String,
    pub matches: Vec<String>,
    pub total_deferred_tools: u64,
}

impl ToolSearchOutput {
    pub(super) fn from_fields(mut fields: Fields) -> Self {
        Self {
            query: fields.take_string("query"),
            matches: fields.take_texts("matches"),
            total_deferred_tools: fields.count("total_deferred_tools"),
        }
    }
}

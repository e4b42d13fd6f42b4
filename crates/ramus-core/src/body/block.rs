//! The blocks a message is made of.

use super::fields::Fields;
use super::json::LazyJson;
use serde_json::Value;

/// One block of a message's content.
#[derive(Clone, Debug, PartialEq)]
pub enum ContentBlock {
    Text(String),
    Thinking(ThinkingBlock),
    /// Thinking that only the model's server can read, and how long it is.
    RedactedThinking {
        data_len: usize,
    },
    ToolUse(ToolUse),
    /// A tool that ran on the model's server.
    ServerToolUse(ToolUse),
    WebSearchToolResult(WebSearchResult),
    ToolResult(ToolResult),
    Image(Media),
    Document(Media),
    /// The name of a tool that a search found.
    ToolReference(String),
    /// Another model took over here.
    Fallback {
        from: Option<String>,
        to: Option<String>,
    },
    Unknown(Value),
}

/// What the model thought.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThinkingBlock {
    pub text: String,
    /// What the model's server knows it by; empty where none was written.
    pub signature: String,
}

impl ThinkingBlock {
    /// Whether the text was omitted when the record was written, as recent versions always do (R17).
    pub fn is_withheld(&self) -> bool {
        self.text.is_empty()
    }
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolUse {
    pub id: String,
    pub name: String,
    pub input: Value,
    /// The caller: the model itself, or code that it runs on the API's servers.
    pub caller: Option<Value>,
}

/// What a tool answered, as the model saw it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolResult {
    pub tool_use_id: String,
    pub content: Vec<ContentBlock>,
    pub is_error: bool,
}

/// What a web search on the model's server found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebSearchResult {
    pub tool_use_id: String,
    pub hits: Vec<WebHit>,
    pub error: Option<String>,
}

/// One page that a web search found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebHit {
    pub title: String,
    pub url: String,
}

/// An image or a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Media {
    pub media_type: Option<String>,
    pub title: Option<String>,
    pub source: MediaSource,
}

/// Where the content of a [`Media`] is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MediaSource {
    /// In the record, as base64.
    Base64(String),
    /// In the record, as text.
    Text(String),
    Url(String),
    /// In a file store on the server, by its id.
    File(String),
    /// Not recorded, or recorded in an unknown form.
    Absent,
}

impl Media {
    /// Returns the size of the data in the record: base64 characters or bytes of text.
    pub fn data_len(&self) -> usize {
        match &self.source {
            MediaSource::Base64(data) | MediaSource::Text(data) => data.len(),
            MediaSource::Url(_) | MediaSource::File(_) | MediaSource::Absent => 0,
        }
    }

    pub(super) fn from_fields(mut fields: Fields) -> Self {
        let mut source = fields.take_object("source").unwrap_or_default();
        Self {
            media_type: source.take_text("media_type").or_else(|| fields.take_text("mimeType")),
            title: fields.take_text("title"),
            source: match source.peek_text("type").as_deref() {
                Some("text") => source.take_text("data").map(MediaSource::Text),
                Some("url") => source.take_text("url").map(MediaSource::Url),
                Some("file") => source.take_text("file_id").map(MediaSource::File),
                // MCP servers write the data next to the type.
                _ => source
                    .take_text("data")
                    .or_else(|| fields.take_text("data"))
                    .map(MediaSource::Base64),
            }
            .unwrap_or(MediaSource::Absent),
        }
    }
}

impl ContentBlock {
    /// Returns the text of a text block.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn from_json(value: LazyJson<'_>) -> Self {
        if let Some(text) = value.as_text() {
            return Self::Text(text.into_owned());
        }
        let kind = value.get("type").and_then(LazyJson::as_text).unwrap_or_default();
        let block: fn(Fields) -> Self = match &*kind {
            "text" if matches!(value.get("text"), Some(LazyJson::Text(_))) => {
                |mut f| Self::Text(f.take_string("text"))
            }
            "thinking" => |f| Self::Thinking(ThinkingBlock::from_fields(f)),
            "redacted_thinking" => |f| Self::RedactedThinking { data_len: f.text_len("data") },
            "tool_use" => |f| Self::ToolUse(ToolUse::from_fields(f)),
            "server_tool_use" => |f| Self::ServerToolUse(ToolUse::from_fields(f)),
            "web_search_tool_result" => {
                |f| Self::WebSearchToolResult(WebSearchResult::from_fields(f))
            }
            "tool_result" => |f| Self::ToolResult(ToolResult::from_fields(f)),
            "image" => |f| Self::Image(Media::from_fields(f)),
            "document" => |f| Self::Document(Media::from_fields(f)),
            "tool_reference" => |mut f| Self::ToolReference(f.take_string("tool_name")),
            "fallback" => |mut f| Self::Fallback {
                from: model_name(&mut f, "from"),
                to: model_name(&mut f, "to"),
            },
            _ => return Self::Unknown(value.into_value()),
        };
        block(Fields::from_json(value))
    }
}

/// Turns content into blocks: a text is one block, null is none.
pub(super) fn blocks_from_json(content: Option<LazyJson<'_>>) -> Vec<ContentBlock> {
    match content {
        None | Some(LazyJson::Null) => Vec::new(),
        Some(LazyJson::List(blocks)) => blocks.into_iter().map(ContentBlock::from_json).collect(),
        Some(block) => vec![ContentBlock::from_json(block)],
    }
}

/// Returns the texts of the text blocks, joined by line breaks.
pub fn plain_text(blocks: &[ContentBlock]) -> String {
    blocks.iter().filter_map(ContentBlock::as_text).collect::<Vec<_>>().join("\n")
}

fn model_name(fields: &mut Fields, key: &str) -> Option<String> {
    fields.take_text(key).or_else(|| fields.take_object(key)?.take_text("model"))
}

impl ThinkingBlock {
    fn from_fields(mut fields: Fields) -> Self {
        Self { text: fields.take_string("thinking"), signature: fields.take_string("signature") }
    }
}

impl ToolUse {
    fn from_fields(mut fields: Fields) -> Self {
        Self {
            id: fields.take_string("id"),
            name: fields.take_string("name"),
            input: fields.take_value("input").unwrap_or_default(),
            caller: fields.take_value("caller"),
        }
    }
}

impl ToolResult {
    fn from_fields(mut fields: Fields) -> Self {
        Self {
            tool_use_id: fields.take_string("tool_use_id"),
            content: blocks_from_json(fields.take_json("content")),
            is_error: fields.flag("is_error"),
        }
    }
}

impl WebSearchResult {
    fn from_fields(mut fields: Fields) -> Self {
        Self {
            tool_use_id: fields.take_string("tool_use_id"),
            hits: fields.take_objects("content").map(WebHit::from_fields).collect(),
            error: fields
                .take_object("content")
                .and_then(|mut error| error.take_text("error_code")),
        }
    }
}

impl WebHit {
    pub(super) fn from_fields(mut fields: Fields) -> Self {
        Self { title: fields.take_string("title"), url: fields.take_string("url") }
    }
}

#[cfg(test)]
mod tests;

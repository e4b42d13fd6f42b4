//! The blocks a message is made of.

use super::fields::Fields;
use super::json::Json;
use serde_json::Value;

/// One block of a message's content.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    Text(String),
    Thinking(Thinking),
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
pub struct Thinking {
    pub text: String,
    /// What the model's server knows it by; empty where none was written.
    pub signature: String,
}

impl Thinking {
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
    pub content: Vec<Block>,
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

    pub(super) fn of(mut fields: Fields) -> Self {
        let mut source = fields.object("source").unwrap_or_default();
        Self {
            media_type: source.text("media_type").or_else(|| fields.text("mimeType")),
            title: fields.text("title"),
            source: match source.peek_text("type").as_deref() {
                Some("text") => source.text("data").map(MediaSource::Text),
                Some("url") => source.text("url").map(MediaSource::Url),
                Some("file") => source.text("file_id").map(MediaSource::File),
                // MCP servers write the data next to the type.
                _ => source.text("data").or_else(|| fields.text("data")).map(MediaSource::Base64),
            }
            .unwrap_or(MediaSource::Absent),
        }
    }
}

impl Block {
    /// Returns the text of a text block.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn of(value: Json<'_>) -> Self {
        if let Some(text) = value.text() {
            return Self::Text(text.into_owned());
        }
        let kind = value.get("type").and_then(Json::text).unwrap_or_default();
        let block: fn(Fields) -> Self = match &*kind {
            "text" if matches!(value.get("text"), Some(Json::Text(_))) => {
                |mut f| Self::Text(f.string("text"))
            }
            "thinking" => |f| Self::Thinking(Thinking::of(f)),
            "redacted_thinking" => |f| Self::RedactedThinking { data_len: f.text_len("data") },
            "tool_use" => |f| Self::ToolUse(ToolUse::of(f)),
            "server_tool_use" => |f| Self::ServerToolUse(ToolUse::of(f)),
            "web_search_tool_result" => |f| Self::WebSearchToolResult(WebSearchResult::of(f)),
            "tool_result" => |f| Self::ToolResult(ToolResult::of(f)),
            "image" => |f| Self::Image(Media::of(f)),
            "document" => |f| Self::Document(Media::of(f)),
            "tool_reference" => |mut f| Self::ToolReference(f.string("tool_name")),
            "fallback" => {
                |mut f| Self::Fallback { from: model(&mut f, "from"), to: model(&mut f, "to") }
            }
            _ => return Self::Unknown(value.into_value()),
        };
        block(Fields::of(value))
    }
}

/// Turns content into blocks: a text is one block, null is none.
pub(super) fn blocks(content: Option<Json<'_>>) -> Vec<Block> {
    match content {
        None | Some(Json::Null) => Vec::new(),
        Some(Json::List(blocks)) => blocks.into_iter().map(Block::of).collect(),
        Some(block) => vec![Block::of(block)],
    }
}

/// Returns the texts of the text blocks, joined by line breaks.
pub fn plain_text(blocks: &[Block]) -> String {
    blocks.iter().filter_map(Block::text).collect::<Vec<_>>().join("\n")
}

fn model(fields: &mut Fields, key: &str) -> Option<String> {
    fields.text(key).or_else(|| fields.object(key)?.text("model"))
}

impl Thinking {
    fn of(mut fields: Fields) -> Self {
        Self { text: fields.string("thinking"), signature: fields.string("signature") }
    }
}

impl ToolUse {
    fn of(mut fields: Fields) -> Self {
        Self {
            id: fields.string("id"),
            name: fields.string("name"),
            input: fields.take("input").unwrap_or_default(),
            caller: fields.take("caller"),
        }
    }
}

impl ToolResult {
    fn of(mut fields: Fields) -> Self {
        Self {
            tool_use_id: fields.string("tool_use_id"),
            content: blocks(fields.json("content")),
            is_error: fields.flag("is_error"),
        }
    }
}

impl WebSearchResult {
    fn of(mut fields: Fields) -> Self {
        Self {
            tool_use_id: fields.string("tool_use_id"),
            hits: fields.objects("content").map(WebHit::of).collect(),
            error: fields.object("content").and_then(|mut error| error.text("error_code")),
        }
    }
}

impl WebHit {
    pub(super) fn of(mut fields: Fields) -> Self {
        Self { title: fields.string("title"), url: fields.string("url") }
    }
}

#[cfg(test)]
mod tests;

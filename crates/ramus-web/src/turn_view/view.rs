//! The parts of a turn as they are sent to the web app.

use ramus_render::json::ReplyUsage;
use serde::Serialize;

/// One thing a reader sees.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct View {
    /// Its position on the path, and which of the turns there it is.
    pub(crate) at: usize,
    pub(crate) i: usize,
    pub(super) kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub(super) uuid: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub(super) timestamp: Option<String>,
    /// The time of its last record, if that is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub(super) ended: Option<String>,
    /// A word next to the role: the model, `queued`, the trigger of a compaction.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[cfg_attr(test, ts(as = "Option<_>", optional))]
    pub(super) detail: String,
    #[serde(skip_serializing_if = "is_false")]
    #[cfg_attr(test, ts(as = "Option<_>", optional))]
    pub(super) recovered: bool,
    pub(super) parts: Vec<Piece>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub(super) fork: Option<ForkView>,
    /// Tokens, context size and cost of a reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub(super) usage: Option<ReplyUsage>,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// A piece of a turn.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "t", rename_all = "snake_case")]
pub(crate) enum Piece {
    /// Escaped HTML of ours; `cut`: how many bytes there are in all.
    Html {
        html: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        cut: Option<usize>,
    },
    /// Text as it is; `html`: the same read as Markdown.
    Text {
        text: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        html: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        cut: Option<usize>,
    },
    /// A line about something that happened.
    Note {
        text: String,
        bad: bool,
    },
    /// Something to open.
    Fold {
        title: String,
        html: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        cut: Option<usize>,
    },
    Thinking {
        html: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        cut: Option<usize>,
    },
    Call(CallView),
    /// The `n`-th picture of the turn.
    Picture {
        n: usize,
        name: String,
        shown: bool,
    },
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct CallView {
    /// Which of the calls of the turn it is.
    pub(super) n: usize,
    /// `run`, `read`, `edit`, `write`, `grep`, …: selects the icon.
    pub(super) tool: &'static str,
    pub(super) name: String,
    pub(super) subject: String,
    pub(super) outcome: String,
    pub(super) failed: bool,
    pub(super) running: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub(super) agent: Option<String>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct ForkView {
    pub(super) kind: &'static str,
    pub(super) ways: Vec<WayView>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct WayView {
    pub(super) node: String,
    pub(super) leaf: String,
    pub(super) words: String,
    pub(super) timestamp: Option<String>,
    pub(super) messages: u32,
    pub(super) draft: bool,
    pub(super) current: bool,
    pub(super) taken: bool,
}

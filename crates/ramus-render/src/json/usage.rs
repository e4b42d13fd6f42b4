//! The output of `usage`.

mod daily;
mod report;

pub use daily::{BlockRow, DailyRow, DailyUsage, UsageProject, UsageSession, daily_usage};
pub use report::{most_expensive_first, usage_report};

use std::path::Path;

use ramus_core::branches::BranchStatus;
use ramus_core::price::{LIST_DATE, PriceList};
use ramus_core::usage::UsageTotal;
use serde::Serialize;

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Usage {
    /// The time zone that days are of.
    pub zone: String,
    pub since: Option<String>,
    pub until: Option<String>,
    pub prices: Prices,
    pub totals: Amounts,
    pub by_day: Vec<ByTime>,
    pub by_week: Vec<ByTime>,
    pub by_month: Vec<ByTime>,
    /// Messages without a timestamp; only if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub undated: Option<Amounts>,
    pub by_model: Vec<ByModel>,
    pub by_project: Vec<ByProject>,
    pub by_session: Vec<BySession>,
    /// Only if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub by_conversation: Option<Vec<ByConversation>>,
    /// Only if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub branches: Option<Vec<OfBranch>>,
    /// By person or machine of an archive on a server; only if requested, on the command line alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(skip))]
    pub by_source: Option<Vec<BySource>>,
    pub by_branch: ByBranch,
    pub by_line: ByLine,
    /// Models without a price, with their tokens.
    pub unpriced: Vec<Unpriced>,
    /// Only if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub client: Option<Vec<Client>>,
}

/// By which list of prices the cost was made.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Prices {
    /// The day of the list that is built in.
    pub date: &'static str,
    /// A file that changes it.
    pub file: Option<String>,
    pub file_date: Option<String>,
}

impl Prices {
    /// Describes the built-in price list and the file that changes it, if any.
    pub fn new(list: &PriceList, file: Option<&Path>) -> Self {
        Self {
            date: LIST_DATE,
            file: file.map(|file| file.display().to_string()),
            file_date: list.file_date.clone(),
        }
    }
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Amounts {
    pub messages: u64,
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write_5m: u64,
    pub cache_write_1h: u64,
    /// `None`: no model has a known price.
    pub cost_usd: Option<f64>,
    /// Tokens that are not in the cost, because their model has no known price.
    pub unpriced_tokens: u64,
    /// Part of `output`, where the client wrote it down.
    pub thinking: u64,
    pub fast_messages: u64,
    pub web_searches: u64,
    pub web_fetches: u64,
}

impl From<&UsageTotal> for Amounts {
    fn from(sum: &UsageTotal) -> Self {
        let UsageTotal { messages, tokens, cost, unpriced, fast } = *sum;
        Self {
            messages,
            input: tokens.input,
            output: tokens.output,
            cache_read: tokens.cache_read,
            cache_write_5m: tokens.cache_write_5m,
            cache_write_1h: tokens.cache_write_1h,
            cost_usd: (unpriced == 0 || cost > 0.0).then(|| round_dollars(cost)),
            unpriced_tokens: unpriced,
            thinking: tokens.thinking,
            fast_messages: fast,
            web_searches: tokens.web_searches,
            web_fetches: tokens.web_fetches,
        }
    }
}

impl Amounts {
    /// Returns all tokens.
    pub fn total_tokens(&self) -> u64 {
        [self.input, self.output, self.cache_read, self.cache_write_5m, self.cache_write_1h]
            .into_iter()
            .fold(0, u64::saturating_add)
    }
}

/// What a path used: its replies, and the sub-agents that it started.
#[derive(Clone, Debug, Serialize)]
pub struct PathUsage {
    pub replies: Amounts,
    pub agents: Amounts,
}

/// Rounds to nine decimal places, which removes the error of adding up.
pub fn round_dollars(cost: f64) -> f64 {
    (cost * 1e9).round() / 1e9
}

/// A day (`2026-01-31`), a week by its Monday, or a month (`2026-01`).
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ByTime {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub day: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub week: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub month: Option<String>,
    #[serde(flatten)]
    pub amounts: Amounts,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ByModel {
    pub model: String,
    #[serde(flatten)]
    pub amounts: Amounts,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ByProject {
    /// The encoded name.
    pub project: String,
    pub path: Option<String>,
    #[serde(flatten)]
    pub amounts: Amounts,
}

/// What one person, or one machine of a person, used.
#[derive(Clone, Debug, Serialize)]
pub struct BySource {
    pub owner: String,
    /// `None`: all machines of the person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    #[serde(flatten)]
    pub amounts: Amounts,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct BySession {
    pub session: String,
    pub project: String,
    pub title: Option<String>,
    pub last_active: Option<String>,
    #[serde(flatten)]
    pub amounts: Amounts,
    /// Part of it that agents took.
    pub agents_cost_usd: f64,
    /// The part on abandoned branches.
    pub abandoned_cost_usd: f64,
}

/// A whole path, with what it shares with others; these do not add up.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ByConversation {
    pub session: String,
    pub n: usize,
    pub leaf: String,
    #[serde(serialize_with = "super::status_word")]
    #[cfg_attr(feature = "typescript", ts(type = "string"))]
    pub status: BranchStatus,
    pub resumes: bool,
    pub title: Option<String>,
    /// The title that tells it from the other branches, as in `conversations`.
    pub branch_title: Option<String>,
    /// What it begins with after its last fork.
    pub prompt: Option<String>,
    #[serde(flatten)]
    pub amounts: Amounts,
    /// What was spent since the last fork, on nothing but this conversation.
    pub own_cost_usd: f64,
}

/// A segment between two fork points, with its agents; segments add up.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct OfBranch {
    pub session: String,
    /// The record it begins with.
    pub node: String,
    /// The start of its uuid that means no other record of the session; for people.
    #[serde(skip)]
    #[cfg_attr(feature = "typescript", ts(skip))]
    pub short_node: String,
    #[serde(serialize_with = "super::status_word")]
    #[cfg_attr(feature = "typescript", ts(type = "string"))]
    pub status: BranchStatus,
    /// The first prompt on it.
    pub prompt: Option<String>,
    #[serde(flatten)]
    pub amounts: Amounts,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ByBranch {
    pub active: Amounts,
    pub abandoned: Amounts,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ByLine {
    pub main: Amounts,
    pub agents: Amounts,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Unpriced {
    pub model: String,
    pub tokens: u64,
}

/// A session as the client counts it, next to our count.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Client {
    pub session: String,
    pub title: Option<String>,
    pub client_cost_usd: f64,
    pub cost_usd: f64,
    /// Ours less the client's.
    pub difference_usd: f64,
    /// The client did not know some model's price.
    pub client_lacks_prices: bool,
    pub models: Vec<ClientModel>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ClientModel {
    pub model: String,
    pub client_cost_usd: f64,
    pub cost_usd: f64,
    pub client_tokens: u64,
    pub tokens: u64,
}

/// The block of five hours that runs now; a stream of them is written, one a change.
#[derive(Clone, Debug, Serialize)]
pub struct RunningBlock {
    /// `None`: no block is running.
    pub start: Option<String>,
    pub end: Option<String>,
    pub now: String,
    #[serde(flatten)]
    pub amounts: Amounts,
    /// The projected cost at the current rate.
    pub projected_cost_usd: Option<f64>,
}

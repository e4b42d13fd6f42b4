//! A comparison of two conversations.

use std::collections::BTreeMap;

use ramus_core::compare::{ComparedSide, SideFileChange, TextContent};
use ramus_core::price::PriceList;
use ramus_core::time::Time;
use serde::Serialize;

use crate::compare::{ComparedConversations, lines_changed};

/// A comparison; `T` are turns, which may be read while they are written.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(concrete(T = ())))]
pub struct Diff<T> {
    /// Neither side has messages that the other lacks.
    pub same: bool,
    pub a: DiffSide,
    pub b: DiffSide,
    pub common: DiffCommon,
    #[cfg_attr(feature = "typescript", ts(skip))]
    pub only_a: T,
    #[cfg_attr(feature = "typescript", ts(skip))]
    pub only_b: T,
    pub files: Vec<DiffFile>,
    pub tools: BTreeMap<String, DiffTool>,
    pub commands: DiffCommands,
    pub usage: DiffUsage,
}

/// One of the two sides; the counts cover only what it does not share.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DiffSide {
    pub session: String,
    pub leaf: String,
    pub status: &'static str,
    /// What finds it again: `SESSION@N` or `SESSION:UUID`.
    pub address: String,
    pub title: Option<String>,
    pub messages: u32,
    pub prompts: u32,
    pub answers: u32,
    /// Agents that it called; what they did is among the tools, files, commands and tokens.
    pub agents: u32,
    pub started: Option<String>,
    pub ended: Option<String>,
    pub duration_ms: Option<i64>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DiffCommon {
    pub messages: u32,
    /// The last message that both have.
    pub node: Option<String>,
    pub timestamp: Option<String>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DiffFile {
    pub path: String,
    pub a: DiffChange,
    pub b: DiffChange,
    /// `null`: what one of them ends with is not known.
    pub differs: Option<bool>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DiffChange {
    pub changed: bool,
    pub added: usize,
    pub removed: usize,
    /// Whether the final content of the file is known.
    pub known: bool,
    /// Its final content; `null` if unknown or if there is no file.
    pub content: Option<String>,
}

#[derive(Debug, Default, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DiffTool {
    pub a: u32,
    pub b: u32,
    pub failed_a: u32,
    pub failed_b: u32,
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DiffCommands {
    pub a: Vec<DiffCommand>,
    pub b: Vec<DiffCommand>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DiffCommand {
    pub command: String,
    pub error: bool,
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DiffUsage {
    pub a: DiffSpent,
    pub b: DiffSpent,
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DiffSpent {
    pub messages: u64,
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write_5m: u64,
    pub cache_write_1h: u64,
    /// For the models with a known price; `null` if there is none.
    pub cost_usd: Option<f64>,
    /// Messages by model.
    pub models: BTreeMap<String, u64>,
    /// Tokens of the models without a known price.
    pub unpriced: BTreeMap<String, u64>,
}

/// Turns a comparison into what scripts get; `ids` are the session and the leaf of each side,
/// `turns` what only one of them has.
pub fn from_comparison<T>(
    compared: &ComparedConversations<'_>,
    ids: [(&str, &str); 2],
    [only_a, only_b]: [T; 2],
) -> Diff<T> {
    let [a, b] = compared.sides;
    let file = |file: &ramus_core::compare::FilePair| DiffFile {
        path: file.path.clone(),
        a: diff_change(&file.a),
        b: diff_change(&file.b),
        differs: file.contents_differ(),
    };
    Diff {
        same: compared.common.covers_both(),
        a: diff_side(compared, 0, ids[0]),
        b: diff_side(compared, 1, ids[1]),
        common: DiffCommon {
            messages: compared.common.messages,
            node: compared.common.node.clone(),
            timestamp: compared.common.time.map(|time| time.to_string()),
        },
        only_a,
        only_b,
        files: compared.files.iter().map(file).collect(),
        tools: diff_tools(a, b),
        commands: DiffCommands { a: diff_commands(a), b: diff_commands(b) },
        usage: DiffUsage { a: diff_spent(a, compared.prices), b: diff_spent(b, compared.prices) },
    }
}

fn diff_side(
    compared: &ComparedConversations<'_>,
    index: usize,
    (session, leaf): (&str, &str),
) -> DiffSide {
    let (named, side) = (compared.names[index], compared.sides[index]);
    let time = compared.common.own_time[index];
    let written = |time: Option<Time>| time.map(|time| time.to_string());
    DiffSide {
        session: session.to_owned(),
        leaf: leaf.to_owned(),
        status: named.status.as_str(),
        address: named.address.clone(),
        title: named.title.clone(),
        messages: compared.common.own_messages[index],
        prompts: side.prompts,
        answers: side.replies,
        agents: side.agents,
        started: written(time.map(|(from, _)| from)),
        ended: written(time.map(|(_, to)| to)),
        duration_ms: time.map(|(from, to)| to.as_millis() - from.as_millis()),
    }
}

fn diff_change(change: &SideFileChange) -> DiffChange {
    let (added, removed) = lines_changed(change);
    let content = match &change.after {
        TextContent::Text(text) => Some(text.clone()),
        TextContent::Absent | TextContent::Unknown => None,
    };
    let known = change.after != TextContent::Unknown;
    DiffChange { changed: change.changed, added, removed, known, content }
}

fn diff_tools(a: &ComparedSide, b: &ComparedSide) -> BTreeMap<String, DiffTool> {
    let mut tools: BTreeMap<String, DiffTool> = BTreeMap::new();
    for (name, calls) in &a.tools {
        let tool = tools.entry(name.clone()).or_default();
        (tool.a, tool.failed_a) = (calls.made, calls.failed);
    }
    for (name, calls) in &b.tools {
        let tool = tools.entry(name.clone()).or_default();
        (tool.b, tool.failed_b) = (calls.made, calls.failed);
    }
    tools
}

fn diff_commands(side: &ComparedSide) -> Vec<DiffCommand> {
    let ran = side.commands.iter();
    ran.map(|ran| DiffCommand { command: ran.command.clone(), error: ran.failed }).collect()
}

fn diff_spent(side: &ComparedSide, prices: &PriceList) -> DiffSpent {
    let spent = side.usage.total_spent(prices);
    let priced = spent.unpriced.is_empty() || spent.unpriced.len() < spent.models.len();
    DiffSpent {
        messages: spent.sum.messages,
        input: spent.sum.tokens.input,
        output: spent.sum.tokens.output,
        cache_read: spent.sum.tokens.cache_read,
        cache_write_5m: spent.sum.tokens.cache_write_5m,
        cache_write_1h: spent.sum.tokens.cache_write_1h,
        cost_usd: priced.then_some(spent.sum.cost),
        models: spent.models,
        unpriced: spent.unpriced,
    }
}

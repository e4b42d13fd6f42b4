//! Exchanges in short: a prompt and everything up to the next prompt, for outlines and charts of a path.

use super::{ToolAction, ToolCall, Turn, TurnKind};
use crate::body::ToolOutput;
use crate::digest::one_line;
use crate::price::PriceList;
use crate::time::Time;
use crate::usage::{TokenCounts, reply_usage};

/// How much of a prompt is kept, in characters.
const MAX_WORDS: usize = 200;
/// How many changed files of an exchange are named.
const MAX_FILES: usize = 50;

/// What an exchange begins with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExchangeStart {
    /// What comes before the first prompt.
    #[default]
    Nothing,
    Prompt,
    /// A prompt that another agent wrote.
    Task,
    Compaction,
}

impl ExchangeStart {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Nothing => "start",
            Self::Prompt => "prompt",
            Self::Task => "task",
            Self::Compaction => "compaction",
        }
    }
}

/// A prompt and everything up to the next one.
#[derive(Clone, Debug, Default)]
pub struct Exchange {
    pub start: ExchangeStart,
    /// The positions of its first and last message on the path.
    pub at: usize,
    pub end: usize,
    /// The uuid of its first message.
    pub uuid: Option<String>,
    /// The beginning of the prompt, in one line.
    pub words: String,
    pub started: Option<Time>,
    pub ended: Option<Time>,
    pub replies: u32,
    pub calls: u32,
    pub failed_calls: u32,
    /// How many sub-agents it started.
    pub agents: u32,
    /// The files that tools changed, each once.
    pub changed_files: Vec<String>,
    pub tokens: TokenCounts,
    /// `None`: no reply has a known price.
    pub cost: Option<f64>,
    /// The largest context of its replies, in tokens.
    pub context: u64,
}

/// A command that ran in the background.
#[derive(Clone, Debug)]
pub struct BackgroundTask {
    pub id: String,
    /// What it was started for.
    pub words: String,
    /// The position of the message that started it.
    pub at: usize,
    pub started: Option<Time>,
    /// `None`: nothing reports its end.
    pub ended: Option<Time>,
}

/// Collects the exchanges of a path, turn by turn.
#[derive(Debug)]
pub struct ExchangeCollector<'a> {
    prices: &'a PriceList,
    pub exchanges: Vec<Exchange>,
    pub tasks: Vec<BackgroundTask>,
}

impl<'a> ExchangeCollector<'a> {
    pub fn new(prices: &'a PriceList) -> Self {
        Self { prices, exchanges: Vec::new(), tasks: Vec::new() }
    }

    /// Adds the next turn of the path; `ended` is the time of its last record.
    pub fn add_turn(&mut self, at: usize, turn: &Turn, ended: Option<Time>) {
        let (start, words) = match &turn.kind {
            TurnKind::Prompt(prompt) if prompt.delegated => (ExchangeStart::Task, &*prompt.text),
            TurnKind::Prompt(prompt) => (ExchangeStart::Prompt, &*prompt.text),
            TurnKind::Compaction(_) => (ExchangeStart::Compaction, ""),
            _ => (ExchangeStart::Nothing, ""),
        };
        if start != ExchangeStart::Nothing || self.exchanges.is_empty() {
            self.exchanges.push(Exchange {
                start,
                at,
                uuid: turn.uuid.clone(),
                words: one_line(words).chars().take(MAX_WORDS).collect(),
                started: turn.time,
                ..Exchange::default()
            });
        }
        let Some(exchange) = self.exchanges.last_mut() else { return };
        exchange.end = at;
        exchange.started = exchange.started.or(turn.time);
        exchange.ended = exchange.ended.max(ended).max(turn.time);
        if let TurnKind::Reply(reply) = &turn.kind {
            exchange.replies += 1;
            if let Some(usage) = reply_usage(reply, self.prices) {
                exchange.tokens.add(&usage.tokens);
                exchange.context = exchange.context.max(usage.context);
                if let Some(cost) = usage.cost {
                    *exchange.cost.get_or_insert(0.0) += cost;
                }
            }
        }
        if let TurnKind::Notification(news) = &turn.kind {
            let ended = self.tasks.iter_mut().find(|task| news.from.as_deref() == Some(&task.id));
            if let Some(task) = ended {
                task.ended = task.ended.or(turn.time);
            }
        }
        for call in turn.tool_calls() {
            exchange.add_call(call);
            self.tasks.extend(background_task(call).map(|(id, words)| BackgroundTask {
                id: id.to_owned(),
                words: one_line(words).chars().take(MAX_WORDS).collect(),
                at,
                started: call.result.as_ref().and_then(|result| result.time).or(turn.time),
                ended: None,
            }));
        }
    }
}

impl Exchange {
    fn add_call(&mut self, call: &ToolCall) {
        self.calls += 1;
        let failed = call.result.as_ref().is_some_and(|result| result.is_error);
        self.failed_calls += u32::from(failed);
        match call.action() {
            ToolAction::Delegate { .. } => self.agents += 1,
            ToolAction::Edit { path, .. } | ToolAction::Write { path, .. } => {
                let is_new = !self.changed_files.iter().any(|known| known == path);
                if !failed && is_new && self.changed_files.len() < MAX_FILES {
                    self.changed_files.push(path.to_owned());
                }
            }
            _ => {}
        }
    }
}

/// Returns the id of the task that a call started in the background, and its purpose.
fn background_task(call: &ToolCall) -> Option<(&str, &str)> {
    let ToolAction::Run { command, description, .. } = call.action() else { return None };
    let Some(ToolOutput::Bash(output)) = &call.result.as_ref()?.output else { return None };
    let id = output.background_task_id.as_deref()?;
    Some((id, description.unwrap_or(command)))
}

//! Token usage of many messages, each counted once (R20), and its cost.
//!
//! [`UsageLog`] are collected while a file is read, an [`FileUsage`] is the usage of one file, and [`UsageLedger`] combine
//! the usage of many files.

mod daily;
mod file_usage;
mod ledger;
mod message_usage;
mod packed;
mod reply;
#[cfg(test)]
mod tests;

pub use daily::DailyKey;
pub use file_usage::{BranchSegment, FileUsage, UsageLog};
pub use ledger::{
    FileOwner, LedgerEntry, LedgerFile, LedgerTotals, SessionTotal, UsageBlock, UsageLedger,
    UsageOwner,
};
pub use message_usage::{MessageUsage, ModelUsage, SpentUsage, UsageTally};
pub use reply::{AgentUsage, ReplyUsage, RequestUsage, agent_usage, reply_usage};

pub(crate) use reply::keep_largest;

use crate::body::TokenUsage;
use bitcode::{Decode, Encode};

/// Tokens by kind, and server-side tool use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct TokenCounts {
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write_5m: u64,
    pub cache_write_1h: u64,
    /// Part of `output`; 0 where the client did not write it down.
    pub thinking: u64,
    pub web_searches: u64,
    pub web_fetches: u64,
}

impl TokenCounts {
    /// Counts the tokens of one usage.
    pub fn from_usage(usage: &TokenUsage) -> Self {
        let writes = usage.cache_writes();
        Self {
            input: usage.input_tokens,
            output: usage.output_tokens,
            cache_read: usage.cache_read_input_tokens,
            cache_write_5m: writes.five_minutes,
            cache_write_1h: writes.one_hour,
            thinking: usage.thinking_tokens,
            web_searches: usage.web_search_requests,
            web_fetches: usage.web_fetch_requests,
        }
    }

    /// Returns all tokens, whatever became of them.
    pub fn total(&self) -> u64 {
        [self.input, self.output, self.cache_read, self.cache_write_5m, self.cache_write_1h]
            .into_iter()
            .fold(0, u64::saturating_add)
    }

    /// Adds another count.
    pub fn add(&mut self, other: &Self) {
        for (sum, more) in [
            (&mut self.input, other.input),
            (&mut self.output, other.output),
            (&mut self.cache_read, other.cache_read),
            (&mut self.cache_write_5m, other.cache_write_5m),
            (&mut self.cache_write_1h, other.cache_write_1h),
            (&mut self.thinking, other.thinking),
            (&mut self.web_searches, other.web_searches),
            (&mut self.web_fetches, other.web_fetches),
        ] {
            *sum = sum.saturating_add(more);
        }
    }
}

/// A total over many messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Encode, Decode)]
pub struct UsageTotal {
    pub messages: u64,
    pub tokens: TokenCounts,
    /// Dollars for all messages with a known price.
    pub cost: f64,
    /// Tokens of models that have no known price.
    pub unpriced: u64,
    /// Messages made in fast mode.
    pub fast: u64,
}

impl UsageTotal {
    /// Adds another sum.
    pub fn add(&mut self, other: &Self) {
        self.messages += other.messages;
        self.tokens.add(&other.tokens);
        self.cost += other.cost;
        self.unpriced = self.unpriced.saturating_add(other.unpriced);
        self.fast += other.fast;
    }

    /// Adds one message.
    pub fn add_message(&mut self, charge: &MessageUsage) {
        self.messages += 1;
        self.fast += u64::from(charge.fast);
        charge.model_usages().for_each(|part| self.add_model_usage(part));
    }

    /// Adds what one model did for a message that is counted elsewhere.
    pub fn add_model_usage(&mut self, part: &ModelUsage) {
        self.tokens.add(&part.tokens);
        match part.cost {
            Some(cost) => self.cost += cost,
            None => self.unpriced = self.unpriced.saturating_add(part.tokens.total()),
        }
    }
}

//! Token usage of many messages, each counted once (R20), and its cost.
//!
//! [`Uses`] are collected while a file is read, an [`Account`] is the usage of one file, and [`Books`] combine
//! the usage of many files.

mod account;
mod books;
mod message;
mod packed;
mod reply;
#[cfg(test)]
mod tests;

pub use account::{Account, Branch, Uses};
pub use books::{Block, Books, FileAccount, Home, Owner, Post, SessionSum, Sums};
pub use message::{Charge, Part, Spent, Tally};
pub use reply::{AgentUsage, ReplyUsage, ReplyUse, agent_usage, reply_usage};

pub(crate) use reply::note_use;

use crate::body::Usage;
use bitcode::{Decode, Encode};

/// Tokens by kind, and what the server did besides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Tokens {
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

impl Tokens {
    /// Counts the tokens of one usage.
    pub fn of(usage: &Usage) -> Self {
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

    fn add(&mut self, other: &Self) {
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
pub struct Sum {
    pub messages: u64,
    pub tokens: Tokens,
    /// Dollars for all messages with a known price.
    pub cost: f64,
    /// Tokens of models that have no known price.
    pub unpriced: u64,
    /// Messages made in fast mode.
    pub fast: u64,
}

impl Sum {
    /// Adds another sum.
    pub fn add(&mut self, other: &Self) {
        self.messages += other.messages;
        self.tokens.add(&other.tokens);
        self.cost += other.cost;
        self.unpriced = self.unpriced.saturating_add(other.unpriced);
        self.fast += other.fast;
    }

    /// Adds one message.
    pub fn add_charge(&mut self, charge: &Charge) {
        self.messages += 1;
        self.fast += u64::from(charge.fast);
        charge.parts().for_each(|part| self.add_part(part));
    }

    /// Adds what one model did for a message that is counted elsewhere.
    pub fn add_part(&mut self, part: &Part) {
        self.tokens.add(&part.tokens);
        match part.cost {
            Some(cost) => self.cost += cost,
            None => self.unpriced = self.unpriced.saturating_add(part.tokens.total()),
        }
    }
}

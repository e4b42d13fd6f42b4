//! Totals while a session is watched: each message once, at its largest (R20).

use std::collections::VecDeque;
use std::sync::Arc;

use crate::body::{AssistantBody, TokenUsage};
use crate::ids::IdHash;
use crate::price::PriceList;

/// Tokens and what they cost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spending {
    pub messages: u64,
    /// All tokens, including cache reads.
    pub tokens: u64,
    pub output: u64,
    /// Dollars for all messages with a known price.
    pub cost: f64,
    /// Some message has no known price.
    pub unpriced: bool,
    /// The context size of the last request.
    pub context: u64,
}

/// The number of messages that may still grow: several sub-agents write at the same time.
const MAX_OPEN_MESSAGES: usize = 64;

/// Totals, and the messages that may still grow.
#[derive(Clone, Debug, Default)]
pub(super) struct SpendingTracker {
    prices: Arc<PriceList>,
    total: Spending,
    open: VecDeque<OpenMessage>,
}

/// A message that may still grow.
#[derive(Clone, Copy, Debug)]
struct OpenMessage {
    message_id: IdHash,
    request: Option<IdHash>,
    /// A key that stays the same when a merge gives a copy a new id.
    origin: Option<IdHash>,
    counted: CountedUsage,
}

#[derive(Clone, Copy, Debug, Default)]
struct CountedUsage {
    tokens: u64,
    output: u64,
    cost: f64,
}

impl SpendingTracker {
    pub(super) fn new(prices: Arc<PriceList>) -> Self {
        Self { prices, ..Self::default() }
    }

    /// Starts over.
    pub(super) fn reset(&mut self) {
        *self = Self::new(Arc::clone(&self.prices));
    }

    pub(super) fn total(&self) -> &Spending {
        &self.total
    }

    /// Adds one record of a reply; `false`: nothing new was used.
    pub(super) fn add_reply(&mut self, body: &AssistantBody) -> bool {
        let Some(usage) = body.usage.as_ref().filter(|_| !body.is_synthetic()) else {
            return false;
        };
        let key = |id: &String| IdHash::new(id.as_bytes());
        let name = body.message_id.as_ref().map(key);
        let request = body.request_id.as_ref().map(key);
        let origin = body.merge_key();
        let known = self.open.iter().position(|open| {
            let is_copy = origin.is_some() && open.origin == origin;
            is_copy || Some(open.message_id) == name && open.request == request
        });
        let before = known.map(|known| self.open[known].counted).unwrap_or_default();
        if known.is_some() && usage.total_tokens() <= before.tokens {
            return false;
        }
        let now = self.count_usage(body, usage);
        self.total.messages += u64::from(known.is_none());
        self.total.tokens = (self.total.tokens - before.tokens).saturating_add(now.tokens);
        self.total.output = (self.total.output - before.output).saturating_add(now.output);
        self.total.cost += now.cost - before.cost;
        self.total.context = usage.context_tokens();
        match (known, name) {
            (Some(known), _) => self.open[known].counted = now,
            (None, Some(name)) => {
                self.open.push_back(OpenMessage {
                    message_id: name,
                    request,
                    origin,
                    counted: now,
                });
            }
            (None, None) => {}
        }
        if self.open.len() > MAX_OPEN_MESSAGES {
            self.open.pop_front();
        }
        true
    }

    fn count_usage(&mut self, body: &AssistantBody, usage: &TokenUsage) -> CountedUsage {
        let model = body.model.as_deref().unwrap_or_default();
        let cost = body.cost_usd.or_else(|| self.prices.message_cost(model, usage));
        self.total.unpriced |= cost.is_none();
        CountedUsage {
            tokens: usage.total_tokens(),
            output: usage.output_tokens,
            cost: cost.unwrap_or(0.0),
        }
    }
}

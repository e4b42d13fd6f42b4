//! What is spent while somebody watches: each message once, at its largest (R20).

use std::collections::VecDeque;
use std::sync::Arc;

use crate::body::{AssistantBody, Usage};
use crate::name::Key;
use crate::price::PriceList;

/// Tokens and what they cost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spending {
    pub messages: u64,
    /// All tokens, those read from the cache too.
    pub tokens: u64,
    pub output: u64,
    /// Dollars for all messages whose price is known.
    pub cost: f64,
    /// Some message has no known price.
    pub unpriced: bool,
    /// How much the model had before it the last time.
    pub context: u64,
}

/// How many messages may still grow: several agents write theirs at once.
const OPEN: usize = 64;

/// Sums, and the messages that may still grow.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledger {
    prices: Arc<PriceList>,
    total: Spending,
    open: VecDeque<Open>,
}

/// A message of which more may come.
#[derive(Clone, Copy, Debug)]
struct Open {
    name: Key,
    request: Option<Key>,
    /// What stays the same where a merge gave a copy another name.
    origin: Option<Key>,
    counted: Counted,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    tokens: u64,
    output: u64,
    cost: f64,
}

impl Ledger {
    pub(super) fn new(prices: Arc<PriceList>) -> Self {
        Self { prices, ..Self::default() }
    }

    /// Begins anew.
    pub(super) fn forget(&mut self) {
        *self = Self::new(Arc::clone(&self.prices));
    }

    pub(super) fn total(&self) -> &Spending {
        &self.total
    }

    /// Takes one record of an answer; `false`: nothing new was spent.
    pub(super) fn take(&mut self, body: &AssistantBody) -> bool {
        let Some(usage) = body.usage.as_ref().filter(|_| !body.is_synthetic()) else {
            return false;
        };
        let key = |id: &String| Key::new(id.as_bytes());
        let name = body.message_id.as_ref().map(key);
        let request = body.request_id.as_ref().map(key);
        let origin = body.origin();
        let known = self.open.iter().position(|open| {
            let is_copy = origin.is_some() && open.origin == origin;
            is_copy || Some(open.name) == name && open.request == request
        });
        let before = known.map(|known| self.open[known].counted).unwrap_or_default();
        if known.is_some() && usage.total_tokens() <= before.tokens {
            return false;
        }
        let now = self.count(body, usage);
        self.total.messages += u64::from(known.is_none());
        self.total.tokens = (self.total.tokens - before.tokens).saturating_add(now.tokens);
        self.total.output = (self.total.output - before.output).saturating_add(now.output);
        self.total.cost += now.cost - before.cost;
        self.total.context = usage.context_tokens();
        match (known, name) {
            (Some(known), _) => self.open[known].counted = now,
            (None, Some(name)) => {
                self.open.push_back(Open { name, request, origin, counted: now });
            }
            (None, None) => {}
        }
        if self.open.len() > OPEN {
            self.open.pop_front();
        }
        true
    }

    fn count(&mut self, body: &AssistantBody, usage: &Usage) -> Counted {
        let model = body.model.as_deref().unwrap_or_default();
        let cost = body.cost_usd.or_else(|| self.prices.cost(model, usage));
        self.total.unpriced |= cost.is_none();
        Counted {
            tokens: usage.total_tokens(),
            output: usage.output_tokens,
            cost: cost.unwrap_or(0.0),
        }
    }
}

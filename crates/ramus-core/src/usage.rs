//! The tokens of many messages, each counted once (R20).

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::body::{AssistantBody, Usage};
use crate::name::Key;
use crate::price;

/// Messages seen so far, each with the largest usage that any of its records states.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    messages: FxHashMap<MessageKey, Message>,
}

/// One message: its id and request, or a number where it has no id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum MessageKey {
    Named(Key, Option<Key>),
    Nameless(usize),
}

#[derive(Clone, Debug)]
struct Message {
    model: String,
    usage: Usage,
    /// What the client itself noted; only the oldest did.
    noted: Option<f64>,
}

impl Tally {
    /// Takes one record of an answer; what the client said itself costs nothing.
    pub fn take(&mut self, body: &AssistantBody) {
        let Some(usage) = &body.usage else { return };
        if body.is_synthetic() {
            return;
        }
        let key = |id: &String| Key::new(id.as_bytes());
        let key = match &body.message_id {
            Some(id) => MessageKey::Named(key(id), body.request_id.as_ref().map(key)),
            None => MessageKey::Nameless(self.messages.len()),
        };
        let message = Message {
            model: body.model.clone().unwrap_or_default(),
            usage: usage.clone(),
            noted: body.cost_usd,
        };
        let held = self.messages.entry(key).or_insert_with(|| message.clone());
        if usage.total_tokens() > held.usage.total_tokens() {
            *held = message;
        }
    }

    /// Sums up.
    pub fn spent(&self) -> Spent {
        let mut spent = Spent::default();
        for message in self.messages.values() {
            spent.add(message);
        }
        spent
    }
}

/// Tokens and what they cost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spent {
    pub messages: u64,
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write_5m: u64,
    pub cache_write_1h: u64,
    /// Dollars for all messages whose price is known.
    pub cost: f64,
    /// How many messages each model gave.
    pub models: BTreeMap<String, u64>,
    /// Tokens of the models that have no known price.
    pub unpriced: BTreeMap<String, u64>,
}

impl Spent {
    /// Returns all tokens, whatever became of them.
    pub fn tokens(&self) -> u64 {
        [self.input, self.output, self.cache_read, self.cache_write_5m, self.cache_write_1h]
            .into_iter()
            .fold(0, u64::saturating_add)
    }

    fn add(&mut self, Message { model, usage, noted }: &Message) {
        let writes = usage.cache_writes();
        self.messages += 1;
        for (sum, tokens) in [
            (&mut self.input, usage.input_tokens),
            (&mut self.output, usage.output_tokens),
            (&mut self.cache_read, usage.cache_read_input_tokens),
            (&mut self.cache_write_5m, writes.five_minutes),
            (&mut self.cache_write_1h, writes.one_hour),
        ] {
            *sum = sum.saturating_add(tokens);
        }
        *self.models.entry(model.clone()).or_default() += 1;
        match noted.or_else(|| price::cost(model, usage)) {
            Some(cost) => self.cost += cost,
            None => {
                let tokens = self.unpriced.entry(model.clone()).or_default();
                *tokens = tokens.saturating_add(usage.total_tokens());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(id: &str, request: &str, model: &str, output: u64) -> AssistantBody {
        AssistantBody {
            message_id: (!id.is_empty()).then(|| id.to_owned()),
            request_id: (!request.is_empty()).then(|| request.to_owned()),
            model: Some(model.to_owned()),
            usage: Some(Usage { output_tokens: output, ..Usage::default() }),
            ..AssistantBody::default()
        }
    }

    #[track_caller]
    fn check(bodies: &[AssistantBody], messages: u64, output: u64) -> Spent {
        let mut tally = Tally::default();
        bodies.iter().for_each(|body| tally.take(body));
        let spent = tally.spent();
        assert_eq!((spent.messages, spent.output), (messages, output));
        spent
    }

    #[test]
    fn the_largest_of_a_message_counts_once() {
        let model = "claude-opus-5";
        check(
            &[
                body("m", "r", model, 2),
                body("m", "r", model, 9),
                body("m", "r", model, 5),
                body("m", "s", model, 1),
                body("n", "", model, 3),
                body("n", "", model, 3),
            ],
            3,
            13,
        );
    }

    #[test]
    fn messages_without_an_id_are_all_counted() {
        check(&[body("", "", "claude-opus-5", 2), body("", "", "claude-opus-5", 2)], 2, 4);
    }

    #[test]
    fn models_without_a_price_are_named() {
        let million = 1_000_000;
        let spent = check(
            &[body("a", "", "claude-opus-5", million), body("b", "", "glm-5", million)],
            2,
            2 * million,
        );
        assert_eq!(spent.unpriced, BTreeMap::from([("glm-5".to_owned(), million)]));
        assert!((spent.cost - 25.0).abs() < 1e-9, "{}", spent.cost);
    }

    #[test]
    fn what_the_client_noted_or_said_itself() {
        let noted = AssistantBody { cost_usd: Some(0.5), ..body("a", "", "old", 7) };
        let spent = check(&[noted, body("b", "", "<synthetic>", 0)], 1, 7);
        assert!((spent.cost - 0.5).abs() < 1e-9 && spent.unpriced.is_empty());
    }
}

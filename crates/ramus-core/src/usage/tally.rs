//! The tokens of some messages whose bodies are at hand, each counted once.

use std::collections::BTreeMap;
use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use super::{ReplyUse, Sum};
use crate::body::AssistantBody;
use crate::name::Key;
use crate::price::PriceList;

/// Messages seen so far, each with the largest usage that any of its records states.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    messages: FxHashMap<MessageKey, ReplyUse>,
    /// Those that a merge copied, by what stays the same of them.
    merged: FxHashMap<Key, MessageKey>,
}

/// One message: its id and request, or a number where it has no id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum MessageKey {
    Named(Key, Option<Key>),
    Nameless(usize),
}

impl Tally {
    /// Takes one record of an answer; what the client said itself costs nothing.
    pub fn take(&mut self, body: &AssistantBody) {
        if let Some(used) = ReplyUse::of(body) {
            self.add(used);
        }
    }

    /// Takes what a request used; `false`: it was counted before, with at least as much.
    pub fn add(&mut self, used: ReplyUse) -> bool {
        let key = match used.message {
            Some(message) => MessageKey::Named(message, used.request),
            None => MessageKey::Nameless(self.messages.len()),
        };
        let key = match used.origin {
            Some(origin) => *self.merged.entry(origin).or_insert(key),
            None => key,
        };
        match self.messages.entry(key) {
            Entry::Vacant(free) => {
                free.insert(used);
                true
            }
            Entry::Occupied(mut held) => {
                let larger = used.usage.total_tokens() > held.get().usage.total_tokens();
                if larger {
                    held.insert(used);
                }
                larger
            }
        }
    }

    /// Sums up.
    pub fn spent(&self, prices: &PriceList) -> Spent {
        let mut spent = Spent::default();
        for message in self.messages.values() {
            spent.add(message, prices);
        }
        spent
    }
}

/// Tokens and what they cost, by model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spent {
    pub sum: Sum,
    /// How many messages each model gave.
    pub models: BTreeMap<String, u64>,
    /// Tokens of the models that have no known price.
    pub unpriced: BTreeMap<String, u64>,
}

impl Spent {
    fn add(&mut self, used: &ReplyUse, prices: &PriceList) {
        self.sum.messages += 1;
        self.sum.fast += u64::from(used.usage.is_fast());
        *self.models.entry(used.model.clone()).or_default() += 1;
        for part in used.parts(prices) {
            self.sum.add_part(&part);
            if part.cost.is_none() {
                let unpriced = self.unpriced.entry(used.model.clone()).or_default();
                *unpriced = unpriced.saturating_add(part.tokens.total());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::Usage;

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
        let spent = tally.spent(&PriceList::default());
        assert_eq!((spent.sum.messages, spent.sum.tokens.output), (messages, output));
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
    fn a_reply_that_a_merge_wrote_twice_counts_once() {
        let merged = |id: &str, request: &str| AssistantBody {
            merged_from: Some("a".to_owned()),
            ..body(id, request, "claude-opus-5", 7)
        };
        check(
            &[merged("m", "r"), merged("msg_new", "r"), body("n", "s", "claude-opus-5", 1)],
            2,
            8,
        );
        check(&[merged("m", ""), merged("msg_new", "")], 1, 7);
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
        assert!((spent.sum.cost - 25.0).abs() < 1e-9, "{}", spent.sum.cost);
    }

    #[test]
    fn what_the_client_noted_or_said_itself() {
        let noted = AssistantBody { cost_usd: Some(0.5), ..body("a", "", "old", 7) };
        let spent = check(&[noted, body("b", "", "<synthetic>", 0)], 1, 7);
        assert!((spent.sum.cost - 0.5).abs() < 1e-9 && spent.unpriced.is_empty());
    }
}

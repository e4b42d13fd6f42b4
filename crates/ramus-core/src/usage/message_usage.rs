//! The usage of one message, wherever its records are: counted once (R20).

use std::collections::BTreeMap;
use std::collections::hash_map::Entry;

use bitcode::{Decode, Encode};
use rustc_hash::FxHashMap;

use super::file_usage::{BucketKey, QuarterHour, UsageBucket};
use super::packed::{PackedUsage, UsageTerms};
use super::{RequestUsage, TokenCounts, UsageTotal};
use crate::body::AssistantBody;
use crate::ids::IdHash;
use crate::price::PriceList;
use crate::time::Time;

/// The usage of one message.
#[derive(Clone, Debug, Encode, Decode)]
pub struct MessageUsage {
    pub message: Option<IdHash>,
    /// `None` if the reply did not come from the API itself but through a gateway.
    pub request: Option<IdHash>,
    /// The earliest time of its records.
    pub time: Option<Time>,
    /// It belongs to a sub-agent.
    pub sidechain: bool,
    /// Its branch, by the number in the [`FileUsage`](super::FileUsage) of its file.
    pub segment: u32,
    /// It was made in fast mode, which has its own price.
    pub fast: bool,
    pub first_model: ModelUsage,
    /// The usage of models that took over within the message.
    pub other_models: Vec<ModelUsage>,
}

/// The usage of one model for a message.
#[derive(Clone, Copy, Debug, Encode, Decode)]
pub struct ModelUsage {
    /// The model's number in the same file or ledger.
    pub model: u16,
    pub tokens: TokenCounts,
    /// `None`: the model is not on the list of prices.
    pub cost: Option<f64>,
}

impl MessageUsage {
    /// Returns the usage of each model, in order.
    pub fn model_usages(&self) -> impl Iterator<Item = &ModelUsage> {
        std::iter::once(&self.first_model).chain(&self.other_models)
    }

    /// Returns the usage of each model as a bucket; the message counts in the first.
    pub(super) fn buckets(&self) -> impl Iterator<Item = UsageBucket> {
        self.model_usages().enumerate().map(|(n, part)| {
            let first = u64::from(n == 0);
            let fast = first * u64::from(self.fast);
            let mut sum = UsageTotal { messages: first, fast, ..UsageTotal::default() };
            sum.add_model_usage(part);
            let quarter = self.time.map(QuarterHour::containing);
            let Self { segment: branch, sidechain, .. } = *self;
            UsageBucket {
                key: BucketKey { segment: branch, sidechain, model: part.model, quarter },
                total: sum,
            }
        })
    }

    pub(super) fn model_usages_mut(&mut self) -> impl Iterator<Item = &mut ModelUsage> {
        std::iter::once(&mut self.first_model).chain(&mut self.other_models)
    }

    /// Returns all tokens of the message.
    pub fn total_tokens(&self) -> u64 {
        self.model_usages().map(|part| part.tokens.total()).fold(0, u64::saturating_add)
    }

    /// Merges another record of the same message: the largest usage counts, the earliest time, and the
    /// main chain as its place.
    pub(super) fn merge_record(&mut self, other: Self) {
        self.time = match (self.time, other.time) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        if self.is_better_placed(&other) {
            (self.sidechain, self.segment, self.request) = (false, other.segment, other.request);
        }
        if other.total_tokens() > self.total_tokens() {
            (self.fast, self.first_model, self.other_models) =
                (other.fast, other.first_model, other.other_models);
        }
    }

    /// Whether the other record shows better where the message belongs: a side question repeats
    /// messages of the main chain.
    pub(super) fn is_better_placed(&self, other: &Self) -> bool {
        self.sidechain && !other.sidechain
    }
}

/// Finds a message that is already counted.
#[derive(Debug, Default)]
pub(super) struct MessageIndex {
    first: FxHashMap<IdHash, u32>,
    /// Further requests for a message.
    later: FxHashMap<IdHash, Vec<u32>>,
}

impl MessageIndex {
    /// Finds the index of a message; `held` returns request and sidechain of an added one.
    ///
    /// Message and request identify it. The message alone does if a request is missing, and in sidechains:
    /// a side question sends what it repeats with a new request.
    pub(super) fn find_message(
        &self,
        message_usage: &MessageUsage,
        held: impl Fn(usize) -> (Option<IdHash>, bool),
    ) -> Option<usize> {
        let message = message_usage.message?;
        let first = *self.first.get(&message)? as usize;
        let loose = |(request, sidechain): (Option<IdHash>, bool)| sidechain || request.is_none();
        let same = |place: usize| held(place).0 == message_usage.request;
        if loose((message_usage.request, message_usage.sidechain))
            || loose(held(first))
            || same(first)
        {
            return Some(first);
        }
        let mut later = self.later.get(&message)?.iter().map(|place| *place as usize);
        later.find(|place| same(*place))
    }

    /// Adds the index of a message that was not found.
    pub(super) fn add_message(&mut self, message: Option<IdHash>, place: usize) {
        let Some(message) = message else { return };
        match self.first.entry(message) {
            Entry::Vacant(first) => _ = first.insert(place as u32),
            Entry::Occupied(_) => self.later.entry(message).or_default().push(place as u32),
        }
    }
}

/// Messages counted so far, each with the largest usage of its records.
#[derive(Clone, Debug, Default)]
pub struct UsageTally {
    messages: FxHashMap<MessageKey, PackedReply>,
    models: Vec<String>,
    model_numbers: FxHashMap<String, u32>,
    terms: UsageTerms,
    /// Those that a merge copied, by the key that stays the same.
    merged: FxHashMap<IdHash, MessageKey>,
}

/// What a reply used, without what names it.
#[derive(Clone, Debug)]
struct PackedReply {
    usage: PackedUsage,
    model: u32,
    /// What the client itself noted as the cost; `NaN` where it did not.
    noted_cost: f64,
}

/// One message: its id and request, or a number where it has no id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum MessageKey {
    Named(IdHash, Option<IdHash>),
    Nameless(usize),
}

impl UsageTally {
    /// Adds one record of a reply; messages written by the client itself cost nothing.
    pub fn add_reply(&mut self, body: &AssistantBody) {
        if let Some(used) = RequestUsage::from_body(body) {
            self.add_request(used);
        }
    }

    /// Adds the usage of a request; `false`: it was counted before, with at least as much.
    pub fn add_request(&mut self, used: RequestUsage) -> bool {
        let key = match used.message {
            Some(message) => MessageKey::Named(message, used.request),
            None => MessageKey::Nameless(self.messages.len()),
        };
        let key = match used.origin {
            Some(origin) => *self.merged.entry(origin).or_insert(key),
            None => key,
        };
        let held = self.messages.get(&key).map(|held| self.terms.unpack_usage(&held.usage));
        let counts = held.is_none_or(|held| used.usage.total_tokens() > held.total_tokens());
        if counts {
            let packed = self.pack_reply(used);
            self.messages.insert(key, packed);
        }
        counts
    }

    fn pack_reply(&mut self, used: RequestUsage) -> PackedReply {
        let known = self.model_numbers.get(&used.model).copied();
        let model = known.unwrap_or_else(|| {
            let number = self.models.len() as u32;
            self.models.push(used.model.clone());
            self.model_numbers.insert(used.model, number);
            number
        });
        PackedReply {
            usage: self.terms.pack_usage(used.usage),
            model,
            noted_cost: used.noted_cost.unwrap_or(f64::NAN),
        }
    }

    /// Returns the total.
    pub fn total_spent(&self, prices: &PriceList) -> SpentUsage {
        let mut spent = SpentUsage::default();
        for held in self.messages.values() {
            let model = self.models.get(held.model as usize).cloned().unwrap_or_default();
            let noted = Some(held.noted_cost).filter(|noted| !noted.is_nan());
            spent.add(
                &RequestUsage::without_identity(model, self.terms.unpack_usage(&held.usage), noted),
                prices,
            );
        }
        spent
    }
}

/// Tokens and their cost, by model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SpentUsage {
    pub sum: UsageTotal,
    /// The number of messages by model.
    pub models: BTreeMap<String, u64>,
    /// Tokens of the models that have no known price.
    pub unpriced: BTreeMap<String, u64>,
}

impl SpentUsage {
    fn add(&mut self, used: &RequestUsage, prices: &PriceList) {
        self.sum.messages += 1;
        self.sum.fast += u64::from(used.usage.is_fast());
        *self.models.entry(used.model.clone()).or_default() += 1;
        for part in used.model_usages(prices) {
            self.sum.add_model_usage(&part);
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
    use crate::body::TokenUsage;

    fn body(id: &str, request: &str, model: &str, output: u64) -> AssistantBody {
        AssistantBody {
            message_id: (!id.is_empty()).then(|| id.to_owned()),
            request_id: (!request.is_empty()).then(|| request.to_owned()),
            model: Some(model.to_owned()),
            usage: Some(TokenUsage { output_tokens: output, ..TokenUsage::default() }),
            ..AssistantBody::default()
        }
    }

    #[track_caller]
    fn check(bodies: &[AssistantBody], messages: u64, output: u64) -> SpentUsage {
        let mut tally = UsageTally::default();
        bodies.iter().for_each(|body| tally.add_reply(body));
        let spent = tally.total_spent(&PriceList::default());
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

//! The usage of one reply of a transcript: tokens, cost and context size.

use super::{ModelUsage, TokenCounts, UsageTotal};
use crate::body::{AssistantBody, TokenUsage, ToolOutput};
use crate::ids::IdHash;
use crate::price::{PriceList, searches_cost};
use crate::turn::{Reply, ToolCall};

/// One request for a reply: its identity (R20) and usage.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestUsage {
    pub message: Option<IdHash>,
    pub(super) request: Option<IdHash>,
    /// A key that stays the same when a merge gives the copy of a reply a new id.
    pub(super) origin: Option<IdHash>,
    pub model: String,
    pub usage: TokenUsage,
    /// The cost recorded by the client; only the oldest did.
    pub noted_cost: Option<f64>,
}

impl RequestUsage {
    /// Reads the usage of one record; `None`: the client wrote it, or nothing is recorded.
    pub fn from_body(body: &AssistantBody) -> Option<Self> {
        let usage = body.usage.clone().filter(|_| !body.is_synthetic())?;
        let key = |id: &String| IdHash::new(id.as_bytes());
        Some(Self {
            message: body.message_id.as_ref().map(key),
            request: body.request_id.as_ref().map(key),
            origin: body.merge_key(),
            model: body.model.clone().unwrap_or_default(),
            usage,
            noted_cost: body.cost_usd,
        })
    }

    /// Makes one that nothing names.
    pub(super) fn without_identity(
        model: String,
        usage: TokenUsage,
        noted_cost: Option<f64>,
    ) -> Self {
        Self { message: None, request: None, origin: None, model, usage, noted_cost }
    }

    /// Identifies the request by its message alone, as in sidechains.
    pub fn forget_request(&mut self) {
        self.request = None;
    }

    fn is_same_request(&self, other: &Self) -> bool {
        (self.message, self.request) == (other.message, other.request)
    }

    /// Returns the usage of each model; several if another one took over.
    pub(super) fn model_usages(&self, prices: &PriceList) -> Vec<ModelUsage> {
        let usage = &self.usage;
        if usage.iterations.len() < 2 {
            let cost = self.noted_cost.or_else(|| prices.message_cost(&self.model, usage));
            return vec![ModelUsage { model: 0, tokens: TokenCounts::from_usage(usage), cost }];
        }
        let run = |run: &crate::body::ModelRun| {
            let model = run.model.as_deref().unwrap_or(&self.model);
            let cost = prices.tokens_cost(model, &run.usage, usage);
            ModelUsage { model: 0, tokens: TokenCounts::from_usage(&run.usage), cost }
        };
        let mut parts: Vec<ModelUsage> = usage.iterations.iter().map(run).collect();
        // Searches and thinking are counted for the whole message.
        let first = &mut parts[0];
        first.cost = first.cost.map(|cost| cost + searches_cost(usage));
        first.tokens.web_searches = usage.web_search_requests;
        first.tokens.web_fetches = usage.web_fetch_requests;
        first.tokens.thinking = usage.thinking_tokens;
        parts
    }
}

/// Keeps the largest usage that a record states for its request.
pub(crate) fn keep_largest(uses: &mut Vec<RequestUsage>, new: RequestUsage) {
    match uses.iter_mut().find(|held| held.is_same_request(&new)) {
        Some(held) if held.usage.total_tokens() < new.usage.total_tokens() => *held = new,
        Some(_) => {}
        None => uses.push(new),
    }
}

/// The usage and cost of a reply.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ReplyUsage {
    pub tokens: TokenCounts,
    /// `None`: a model that took part has no known price.
    pub cost: Option<f64>,
    /// The context size: input, cache reads and cache writes of the request.
    pub context: u64,
}

/// Returns the usage of a reply; `None`: nothing is recorded.
pub fn reply_usage(answer: &Reply, prices: &PriceList) -> Option<ReplyUsage> {
    let mut sum = UsageTotal::default();
    for part in answer.requests.iter().flat_map(|one| one.model_usages(prices)) {
        sum.add_model_usage(&part);
    }
    let last = answer.requests.last()?;
    Some(ReplyUsage {
        tokens: sum.tokens,
        cost: (sum.unpriced == 0).then_some(sum.cost),
        context: last.usage.context_tokens(),
    })
}

/// The usage of a sub-agent, as far as the result of its call has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentUsage {
    /// All tokens, by the client's own count.
    pub tokens: u64,
    pub tool_calls: Option<u64>,
    pub duration_ms: Option<u64>,
}

/// Returns the usage of the sub-agent of a call, if its result has it.
pub fn agent_usage(call: &ToolCall) -> Option<AgentUsage> {
    let Some(ToolOutput::Agent(output)) = &call.result.as_ref()?.output else { return None };
    let tokens = output.total_tokens.or_else(|| Some(output.usage.as_ref()?.total_tokens()))?;
    Some(AgentUsage {
        tokens,
        tool_calls: output.total_tool_use_count,
        duration_ms: output.total_duration_ms,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::{AgentOutput, ModelRun};
    use crate::turn::ToolOutcome;

    fn body(request: &str, output: u64) -> AssistantBody {
        AssistantBody {
            message_id: Some("m".to_owned()),
            request_id: Some(request.to_owned()),
            model: Some("claude-opus-5".to_owned()),
            usage: Some(TokenUsage {
                input_tokens: 10,
                cache_read_input_tokens: 1_000_000,
                cache_creation_input_tokens: 100,
                output_tokens: output,
                ..TokenUsage::default()
            }),
            ..AssistantBody::default()
        }
    }

    fn answer(bodies: &[AssistantBody]) -> Reply {
        let mut answer = Reply::default();
        for body in bodies {
            RequestUsage::from_body(body)
                .into_iter()
                .for_each(|one| keep_largest(&mut answer.requests, one));
        }
        answer
    }

    #[test]
    fn the_largest_of_a_request_counts_once() {
        let reply = answer(&[body("r", 1), body("r", 40), body("r", 3)]);
        let usage = reply_usage(&reply, &PriceList::default()).unwrap();
        assert_eq!((usage.tokens.output, usage.tokens.cache_read), (40, 1_000_000));
        assert_eq!(usage.context, 1_000_110);
        let dollars = (10.0 * 5.0 + 1e6 * 0.5 + 100.0 * 6.25 + 40.0 * 25.0) / 1e6;
        assert!((usage.cost.unwrap() - dollars).abs() < 1e-9, "{usage:?}");
    }

    #[test]
    fn a_reply_that_was_asked_for_twice_counts_both_and_shows_the_last_context() {
        let mut second = body("s", 2);
        second.usage.as_mut().unwrap().input_tokens = 7;
        let usage = reply_usage(&answer(&[body("r", 1), second]), &PriceList::default()).unwrap();
        assert_eq!((usage.tokens.output, usage.tokens.input), (3, 17));
        assert_eq!(usage.context, 1_000_107);
    }

    #[test]
    fn a_model_without_a_price_has_tokens_and_no_cost() {
        let other = AssistantBody { model: Some("glm-5".to_owned()), ..body("r", 9) };
        let usage = reply_usage(&answer(&[other]), &PriceList::default()).unwrap();
        assert_eq!((usage.tokens.output, usage.cost), (9, None));
    }

    #[test]
    fn synthetic_messages_use_nothing() {
        let synthetic = AssistantBody { model: Some("<synthetic>".to_owned()), ..body("r", 9) };
        assert_eq!(reply_usage(&answer(&[synthetic]), &PriceList::default()), None);
        assert_eq!(reply_usage(&Reply::default(), &PriceList::default()), None);
    }

    #[test]
    fn models_that_took_over_are_added_up() {
        let run = |model: &str, output_tokens: u64| ModelRun {
            model: Some(model.to_owned()),
            usage: TokenUsage { output_tokens, ..TokenUsage::default() },
        };
        let mut fell_back = body("r", 5);
        fell_back.usage.as_mut().unwrap().iterations =
            vec![run("claude-opus-5", 1_000_000), run("claude-haiku-4-5", 1_000_000)];
        let usage = reply_usage(&answer(&[fell_back]), &PriceList::default()).unwrap();
        assert_eq!(usage.tokens.output, 2_000_000);
        assert!((usage.cost.unwrap() - 30.0).abs() < 1e-9, "{usage:?}");
    }

    #[test]
    fn a_sub_agent_reports_its_usage() {
        let call = |output: AgentOutput| ToolCall {
            result: Some(ToolOutcome {
                output: Some(ToolOutput::Agent(Box::new(output))),
                ..ToolOutcome::empty_at(None, None)
            }),
            ..ToolCall::default()
        };
        let total = AgentOutput { total_tokens: Some(1234), ..AgentOutput::default() };
        assert_eq!(agent_usage(&call(total)).unwrap().tokens, 1234);
        let usage = Some(TokenUsage { input_tokens: 3, output_tokens: 4, ..TokenUsage::default() });
        let last = AgentOutput { usage, ..AgentOutput::default() };
        assert_eq!(agent_usage(&call(last)).unwrap().tokens, 7);
        assert_eq!(agent_usage(&call(AgentOutput::default())), None);
        assert_eq!(agent_usage(&ToolCall::default()), None);
    }
}

//! The client's own running total of a session. Written since 2.1.246.

use crate::body::fields::Fields;

/// What a session has cost so far, by the client's count.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CostState {
    pub total_cost_usd: f64,
    /// Some model's price was not known, so the cost is too low.
    pub has_unknown_model_cost: bool,
    /// Model and cost, in the order of the record.
    pub models: Vec<(String, ModelCost)>,
    pub api_duration_ms: u64,
    pub tool_duration_ms: u64,
    pub duration_ms: u64,
    pub lines_added: u64,
    pub lines_removed: u64,
    /// Milliseconds since 1970.
    pub start_time: Option<u64>,
}

/// What one model has cost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelCost {
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cache_read_input_tokens: u64,
    pub cache_creation_input_tokens: u64,
    pub thinking_tokens: u64,
    pub web_search_requests: u64,
    pub cost_usd: f64,
}

impl CostState {
    pub(super) fn from_fields(mut fields: Fields) -> Self {
        let model = |(model, cost)| (model, ModelCost::from_fields(&Fields::from_json(cost)));
        Self {
            models: fields.take_pairs("modelUsage").map(model).collect(),
            total_cost_usd: fields.float("totalCostUSD").unwrap_or(0.0),
            has_unknown_model_cost: fields.flag("hasUnknownModelCost"),
            api_duration_ms: fields.count("totalAPIDuration"),
            tool_duration_ms: fields.count("totalToolDuration"),
            duration_ms: fields.count("totalDuration"),
            lines_added: fields.count("totalLinesAdded"),
            lines_removed: fields.count("totalLinesRemoved"),
            start_time: fields.number("startTime"),
        }
    }
}

impl ModelCost {
    fn from_fields(fields: &Fields) -> Self {
        Self {
            input_tokens: fields.count("inputTokens"),
            output_tokens: fields.count("outputTokens"),
            cache_read_input_tokens: fields.count("cacheReadInputTokens"),
            cache_creation_input_tokens: fields.count("cacheCreationInputTokens"),
            thinking_tokens: fields.count("thinkingTokens"),
            web_search_requests: fields.count("webSearchRequests"),
            cost_usd: fields.float("costUSD").unwrap_or(0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, total: f64, models: &[(&str, u64, f64)]) {
        let state = CostState::from_fields(Fields::read(json));
        let actual: Vec<_> = state
            .models
            .iter()
            .map(|(model, cost)| (model.as_str(), cost.output_tokens, cost.cost_usd))
            .collect();
        assert_eq!((state.total_cost_usd, actual.as_slice()), (total, models));
    }

    #[test]
    fn models_add_up() {
        check("{}", 0.0, &[]);
        check(
            r#"{"totalCostUSD":0.5,"modelUsage":{"m":{"outputTokens":7,"costUSD":0.5},"n":null}}"#,
            0.5,
            &[("m", 7, 0.5), ("n", 0, 0.0)],
        );
    }
}

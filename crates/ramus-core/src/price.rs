//! What tokens cost by the public list, in US dollars.
//!
//! For people with a subscription the figure is only a comparison.

use crate::body::Usage;

/// Dollars for a million tokens of each kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    pub input: f64,
    pub output: f64,
    pub cache_write_5m: f64,
    pub cache_write_1h: f64,
    pub cache_read: f64,
    /// How many times dearer fast mode is.
    pub fast: f64,
}

/// How the list is written: input, output, and what reading from the cache costs.
///
/// Writing to the cache costs 1.25 times the input for five minutes, twice for an hour.
#[derive(Clone, Copy)]
struct Row {
    model: &'static str,
    prices: [f64; 3],
    fast: f64,
    /// From how large a prompt on other prices hold, and which.
    above: Option<(u64, [f64; 3])>,
}

const fn row(model: &'static str, input: f64, output: f64, read: f64) -> Row {
    Row { model, prices: [input, output, read], fast: 1.0, above: None }
}

const fn fast(factor: f64, row: Row) -> Row {
    Row { fast: factor, ..row }
}

const fn above(tokens: u64, prices: [f64; 3], row: Row) -> Row {
    Row { above: Some((tokens, prices)), ..row }
}

const LIST: &[Row] = &[
    row("claude-fable-5", 10.0, 50.0, 1.0),
    row("claude-mythos-5", 10.0, 50.0, 1.0),
    row("claude-fable-5-1", 10.0, 50.0, 0.25),
    row("claude-mythos-5-1", 10.0, 50.0, 0.25),
    row("claude-opus-5-5", 4.0, 20.0, 0.2),
    fast(2.0, row("claude-opus-5", 5.0, 25.0, 0.5)),
    fast(2.0, row("claude-opus-4-8", 5.0, 25.0, 0.5)),
    fast(6.0, row("claude-opus-4-7", 5.0, 25.0, 0.5)),
    fast(6.0, row("claude-opus-4-6", 5.0, 25.0, 0.5)),
    row("claude-opus-4-5", 5.0, 25.0, 0.5),
    row("claude-opus-4-1", 15.0, 75.0, 1.5),
    row("claude-opus-4", 15.0, 75.0, 1.5),
    row("claude-3-opus", 15.0, 75.0, 1.5),
    row("claude-sonnet-5-5", 2.0, 10.0, 0.1),
    row("claude-sonnet-5", 2.0, 10.0, 0.2),
    row("claude-sonnet-4-6", 3.0, 15.0, 0.3),
    above(200_000, [6.0, 22.5, 0.6], row("claude-sonnet-4-5", 3.0, 15.0, 0.3)),
    above(200_000, [6.0, 22.5, 0.6], row("claude-sonnet-4", 3.0, 15.0, 0.3)),
    row("claude-3-7-sonnet", 3.0, 15.0, 0.3),
    row("claude-3-5-sonnet", 3.0, 15.0, 0.3),
    above(100_000, [0.5, 2.5, 0.05], row("claude-haiku-5-5", 0.1, 0.5, 0.01)),
    row("claude-haiku-4-5", 1.0, 5.0, 0.1),
    row("claude-3-5-haiku", 0.8, 4.0, 0.08),
    row("claude-3-haiku", 0.25, 1.25, 0.03),
];

/// Dollars for one search of the web.
const WEB_SEARCH: f64 = 0.01;

/// Finds the price of a model for a prompt of some length.
///
/// The longest known beginning of its name counts. `None`: it is not on the list.
pub fn price(model: &str, prompt_tokens: u64) -> Option<Price> {
    let name = plain_name(model);
    let starts = |row: &&Row| {
        name.strip_prefix(row.model)
            .is_some_and(|rest| !rest.starts_with(|next: char| next.is_ascii_alphanumeric()))
    };
    let row = LIST.iter().filter(starts).max_by_key(|row| row.model.len())?;
    let [input, output, cache_read] = match row.above {
        Some((tokens, prices)) if prompt_tokens > tokens => prices,
        _ => row.prices,
    };
    // The oldest model is the one whose cache was not priced by the rule.
    let (five, hour) = if row.model == "claude-3-haiku" { (1.2, 2.0) } else { (1.25, 2.0) };
    Some(Price {
        input,
        output,
        cache_write_5m: input * five,
        cache_write_1h: input * hour,
        cache_read,
        fast: row.fast,
    })
}

/// Returns what one message cost. `None`: its model, or one that helped, is not on the list.
pub fn cost(model: &str, usage: &Usage) -> Option<f64> {
    if model == "<synthetic>" {
        return Some(0.0);
    }
    let tokens = if usage.iterations.len() > 1 {
        let each = usage.iterations.iter().map(|iteration| {
            tokens_cost(iteration.model.as_deref().unwrap_or(model), &iteration.usage, usage)
        });
        each.sum::<Option<f64>>()?
    } else {
        tokens_cost(model, usage, usage)?
    };
    Some(tokens + usage.web_search_requests as f64 * WEB_SEARCH)
}

/// Prices the tokens of `usage` in the mode of the `whole` message.
fn tokens_cost(model: &str, usage: &Usage, whole: &Usage) -> Option<f64> {
    let price = price(model, usage.context_tokens())?;
    let writes = usage.cache_writes();
    let parts = [
        (usage.input_tokens, price.input),
        (usage.output_tokens, price.output),
        (writes.five_minutes, price.cache_write_5m),
        (writes.one_hour, price.cache_write_1h),
        (usage.cache_read_input_tokens, price.cache_read),
    ];
    let list: f64 = parts.iter().map(|(tokens, price)| *tokens as f64 * price / 1e6).sum();
    let fast = if whole.is_fast() { price.fast } else { 1.0 };
    let batch = if whole.service_tier.as_deref() == Some("batch") { 0.5 } else { 1.0 };
    let place = if whole.inference_geo.as_deref() == Some("us") { 1.1 } else { 1.0 };
    Some(list * fast * batch * place)
}

/// Takes away what a provider put before the name, and writes `4.5` as the list does.
fn plain_name(model: &str) -> String {
    let start = model.rfind("claude-").unwrap_or(0);
    model[start..].to_ascii_lowercase().replace('.', "-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::Iteration;

    #[track_caller]
    fn check(model: &str, prompt: u64, expected: Option<(f64, f64)>) {
        let found = price(model, prompt).map(|price| (price.input, price.output));
        assert_eq!(found, expected, "{model}");
    }

    #[test]
    fn the_longest_known_name_counts() {
        check("claude-opus-5", 0, Some((5.0, 25.0)));
        check("claude-opus-5-5", 0, Some((4.0, 20.0)));
        check("claude-opus-4-20250514", 0, Some((15.0, 75.0)));
        check("claude-opus-4-1-20250805", 0, Some((15.0, 75.0)));
        check("claude-opus-4-5-20251101", 0, Some((5.0, 25.0)));
        check("claude-3-5-haiku-latest", 0, Some((0.8, 4.0)));
    }

    #[test]
    fn providers_write_names_their_own_way() {
        check("us.anthropic.claude-sonnet-4-5-20250929-v1:0", 0, Some((3.0, 15.0)));
        check("claude-sonnet-4@20250514", 0, Some((3.0, 15.0)));
        check("anthropic/claude-sonnet-4.5", 0, Some((3.0, 15.0)));
        check("claude-sonnet-4-6[1m]", 0, Some((3.0, 15.0)));
    }

    #[test]
    fn others_have_no_price() {
        check("glm-4.6", 0, None);
        check("", 0, None);
        check("claude-opus-50", 0, None);
    }

    #[test]
    fn long_prompts_have_their_own() {
        check("claude-sonnet-4-5", 200_000, Some((3.0, 15.0)));
        check("claude-sonnet-4-5", 200_001, Some((6.0, 22.5)));
        check("claude-haiku-5-5", 100_001, Some((0.5, 2.5)));
    }

    fn usage() -> Usage {
        Usage {
            input_tokens: 1_000_000,
            output_tokens: 100_000,
            cache_creation_input_tokens: 300_000,
            ephemeral_1h_input_tokens: 100_000,
            cache_read_input_tokens: 2_000_000,
            ..Usage::default()
        }
    }

    #[track_caller]
    fn check_cost(model: &str, usage: &Usage, expected: Option<f64>) {
        let found = cost(model, usage).map(|dollars| (dollars * 1e6).round() / 1e6);
        assert_eq!(found, expected);
    }

    #[test]
    fn every_kind_of_token_is_priced_apart() {
        let whole = 5.0 + 2.5 + 0.2 * 6.25 + 0.1 * 10.0 + 2.0 * 0.5;
        check_cost("claude-opus-5", &usage(), Some(whole));
        let fast = Usage { speed: Some("fast".into()), ..usage() };
        check_cost("claude-opus-5", &fast, Some(2.0 * whole));
        let batch = Usage { service_tier: Some("batch".into()), ..usage() };
        check_cost("claude-opus-5", &batch, Some(whole / 2.0));
        let searched = Usage { web_search_requests: 3, ..usage() };
        check_cost("claude-opus-5", &searched, Some(whole + 0.03));
        check_cost("<synthetic>", &usage(), Some(0.0));
        check_cost("kimi-k2", &usage(), None);
    }

    #[test]
    fn a_model_that_took_over_has_its_own_price() {
        let run = |model: &str| Iteration {
            model: Some(model.into()),
            usage: Usage { output_tokens: 1_000_000, ..Usage::default() },
        };
        let two = |model: &str| Usage {
            iterations: vec![run("claude-opus-5"), run(model)],
            ..Usage::default()
        };
        check_cost("claude-opus-5", &two("claude-haiku-4-5"), Some(30.0));
        check_cost("claude-opus-5", &two("glm-5"), None);
    }
}

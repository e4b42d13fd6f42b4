//! Token prices of the public list, in US dollars.
//!
//! The list is built in and dated; a file can add models and replace prices. With a subscription the
//! amounts are only useful for comparison.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::body::TokenUsage;
use crate::ids::fingerprint;

/// The day on which the list was last compared with what the client itself charges (`tests/client/cost.py`).
pub const LIST_DATE: &str = "2026-11-15";

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

/// Models and what they cost.
#[derive(Clone, Debug)]
pub struct PriceList {
    rows: Vec<PriceRow>,
    /// The date that the file with other prices gives itself.
    pub file_date: Option<String>,
}

/// How the list is written: input, output, and what reading from the cache costs.
///
/// Writing to the cache costs 1.25 times the input for five minutes, twice for an hour.
#[derive(Clone, Debug)]
pub(crate) struct PriceRow {
    model: std::borrow::Cow<'static, str>,
    rates: TokenRates,
    fast: f64,
    /// The prompt size above which other prices apply, and those prices.
    tier: Option<(u64, TokenRates)>,
}

#[derive(Clone, Copy, Debug)]
struct TokenRates {
    input: f64,
    output: f64,
    read: f64,
    write_5m: f64,
    write_1h: f64,
}

const fn standard_rates([input, output, read]: [f64; 3]) -> TokenRates {
    TokenRates { input, output, read, write_5m: input * 1.25, write_1h: input * 2.0 }
}

const fn price_row(model: &'static str, input: f64, output: f64, read: f64) -> PriceRow {
    let model = std::borrow::Cow::Borrowed(model);
    PriceRow { model, rates: standard_rates([input, output, read]), fast: 1.0, tier: None }
}

const fn with_fast(factor: f64, mut row: PriceRow) -> PriceRow {
    row.fast = factor;
    row
}

const fn with_write_5m(price: f64, mut row: PriceRow) -> PriceRow {
    row.rates.write_5m = price;
    row
}

const fn with_tier(tokens: u64, prices: [f64; 3], mut row: PriceRow) -> PriceRow {
    row.tier = Some((tokens, standard_rates(prices)));
    row
}

static PUBLIC_PRICES: &[PriceRow] = &[
    price_row("claude-fable-5", 10.0, 50.0, 1.0),
    price_row("claude-mythos-5", 10.0, 50.0, 1.0),
    price_row("claude-fable-5-1", 10.0, 50.0, 0.25),
    price_row("claude-mythos-5-1", 10.0, 50.0, 0.25),
    with_fast(2.0, price_row("claude-opus-5-5", 4.0, 20.0, 0.2)),
    with_fast(2.0, price_row("claude-opus-5", 5.0, 25.0, 0.5)),
    with_fast(2.0, price_row("claude-opus-4-8", 5.0, 25.0, 0.5)),
    with_fast(6.0, price_row("claude-opus-4-7", 5.0, 25.0, 0.5)),
    with_fast(6.0, price_row("claude-opus-4-6", 5.0, 25.0, 0.5)),
    price_row("claude-opus-4-5", 5.0, 25.0, 0.5),
    price_row("claude-opus-4-1", 15.0, 75.0, 1.5),
    price_row("claude-opus-4", 15.0, 75.0, 1.5),
    price_row("claude-3-opus", 15.0, 75.0, 1.5),
    price_row("claude-sonnet-5-5", 2.0, 10.0, 0.1),
    price_row("claude-sonnet-5", 2.0, 10.0, 0.2),
    price_row("claude-sonnet-4-6", 3.0, 15.0, 0.3),
    // The client's own total ignores this tier, so it is lower for long prompts.
    with_tier(200_000, [6.0, 22.5, 0.6], price_row("claude-sonnet-4-5", 3.0, 15.0, 0.3)),
    with_tier(200_000, [6.0, 22.5, 0.6], price_row("claude-sonnet-4", 3.0, 15.0, 0.3)),
    price_row("claude-3-7-sonnet", 3.0, 15.0, 0.3),
    price_row("claude-3-5-sonnet", 3.0, 15.0, 0.3),
    price_row("claude-3-sonnet", 3.0, 15.0, 0.3),
    with_tier(100_000, [0.5, 2.5, 0.05], price_row("claude-haiku-5-5", 0.1, 0.5, 0.01)),
    price_row("claude-haiku-4-5", 1.0, 5.0, 0.1),
    price_row("claude-3-5-haiku", 0.8, 4.0, 0.08),
    // The only model whose cache price does not follow the rule.
    with_write_5m(0.3, price_row("claude-3-haiku", 0.25, 1.25, 0.03)),
];

/// Dollars for one search of the web.
pub const WEB_SEARCH_COST: f64 = 0.01;

/// A file of prices as it is written; `docs/usage.md` shows one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceFile {
    date: Option<String>,
    models: BTreeMap<String, PriceFileRow>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceFileRow {
    input: f64,
    output: f64,
    cache_read: Option<f64>,
    cache_write_5m: Option<f64>,
    cache_write_1h: Option<f64>,
    fast: Option<f64>,
    above: Option<PriceFileTier>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceFileTier {
    tokens: u64,
    input: f64,
    output: f64,
    cache_read: Option<f64>,
    cache_write_5m: Option<f64>,
    cache_write_1h: Option<f64>,
}

/// Why a file of prices cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PriceError {
    #[error("not a list of prices: {0}")]
    Form(#[from] serde_json::Error),
    #[error("the price of {0} is not a number of dollars")]
    Negative(String),
}

impl Default for PriceList {
    fn default() -> Self {
        Self { rows: PUBLIC_PRICES.to_vec(), file_date: None }
    }
}

impl PriceList {
    /// Identifies a list.
    pub fn fingerprint(&self) -> u64 {
        fingerprint(format!("{:?}", self.rows).as_bytes())
    }

    /// Reads a price file; models that it does not name keep the prices of the list.
    pub fn with_file(text: &str) -> Result<Self, PriceError> {
        let file: PriceFile = serde_json::from_str(text)?;
        let mut list = Self { file_date: file.date, ..Self::default() };
        for (model, price) in file.models {
            let row = price.into_price_row(plain_name(&model));
            if !row.is_sound() {
                return Err(PriceError::Negative(model));
            }
            list.rows.retain(|held| held.model != row.model);
            list.rows.push(row);
        }
        Ok(list)
    }

    /// Returns the price of a model for a prompt of some length.
    ///
    /// A date, a provider and the like around the name are ignored. `None`: it is not on the list.
    pub fn price_of(&self, model: &str, prompt_tokens: u64) -> Option<Price> {
        self.row_of(model).map(|row| row.price_at(prompt_tokens))
    }

    /// Finds the row of a model, to price many messages with.
    pub(crate) fn row_of(&self, model: &str) -> Option<&PriceRow> {
        let name = plain_name(model);
        let starts = |row: &&PriceRow| {
            name.strip_prefix(&*row.model).is_some_and(|rest| row.allows_suffix(rest))
        };
        self.rows.iter().filter(starts).max_by_key(|row| row.model.len())
    }

    /// Returns what one message cost. `None`: its model, or one that helped, is not on the list.
    pub fn message_cost(&self, model: &str, usage: &TokenUsage) -> Option<f64> {
        if usage.iterations.len() < 2 {
            return Some(self.tokens_cost(model, usage, usage)? + searches_cost(usage));
        }
        let each = usage
            .iterations
            .iter()
            .map(|run| self.tokens_cost(run.model.as_deref().unwrap_or(model), &run.usage, usage));
        Some(each.sum::<Option<f64>>()? + searches_cost(usage))
    }

    /// Prices the tokens of `usage` in the mode of the `whole` message.
    pub(crate) fn tokens_cost(
        &self,
        model: &str,
        usage: &TokenUsage,
        whole: &TokenUsage,
    ) -> Option<f64> {
        if model == SYNTHETIC {
            return Some(0.0);
        }
        self.row_of(model).map(|row| row.usage_cost(usage, whole))
    }
}

/// The model name of messages that the client wrote itself.
pub(crate) const SYNTHETIC: &str = "<synthetic>";

/// Returns what the searches of the web cost that the server made for a message.
pub fn searches_cost(usage: &TokenUsage) -> f64 {
    usage.web_search_requests as f64 * WEB_SEARCH_COST
}

impl PriceFileRow {
    fn into_price_row(self, model: String) -> PriceRow {
        let Self { input, output, cache_read, cache_write_5m, cache_write_1h, fast, above } = self;
        PriceRow {
            model: model.into(),
            rates: file_rates(input, output, cache_read, cache_write_5m, cache_write_1h),
            fast: fast.unwrap_or(1.0),
            tier: above.map(|above| {
                let PriceFileTier { tokens, input, output, .. } = above;
                let (five, hour) = (above.cache_write_5m, above.cache_write_1h);
                (tokens, file_rates(input, output, above.cache_read, five, hour))
            }),
        }
    }
}

fn file_rates(
    input: f64,
    output: f64,
    read: Option<f64>,
    five: Option<f64>,
    hour: Option<f64>,
) -> TokenRates {
    let usual = standard_rates([input, output, read.unwrap_or(input * 0.1)]);
    TokenRates {
        write_5m: five.unwrap_or(usual.write_5m),
        write_1h: hour.unwrap_or(usual.write_1h),
        ..usual
    }
}

impl PriceRow {
    fn price_at(&self, prompt_tokens: u64) -> Price {
        let rates = match self.tier {
            Some((tokens, rates)) if prompt_tokens > tokens => rates,
            _ => self.rates,
        };
        Price {
            input: rates.input,
            output: rates.output,
            cache_write_5m: rates.write_5m,
            cache_write_1h: rates.write_1h,
            cache_read: rates.read,
            fast: self.fast,
        }
    }

    /// Prices the tokens of `usage` in the mode of the `whole` message.
    pub(crate) fn usage_cost(&self, usage: &TokenUsage, whole: &TokenUsage) -> f64 {
        let price = self.price_at(usage.context_tokens());
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
        list * fast * batch * place
    }

    /// Whether a name with this suffix still means the model.
    ///
    /// `claude-opus-4-9` is not `claude-opus-4`: another version may have another price. For models that a
    /// price file names, the name has to match.
    fn allows_suffix(&self, rest: &str) -> bool {
        if !self.model.starts_with("claude-") {
            return !rest.starts_with(|next: char| next.is_ascii_alphanumeric());
        }
        rest.is_empty()
            || rest.starts_with(['-', '@', ':', '['])
                && rest.split(['-', '@', ':', '[', ']']).all(is_addition)
    }

    fn is_sound(&self) -> bool {
        let sound = |n: f64| n.is_finite() && n >= 0.0;
        let all = |rates: &TokenRates| {
            let TokenRates { input, output, read, write_5m, write_1h } = *rates;
            [input, output, read, write_5m, write_1h].into_iter().all(sound)
        };
        sound(self.fast) && all(&self.rates) && self.tier.iter().all(|(_, rates)| all(rates))
    }
}

/// Whether a suffix does not change the model: a date, a revision, a mode.
fn is_addition(part: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_date = part.len() == 8 && is_number(part);
    let is_revision =
        part.strip_prefix('v').is_some_and(|number| number.len() < 3 && is_number(number));
    let is_mode = matches!(part, "" | "latest" | "default" | "1m" | "thinking" | "beta" | "0");
    is_date || is_revision || is_mode
}

/// Removes a provider prefix and writes `4.5` as in the list.
fn plain_name(model: &str) -> String {
    let bare = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase().replace('.', "-");
    let is_start =
        |at: &usize| !bare[..*at].ends_with(|before: char| before.is_ascii_alphanumeric());
    let start = bare.rfind("claude-").filter(is_start).unwrap_or(0);
    let name = &bare[start..];
    swapped_name(name).unwrap_or_else(|| name.to_owned())
}

/// Turns `claude-4-5-sonnet`, as some gateways write it, into `claude-sonnet-4-5`.
///
/// Up to 3.7 the version comes first in the list too.
fn swapped_name(name: &str) -> Option<String> {
    let rest = name.strip_prefix("claude-")?;
    let (at, family) = ["opus", "sonnet", "haiku", "fable", "mythos"]
        .iter()
        .find_map(|family| Some((rest.find(&format!("-{family}"))?, family)))?;
    let version = &rest[..at];
    let is_version =
        version.split('-').all(|part| part.len() == 1 && part.as_bytes()[0].is_ascii_digit());
    let is_new = version.starts_with(|first: char| first >= '4');
    let after = &rest[at + 1 + family.len()..];
    (is_version && is_new).then(|| format!("claude-{family}-{version}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::ModelRun;

    #[track_caller]
    fn check(model: &str, prompt: u64, expected: Option<(f64, f64)>) {
        let found =
            PriceList::default().price_of(model, prompt).map(|price| (price.input, price.output));
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
    fn provider_specific_model_names_are_recognised() {
        check("us.anthropic.claude-sonnet-4-5-20250929-v1:0", 0, Some((3.0, 15.0)));
        check("claude-sonnet-4@20250514", 0, Some((3.0, 15.0)));
        check("anthropic/claude-sonnet-4.5", 0, Some((3.0, 15.0)));
        check("claude-sonnet-4-6[1m]", 0, Some((3.0, 15.0)));
        for name in [
            "claude-sonnet-4-5",
            "claude-sonnet-4-5-1m",
            "claude-sonnet-4-5[1m]",
            "claude-sonnet-4-5-20250929[1m]",
            "claude-sonnet-4-5@20250929",
            "Claude-Sonnet-4.5",
            "claude-4.5-sonnet",
            "anthropic/claude-4.5-sonnet-20250929",
            "anthropic/claude-sonnet-4.5:beta",
            "openrouter/anthropic/claude-sonnet-4.5:thinking",
            "anthropic.claude-sonnet-4-5-20250929-v1:0",
            "eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "apac.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "global.anthropic.claude-sonnet-4-5-20250929-v1:0[1m]",
            "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "vertex_ai/claude-sonnet-4-5@20250929",
            "publishers/anthropic/models/claude-sonnet-4-5@20250929",
            "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "databricks-claude-sonnet-4-5",
        ] {
            check(name, 200_000, Some((3.0, 15.0)));
            check(name, 200_001, Some((6.0, 22.5)));
        }
        check("claude-opus-4-1m", 0, Some((15.0, 75.0)));
        check("claude-opus-4-0", 0, Some((15.0, 75.0)));
        check("claude-3-5-sonnet-v2@20241022", 0, Some((3.0, 15.0)));
        check("anthropic/claude-3.7-sonnet:thinking", 0, Some((3.0, 15.0)));
        check("claude-4-opus-20250514", 0, Some((15.0, 75.0)));
    }

    #[test]
    fn others_have_no_price() {
        check("glm-4.6", 0, None);
        check("", 0, None);
        check("claude-opus-50", 0, None);
        // Another version or a derived model may have another price.
        for name in [
            "claude-opus-4-9",
            "claude-sonnet-6",
            "claude-opus-5-mini",
            "claude-haiku-5",
            "claude-4-9-opus",
            "myclaude-opus-5",
            "sonnet",
            "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3",
        ] {
            check(name, 0, None);
        }
    }

    #[test]
    fn long_prompts_have_separate_prices() {
        check("claude-sonnet-4-5", 200_001, Some((6.0, 22.5)));
        check("claude-sonnet-4-20250514", 200_001, Some((6.0, 22.5)));
        check("claude-sonnet-4-6", 200_001, Some((3.0, 15.0)));
        check("claude-haiku-5-5", 100_000, Some((0.1, 0.5)));
        check("claude-haiku-5-5", 100_001, Some((0.5, 2.5)));
    }

    #[test]
    fn the_whole_prompt_decides_the_tier() {
        // The published list charges all tokens of a long request at the higher prices.
        let long = TokenUsage {
            input_tokens: 1_000,
            cache_read_input_tokens: 190_000,
            cache_creation_input_tokens: 10_000,
            output_tokens: 1_000,
            ..TokenUsage::default()
        };
        let cost: f64 = 0.001 * 6.0 + 0.19 * 0.6 + 0.01 * 7.5 + 0.001 * 22.5;
        check_cost("claude-sonnet-4-5", &long, Some((cost * 1e6).round() / 1e6));
    }

    fn usage() -> TokenUsage {
        TokenUsage {
            input_tokens: 1_000_000,
            output_tokens: 100_000,
            cache_creation_input_tokens: 300_000,
            ephemeral_1h_input_tokens: 100_000,
            cache_read_input_tokens: 2_000_000,
            ..TokenUsage::default()
        }
    }

    #[track_caller]
    fn check_cost(model: &str, usage: &TokenUsage, expected: Option<f64>) {
        let found = PriceList::default()
            .message_cost(model, usage)
            .map(|dollars| (dollars * 1e6).round() / 1e6);
        assert_eq!(found, expected);
    }

    #[test]
    fn every_kind_of_token_is_priced_apart() {
        let whole = 5.0 + 2.5 + 0.2 * 6.25 + 0.1 * 10.0 + 2.0 * 0.5;
        check_cost("claude-opus-5", &usage(), Some(whole));
        let fast = TokenUsage { speed: Some("fast".into()), ..usage() };
        check_cost("claude-opus-5", &fast, Some(2.0 * whole));
        let batch = TokenUsage { service_tier: Some("batch".into()), ..usage() };
        check_cost("claude-opus-5", &batch, Some(whole / 2.0));
        let searched = TokenUsage { web_search_requests: 3, ..usage() };
        check_cost("claude-opus-5", &searched, Some(whole + 0.03));
        check_cost("<synthetic>", &usage(), Some(0.0));
        check_cost("kimi-k2", &usage(), None);
    }

    #[test]
    fn a_model_that_took_over_has_its_own_price() {
        let run = |model: &str| ModelRun {
            model: Some(model.into()),
            usage: TokenUsage { output_tokens: 1_000_000, ..TokenUsage::default() },
        };
        let two = |model: &str| TokenUsage {
            iterations: vec![run("claude-opus-5"), run(model)],
            ..TokenUsage::default()
        };
        check_cost("claude-opus-5", &two("claude-haiku-4-5"), Some(30.0));
        check_cost("claude-opus-5", &two("glm-5"), None);
    }

    #[test]
    fn a_file_adds_models_and_replaces_prices() {
        let list = PriceList::with_file(
            r#"{"date":"2027-01-01","models":{
                "glm-4.6":{"input":0.6,"output":2.2},
                "claude-opus-5":{"input":1,"output":2,"cache_read":0.3,"cache_write_1h":9,"fast":3,
                    "above":{"tokens":10,"input":4,"output":5}}}}"#,
        );
        let list = list.unwrap();
        let price = |model: &str, prompt| {
            let price = list.price_of(model, prompt).unwrap();
            [
                price.input,
                price.output,
                price.cache_read,
                price.cache_write_5m,
                price.cache_write_1h,
            ]
        };
        assert_eq!(price("z-ai/GLM-4.6", 0), [0.6, 2.2, 0.06, 0.75, 1.2]);
        assert_eq!(price("claude-opus-5", 10), [1.0, 2.0, 0.3, 1.25, 9.0]);
        assert_eq!(price("claude-opus-5", 11), [4.0, 5.0, 0.4, 5.0, 8.0]);
        assert_eq!(price("claude-haiku-4-5", 0)[0], 1.0);
        assert_eq!(list.file_date.as_deref(), Some("2027-01-01"));
    }

    #[test]
    fn a_file_that_is_no_list_is_refused() {
        for text in [
            "",
            "[]",
            r#"{"models":{"x":{"input":1}}}"#,
            r#"{"models":{"x":{"input":-1,"output":1}}}"#,
            r#"{"models":{"x":{"input":1,"output":1,"read":1}}}"#,
        ] {
            assert!(PriceList::with_file(text).is_err(), "{text}");
        }
    }
}

//! The tokens of one answer, as the model's server counted them.

use super::fields::Fields;

/// Token counts; what is missing or null counts 0.
///
/// `input_tokens` does not include what was read from or written to the cache.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cache_creation_input_tokens: u64,
    pub cache_read_input_tokens: u64,
    /// Part of the cache writes that lives five minutes; 0 before 1.0.77.
    pub ephemeral_5m_input_tokens: u64,
    /// Part of the cache writes that lives one hour; 0 before 1.0.77.
    pub ephemeral_1h_input_tokens: u64,
    pub web_search_requests: u64,
    pub web_fetch_requests: u64,
    /// Part of `output_tokens` spent on thinking; 0 before 2.1.228.
    pub thinking_tokens: u64,
    pub service_tier: Option<String>,
    pub inference_geo: Option<String>,
    /// `standard` or `fast`; `None` before 2.1.41.
    pub speed: Option<String>,
    /// More than one means that another model took over inside the message.
    pub iterations: Vec<Iteration>,
}

/// One run of a model inside one message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Iteration {
    /// `None`: the model of the message.
    pub model: Option<String>,
    pub usage: Usage,
}

/// Cache writes by how long they live; they have different prices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheWrites {
    pub five_minutes: u64,
    pub one_hour: u64,
}

impl Usage {
    pub(super) fn of(mut fields: Fields<'_>) -> Self {
        let split = fields.object("cache_creation").unwrap_or_default();
        let server = fields.object("server_tool_use").unwrap_or_default();
        let output = fields.object("output_tokens_details").unwrap_or_default();
        Self {
            input_tokens: fields.count("input_tokens"),
            output_tokens: fields.count("output_tokens"),
            cache_creation_input_tokens: fields.count("cache_creation_input_tokens"),
            cache_read_input_tokens: fields.count("cache_read_input_tokens"),
            ephemeral_5m_input_tokens: split.count("ephemeral_5m_input_tokens"),
            ephemeral_1h_input_tokens: split.count("ephemeral_1h_input_tokens"),
            web_search_requests: server.count("web_search_requests"),
            web_fetch_requests: server.count("web_fetch_requests"),
            thinking_tokens: output.count("thinking_tokens"),
            service_tier: fields.text("service_tier"),
            inference_geo: fields.text("inference_geo"),
            speed: fields.text("speed"),
            iterations: fields.objects("iterations").map(Iteration::of).collect(),
        }
    }

    /// Returns the cache writes; those without a recorded life live five minutes.
    pub fn cache_writes(&self) -> CacheWrites {
        let one_hour = self.ephemeral_1h_input_tokens;
        let rest = self.cache_creation_input_tokens.saturating_sub(one_hour);
        CacheWrites { five_minutes: rest.max(self.ephemeral_5m_input_tokens), one_hour }
    }

    /// Returns how much the model had before it when it began to answer.
    pub fn context_tokens(&self) -> u64 {
        let writes = self.cache_writes();
        [self.input_tokens, self.cache_read_input_tokens, writes.five_minutes, writes.one_hour]
            .into_iter()
            .fold(0, u64::saturating_add)
    }

    /// Returns everything that was read, written and said.
    pub fn total_tokens(&self) -> u64 {
        self.context_tokens().saturating_add(self.output_tokens)
    }

    /// Says whether the answer was made in fast mode, which has its own price.
    pub fn is_fast(&self) -> bool {
        self.speed.as_deref() == Some("fast")
    }
}

impl Iteration {
    fn of(mut fields: Fields) -> Self {
        Self { model: fields.text("model"), usage: Usage::of(fields) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, writes: (u64, u64), context: u64, total: u64) {
        let usage = Usage::of(Fields::read(json));
        let (five_minutes, one_hour) = writes;
        assert_eq!(usage.cache_writes(), CacheWrites { five_minutes, one_hour });
        assert_eq!((usage.context_tokens(), usage.total_tokens()), (context, total));
    }

    #[test]
    fn what_is_missing_is_zero() {
        check("null", (0, 0), 0, 0);
        check("[]", (0, 0), 0, 0);
        check(r#"{"input_tokens":null,"output_tokens":"x"}"#, (0, 0), 0, 0);
        check(r#"{"input_tokens":1,"output_tokens":2}"#, (0, 0), 1, 3);
    }

    #[test]
    fn writes_without_a_split_live_five_minutes() {
        check(r#"{"cache_creation_input_tokens":9,"cache_read_input_tokens":1}"#, (9, 0), 10, 10);
    }

    #[test]
    fn the_split_is_kept_even_where_the_sum_was_written_as_zero() {
        let split =
            r#""cache_creation":{"ephemeral_5m_input_tokens":2,"ephemeral_1h_input_tokens":5}"#;
        check(&format!(r#"{{"cache_creation_input_tokens":7,{split}}}"#), (2, 5), 7, 7);
        check(&format!(r#"{{"cache_creation_input_tokens":0,{split}}}"#), (2, 5), 7, 7);
    }

    #[test]
    fn sums_do_not_overflow() {
        let most = u64::MAX;
        check(&format!(r#"{{"input_tokens":{most},"output_tokens":{most}}}"#), (0, 0), most, most);
    }

    #[test]
    fn iterations_have_their_own_model() {
        let json = r#"{"speed":"fast","iterations":[{"model":"m","input_tokens":3},7]}"#;
        let usage = Usage::of(Fields::read(json));
        assert!(usage.is_fast());
        assert_eq!(usage.iterations.len(), 1);
        assert_eq!(usage.iterations[0].model.as_deref(), Some("m"));
        assert_eq!(usage.iterations[0].usage.input_tokens, 3);
    }
}

//! Token counts of one reply, as reported by the API.

use std::ops::Deref;

use bitcode::{Decode, Encode};

use super::json;
use crate::cursor::{BrokenJson, JsonCursor};

/// Token counts; missing and null fields count as 0.
///
/// `input_tokens` does not include what was read from or written to the cache.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct TokenUsage {
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
    pub service_tier: Option<ServerWord>,
    pub inference_geo: Option<ServerWord>,
    /// `standard` or `fast`; `None` before 2.1.41.
    pub speed: Option<ServerWord>,
    /// More than one means that another model took over inside the message.
    #[bitcode(skip)]
    pub iterations: Vec<ModelRun>,
}

/// A string from the API; the usual ones need no allocation.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub enum ServerWord {
    Standard,
    NotAvailable,
    Other(Box<str>),
}

impl Deref for ServerWord {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Self::Standard => "standard",
            Self::NotAvailable => "not_available",
            Self::Other(word) => word,
        }
    }
}

impl From<&str> for ServerWord {
    fn from(word: &str) -> Self {
        match word {
            "standard" => Self::Standard,
            "not_available" => Self::NotAvailable,
            other => Self::Other(other.into()),
        }
    }
}

/// One run of a model inside one message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct ModelRun {
    /// `None`: the model of the message.
    pub model: Option<String>,
    pub usage: TokenUsage,
}

/// Cache writes by how long they live; they have different prices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheWrites {
    pub five_minutes: u64,
    pub one_hour: u64,
}

impl TokenUsage {
    /// Parses a raw `usage` object; fields that are invalid or have the wrong type count as absent.
    ///
    /// Every reply of a history passes through here when cost is computed, so nothing is allocated
    /// that is not kept.
    pub fn from_json_bytes(raw: &[u8]) -> Self {
        let mut usage = Self::default();
        // What was read before the error is kept.
        let _ = usage.read_object(&mut JsonCursor::new(raw, 0), &mut None);
        usage
    }

    fn read_object(
        &mut self,
        c: &mut JsonCursor<'_>,
        model: &mut Option<String>,
    ) -> Result<(), BrokenJson> {
        c.walk_object(|c, key| {
            match key {
                b"input_tokens" => self.input_tokens = read_count(c)?,
                b"output_tokens" => self.output_tokens = read_count(c)?,
                b"cache_creation_input_tokens" => self.cache_creation_input_tokens = read_count(c)?,
                b"cache_read_input_tokens" => self.cache_read_input_tokens = read_count(c)?,
                b"cache_creation" => c.walk_object(|c, key| {
                    match key {
                        b"ephemeral_5m_input_tokens" => {
                            self.ephemeral_5m_input_tokens = read_count(c)?;
                        }
                        b"ephemeral_1h_input_tokens" => {
                            self.ephemeral_1h_input_tokens = read_count(c)?;
                        }
                        _ => c.skip_value()?,
                    }
                    Ok(())
                })?,
                b"server_tool_use" => c.walk_object(|c, key| {
                    match key {
                        b"web_search_requests" => self.web_search_requests = read_count(c)?,
                        b"web_fetch_requests" => self.web_fetch_requests = read_count(c)?,
                        _ => c.skip_value()?,
                    }
                    Ok(())
                })?,
                b"output_tokens_details" => c.walk_object(|c, key| {
                    match key {
                        b"thinking_tokens" => self.thinking_tokens = read_count(c)?,
                        _ => c.skip_value()?,
                    }
                    Ok(())
                })?,
                b"service_tier" => self.service_tier = read_word(c)?,
                b"inference_geo" => self.inference_geo = read_word(c)?,
                b"speed" => self.speed = read_word(c)?,
                b"model" => *model = read_text(c)?,
                b"iterations" => {
                    self.iterations.clear();
                    c.walk_array(|c| {
                        if c.peek_byte() != Some(b'{') {
                            return c.skip_value();
                        }
                        let mut run = ModelRun::default();
                        run.usage.read_object(c, &mut run.model)?;
                        self.iterations.push(run);
                        Ok(())
                    })?;
                }
                _ => c.skip_value()?,
            }
            Ok(())
        })
    }

    /// Returns the cache writes; those without a recorded life live five minutes.
    pub fn cache_writes(&self) -> CacheWrites {
        let one_hour = self.ephemeral_1h_input_tokens;
        let rest = self.cache_creation_input_tokens.saturating_sub(one_hour);
        CacheWrites { five_minutes: rest.max(self.ephemeral_5m_input_tokens), one_hour }
    }

    /// Returns the size of the context that the model started from.
    pub fn context_tokens(&self) -> u64 {
        let writes = self.cache_writes();
        [self.input_tokens, self.cache_read_input_tokens, writes.five_minutes, writes.one_hour]
            .into_iter()
            .fold(0, u64::saturating_add)
    }

    /// Returns all tokens: input, cache and output.
    pub fn total_tokens(&self) -> u64 {
        self.context_tokens().saturating_add(self.output_tokens)
    }

    /// Whether the reply was made in fast mode, which has its own price.
    pub fn is_fast(&self) -> bool {
        self.speed.as_deref() == Some("fast")
    }
}

/// Reads a number that counts something; fractions and numbers in quotes occur.
fn read_count(c: &mut JsonCursor<'_>) -> Result<u64, BrokenJson> {
    c.peek_byte();
    let start = c.position();
    c.skip_value()?;
    let raw = c.slice_from(start);
    let quoted = raw.first() == Some(&b'"');
    let digits = if quoted { &raw[1..raw.len() - 1] } else { raw };
    if !digits.is_empty() && digits.len() < 20 && digits.iter().all(u8::is_ascii_digit) {
        return Ok(digits.iter().fold(0, |n, digit| n * 10 + u64::from(digit - b'0')));
    }
    let text = std::str::from_utf8(digits).unwrap_or_default();
    let fraction = || text.parse::<f64>().ok().filter(|_| !quoted).map(|n| n as u64);
    Ok(text.parse().ok().or_else(fraction).unwrap_or(0))
}

fn read_word(c: &mut JsonCursor<'_>) -> Result<Option<ServerWord>, BrokenJson> {
    Ok(c.read_string_or_skip()?.map(|raw| ServerWord::from(&*json::unescape(raw))))
}

fn read_text(c: &mut JsonCursor<'_>) -> Result<Option<String>, BrokenJson> {
    Ok(c.read_string_or_skip()?.map(|raw| json::unescape(raw).into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, writes: (u64, u64), context: u64, total: u64) {
        let usage = TokenUsage::from_json_bytes(json.as_bytes());
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
    fn numbers_are_read_in_every_dress() {
        check(r#"{"input_tokens":7.9,"output_tokens":"2"}"#, (0, 0), 7, 9);
        check(r#"{"input_tokens":-7,"output_tokens": 2e3 }"#, (0, 0), 0, 2000);
        check(r#"{"input_tokens":{"a":1},"output_tokens":true}"#, (0, 0), 0, 0);
    }

    #[test]
    fn usage_before_a_break_is_kept() {
        check(r#"{"input_tokens":7,"output_tokens":2,"#, (0, 0), 7, 9);
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
    fn tools_of_the_server_and_thinking_are_counted() {
        let json = r#"{"server_tool_use":{"web_search_requests":2,"web_fetch_requests":1},
            "output_tokens_details":{"thinking_tokens":9},"service_tier":"batch","inference_geo":null}"#;
        let usage = TokenUsage::from_json_bytes(json.as_bytes());
        assert_eq!((usage.web_search_requests, usage.web_fetch_requests), (2, 1));
        assert_eq!(usage.thinking_tokens, 9);
        assert_eq!((usage.service_tier.as_deref(), usage.inference_geo), (Some("batch"), None));
    }

    #[test]
    fn iterations_have_their_own_model() {
        let json = r#"{"speed":"fast","iterations":[{"model":"m","input_tokens":3},7]}"#;
        let usage = TokenUsage::from_json_bytes(json.as_bytes());
        assert!(usage.is_fast());
        assert_eq!(usage.iterations.len(), 1);
        assert_eq!(usage.iterations[0].model.as_deref(), Some("m"));
        assert_eq!(usage.iterations[0].usage.input_tokens, 3);
    }
}

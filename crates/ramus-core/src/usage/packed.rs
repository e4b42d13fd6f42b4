//! The usage of a request in a third of the space: a session may have half a million of them.

use bitcode::{Decode, Encode};

use crate::body::{ServerWord, TokenUsage};

/// A [`TokenUsage`] whose strings are stored separately, in [`UsageTerms`].
#[derive(Clone, Debug, Encode, Decode)]
pub(super) struct PackedUsage {
    tokens: [u32; 9],
    terms: u16,
    /// The complete usage, if it does not fit.
    whole: Option<Box<TokenUsage>>,
}

/// The strings of usages, each combination once.
#[derive(Clone, Debug, Default, Encode, Decode)]
pub(super) struct UsageTerms(Vec<[Option<ServerWord>; 3]>);

impl UsageTerms {
    /// Packs a usage.
    pub(super) fn pack_usage(&mut self, usage: TokenUsage) -> PackedUsage {
        match (small_tokens(&usage), self.terms_number(&usage)) {
            (Some(tokens), Some(terms)) if usage.iterations.is_empty() => {
                PackedUsage { tokens, terms, whole: None }
            }
            _ => PackedUsage { tokens: [0; 9], terms: 0, whole: Some(Box::new(usage)) },
        }
    }

    /// Returns the original usage.
    pub(super) fn unpack_usage(&self, packed: &PackedUsage) -> TokenUsage {
        if let Some(usage) = &packed.whole {
            return TokenUsage::clone(usage);
        }
        let terms = self.0.get(usize::from(packed.terms)).cloned().unwrap_or_default();
        let [service_tier, inference_geo, speed] = terms;
        let tokens = packed.tokens.map(u64::from);
        TokenUsage {
            input_tokens: tokens[0],
            output_tokens: tokens[1],
            cache_creation_input_tokens: tokens[2],
            cache_read_input_tokens: tokens[3],
            ephemeral_5m_input_tokens: tokens[4],
            ephemeral_1h_input_tokens: tokens[5],
            web_search_requests: tokens[6],
            web_fetch_requests: tokens[7],
            thinking_tokens: tokens[8],
            service_tier,
            inference_geo,
            speed,
            iterations: Vec::new(),
        }
    }

    /// Returns the number of a combination of strings; `None`: there are too many.
    fn terms_number(&mut self, usage: &TokenUsage) -> Option<u16> {
        let is_same = |[tier, geo, speed]: &[Option<ServerWord>; 3]| {
            (tier, geo, speed) == (&usage.service_tier, &usage.inference_geo, &usage.speed)
        };
        if let Some(at) = self.0.iter().position(is_same) {
            return Some(at as u16);
        }
        // A file with very many strings would make the search slow.
        if self.0.len() >= 64 {
            return None;
        }
        let words = [&usage.service_tier, &usage.inference_geo, &usage.speed];
        self.0.push(words.map(Option::clone));
        Some(self.0.len() as u16 - 1)
    }
}

impl PackedUsage {
    /// Returns the complete usage, if it is stored.
    pub(super) fn whole_usage(&self) -> Option<&TokenUsage> {
        self.whole.as_deref()
    }

    pub(super) fn whole_usage_mut(&mut self) -> Option<&mut TokenUsage> {
        self.whole.as_deref_mut()
    }
}

fn small_tokens(usage: &TokenUsage) -> Option<[u32; 9]> {
    let tokens = [
        usage.input_tokens,
        usage.output_tokens,
        usage.cache_creation_input_tokens,
        usage.cache_read_input_tokens,
        usage.ephemeral_5m_input_tokens,
        usage.ephemeral_1h_input_tokens,
        usage.web_search_requests,
        usage.web_fetch_requests,
        usage.thinking_tokens,
    ];
    let mut small = [0; 9];
    for (small, tokens) in small.iter_mut().zip(tokens) {
        *small = u32::try_from(tokens).ok()?;
    }
    Some(small)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_usage_comes_back_as_it_was() {
        assert_eq!(size_of::<PackedUsage>(), 48);
        let mut terms = UsageTerms::default();
        for raw in [
            r#"{}"#,
            r#"{"input_tokens":3,"output_tokens":5,"cache_read_input_tokens":7,"service_tier":"standard"}"#,
            r#"{"input_tokens":4294967296,"speed":"fast","inference_geo":"eu"}"#,
            r#"{"cache_creation":{"ephemeral_5m_input_tokens":1,"ephemeral_1h_input_tokens":2},"speed":"fast"}"#,
            r#"{"server_tool_use":{"web_search_requests":8,"web_fetch_requests":9},"inference_geo":"eu"}"#,
            r#"{"output_tokens_details":{"thinking_tokens":6},"iterations":[{"input_tokens":1,"model":"a"}]}"#,
        ] {
            let usage = TokenUsage::from_json_bytes(raw.as_bytes());
            let packed = terms.pack_usage(usage.clone());
            assert_eq!(terms.unpack_usage(&packed), usage, "{raw}");
        }
    }

    #[test]
    fn more_words_than_have_numbers_are_kept_whole() {
        let mut terms = UsageTerms::default();
        for n in 0..200 {
            let raw = format!(r#"{{"input_tokens":{n},"speed":"word {n}"}}"#);
            let usage = TokenUsage::from_json_bytes(raw.as_bytes());
            let packed = terms.pack_usage(usage.clone());
            assert_eq!(terms.unpack_usage(&packed), usage);
        }
    }
}

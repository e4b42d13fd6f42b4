//! One search term: a word as typed, or a pattern.

use regex::{Regex, RegexBuilder};

use super::QueryError;
use super::raw_filter::RawTextFilter;

/// One search term.
#[derive(Clone, Debug)]
pub(super) struct QueryTerm {
    pub(super) regex: Regex,
    /// `None`: raw bytes cannot help.
    pub(super) raw_filter: Option<RawTextFilter>,
    /// How long a match is at least, to know which term is the rarest.
    pub(super) weight: usize,
}

/// The memory for the states of a search. The longest allowed text fits; otherwise each letter of a file
/// would be compared with each letter of the text.
pub(super) const MAX_STATE_BYTES: usize = 32 * 1024 * 1024;

impl QueryTerm {
    pub(super) fn from_word(word: &str) -> Result<Self, QueryError> {
        let any_case = !word.chars().any(char::is_uppercase);
        // An escaped text is always a pattern, but a long one can need more memory than is allowed.
        let regex = RegexBuilder::new(&regex::escape(word))
            .case_insensitive(any_case)
            .dfa_size_limit(MAX_STATE_BYTES)
            .build()
            .map_err(|_| QueryError {
                message: format!("a word of {} bytes is too long to look for", word.len()),
                span: None,
            })?;
        Ok(Self { regex, raw_filter: RawTextFilter::from_text(word, any_case), weight: word.len() })
    }

    pub(super) fn from_regex(pattern: &str) -> Result<Self, QueryError> {
        let hir = regex_syntax::ParserBuilder::new()
            .multi_line(true)
            .build()
            .parse(pattern)
            .map_err(|error| syntax_error(&error))?;
        let regex = RegexBuilder::new(pattern)
            .multi_line(true)
            .build()
            .map_err(|error| QueryError { message: error.to_string(), span: None })?;
        Ok(Self {
            regex,
            weight: hir.properties().minimum_len().unwrap_or(0),
            raw_filter: RawTextFilter::from_hir(&hir),
        })
    }
}

fn syntax_error(error: &regex_syntax::Error) -> QueryError {
    let (message, span) = match error {
        regex_syntax::Error::Parse(error) => (error.kind().to_string(), Some(error.span())),
        regex_syntax::Error::Translate(error) => (error.kind().to_string(), Some(error.span())),
        error => (error.to_string(), None),
    };
    QueryError { message, span: span.map(|span| span.start.offset..span.end.offset) }
}

/// Splits text at white space; quotes keep words together.
pub(super) fn split_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let quoted = (first == '"').then(|| rest[1..].split_once('"')).flatten();
        let (word, next) = match quoted {
            Some((word, next)) if next.is_empty() || next.starts_with(char::is_whitespace) => {
                (word, next)
            }
            _ => rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len())),
        };
        if !word.is_empty() {
            words.push(word.to_owned());
        }
        rest = next.trim_start();
    }
    words
}

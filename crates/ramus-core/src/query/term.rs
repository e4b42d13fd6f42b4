//! One search term: a word as typed, or a pattern.

use regex::{Regex, RegexBuilder};

use super::QueryError;
use super::raw_filter::RawTextFilter;

/// One search term.
#[derive(Clone, Debug)]
pub(super) struct QueryTerm {
    /// As it was typed.
    pub(super) text: String,
    pub(super) regex: Regex,
    /// `None`: raw bytes cannot help.
    pub(super) raw_filter: Option<RawTextFilter>,
    /// How long a match is at least, to know which term is the rarest.
    pub(super) weight: usize,
}

/// The memory for the states of a search. The longest allowed text fits; otherwise each letter of a file
/// would be compared with each letter of the text.
pub(super) const MAX_STATE_BYTES: usize = 32 * 1024 * 1024;

/// How words are compared with texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MatchOptions {
    pub case: CaseRule,
    /// A match must not begin or end within a word.
    pub whole_words: bool,
    /// A match must be a whole line.
    pub whole_lines: bool,
}

/// Whether case matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CaseRule {
    /// Smart case: case-sensitive only for a single word or phrase that has an upper-case letter.
    #[default]
    Smart,
    Ignore,
    Sensitive,
}

impl QueryTerm {
    pub(super) fn from_word(
        word: &str,
        any_case: bool,
        options: MatchOptions,
    ) -> Result<Self, QueryError> {
        let mut pattern = regex::escape(word);
        if options.whole_words {
            pattern = format!(r"\b{{start-half}}{pattern}\b{{end-half}}");
        }
        if options.whole_lines {
            pattern = format!("^{pattern}$");
        }
        // An escaped text is always a pattern, but a long one can need more memory than is allowed.
        let regex = RegexBuilder::new(&pattern)
            .case_insensitive(any_case)
            .multi_line(options.whole_lines)
            .crlf(options.whole_lines)
            .dfa_size_limit(MAX_STATE_BYTES)
            .build()
            .map_err(|_| QueryError {
                message: format!("a word of {} bytes is too long to search for", word.len()),
                span: None,
            })?;
        let mut raw_filter = RawTextFilter::from_text(word, any_case);
        if let Some(raw_filter) = &mut raw_filter
            && (options.whole_words || options.whole_lines)
        {
            raw_filter.is_plain = false;
        }
        Ok(Self { text: word.to_owned(), regex, raw_filter, weight: word.len() })
    }

    /// Makes the term for other forms of a word. Case is ignored.
    pub(super) fn from_pattern(
        word: &str,
        pattern: &str,
        raw_filter: Option<RawTextFilter>,
    ) -> Result<Self, QueryError> {
        let regex = RegexBuilder::new(pattern).case_insensitive(true).build();
        let regex = regex.map_err(|error| QueryError { message: error.to_string(), span: None })?;
        Ok(Self { text: word.to_owned(), regex, raw_filter, weight: word.len() })
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
            .map_err(|error| QueryError { message: build_error(&error), span: None })?;
        Ok(Self {
            text: pattern.to_owned(),
            regex,
            weight: hir.properties().minimum_len().unwrap_or(0),
            raw_filter: RawTextFilter::from_hir(&hir),
        })
    }
}

fn build_error(error: &regex::Error) -> String {
    match error {
        regex::Error::CompiledTooBig(_) => {
            "the regular expression is too large; repeat less in it".to_owned()
        }
        error => error.to_string(),
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

//! The query language: words, `"phrases"`, `-without`, and filters such as `tool:Bash since:7d`.
//!
//! All front ends parse queries here, so the same text means the same in each of them.

use std::ops::Range;

use super::QueryError;

/// What was typed, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TypedQuery {
    /// The words and phrases to find, in the order they were typed.
    pub words: Vec<TypedWord>,
    /// The words and phrases that a message must not contain.
    pub without: Vec<TypedWord>,
    pub filters: Vec<TypedFilter>,
    /// Filters with a hyphen before them, which no filter takes.
    pub negated: Vec<TypedFilter>,
    /// The first word with a quote before it that is never closed.
    pub unclosed: Option<String>,
}

/// A word, or a phrase in quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypedWord {
    pub text: String,
    pub is_quoted: bool,
}

/// One filter, such as `tool:Bash`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypedFilter {
    pub key: FilterKey,
    pub value: String,
    /// The position of the filter in the typed text.
    pub span: Range<usize>,
}

/// What a filter is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilterKey {
    Tool,
    File,
    Since,
    Until,
    Role,
    Kind,
    Branch,
    Model,
    PullRequest,
    Commit,
    /// A project or a session.
    Scope,
    /// A property of a message: `is:error`.
    Is,
    /// What a message is about, in any words.
    Like,
}

impl FilterKey {
    /// The keys as they are typed; the first one of each filter is the usual one.
    const NAMES: [(&'static str, Self); 17] = [
        ("tool", Self::Tool),
        ("file", Self::File),
        ("since", Self::Since),
        ("after", Self::Since),
        ("until", Self::Until),
        ("before", Self::Until),
        ("role", Self::Role),
        ("kind", Self::Kind),
        ("branch", Self::Branch),
        ("model", Self::Model),
        ("pr", Self::PullRequest),
        ("commit", Self::Commit),
        ("in", Self::Scope),
        ("project", Self::Scope),
        ("session", Self::Scope),
        ("is", Self::Is),
        ("like", Self::Like),
    ];

    fn parse(word: &str) -> Option<Self> {
        Self::NAMES.into_iter().find(|(name, _)| *name == word).map(|(_, key)| key)
    }

    /// Whether the filter can be given several times, for texts that pass any of them.
    pub fn takes_several(self) -> bool {
        matches!(self, Self::Tool | Self::File | Self::Role | Self::Kind | Self::Is)
    }

    /// Returns the key as it is usually typed.
    pub fn as_str(self) -> &'static str {
        Self::NAMES.into_iter().find(|(_, key)| *key == self).map_or("", |(name, _)| name)
    }
}

impl TypedFilter {
    /// Returns the error for a value that the filter does not take.
    pub fn value_error(&self, expected: &str) -> QueryError {
        let message =
            format!("`{}:` cannot be {:?}; it can be {expected}", self.key.as_str(), self.value);
        // An option is no part of the text.
        QueryError { message, span: (!self.span.is_empty()).then(|| self.span.clone()) }
    }

    /// Returns the error for a filter that can be given only once, and was given again.
    pub fn conflict_error(&self, other: &Self) -> QueryError {
        let name = self.key.as_str();
        let message = format!(
            "`{name}:` can be given only once, not as {:?} and {:?}",
            self.value, other.value
        );
        let span = (!other.span.is_empty()).then(|| other.span.clone());
        QueryError { message, span }
    }

    /// Returns the error for a filter with a hyphen before it.
    pub fn negation_error(&self) -> QueryError {
        let name = self.key.as_str();
        let message = format!(
            "a filter cannot be negated; remove `-{name}:{value}`, or quote it to leave out its text",
            value = self.value
        );
        QueryError { message, span: Some(self.span.clone()) }
    }
}

impl TypedQuery {
    /// Parses the typed text. A quote that is never closed is an ordinary character.
    pub fn parse(text: &str) -> Self {
        let mut query = Self::default();
        let mut at = 0;
        while let Some(start) = text[at..].find(|char: char| !char.is_whitespace()) {
            let start = at + start;
            at = start + query.take_token(text, start);
        }
        query
    }

    /// Parses words and phrases alone: a filter or `-without` is a word like any other.
    pub fn parse_words(text: &str) -> Self {
        let mut query = Self::default();
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            let (word, is_quoted, length) = match quoted(rest) {
                Some((phrase, length)) => (phrase, true, length),
                None => (&rest[..end], false, end),
            };
            push_word(&mut query.words, word, is_quoted);
            rest = rest[length..].trim_start();
        }
        query
    }

    /// Parses filters, and takes everything else as one phrase: a line with its signs and spaces.
    pub fn parse_line(text: &str) -> Self {
        let Self { filters, negated, .. } = Self::parse(text);
        let mut line = String::new();
        let mut at = 0;
        for filter in &filters {
            line.push_str(&text[at..filter.span.start]);
            at = filter.span.end;
        }
        line.push_str(&text[at..]);
        let line = line.trim();
        let phrase = quoted(line).filter(|(_, length)| *length == line.len());
        Self { filters, negated, ..Self::from_phrase(phrase.map_or(line, |(phrase, _)| phrase)) }
    }

    /// Takes the whole text as one phrase.
    pub fn from_phrase(text: &str) -> Self {
        let mut query = Self::default();
        push_word(&mut query.words, text, true);
        query
    }

    /// Takes the text of the `like:` filters out, with all words, which it consists of, too; `None`: there is none.
    pub fn take_like_text(&mut self) -> Option<String> {
        let (like, filters) =
            std::mem::take(&mut self.filters).into_iter().partition(|it| it.key == FilterKey::Like);
        self.filters = filters;
        let like: Vec<TypedFilter> = like;
        for filter in &like {
            for word in Self::parse_words(&filter.value).words {
                push_word(&mut self.words, &word.text, word.is_quoted);
            }
        }
        (!like.is_empty()).then(|| self.words_text())
    }

    /// Adds the token that begins at `start`, and returns its length.
    fn take_token(&mut self, text: &str, start: usize) -> usize {
        let rest = &text[start..];
        if let Some((phrase, length)) = quoted(rest) {
            push_word(&mut self.words, phrase, true);
            return length;
        }
        if let Some((phrase, length)) = rest.strip_prefix('-').and_then(quoted) {
            push_word(&mut self.without, phrase, true);
            return 1 + length;
        }
        if let Some(filter) = take_filter(text, start) {
            let length = filter.span.len();
            self.filters.push(filter);
            return length;
        }
        if rest.starts_with('-')
            && let Some(filter) = take_filter(text, start + 1)
        {
            let length = 1 + filter.span.len();
            self.negated.push(TypedFilter { span: start..start + length, ..filter });
            return length;
        }
        let length = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let token = &rest[..length];
        match token.strip_prefix('-').filter(|word| word.starts_with(char::is_alphanumeric)) {
            Some(word) => push_word(&mut self.without, word, false),
            None => push_word(&mut self.words, token, false),
        }
        if self.unclosed.is_none() && has_unclosed_quote(rest) {
            self.unclosed = Some(token.to_owned());
        }
        length
    }

    /// Returns the text to find, as one line.
    pub fn words_text(&self) -> String {
        let words: Vec<&str> = self.words.iter().map(|word| &*word.text).collect();
        words.join(" ")
    }
}

/// Returns the filter that begins at `start`.
fn take_filter(text: &str, start: usize) -> Option<TypedFilter> {
    let rest = &text[start..];
    let mut length = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let (name, value) = rest[..length].split_once(':')?;
    let key = FilterKey::parse(name)?;
    let (value, is_filter) = match quoted(&rest[name.len() + 1..]) {
        Some((phrase, quoted_length)) => {
            length = name.len() + 1 + quoted_length;
            (phrase, !phrase.is_empty())
        }
        // Neither `file://host` nor `is::empty` is a filter.
        None => (value, !value.is_empty() && !value.starts_with([':', '/'])),
    };
    let is_path = key == FilterKey::File && value.starts_with('/') && !value.starts_with("//");
    let span = start..start + length;
    (is_filter || is_path).then(|| TypedFilter { key, value: value.to_owned(), span })
}

fn push_word(words: &mut Vec<TypedWord>, text: &str, is_quoted: bool) {
    if !text.trim().is_empty() && !words.iter().any(|word| word.text == text) {
        words.push(TypedWord { text: text.to_owned(), is_quoted });
    }
}

/// Returns the quote that a text begins with, and the one that closes it.
fn opening_quote(text: &str) -> Option<(char, char)> {
    match text.chars().next()? {
        '"' => Some(('"', '"')),
        '“' => Some(('“', '”')),
        '„' => Some(('„', '“')),
        _ => None,
    }
}

/// Whether a text begins with a quote, or with `-` and a quote, that is never closed.
fn has_unclosed_quote(text: &str) -> bool {
    let text = text.strip_prefix('-').unwrap_or(text);
    let Some((open, close)) = opening_quote(text) else { return false };
    let inner = &text[open.len_utf8()..];
    inner.starts_with(char::is_alphanumeric) && !inner.contains(close)
}

/// Returns the phrase that a text begins with, and the length with its quotes.
fn quoted(text: &str) -> Option<(&str, usize)> {
    let (open, close) = opening_quote(text)?;
    let inner = &text[open.len_utf8()..];
    let (phrase, rest) = inner.split_once(close)?;
    let ends = rest.is_empty() || rest.starts_with(char::is_whitespace);
    ends.then(|| (phrase, text.len() - rest.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes a query in a fixed form: words, `-without`, `key=value`.
    #[track_caller]
    fn check(text: &str, expected: &str) {
        let query = TypedQuery::parse(text);
        let word = |word: &TypedWord| match word.is_quoted {
            true => format!("<{}>", word.text),
            false => word.text.clone(),
        };
        let mut parts: Vec<String> = query.words.iter().map(word).collect();
        parts.extend(query.without.iter().map(|it| format!("-{}", word(it))));
        let filter = |filter: &TypedFilter| {
            assert!(text[filter.span.clone()].contains(&filter.value), "{filter:?}");
            format!("{}={}", filter.key.as_str(), filter.value)
        };
        parts.extend(query.filters.iter().map(filter));
        parts.extend(query.negated.iter().map(|it| format!("-{}", filter(it))));
        assert_eq!(parts.join(" "), expected, "{text:?}");
    }

    #[test]
    fn words_phrases_and_filters_are_told_apart() {
        check(
            "tool:Bash file:main.rs since:7d \"exact phrase\" -without",
            "<exact phrase> -without tool=Bash file=main.rs since=7d",
        );
        check("thread  pool thread", "thread pool");
        check("“smart quotes” -\"not this\"", "<smart quotes> -<not this>");
        check("in:\"my project\" x", "x in=my project");
        check("file:/etc/hosts", "file=/etc/hosts");
    }

    #[test]
    fn a_filter_with_a_hyphen_is_no_word_to_leave_out() {
        check("pool -tool:Bash -in:\"my project\"", "pool -tool=Bash -in=my project");
        check("pool -\"tool:Bash\" -std::vec", "pool -<tool:Bash> -std::vec");
    }

    #[test]
    fn what_a_message_is_like_is_made_of_words() {
        let mut query = TypedQuery::parse("flaky like:\"login test\" since:7d");
        assert_eq!(query.take_like_text().as_deref(), Some("flaky login test"));
        assert_eq!((query.words.len(), query.filters.len()), (3, 1));
        assert_eq!(query.take_like_text(), None);
    }

    #[test]
    fn a_line_is_one_phrase_with_its_signs_and_spaces() {
        let line = |text: &str| {
            let query = TypedQuery::parse_line(text);
            let words: Vec<String> = query.words.into_iter().map(|word| word.text).collect();
            (words.join("|"), query.filters.len())
        };
        assert_eq!(line("Do that."), ("Do that.".to_owned(), 0));
        assert_eq!(line("- do  that, do that"), ("- do  that, do that".to_owned(), 0));
        assert_eq!(line("\"Do that.\" role:user"), ("Do that.".to_owned(), 1));
        assert_eq!(line("role:user"), (String::new(), 1));
    }

    #[test]
    fn a_quote_that_is_never_closed_is_noticed() {
        let unclosed = |text: &str| TypedQuery::parse(text).unclosed;
        assert_eq!(unclosed("\"thread pool").as_deref(), Some("\"thread"));
        assert_eq!(unclosed("a -„thread pool").as_deref(), Some("-„thread"));
        for closed in ["\"thread pool\"", "print(\"hi", "a \"", "\"a\"b", "5\" disk"] {
            assert_eq!(unclosed(closed), None, "{closed}");
        }
    }

    #[test]
    fn code_is_not_taken_for_a_filter() {
        check("std::vec error: http://x", "std::vec error: http://x");
        check("file://host tool: is::x", "file://host tool: is::x");
        check("cargo --release a-b - --", "cargo --release a-b - --");
        check("say \"hi", "say \"hi");
        check("a\"b\"", "a\"b\"");
        check("", "");
        check("\"\" -\"\"", "");
    }
}

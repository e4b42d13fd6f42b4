//! Other forms of words: plural and inflected forms, other spellings of an identifier, letters with other accents,
//! British and American spelling.
//!
//! They are searched for only if what was typed is not found. Nothing is looked up in a dictionary: a word loses
//! its ending and may go on with any letters, the parts of an identifier may have other signs between them.

use regex::escape;

use super::raw_filter::RawTextFilter;
use super::term::QueryTerm;
use super::{CaseRule, Query, QueryError, TypedWord};

/// What may be between the parts of an identifier, a path or a phrase.
const SEPARATORS: &str = r"[^\p{Alphabetic}\p{N}]{0,3}";
/// Where a part of an identifier begins.
const PART_START: &str = r"(?:\b{start-half}|_)";
/// From how many letters on a word may be written as two (`signin`, `sign-in`).
const COMPOUND_CHARS: usize = 5;
/// More terms than this make a search slow.
const MAX_TERMS: usize = 24;

/// Endings of inflected English and German words, each with the letters that must be left before it.
const ENDINGS: [(&str, usize); 26] = [
    ("ations", 4),
    ("ation", 4),
    ("ments", 4),
    ("ment", 4),
    ("ungen", 4),
    ("ings", 4),
    ("iert", 4),
    ("ies", 4),
    ("ing", 4),
    ("ied", 4),
    ("ern", 4),
    ("ers", 4),
    ("ten", 5),
    ("nen", 4),
    ("ed", 4),
    ("es", 4),
    ("er", 4),
    ("en", 4),
    ("em", 4),
    ("ly", 4),
    ("te", 5),
    ("y", 4),
    ("e", 4),
    ("n", 5),
    ("s", 3),
    ("t", 6),
];

/// Letters with the same letter with accents.
const ACCENTS: [(char, &str); 14] = [
    ('a', "àáâãäåāăą"),
    ('c', "çćč"),
    ('d', "ďđ"),
    ('e', "èéêëēęě"),
    ('g', "ğ"),
    ('i', "ìíîïīı"),
    ('l', "ł"),
    ('n', "ñńň"),
    ('o', "òóôõöøōő"),
    ('r', "ř"),
    ('s', "śšşș"),
    ('t', "ťţț"),
    ('u', "ùúûüūůű"),
    ('z', "źżž"),
];
/// Letters that are also written as two.
const DIGRAPHS: [(char, &str); 6] =
    [('ä', "ae"), ('ö', "oe"), ('ü', "ue"), ('ß', "ss"), ('æ', "ae"), ('œ', "oe")];

/// Scripts without spaces begin here.
const FIRST_IDEOGRAPH: char = '\u{2e80}';

impl Query {
    /// Returns the query for other forms of its words; `None`: it is a pattern, or was to be taken exactly.
    ///
    /// Words in `unfound` occur in none of the usual forms. They may have other accents, or be written as two
    /// words, and the parts of an identifier or a phrase may be in different places.
    pub fn loosened(&self, unfound: &[String]) -> Option<Self> {
        let typed = self.typed.as_ref()?;
        let options = self.options;
        if options.whole_words || options.whole_lines || options.case == CaseRule::Sensitive {
            return None;
        }
        let mut terms: Vec<QueryTerm> = Vec::new();
        let mut patterns = Vec::new();
        for word in &typed.words {
            match unfound.contains(&word.text) {
                false => {
                    let (pattern, term) = other_forms(word).ok()?;
                    patterns.push(pattern);
                    terms.push(term);
                }
                true => terms.extend(other_letters(word)),
            }
        }
        let mut known: Vec<String> = Vec::new();
        terms.retain(|term| {
            !known.contains(&term.text) && {
                known.push(term.text.clone());
                true
            }
        });
        terms.truncate(MAX_TERMS);
        if terms.is_empty() {
            return None;
        }
        let has_phrase = patterns.len() > 1 && patterns.len() == terms.len();
        let between = format!(r"\p{{Alphabetic}}{{0,3}}{SEPARATORS}");
        let phrase = has_phrase.then(|| case_insensitive(&patterns.join(&between))).flatten();
        let Self { kinds, roles, since, until, only_errors, model, excluded, .. } = self.clone();
        let query = Self::from_terms(terms);
        let typed = Some(typed.clone());
        Some(Self {
            kinds,
            roles,
            since,
            until,
            only_errors,
            model,
            excluded,
            phrase,
            typed,
            options,
            ..query
        })
    }
}

fn case_insensitive(pattern: &str) -> Option<regex::Regex> {
    regex::RegexBuilder::new(pattern).case_insensitive(true).build().ok()
}

/// Returns the term for a word with another ending and other separators, and its pattern.
fn other_forms(word: &TypedWord) -> Result<(String, QueryTerm), QueryError> {
    let parts = word_parts(&word.text);
    let Some((last, first)) = parts.split_last() else {
        let term = QueryTerm::from_word(&word.text, true, super::MatchOptions::default())?;
        return Ok((escape(&word.text), term));
    };
    let stem = word_stem(last);
    let mut pattern: Vec<String> = first.iter().map(|part| escape(part)).collect();
    pattern.push(format!("{}(?:{})?", escape(stem), escape(&last[stem.len()..])));
    let pattern = pattern.join(SEPARATORS);
    let literals = first.iter().copied().chain([stem]);
    let literal = literals.max_by_key(|part| part.len()).unwrap_or(stem);
    let raw_filter = RawTextFilter::from_part(literal);
    Ok((pattern.clone(), QueryTerm::from_pattern(&word.text, &pattern, raw_filter)?))
}

/// Returns the terms for the parts of a word that occurs in none of the usual forms.
fn other_letters(word: &TypedWord) -> Vec<QueryTerm> {
    let parts = word_parts(&word.text);
    let says_something = |part: &&&str| {
        part.chars().nth(1).is_some() && !part.bytes().all(|byte| byte.is_ascii_digit())
    };
    let mut kept: Vec<&str> = parts.iter().filter(says_something).copied().collect();
    if kept.is_empty() {
        kept = parts;
    }
    // A part alone says little, so it must not begin within another word.
    let start = if kept.len() > 1 { PART_START } else { "" };
    kept.into_iter().flat_map(|part| letter_terms(part, start)).collect()
}

fn letter_terms(part: &str, start: &str) -> Vec<QueryTerm> {
    let letters: Vec<char> = part.chars().collect();
    if letters.len() > 2 && letters.iter().all(|char| *char >= FIRST_IDEOGRAPH) {
        // Where there are no spaces, two characters are about a word.
        let pairs = letters.windows(2).map(|pair| pair.iter().collect::<String>());
        let term = |pair: String| QueryTerm::from_word(&pair, true, super::MatchOptions::default());
        return pairs.filter_map(|pair| term(pair).ok()).collect();
    }
    let stem = word_stem(part);
    let mut spellings = String::new();
    let mut pattern = letter_pattern(stem, letters.len() >= COMPOUND_CHARS, &mut spellings);
    if stem.len() < part.len() {
        let rest = letter_pattern(&part[stem.len()..], false, &mut String::new());
        pattern = format!("{pattern}(?:{rest})?");
    }
    let raw_filter = RawTextFilter::from_pattern(&pattern, &spellings);
    let pattern = format!("{start}{pattern}");
    QueryTerm::from_pattern(part, &pattern, raw_filter).into_iter().collect()
}

/// Returns the pattern for letters with or without accents. Adds all characters that may occur to `spellings`.
fn letter_pattern(text: &str, may_be_two: bool, spellings: &mut String) -> String {
    let letters: Vec<char> = text.to_lowercase().chars().collect();
    let mut pattern = String::new();
    let mut at = 0;
    while let Some(letter) = letters.get(at) {
        let next: String = letters[at..].iter().take(2).collect();
        let single: String = { DIGRAPHS.iter() }
            .filter(|(_, two)| *two == next)
            .map(|(single, _)| *single)
            .collect();
        let length = if single.is_empty() { 1 } else { 2 };
        spellings.push_str(&next);
        spellings.push_str(&single);
        let letter_pattern = match length {
            2 => format!(
                "(?:{}{}|[{single}])",
                with_accents(letters[at], spellings),
                with_accents(letters[at + 1], spellings)
            ),
            _ => match DIGRAPHS.iter().find(|(single, _)| single == letter) {
                Some((_, two)) => format!("(?:{}|{two})", with_accents(*letter, spellings)),
                None => with_variants(&letters, at, spellings),
            },
        };
        pattern.push_str(&letter_pattern);
        at += length;
        if may_be_two && at < letters.len() {
            pattern.push_str("[-_ ]?");
        }
    }
    pattern
}

/// Returns the pattern for the letter at `at`, with the spellings of British and American English: `colour` and
/// `color`, `organise` and `organize`.
fn with_variants(letters: &[char], at: usize, spellings: &mut String) -> String {
    let before = at.checked_sub(1).map(|before| letters[before]);
    let letter = with_accents(letters[at], spellings);
    match (before, letters[at], letters.get(at + 1)) {
        (Some('o'), 'u', Some('r')) => format!("{letter}?"),
        (_, 'o', Some('r')) => {
            spellings.push('u');
            format!("{letter}u?")
        }
        (Some('i'), 's' | 'z', None | Some('a' | 'e' | 'i')) => {
            format!("(?:{}|{})", with_accents('s', spellings), with_accents('z', spellings))
        }
        _ => letter,
    }
}

/// Returns the pattern for a letter with any accent.
fn with_accents(letter: char, spellings: &mut String) -> String {
    let known = |(plain, accents): &&(char, &str)| *plain == letter || accents.contains(letter);
    match ACCENTS.iter().find(known) {
        Some((plain, accents)) => {
            spellings.push(*plain);
            spellings.push_str(accents);
            format!("[{plain}{accents}]")
        }
        None => escape(letter.encode_utf8(&mut [0; 4])),
    }
}

/// Returns the parts of an identifier, a path or a phrase: `getUserById`, `get_user-by id`, `30s`.
fn word_parts(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = None;
    let mut before: Option<char> = None;
    let mut chars = text.char_indices().peekable();
    while let Some((at, char)) = chars.next() {
        let after = chars.peek().map(|(_, char)| *char);
        if let Some(begin) = start
            && (!char.is_alphanumeric() || is_part_start(before, char, after))
        {
            parts.push(&text[begin..at]);
            start = None;
        }
        if char.is_alphanumeric() && start.is_none() {
            start = Some(at);
        }
        before = Some(char);
    }
    parts.extend(start.map(|start| &text[start..]));
    parts
}

/// Whether a part of an identifier begins with a character.
fn is_part_start(before: Option<char>, char: char, after: Option<char>) -> bool {
    let Some(before) = before else { return true };
    let is_upper = char.is_uppercase();
    (before.is_lowercase() && is_upper)
        || (before.is_uppercase() && is_upper && after.is_some_and(char::is_lowercase))
        || before.is_ascii_digit() != char.is_ascii_digit()
}

/// Returns a word without its ending.
fn word_stem(word: &str) -> &str {
    if !word.chars().all(char::is_alphabetic) || word.ends_with("ss") {
        return word;
    }
    let ending = ENDINGS.iter().find(|(ending, left)| {
        word.strip_suffix(ending).is_some_and(|stem| stem.chars().count() >= *left)
    });
    let Some((ending, _)) = ending else { return word };
    let stem = &word[..word.len() - ending.len()];
    // `running` loses the second `n`, too.
    let mut letters = stem.char_indices().rev();
    match (letters.next(), letters.next()) {
        (Some((at, last)), Some((_, before)))
            if last == before && last != 's' && ending.len() > 1 =>
        {
            &stem[..at]
        }
        _ => stem,
    }
}

#[cfg(test)]
mod tests {
    use super::{word_parts, word_stem};
    use crate::query::Query;

    #[track_caller]
    fn check(query: &str, text: &str, expected: &str) {
        let query = Query::from_words(query).unwrap().loosened(&[]).unwrap();
        let found = query.find_in_text(text).map_or("", |range| &text[range]);
        assert_eq!(found, expected);
        assert_eq!(is_found_in_line(&query, text), !expected.is_empty());
    }

    #[track_caller]
    fn check_unfound(word: &str, text: &str, expected: &str) {
        let query = Query::from_words(word).unwrap().loosened(&[word.to_owned()]).unwrap();
        let found = query.find_in_text(text).map_or("", |range| &text[range]);
        assert_eq!(found, expected);
        assert_eq!(is_found_in_line(&query, text), !expected.is_empty());
    }

    /// Whether the raw bytes of a line lead to the text, too.
    fn is_found_in_line(query: &Query, text: &str) -> bool {
        let line =
            serde_json::json!({"type": "user", "message": {"role": "user", "content": text}});
        let line = line.to_string();
        let terms = 0..query.term_texts().len();
        terms
            .into_iter()
            .all(|term| query.candidate_lines_of(term, line.as_bytes()).next().is_some())
    }

    #[test]
    fn inflected_words_are_found() {
        check("teapots", "a teapot", "teapot");
        check("teapots", "two Teapots", "Teapots");
        check("boiling", "it boils", "boil");
        check("running", "it ran, it runs", "run");
        check("deliveries", "one delivery", "deliver");
        check("Verbindungspools", "der Verbindungspool", "Verbindungspool");
        check("Bindestriche", "mit Bindestrich", "Bindestrich");
        check("announcement", "it is announced", "announce");
        check("class", "a clas", "");
    }

    #[test]
    fn identifiers_are_found_in_other_spellings() {
        check("user-account-settings", "user_account_settings = 1", "user_account_settings");
        check("userAccountSettings", "the user account settings", "user account settings");
        check(r"src\net\socket.rs", "see src/net/socket.rs:3", "src/net/socket.rs");
        check("net::socket", "use net/socket", "net/socket");
        check("30s", "after 30 s", "30 s");
        check("380MB", "380 MB", "380 MB");
        check("->", "a -> b", "->");
    }

    #[test]
    fn words_that_occur_nowhere_may_have_other_letters() {
        let parts = Query::from_words("\"rate limit\"").unwrap();
        let parts = parts.loosened(&["rate limit".to_owned()]).unwrap();
        assert!(parts.find_in_text("limits of the rate").is_some());
        assert!(parts.find_in_text("limits of the crate").is_none());
        check_unfound("creme", "eine Crème", "Crème");
        check_unfound("Kaesespaetzle", "Käsespätzle", "Käsespätzle");
        check_unfound("gemusebruhe", "Gemüsebrühe", "Gemüsebrühe");
        check_unfound("Straße", "Strasse", "Strasse");
        check_unfound("signin", "the sign-in page", "sign-in");
        check_unfound("harbor", "all harbours", "harbour");
        check_unfound("colour", "a color", "color");
        check_unfound("organise", "we Organize it", "Organize");
        check_unfound("normalization", "it normalises", "normalis");
        check_unfound("注文二重", "二重注文と注文二つ、文二、二重", "二重");
    }

    #[test]
    fn what_was_to_be_exact_stays_so() {
        assert!(Query::from_regex("a.c").unwrap().loosened(&[]).is_none());
    }

    #[test]
    fn words_fall_into_parts_and_lose_their_endings() {
        assert_eq!(
            word_parts("getHTTPServer_by-id 30ms"),
            ["get", "HTTP", "Server", "by", "id", "30", "ms"]
        );
        assert_eq!(word_parts("://"), [""; 0]);
        assert_eq!(
            ["address", "logs", "used", "größen"].map(word_stem),
            ["address", "log", "used", "größ"]
        );
    }
}

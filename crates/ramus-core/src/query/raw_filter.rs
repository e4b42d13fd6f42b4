//! Finds the bytes of raw lines that may contain a text.
//!
//! A line is JSON, and JSON has many spellings for one text: `/` or `\/`, a tab or `\t`, `é` or
//! `\u00e9`. Searching for the usual spelling finds nearly all of them; any other spelling has at least
//! one character written as `\uXXXX`. So two searches at memory speed are enough: one for the usual
//! spelling, one for an escaped character. They may have false positives, never false negatives.

use memchr::memmem::Finder;
use regex::bytes::{Regex, RegexBuilder};
use regex_syntax::hir::literal::{ExtractKind, Extractor, Seq};
use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange, Hir, HirKind};

use super::gram_filter::GramQuery;
use super::term::MAX_STATE_BYTES;

/// Finds positions in raw lines that may contain the searched text.
#[derive(Clone, Debug)]
pub(super) struct RawTextFilter {
    usual_spelling: UsualSpelling,
    escaped_chars: EscapedChars,
    /// The usual spelling of the text is the text itself, completely.
    pub(super) is_plain: bool,
    /// `None`: a gram filter cannot help.
    pub(super) gram_query: Option<GramQuery>,
}

#[derive(Clone, Debug)]
enum UsualSpelling {
    Bytes(Box<Finder<'static>>),
    Pattern(Regex),
}

impl RawTextFilter {
    /// Makes the filter for a plain text; `None`: raw bytes cannot help.
    pub(super) fn from_text(text: &str, any_case: bool) -> Option<Self> {
        let escaped = Self::new(&[text], any_case)?;
        Some(Self { is_plain: text.bytes().all(has_one_spelling), ..escaped })
    }

    /// Makes the filter for a text that is a part of each match, in any case.
    pub(super) fn from_part(part: &str) -> Option<Self> {
        Self::new(&[part], true)
    }

    /// Makes the filter for a pattern without signs that JSON escapes. `chars` has all characters of its matches.
    pub(super) fn from_pattern(pattern: &str, chars: &str) -> Option<Self> {
        let regex = RegexBuilder::new(pattern).case_insensitive(true).build().ok()?;
        Some(Self {
            usual_spelling: UsualSpelling::Pattern(regex),
            escaped_chars: EscapedChars::from_texts(&[chars], true),
            is_plain: false,
            gram_query: None,
        })
    }

    /// Makes the filter for a regular expression; `None`: a match need not contain any literal.
    pub(super) fn from_hir(hir: &Hir) -> Option<Self> {
        let literals = required_literals(hir)?;
        let texts: Vec<&str> = literals
            .literals()?
            .iter()
            .map(|literal| std::str::from_utf8(literal.as_bytes()).ok())
            .collect::<Option<_>>()?;
        Self::new(&texts, false)
    }

    fn new(texts: &[&str], any_case: bool) -> Option<Self> {
        // A broken escape is decoded as U+FFFD, so its spelling can be anything.
        if texts.iter().any(|text| text.is_empty() || text.contains('\u{fffd}')) {
            return None;
        }
        let usual = match texts {
            [text] if !any_case && text.bytes().all(has_one_spelling) => {
                UsualSpelling::Bytes(Box::new(Finder::new(text.as_bytes()).into_owned()))
            }
            _ => {
                let spellings: Vec<String> =
                    texts.iter().map(|text| spelling_pattern(text)).collect();
                let case = if any_case { "(?i)" } else { "" };
                let pattern = format!("{case}(?:{})", spellings.join("|"));
                let regex = RegexBuilder::new(&pattern).dfa_size_limit(MAX_STATE_BYTES).build();
                UsualSpelling::Pattern(regex.ok()?)
            }
        };
        let unusual = EscapedChars::from_texts(texts, any_case);
        let clue = GramQuery::new(texts, any_case, &unusual.units);
        Some(Self {
            usual_spelling: usual,
            escaped_chars: unusual,
            is_plain: false,
            gram_query: clue,
        })
    }

    /// Returns the first position at or after `from` with the usual spelling.
    pub(super) fn find_usual(&self, bytes: &[u8], from: usize) -> Option<usize> {
        match &self.usual_spelling {
            UsualSpelling::Bytes(finder) => finder.find(&bytes[from..]).map(|at| from + at),
            UsualSpelling::Pattern(regex) => regex.find_at(bytes, from).map(|found| found.start()),
        }
    }

    /// Returns the first position at or after `from` with an escaped character.
    pub(super) fn find_escaped(&self, bytes: &[u8], from: usize) -> Option<usize> {
        self.escaped_chars.find_at(bytes, from)
    }

    /// Whether the inside of a JSON string may contain the text.
    pub(super) fn may_be_in(&self, raw: &[u8]) -> bool {
        self.find_usual(raw, 0).is_some() || self.find_escaped(raw, 0).is_some()
    }
}

impl RawTextFilter {
    /// Whether the inside of a JSON string contains the text, without decoding escapes.
    ///
    /// `false`: it may still contain it.
    pub(super) fn is_surely_in(&self, raw: &[u8]) -> bool {
        self.is_plain && self.find_usual(raw, 0).is_some_and(|at| !is_in_escape(raw, at))
    }
}

/// Whether a byte may be part of an escape such as `\n` or `\u00e9`, which has at most six bytes.
fn is_in_escape(raw: &[u8], at: usize) -> bool {
    raw[at.saturating_sub(5)..at].contains(&b'\\')
}

/// Whether a byte has only one spelling, apart from `\uXXXX`.
pub(super) fn has_one_spelling(byte: u8) -> bool {
    !matches!(byte, 0..=0x1f | b'"' | b'\\' | b'/')
}

/// Returns a pattern for the spellings of a text without `\uXXXX`.
fn spelling_pattern(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len() * 2);
    for char in text.chars() {
        match char {
            '"' => pattern.push_str(r#"\\""#),
            '\\' => pattern.push_str(r"\\\\"),
            '/' => pattern.push_str(r"\\?/"),
            '\n' => pattern.push_str(r"\\n"),
            // A raw control character is not valid JSON, but it is read anyway (R2).
            '\r' => pattern.push_str(r"(?:\\r|\r)"),
            '\t' => pattern.push_str(r"(?:\\t|\t)"),
            '\x08' => pattern.push_str(r"(?:\\b|\x08)"),
            '\x0c' => pattern.push_str(r"(?:\\f|\x0c)"),
            char => pattern.push_str(&regex::escape(char.encode_utf8(&mut [0; 4]))),
        }
    }
    pattern
}

/// The searched characters, spelled as `\uXXXX`.
#[derive(Clone, Debug)]
struct EscapedChars {
    finder: Finder<'static>,
    /// UTF-16 units from and to, each end included.
    units: Vec<(u16, u16)>,
}

impl EscapedChars {
    fn from_texts(texts: &[&str], any_case: bool) -> Self {
        let chars = texts.iter().flat_map(|text| text.chars());
        let mut class = ClassUnicode::new(chars.map(|char| ClassUnicodeRange::new(char, char)));
        if any_case {
            class.case_fold_simple();
        }
        let unit = |char: char| char.encode_utf16(&mut [0; 2])[0];
        let units = class.ranges().iter().flat_map(|range| {
            let (first, last) = (range.start(), range.end());
            // Above U+FFFF the first of two units is enough; these start again at U+D800.
            match (first as u32 <= 0xffff, last as u32 <= 0xffff) {
                (true, false) => vec![(unit(first), 0xffff), (0xd800, unit(last))],
                _ => vec![(unit(first), unit(last))],
            }
        });
        let units = units.collect();
        Self { finder: Finder::new(b"\\u").into_owned(), units }
    }

    fn find_at(&self, bytes: &[u8], from: usize) -> Option<usize> {
        let mut from = from;
        loop {
            let at = from + self.finder.find(bytes.get(from..)?)?;
            if parse_unit(bytes.get(at + 2..at + 6)?).is_some_and(|unit| self.contains_unit(unit)) {
                return Some(at);
            }
            from = at + 2;
        }
    }

    fn contains_unit(&self, unit: u16) -> bool {
        self.units.iter().any(|(first, last)| (*first..=*last).contains(&unit))
    }
}

pub(super) fn parse_unit(digits: &[u8]) -> Option<u16> {
    digits.iter().try_fold(0, |value, digit| {
        let digit = char::from(*digit).to_digit(16)?;
        Some(value << 4 | digit as u16)
    })
}

/// Returns literals of which every match contains at least one, as long as possible.
fn required_literals(hir: &Hir) -> Option<Seq> {
    let shortest = |seq: &Seq| seq.min_literal_len().filter(|len| *len > 0);
    let ends = [ExtractKind::Prefix, ExtractKind::Suffix]
        .map(|kind| Extractor::new().kind(kind).extract(hir));
    let inside = match hir.kind() {
        HirKind::Concat(parts) => parts.iter().filter_map(required_literals).collect(),
        HirKind::Capture(capture) => required_literals(&capture.sub).into_iter().collect(),
        HirKind::Repetition(repeated) if repeated.min > 0 => {
            required_literals(&repeated.sub).into_iter().collect()
        }
        _ => Vec::new(),
    };
    let found = ends.into_iter().chain(inside).filter(|seq| shortest(seq).is_some());
    found.max_by_key(shortest)
}

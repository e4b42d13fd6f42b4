//! Scans languages that consist of words, strings, numbers and comments.
//!
//! Lookahead is either consumed when it is found or limited by a constant, so no text is scanned more
//! than a few times.

use super::language::{Attributes, Keys, Language, Quote};
use super::painter::Painter;
use crate::span::{Label, SyntaxKind};

/// The maximum length of a regular expression, an attribute or a character literal.
const NEAR: usize = 256;

/// Labels the tokens of `text` from `start` on.
pub(super) fn scan(language: &Language, text: &str, start: usize, painter: &mut Painter<'_>) {
    let mut scanner = Scanner {
        language,
        text,
        at: start,
        painter,
        templates: Vec::new(),
        depth: 0,
        after_value: false,
        after_dot: false,
        line_start: true,
    };
    while scanner.at < text.len() {
        scanner.step();
    }
}

struct Scanner<'s, 't> {
    language: &'s Language,
    text: &'s str,
    at: usize,
    painter: &'s mut Painter<'t>,
    /// The depth of braces at which each open `${` of a template ends.
    templates: Vec<usize>,
    /// How many braces are open.
    depth: usize,
    /// A value precedes: a slash is a division, not the start of a regular expression.
    after_value: bool,
    after_dot: bool,
    /// Only white space precedes on this line.
    line_start: bool,
}

fn kind(kind: SyntaxKind) -> Label {
    Label::Syntax(kind)
}

impl Scanner<'_, '_> {
    fn step(&mut self) {
        let rest = &self.text[self.at..];
        let Some(first) = rest.chars().next() else { return };
        if first == '\n' {
            self.line_start = true;
            return self.skip(1);
        }
        if first.is_whitespace() {
            let is_end = |char: char| char == '\n' || !char.is_whitespace();
            return self.skip(rest.find(is_end).unwrap_or(rest.len()));
        }
        let line_start = std::mem::take(&mut self.line_start);
        if self.comment(rest) || line_start && self.line_marker(rest) || self.quote(rest) {
            return;
        }
        if first.is_ascii_digit() {
            return self.number(rest);
        }
        if self.attribute(rest, first) || self.sigil(rest, first) {
            return;
        }
        if is_word(first) {
            return self.word(rest);
        }
        if first == '/' && self.regex(rest) {
            return;
        }
        self.sign(first);
    }

    /// Labels the next `length` bytes.
    fn take(&mut self, length: usize, label: Label) {
        self.at += length;
        self.painter.paint(self.at, label);
    }

    fn skip(&mut self, length: usize) {
        self.take(length, Label::Plain);
    }

    fn comment(&mut self, rest: &str) -> bool {
        let language = self.language;
        if let Some((open, close)) =
            language.block_comments.iter().find(|(open, _)| rest.starts_with(open))
        {
            let length = if language.nested_comments {
                nested_length(rest, open, close)
            } else {
                length_through(&rest[open.len()..], close).map(|length| open.len() + length)
            };
            self.take(length.unwrap_or(rest.len()), kind(SyntaxKind::Comment));
            return true;
        }
        let is_open = |mark: &&str| rest.starts_with(*mark);
        if !language.line_comments.iter().any(is_open) {
            return false;
        }
        let before = self.text[..self.at].chars().next_back();
        if language.comment_needs_space && before.is_some_and(|before| !before.is_whitespace()) {
            return false;
        }
        self.take(line_length(rest), kind(SyntaxKind::Comment));
        true
    }

    /// Labels syntax that is special only at the start of a line.
    fn line_marker(&mut self, rest: &str) -> bool {
        if self.language.preprocessor && rest.starts_with('#') {
            let word = rest[1..].find(|char: char| !char.is_alphanumeric() && char != ' ');
            self.take(word.map_or(rest.len(), |word| word + 1), kind(SyntaxKind::Keyword));
            return true;
        }
        let line = rest[..line_length(rest)].trim_end();
        if self.language.sections
            && rest.starts_with('[')
            && line.ends_with(']')
            && !line.contains(',')
        {
            self.take(line.len(), kind(SyntaxKind::Type));
            return true;
        }
        false
    }

    fn quote(&mut self, rest: &str) -> bool {
        if self.language.ticks && rest.starts_with('\'') {
            return self.tick(rest);
        }
        let open = |quote: &&Quote| rest.starts_with(quote.open);
        let Some(quote) = self.language.quotes.iter().find(open) else { return false };
        if quote.template {
            self.at += quote.open.len();
            self.template();
            return true;
        }
        let length = quoted_length(rest, quote);
        self.string(length);
        true
    }

    fn string(&mut self, length: usize) {
        let is_key = match self.language.keys {
            Keys::Quoted => self.text[self.at + length..].trim_start().starts_with(':'),
            _ => false,
        };
        let label = if is_key { SyntaxKind::Attribute } else { SyntaxKind::String };
        self.take(length, kind(label));
        self.after_value = true;
    }

    /// Scans a template string up to its end or to the next `${`.
    fn template(&mut self) {
        let rest = &self.text[self.at..];
        let mut chars = rest.char_indices();
        let mut length = rest.len();
        while let Some((at, char)) = chars.next() {
            match char {
                '\\' => _ = chars.next(),
                '`' => {
                    length = at + 1;
                    self.after_value = true;
                    break;
                }
                '$' if rest[at + 1..].starts_with('{') => {
                    length = at + 2;
                    self.templates.push(self.depth);
                    self.depth += 1;
                    self.after_value = false;
                    break;
                }
                _ => {}
            }
        }
        self.take(length, kind(SyntaxKind::String));
    }

    /// Labels a character (`'a'`), or a lifetime or quoted symbol (`'a`).
    fn tick(&mut self, rest: &str) -> bool {
        let mut chars = rest.char_indices().skip(1);
        let end = match chars.next() {
            Some((_, '\\')) => {
                let near = rest.char_indices().skip(3).take(12);
                near.take_while(|(_, char)| *char != '\n').find(|(_, char)| *char == '\'')
            }
            Some((_, char)) if char != '\n' && char != '\'' => {
                chars.next().filter(|(_, char)| *char == '\'')
            }
            _ => None,
        };
        match end {
            Some((end, _)) => self.string(end + 1),
            None => {
                let word = rest[1..].find(|char: char| !is_word(char)).unwrap_or(rest.len() - 1);
                self.take(word + 1, kind(SyntaxKind::Attribute));
            }
        }
        true
    }

    fn number(&mut self, rest: &str) {
        let bytes = rest.as_bytes();
        let mut length = 1;
        while let Some(byte) = bytes.get(length) {
            let next_is_digit = bytes.get(length + 1).is_some_and(u8::is_ascii_digit);
            let goes_on = match byte {
                b'.' => next_is_digit,
                b'+' | b'-' => {
                    matches!(bytes[length - 1], b'e' | b'E') && next_is_digit && bytes[1] != b'x'
                }
                byte => byte.is_ascii_alphanumeric() || *byte == b'_',
            };
            if !goes_on {
                break;
            }
            length += 1;
        }
        self.take(length, kind(SyntaxKind::Number));
        self.after_value = true;
    }

    fn attribute(&mut self, rest: &str, first: char) -> bool {
        let length = match (self.language.attributes, first) {
            (Attributes::At, '@') => word_length(&rest[1..], ".").map(|length| length + 1),
            (Attributes::Hash, '#') if rest.starts_with("#[") || rest.starts_with("#![") => {
                bracket_length(rest)
            }
            _ => None,
        };
        let Some(length) = length else { return false };
        self.take(length, kind(SyntaxKind::Attribute));
        true
    }

    /// Labels a variable that begins with a sigil.
    fn sigil(&mut self, rest: &str, first: char) -> bool {
        if !self.language.sigils.contains(first) {
            return false;
        }
        let Some(length) = word_length(&rest[first.len_utf8()..], "") else { return false };
        self.take(first.len_utf8() + length, kind(SyntaxKind::Variable));
        self.after_value = true;
        true
    }

    fn word(&mut self, rest: &str) {
        let language = self.language;
        let length = word_length(rest, language.word_chars).unwrap_or(1);
        let (word, after) = rest.split_at(length);
        // b"…", r"…", f'…': the prefix belongs to the string.
        if length <= 2 && language.prefixes && after.starts_with(['"', '\'', '#']) {
            let hashes = after.bytes().take_while(|byte| *byte == b'#').take(NEAR).count();
            if hashes > 0 && after[hashes..].starts_with('"') && word.ends_with('r') {
                let close = format!("\"{}", "#".repeat(hashes));
                let inside = &after[hashes + 1..];
                let inside = length_through(inside, &close).unwrap_or(inside.len());
                return self.string(length + hashes + 1 + inside);
            }
            let raw = word.contains(['r', 'R']);
            let open = |quote: &&Quote| !quote.template && after.starts_with(quote.open);
            if let Some(quote) = language.quotes.iter().find(open)
                && !(language.ticks && quote.open == "'")
            {
                let quote = Quote { escape: quote.escape && !raw, ..*quote };
                return self.string(length + quoted_length(after, &quote));
            }
        }
        let label = self.word_label(word, after);
        let is_value = !matches!(label, Label::Syntax(SyntaxKind::Keyword));
        self.take(length, label);
        self.after_value = is_value;
        self.after_dot = false;
    }

    fn word_label(&self, word: &str, after: &str) -> Label {
        let language = self.language;
        let is_key = match language.keys {
            Keys::None | Keys::Quoted => false,
            Keys::Colon => after.starts_with(": ") || after.starts_with(":\n") || after == ":",
            Keys::Equals => after.trim_start_matches(' ').starts_with('='),
            Keys::Declared => self.depth > 0 && after.starts_with(':'),
        };
        if is_key {
            return kind(SyntaxKind::Attribute);
        }
        if let Some(known) = language.word(word).filter(|_| !self.after_dot) {
            return kind(known);
        }
        let is_call = language.calls && after.starts_with(['(', '!']) && !after.starts_with("!=");
        let is_capital = word.starts_with(char::is_uppercase);
        let is_constant =
            is_capital && word.len() > 1 && !word.contains(|char: char| char.is_lowercase());
        match () {
            () if language.capitals && is_constant => kind(SyntaxKind::Constant),
            () if is_call && !(language.capitals && is_capital && after.starts_with('!')) => {
                kind(SyntaxKind::Function)
            }
            () if language.capitals && is_capital => kind(SyntaxKind::Type),
            () => Label::Plain,
        }
    }

    fn regex(&mut self, rest: &str) -> bool {
        if !self.language.regex || self.after_value {
            return false;
        }
        let mut in_class = false;
        let mut chars = rest.char_indices().skip(1).take(NEAR);
        let end = loop {
            match chars.next() {
                Some((_, '\\')) => _ = chars.next(),
                Some((_, '[')) => in_class = true,
                Some((_, ']')) => in_class = false,
                Some((at, '/')) if !in_class => break at + 1,
                Some((_, '\n')) | None => return false,
                _ => {}
            }
        };
        let flags = rest[end..].bytes().take_while(u8::is_ascii_lowercase).count();
        self.string(end + flags);
        true
    }

    fn sign(&mut self, sign: char) {
        match sign {
            '{' => self.depth += 1,
            '}' => {
                self.depth = self.depth.saturating_sub(1);
                if self.templates.last() == Some(&self.depth) {
                    self.templates.pop();
                    self.at += 1;
                    return self.template();
                }
            }
            _ => {}
        }
        let label = match sign {
            '+' | '-' | '*' | '/' | '%' | '=' | '<' | '>' | '!' | '&' | '|' | '^' | '~' | '?' => {
                kind(SyntaxKind::Operator)
            }
            sign if sign.is_ascii_punctuation() => kind(SyntaxKind::Punctuation),
            _ => Label::Plain,
        };
        self.take(sign.len_utf8(), label);
        self.after_value = matches!(sign, ')' | ']' | '}');
        self.after_dot = sign == '.';
    }
}

pub(super) fn is_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

/// Returns the length of the word that a text begins with. `None`: it does not begin with a word.
pub(super) fn word_length(text: &str, extra: &str) -> Option<usize> {
    text.chars().next().filter(|first| is_word(*first))?;
    Some(text.find(|char: char| !is_word(char) && !extra.contains(char)).unwrap_or(text.len()))
}

/// Returns the length up to the end of the line, without its newline.
pub(super) fn line_length(text: &str) -> usize {
    memchr::memchr(b'\n', text.as_bytes()).unwrap_or(text.len())
}

/// Returns the length up to and including `close`.
pub(super) fn length_through(text: &str, close: &str) -> Option<usize> {
    memchr::memmem::find(text.as_bytes(), close.as_bytes()).map(|at| at + close.len())
}

/// Returns the length of a string. A single-line string ends at the end of the line.
pub(super) fn quoted_length(text: &str, quote: &Quote) -> usize {
    let mut at = quote.open.len();
    let bytes = text.as_bytes();
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' if quote.escape => at += 1,
            b'\n' if !quote.lines => return at,
            _ if bytes[at..].starts_with(quote.close.as_bytes()) => {
                return at + quote.close.len();
            }
            _ => {}
        }
        at += 1;
    }
    // An escape may have skipped past the end, or into a character.
    text.len()
}

/// Returns the length of a comment that may contain nested comments.
fn nested_length(text: &str, open: &str, close: &str) -> Option<usize> {
    let (mut at, mut depth) = (0, 0usize);
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        if rest.starts_with(close.as_bytes()) {
            at += close.len();
            depth -= 1;
            if depth == 0 {
                return Some(at);
            }
        } else if rest.starts_with(open.as_bytes()) {
            at += open.len();
            depth += 1;
        } else {
            at += 1;
        }
    }
    None
}

/// Returns the length up to the matching bracket, if it is near.
fn bracket_length(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, char) in text.char_indices().take(NEAR) {
        match char {
            '[' => depth += 1,
            ']' if depth == 1 => return Some(at + 1),
            ']' => depth -= 1,
            _ => {}
        }
    }
    None
}

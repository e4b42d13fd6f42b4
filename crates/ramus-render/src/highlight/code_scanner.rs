//! Scans languages that consist of words, strings, numbers and comments.
//!
//! Lookahead is either consumed when it is found or limited by a constant, so no text is scanned more
//! than a few times.

use super::language::{AttributeSyntax, KeySyntax, Language, StringQuote};
use super::painter::LabelPainter;
use crate::span::{Label, SyntaxKind};

/// The maximum length of a regular expression, an attribute or a character literal.
const MAX_LOOKAHEAD: usize = 256;

/// Labels the tokens of `text` from `start` on.
pub(super) fn scan_code(
    language: &Language,
    text: &str,
    start: usize,
    painter: &mut LabelPainter<'_>,
) {
    let mut scanner = CodeScanner {
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
        scanner.scan_token();
    }
}

struct CodeScanner<'s, 't> {
    language: &'s Language,
    text: &'s str,
    at: usize,
    painter: &'s mut LabelPainter<'t>,
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

fn syntax_label(kind: SyntaxKind) -> Label {
    Label::Syntax(kind)
}

impl CodeScanner<'_, '_> {
    fn scan_token(&mut self) {
        let rest = &self.text[self.at..];
        let Some(first) = rest.chars().next() else { return };
        if first == '\n' {
            self.line_start = true;
            return self.skip_next(1);
        }
        if first.is_whitespace() {
            let is_end = |char: char| char == '\n' || !char.is_whitespace();
            return self.skip_next(rest.find(is_end).unwrap_or(rest.len()));
        }
        let line_start = std::mem::take(&mut self.line_start);
        if self.scan_comment(rest)
            || line_start && self.scan_line_marker(rest)
            || self.scan_quote(rest)
        {
            return;
        }
        if first.is_ascii_digit() {
            return self.scan_number(rest);
        }
        if self.scan_attribute(rest, first) || self.scan_sigil(rest, first) {
            return;
        }
        if is_word_char(first) {
            return self.scan_word(rest);
        }
        if first == '/' && self.scan_regex(rest) {
            return;
        }
        self.scan_sign(first);
    }

    /// Labels the next `length` bytes.
    fn label_next(&mut self, length: usize, label: Label) {
        self.at += length;
        self.painter.paint_to(self.at, label);
    }

    fn skip_next(&mut self, length: usize) {
        self.label_next(length, Label::Plain);
    }

    fn scan_comment(&mut self, rest: &str) -> bool {
        let language = self.language;
        if let Some((open, close)) =
            language.block_comments.iter().find(|(open, _)| rest.starts_with(open))
        {
            let length = if language.nested_comments {
                nested_length(rest, open, close)
            } else {
                length_through(&rest[open.len()..], close).map(|length| open.len() + length)
            };
            self.label_next(length.unwrap_or(rest.len()), syntax_label(SyntaxKind::Comment));
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
        self.label_next(line_length(rest), syntax_label(SyntaxKind::Comment));
        true
    }

    /// Labels syntax that is special only at the start of a line.
    fn scan_line_marker(&mut self, rest: &str) -> bool {
        if self.language.preprocessor && rest.starts_with('#') {
            let word = rest[1..].find(|char: char| !char.is_alphanumeric() && char != ' ');
            self.label_next(
                word.map_or(rest.len(), |word| word + 1),
                syntax_label(SyntaxKind::Keyword),
            );
            return true;
        }
        let line = rest[..line_length(rest)].trim_end();
        if self.language.sections
            && rest.starts_with('[')
            && line.ends_with(']')
            && !line.contains(',')
        {
            self.label_next(line.len(), syntax_label(SyntaxKind::Type));
            return true;
        }
        false
    }

    fn scan_quote(&mut self, rest: &str) -> bool {
        if self.language.ticks && rest.starts_with('\'') {
            return self.scan_tick(rest);
        }
        let open = |quote: &&StringQuote| rest.starts_with(quote.open);
        let Some(quote) = self.language.quotes.iter().find(open) else { return false };
        if quote.template {
            self.at += quote.open.len();
            self.scan_template();
            return true;
        }
        let length = quoted_length(rest, quote);
        self.label_string(length);
        true
    }

    fn label_string(&mut self, length: usize) {
        let is_key = match self.language.keys {
            KeySyntax::Quoted => self.text[self.at + length..].trim_start().starts_with(':'),
            _ => false,
        };
        let label = if is_key { SyntaxKind::Attribute } else { SyntaxKind::String };
        self.label_next(length, syntax_label(label));
        self.after_value = true;
    }

    /// Scans a template string up to its end or to the next `${`.
    fn scan_template(&mut self) {
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
        self.label_next(length, syntax_label(SyntaxKind::String));
    }

    /// Labels a character (`'a'`), or a lifetime or quoted symbol (`'a`).
    fn scan_tick(&mut self, rest: &str) -> bool {
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
            Some((end, _)) => self.label_string(end + 1),
            None => {
                let word =
                    rest[1..].find(|char: char| !is_word_char(char)).unwrap_or(rest.len() - 1);
                self.label_next(word + 1, syntax_label(SyntaxKind::Attribute));
            }
        }
        true
    }

    fn scan_number(&mut self, rest: &str) {
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
        self.label_next(length, syntax_label(SyntaxKind::Number));
        self.after_value = true;
    }

    fn scan_attribute(&mut self, rest: &str, first: char) -> bool {
        let length = match (self.language.attributes, first) {
            (AttributeSyntax::At, '@') => word_length(&rest[1..], ".").map(|length| length + 1),
            (AttributeSyntax::Hash, '#') if rest.starts_with("#[") || rest.starts_with("#![") => {
                bracket_length(rest)
            }
            _ => None,
        };
        let Some(length) = length else { return false };
        self.label_next(length, syntax_label(SyntaxKind::Attribute));
        true
    }

    /// Labels a variable that begins with a sigil.
    fn scan_sigil(&mut self, rest: &str, first: char) -> bool {
        if !self.language.sigils.contains(first) {
            return false;
        }
        let Some(length) = word_length(&rest[first.len_utf8()..], "") else { return false };
        self.label_next(first.len_utf8() + length, syntax_label(SyntaxKind::Variable));
        self.after_value = true;
        true
    }

    fn scan_word(&mut self, rest: &str) {
        let language = self.language;
        let length = word_length(rest, language.word_chars).unwrap_or(1);
        let (word, after) = rest.split_at(length);
        // b"…", r"…", f'…': the prefix belongs to the string.
        if length <= 2 && language.prefixes && after.starts_with(['"', '\'', '#']) {
            let hashes = after.bytes().take_while(|byte| *byte == b'#').take(MAX_LOOKAHEAD).count();
            if hashes > 0 && after[hashes..].starts_with('"') && word.ends_with('r') {
                let close = format!("\"{}", "#".repeat(hashes));
                let inside = &after[hashes + 1..];
                let inside = length_through(inside, &close).unwrap_or(inside.len());
                return self.label_string(length + hashes + 1 + inside);
            }
            let raw = word.contains(['r', 'R']);
            let open = |quote: &&StringQuote| !quote.template && after.starts_with(quote.open);
            if let Some(quote) = language.quotes.iter().find(open)
                && !(language.ticks && quote.open == "'")
            {
                let quote = StringQuote { escape: quote.escape && !raw, ..*quote };
                return self.label_string(length + quoted_length(after, &quote));
            }
        }
        let label = self.word_label(word, after);
        let is_value = !matches!(label, Label::Syntax(SyntaxKind::Keyword));
        self.label_next(length, label);
        self.after_value = is_value;
        self.after_dot = false;
    }

    fn word_label(&self, word: &str, after: &str) -> Label {
        let language = self.language;
        let is_key = match language.keys {
            KeySyntax::None | KeySyntax::Quoted => false,
            KeySyntax::Colon => after.starts_with(": ") || after.starts_with(":\n") || after == ":",
            KeySyntax::Equals => after.trim_start_matches(' ').starts_with('='),
            KeySyntax::Declared => self.depth > 0 && after.starts_with(':'),
        };
        if is_key {
            return syntax_label(SyntaxKind::Attribute);
        }
        if let Some(known) = language.word_kind(word).filter(|_| !self.after_dot) {
            return syntax_label(known);
        }
        let is_call = language.calls && after.starts_with(['(', '!']) && !after.starts_with("!=");
        let is_capital = word.starts_with(char::is_uppercase);
        let is_constant =
            is_capital && word.len() > 1 && !word.contains(|char: char| char.is_lowercase());
        match () {
            () if language.capitals && is_constant => syntax_label(SyntaxKind::Constant),
            () if is_call && !(language.capitals && is_capital && after.starts_with('!')) => {
                syntax_label(SyntaxKind::Function)
            }
            () if language.capitals && is_capital => syntax_label(SyntaxKind::Type),
            () => Label::Plain,
        }
    }

    fn scan_regex(&mut self, rest: &str) -> bool {
        if !self.language.regex || self.after_value {
            return false;
        }
        let mut in_class = false;
        let mut chars = rest.char_indices().skip(1).take(MAX_LOOKAHEAD);
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
        self.label_string(end + flags);
        true
    }

    fn scan_sign(&mut self, sign: char) {
        match sign {
            '{' => self.depth += 1,
            '}' => {
                self.depth = self.depth.saturating_sub(1);
                if self.templates.last() == Some(&self.depth) {
                    self.templates.pop();
                    self.at += 1;
                    return self.scan_template();
                }
            }
            _ => {}
        }
        let label = match sign {
            '+' | '-' | '*' | '/' | '%' | '=' | '<' | '>' | '!' | '&' | '|' | '^' | '~' | '?' => {
                syntax_label(SyntaxKind::Operator)
            }
            sign if sign.is_ascii_punctuation() => syntax_label(SyntaxKind::Punctuation),
            _ => Label::Plain,
        };
        self.label_next(sign.len_utf8(), label);
        self.after_value = matches!(sign, ')' | ']' | '}');
        self.after_dot = sign == '.';
    }
}

pub(super) fn is_word_char(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

/// Returns the length of the word that a text begins with. `None`: it does not begin with a word.
pub(super) fn word_length(text: &str, extra: &str) -> Option<usize> {
    text.chars().next().filter(|first| is_word_char(*first))?;
    Some(text.find(|char: char| !is_word_char(char) && !extra.contains(char)).unwrap_or(text.len()))
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
pub(super) fn quoted_length(text: &str, quote: &StringQuote) -> usize {
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
    for (at, char) in text.char_indices().take(MAX_LOOKAHEAD) {
        match char {
            '[' => depth += 1,
            ']' if depth == 1 => return Some(at + 1),
            ']' => depth -= 1,
            _ => {}
        }
    }
    None
}

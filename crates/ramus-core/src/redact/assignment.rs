//! Finds values after a name that announces a secret.

use std::ops::Range;

use super::SecretFinding;
use super::name::{AnnouncedSecret, announced_by, contains_ignore_case, is_setting};
use super::rules::{ByteClass, SERVICE_RULES, TokenShape};
use super::scan::{BareValue, SecretScanner};
use super::shape;
use super::text::{
    QuoteMark, blank_length, count_slashes, indent_length, is_line_end, line_start, run_length,
    run_within,
};
use super::value::{self, ValueStyle};
use crate::ids::RecordUuid;

/// The sign between a name and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AssignmentSign {
    /// `=`, `:=`, `=>`
    Equals {
        spaced: bool,
    },
    Colon,
    /// `("NAME", "value")`
    Comma,
    /// `set_password("value")`
    Call,
    /// `<password>value</password>`
    Element,
    /// `--password value`
    Space,
}

/// A value and how it is written.
struct AssignedValue {
    range: Range<usize>,
    is_quoted: bool,
}

/// Finds an assignment whose name begins at a position.
pub(super) fn find_assignment(scanner: &mut SecretScanner<'_>, at: usize) -> Option<SecretFinding> {
    let bytes = scanner.bytes;
    let length = bytes[at..].iter().take(130).take_while(|byte| is_name(**byte)).count();
    if length > 128 {
        return None;
    }
    let end = at + bytes[at..at + length].trim_ascii_end().len();
    let end = at + trimmed_length(&bytes[at..end]);
    track_manifest(scanner, at, end);
    if let Some(found) = super::command::find_announced_password(scanner, at, end) {
        return Some(found);
    }
    let (join, after) = read_sign(bytes, at, end)?;
    let start = name_start(bytes, at, scanner.kept);
    let announced = announced_by(&bytes[start..end]);
    let finding = |rule, range| Some(SecretFinding { rule, range, public_prefix: 0 });
    if scanner.in_manifest_data && announced.is_none() && matches!(join, AssignmentSign::Colon) {
        let value = read_value(scanner, after, join, false)?;
        let is_base64 =
            run_length(&bytes[value.range.clone()], ByteClass::Base64) == value.range.len();
        if value.range.len() >= 8 && value.range.len() % 4 == 0 && is_base64 {
            return finding("kubernetes-secret", value.range);
        }
    }
    match announced {
        Some(AnnouncedSecret::Authorization) => {
            return find_authorization(scanner, after)
                .and_then(|range| finding("curl-auth-header", range));
        }
        Some(AnnouncedSecret::Cookie) if matches!(join, AssignmentSign::Colon) => {
            return find_cookie(scanner, after).and_then(|range| finding("cookie", range));
        }
        _ => {}
    }
    let is_setting = is_setting(&bytes[at..end]);
    let value = read_value(scanner, after, join, is_setting)?;
    let text = &bytes[value.range.clone()];
    // Tokens with a known shape are reported under that name, and blocks as a whole.
    if text.starts_with(b"-----") || shape::find_token(bytes, value.range.start).is_some() {
        return None;
    }
    if let Some(rule) = service_rule(bytes, start, end, text, scanner.kept) {
        return finding(rule, value.range);
    }
    let style = value_style(bytes, &value, join, is_setting, at);
    let is_secret = match announced? {
        AnnouncedSecret::Password => value::is_password(text, style),
        AnnouncedSecret::Secret => {
            value::is_random(text, 8)
                || style != ValueStyle::Bare && text.len() >= 8 && value::is_password(text, style)
        }
        AnnouncedSecret::Token => {
            value::is_random(text, if style == ValueStyle::Bare { 12 } else { 8 })
        }
        AnnouncedSecret::Key => value::is_clearly_random(text) || shape::is_basic_credentials(text),
        AnnouncedSecret::Authorization | AnnouncedSecret::Cookie => false,
    };
    let rule = match announced? {
        AnnouncedSecret::Password => "password",
        _ => "generic-api-key",
    };
    if is_secret { finding(rule, value.range) } else { None }
}

fn is_name(byte: u8) -> bool {
    ByteClass::Word.contains(byte) || byte == b'.'
}

/// Returns the length of a name without the full stop or dash after it.
fn trimmed_length(name: &[u8]) -> usize {
    name.len() - name.iter().rev().take_while(|byte| matches!(byte, b'.' | b'-')).count()
}

/// Includes up to two words before a name, as in `API key: …`.
fn name_start(bytes: &[u8], at: usize, kept: usize) -> usize {
    let mut start = at;
    for _ in 0..2 {
        let Some(space) =
            start.checked_sub(1).filter(|space| *space > kept && bytes[*space] == b' ')
        else {
            break;
        };
        let word = bytes[kept..space]
            .iter()
            .rev()
            .take(24)
            .take_while(|byte| byte.is_ascii_alphanumeric());
        match word.count() {
            0 | 24 => break,
            length => start = space - length,
        }
    }
    start
}

/// Reads the sign between a name and its value, and returns where the value begins.
fn read_sign(bytes: &[u8], at: usize, end: usize) -> Option<(AssignmentSign, usize)> {
    let closed =
        end + bytes[end..].iter().take(8).take_while(|byte| b"\"'`\\])?!".contains(byte)).count();
    // The backslashes of a newline close nothing.
    let closed =
        closed - bytes[end..closed].iter().rev().take_while(|byte| **byte == b'\\').count();
    let is_quoted = closed > end;
    let spaced = closed + indent_length(&bytes[closed..]);
    let rest = &bytes[spaced..];
    let is_flag = at > 0 && bytes[at - 1] == b'-';
    match rest.first()? {
        b':' if rest.get(1) == Some(&b':') => None,
        b':' if rest.get(1) == Some(&b'=') => {
            Some((AssignmentSign::Equals { spaced: true }, spaced + 2))
        }
        b':' => Some(match type_length(&rest[1..]) {
            Some(length) => (AssignmentSign::Equals { spaced: true }, spaced + 1 + length),
            None => (AssignmentSign::Colon, spaced + 1),
        }),
        b'=' => {
            let marks = rest.iter().take(3).take_while(|byte| b"=>~".contains(byte)).count();
            Some((AssignmentSign::Equals { spaced: spaced > closed || marks > 1 }, spaced + marks))
        }
        b'!' if rest.get(1) == Some(&b'=') => {
            Some((AssignmentSign::Equals { spaced: true }, spaced + 2))
        }
        b',' if is_quoted => Some((AssignmentSign::Comma, spaced + 1)),
        // A row of a table.
        b'|' if rest.get(1) == Some(&b' ') => Some((AssignmentSign::Colon, spaced + 1)),
        b'(' if spaced == closed => Some((AssignmentSign::Call, spaced + 1)),
        b'>' if at > 0 && bytes[at - 1] == b'<' => Some((AssignmentSign::Element, spaced + 1)),
        _ if is_quoted && rest.starts_with(b"value=") => Some((AssignmentSign::Comma, spaced + 6)),
        _ if is_flag && !is_quoted && spaced > closed => Some((AssignmentSign::Space, spaced)),
        _ => None,
    }
}

/// Returns the length of a type and the `=` after it: `password: &str = "…"`.
fn type_length(bytes: &[u8]) -> Option<usize> {
    let is_type = |byte: &u8| byte.is_ascii_alphanumeric() || b" &'_<>[]|?.:".contains(byte);
    let length = bytes.iter().take(48).take_while(|byte| is_type(byte)).count();
    let is_end =
        bytes.get(length) == Some(&b'=') && !matches!(bytes.get(length + 1), Some(b'=' | b'>'));
    let is_spaced = length > 2 && bytes[length - 1] == b' ' && bytes[0] == b' ';
    (is_end && is_spaced).then_some(length + 1)
}

/// Reads the value that begins at a position.
fn read_value(
    scanner: &SecretScanner<'_>,
    at: usize,
    join: AssignmentSign,
    is_setting: bool,
) -> Option<AssignedValue> {
    let bytes = scanner.bytes;
    // Markdown ends bold type after the colon.
    let stars = bytes[at..].iter().take(2).take_while(|byte| **byte == b'*').count();
    let mut start = at + stars + indent_length(&bytes[at + stars..]);
    // The mark of a string in some languages: `b"…"`, `@"…"`.
    if matches!(bytes.get(start), Some(b'b' | b'r' | b'f' | b'u' | b'@' | b'L'))
        && QuoteMark::read_at(&bytes[start + 1..]).is_some()
    {
        start += 1;
    }
    if join != AssignmentSign::Element
        && let Some(quote) = QuoteMark::read_at(&bytes[start..])
    {
        let inside = start + quote.len();
        // An unescaped `"` after a name in the middle of a string ends that string.
        if scanner.is_json()
            && quote.slashes == 0
            && quote.mark == b'"'
            && !is_json_value(bytes, start)
        {
            return None;
        }
        let length = quote.quoted_length(&bytes[inside..], scanner.is_json(), 4096)?;
        return Some(AssignedValue { range: inside..inside + length, is_quoted: true });
    }
    if matches!(join, AssignmentSign::Comma | AssignmentSign::Call) {
        return None;
    }
    let length = bare_length(scanner, start, join, is_setting);
    if join == AssignmentSign::Element && !bytes[start + length..].starts_with(b"</") {
        return None;
    }
    (length > 0).then_some(AssignedValue { range: start..start + length, is_quoted: false })
}

/// Whether the quote at a position opens a JSON value, which follows a colon that follows a quote.
fn is_json_value(bytes: &[u8], at: usize) -> bool {
    let before = bytes[..at].trim_ascii_end();
    let Some(key) = before.strip_suffix(b":") else { return false };
    key.trim_ascii_end().ends_with(b"\"")
}

/// The longest value that is examined.
const MAX_VALUE_BYTES: usize = 4096;

/// Returns the length of a value without quotes. 0: there is none, or it is too long for one.
fn bare_length(
    scanner: &SecretScanner<'_>,
    start: usize,
    join: AssignmentSign,
    is_setting: bool,
) -> usize {
    let ends: &'static [u8] = match (join, is_setting) {
        (AssignmentSign::Element, _) => b"<",
        (_, true) => b"\"'`",
        (AssignmentSign::Space, _) => b"\"'`|<>;",
        _ => b"\"'`,;&)]}<>|",
    };
    let known = scanner.last_bare_value.get();
    let known = known.filter(|last| last.ends == ends && (last.start..last.end).contains(&start));
    let end = match known {
        Some(last) => last.end,
        None => {
            let end = bare_end(scanner.bytes, start, ends);
            scanner.last_bare_value.set(Some(BareValue { start, end, ends }));
            end
        }
    };
    if end - start > MAX_VALUE_BYTES {
        return 0;
    }
    // Punctuation after a value in a sentence.
    let text = &scanner.bytes[start..end];
    text.len() - text.iter().rev().take_while(|byte| matches!(byte, b'.' | b',' | b':')).count()
}

fn bare_end(bytes: &[u8], start: usize, ends: &[u8]) -> usize {
    let mut at = start;
    while let Some(byte) = bytes.get(at) {
        if *byte == b'\\' {
            let slashes = count_slashes(&bytes[at..]);
            let next = bytes.get(at + slashes);
            if matches!(next, None | Some(b'n' | b'r' | b't' | b'"' | b'\'' | b'`')) {
                break;
            }
            at += slashes;
            continue;
        }
        let rest = &bytes[at..];
        let ends_command = rest.starts_with(b"&&")
            || *byte == b';' && (blank_length(&rest[1..]) > 0 || is_line_end(&rest[1..]));
        if byte.is_ascii_whitespace() || ends.contains(byte) || ends_command {
            break;
        }
        at += 1;
    }
    at
}

/// Decides how much a value without quotes must look like a secret.
fn value_style(
    bytes: &[u8],
    value: &AssignedValue,
    join: AssignmentSign,
    is_setting: bool,
    name_at: usize,
) -> ValueStyle {
    if value.is_quoted {
        return ValueStyle::Quoted;
    }
    match join {
        AssignmentSign::Element => ValueStyle::Literal,
        AssignmentSign::Space => ValueStyle::Literal,
        AssignmentSign::Equals { spaced: false } if is_setting => ValueStyle::Literal,
        AssignmentSign::Equals { spaced: true }
            if is_setting && is_whole_line(bytes, value, name_at) =>
        {
            ValueStyle::Literal
        }
        AssignmentSign::Equals { .. } | AssignmentSign::Colon
            if is_whole_line(bytes, value, name_at) =>
        {
            ValueStyle::Literal
        }
        _ => ValueStyle::Bare,
    }
}

/// Whether a line has only the name and the value, as in a settings file.
fn is_whole_line(bytes: &[u8], value: &AssignedValue, name_at: usize) -> bool {
    let text = &bytes[value.range.clone()];
    let is_lower = text.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    let start = line_start(bytes, name_at, 60);
    let before = &bytes[start..name_at];
    let is_start = before.iter().all(|byte| b" \t-".contains(byte)) && before.len() < 60;
    is_start && is_lower && is_line_end(&bytes[value.range.end..])
}

/// Returns the rule for a token that is known by the service it is for.
fn service_rule(
    bytes: &[u8],
    start: usize,
    end: usize,
    value: &[u8],
    kept: usize,
) -> Option<&'static str> {
    if !(14..=130).contains(&value.len()) || value::is_placeholder(value) {
        return None;
    }
    let from = start.saturating_sub(16).max(kept).max(line_start(bytes, start, 16));
    let name: Vec<u8> = bytes[from..end]
        .iter()
        .filter(|byte| byte.is_ascii_alphanumeric())
        .map(u8::to_ascii_lowercase)
        .collect();
    let is_rule = |word: &str| memchr::memmem::find(&name, word.as_bytes()).is_some();
    let rule =
        SERVICE_RULES.iter().find(|rule| rule.shape.fits_value(value) && is_rule(rule.word))?;
    Some(rule.id)
}

impl TokenShape {
    /// Whether a value has this shape; words without a digit are names, not keys.
    fn fits_value(self, value: &[u8]) -> bool {
        let looks = match self {
            Self::Run(class, least, most) => {
                (least..=most).contains(&value.len()) && run_length(value, class) == value.len()
            }
            Self::Uuid => RecordUuid::parse_canonical(value).is_some(),
        };
        looks && value.iter().any(u8::is_ascii_digit) && !value::is_words(value)
    }
}

/// Returns the credentials of an `Authorization` header: the word after the scheme, or the only one.
fn find_authorization(scanner: &SecretScanner<'_>, at: usize) -> Option<Range<usize>> {
    let bytes = scanner.bytes;
    let mut start = at + indent_length(&bytes[at..]);
    if let Some(quote) = QuoteMark::read_at(&bytes[start..]) {
        let is_end = scanner.is_json() && quote.slashes == 0 && quote.mark == b'"';
        if is_end && !is_json_value(bytes, start) {
            return None;
        }
        start += quote.len();
    }
    // Enough to decide; a header that is none may be looked at again from its next word on.
    let run_from =
        |start: usize| run_within(&bytes[start..], ByteClass::Credential, MAX_VALUE_BYTES / 16);
    let mut length = run_from(start);
    let scheme = &bytes[start..start + length];
    let is_word = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'-';
    let is_scheme = (1..=12).contains(&length) && scheme.iter().all(is_word);
    if is_scheme && bytes.get(start + length) == Some(&b' ') {
        if scheme.eq_ignore_ascii_case(b"bearer") || scheme.eq_ignore_ascii_case(b"basic") {
            return None;
        }
        start += length + 1;
        length = run_from(start);
    }
    let is_secret = value::is_random(&bytes[start..start + length], 12);
    is_secret.then(|| start..start + run_length(&bytes[start..], ByteClass::Credential))
}

/// Returns the pairs of a `Cookie` header, if one of them has a random value.
fn find_cookie(scanner: &SecretScanner<'_>, at: usize) -> Option<Range<usize>> {
    let bytes = scanner.bytes;
    let mut start = at + indent_length(&bytes[at..]);
    if let Some(quote) = QuoteMark::read_at(&bytes[start..]) {
        start += quote.len();
    }
    let is_part = |byte: &&u8| !b"\"'`\\\n\r<>".contains(byte);
    let length = bytes[start..].iter().take(MAX_VALUE_BYTES / 4).take_while(is_part).count();
    let is_random = |pair: &[u8]| {
        let equals = memchr::memchr(b'=', pair);
        equals.is_some_and(|equals| value::is_random(&pair[equals + 1..], 16))
    };
    let is_secret = bytes[start..start + length].split(|byte| *byte == b';').any(is_random);
    is_secret.then(|| start..start + bytes[start..].iter().take_while(is_part).count())
}

/// Tracks where the data of a Kubernetes secret begins and ends.
fn track_manifest(scanner: &mut SecretScanner<'_>, at: usize, end: usize) {
    let bytes = scanner.bytes;
    let word = &bytes[at..end];
    if word == b"apiVersion" && at >= scanner.manifest_end {
        let limit = bytes.len().min(end + 4096);
        let rest = &bytes[end..limit];
        let rest = &rest[..memchr::memmem::find(rest, b"apiVersion").unwrap_or(rest.len())];
        let is_secret = memchr::memmem::find_iter(rest, b"kind").any(|kind| {
            let after = &rest[kind + 4..];
            let marks = after.iter().take(8).take_while(|byte| b"\": \\".contains(byte)).count();
            after[marks..].starts_with(b"Secret")
                && !after[marks + 6..].first().is_some_and(|byte| is_name(*byte))
        });
        scanner.manifest_end = if is_secret { end + rest.len() } else { 0 };
        scanner.in_manifest_data = false;
    }
    if at >= scanner.manifest_end {
        scanner.in_manifest_data = false;
    } else if matches!(word, b"data" | b"stringData") {
        scanner.in_manifest_data = true;
    } else if [&b"metadata"[..], b"kind", b"type", b"immutable"].contains(&word) {
        scanner.in_manifest_data = false;
    }
}

/// Whether the text before a position contains a word; for detectors that need context.
pub(super) fn follows_word(bytes: &[u8], at: usize, most: usize, word: &[u8]) -> bool {
    contains_ignore_case(&bytes[at.saturating_sub(most)..at], word)
}

//! Finds secrets and addresses that are recognised by their shape.

use std::ops::Range;

use super::SecretFinding;
use super::rules::{ByteClass, TOKEN_RULES, TokenLength, rules_for};
use super::text::{is_word_start, run_length, run_within};
use super::value::{self, entropy, is_placeholder, is_words};

/// How much of a token decides whether it is one. It may be longer; but where it is none, the same
/// bytes may be looked at again from the next word on.
const MAX_LOOKAHEAD: usize = 256;

/// Finds a token that begins at a position.
pub(super) fn find_token(bytes: &[u8], at: usize) -> Option<SecretFinding> {
    let rest = &bytes[at..];
    let plain = |rule, length| SecretFinding { rule, range: at..at + length, public_prefix: 0 };
    if let Some(length) = jwt_length(rest) {
        return Some(SecretFinding { public_prefix: 3, ..plain("jwt", length) });
    }
    if let Some(length) = mailchimp_length(rest) {
        return Some(plain("mailchimp-api-key", length));
    }
    for rule in rules_for(rest[0]).iter().map(|index| &TOKEN_RULES[*index]) {
        let Some(after) = rest.strip_prefix(rule.prefix) else { continue };
        let length = run_within(after, rule.class, MAX_LOOKAHEAD);
        let fits = match rule.length {
            TokenLength::Least(least) => length >= least,
            TokenLength::Exactly(exact) => length == exact && !ends_in_word(after, length),
        };
        let body = &after[..length];
        if !fits || is_placeholder_token(rule.prefix, body) || is_in_base64(bytes, at) {
            continue;
        }
        let length = rule.prefix.len() + run_length(after, rule.class);
        return Some(SecretFinding { public_prefix: rule.prefix.len(), ..plain(rule.id, length) });
    }
    None
}

fn ends_in_word(after: &[u8], length: usize) -> bool {
    after.get(length).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

/// Whether the text after a prefix is a placeholder, or words that happen to begin like a key.
fn is_placeholder_token(prefix: &[u8], body: &[u8]) -> bool {
    let mut same = 1;
    let longest = body.windows(2).map(|two| {
        same = if two[0] == two[1] { same + 1 } else { 1 };
        same
    });
    // Eight equal characters in a row do not happen by chance.
    let is_filler = longest.max().unwrap_or(0) >= 8;
    let words = [&b"example"[..], b"placeholder", b"your", b"xxxx", b"..."];
    // Words joined by hyphens may begin with `sk-` too; keys contain digits.
    let is_joined = body.iter().any(|byte| matches!(byte, b'-' | b'_' | b'.'));
    let is_phrase = prefix.ends_with(b"-") || prefix.ends_with(b".");
    let has_digit = body.iter().any(u8::is_ascii_digit);
    is_filler
        || words.iter().any(|word| super::name::contains_ignore_case(body, word))
        || !has_digit && (is_phrase && is_joined && is_words(body) || prefix == b"sk-")
}

/// Whether a position is inside encoded data, where any letters can follow each other.
fn is_in_base64(bytes: &[u8], at: usize) -> bool {
    const CONTEXT: usize = 64;
    let start = at.saturating_sub(CONTEXT);
    at >= CONTEXT
        && matches!(bytes[at - 1], b'/' | b'+')
        && bytes[start..at].iter().all(|byte| ByteClass::Base64.contains(*byte))
        && entropy(&bytes[start..at]) > 4.3
        && !bytes[start..at].windows(2).any(|two| two == b"//")
}

/// Returns the length of `eyJ….eyJ….…`
fn jwt_length(rest: &[u8]) -> Option<usize> {
    let head = run_within(rest.strip_prefix(b"eyJ")?, ByteClass::Word, 16 * MAX_LOOKAHEAD);
    let body = rest[3 + head..].strip_prefix(b".eyJ")?;
    let body_length = run_length(body, ByteClass::Word);
    let mut length = 3 + head + 4 + body_length;
    if let Some(signature) = rest[length..].strip_prefix(b".") {
        length += 1 + run_length(signature, ByteClass::Word);
    }
    (head >= 10 && body_length > 10).then_some(length)
}

/// Returns the length of 32 hexadecimal digits and a data centre: `…-us12`.
fn mailchimp_length(rest: &[u8]) -> Option<usize> {
    let hex = run_length(&rest[..rest.len().min(33)], ByteClass::Hex);
    let after = rest[hex..].strip_prefix(b"-us")?;
    let digits = after.iter().take(3).take_while(|byte| byte.is_ascii_digit()).count();
    (hex == 32 && (1..=2).contains(&digits)).then_some(35 + digits)
}

/// Finds the credentials after the word `Bearer` or `Basic`.
pub(super) fn find_credentials(bytes: &[u8], at: usize, is_basic: bool) -> Option<Range<usize>> {
    let length = run_length(&bytes[at..], ByteClass::Credential);
    let value = &bytes[at..at + length];
    let is_secret = match is_basic {
        true => is_basic_credentials(value),
        false => {
            let has_digit = value.iter().any(u8::is_ascii_digit);
            length >= 8
                && !is_placeholder(value)
                && !is_words(value)
                && (has_digit || length >= 20 && value::is_random(value, 20))
        }
    };
    // The value of `[redacted:…]` and of a variable does not begin so.
    (is_secret && value[0] != b'$').then_some(at..at + length)
}

/// Whether a value is the Base64 of `name:password`.
pub(super) fn is_basic_credentials(value: &[u8]) -> bool {
    let Some(text) = decode_base64(value) else { return false };
    let Some(colon) = memchr::memchr(b':', &text) else { return false };
    let is_text = text.iter().all(|byte| (b' '..127).contains(byte) || *byte > 127);
    let is_sample = [&b"username:password"[..], b"user:password", b"user:pass"].contains(&&*text);
    is_text && !is_sample && colon + 1 < text.len()
}

fn decode_base64(value: &[u8]) -> Option<Vec<u8>> {
    let value = value.strip_suffix(b"=").unwrap_or(value);
    let value = value.strip_suffix(b"=").unwrap_or(value);
    let (mut out, mut bits, mut held) = (Vec::new(), 0_u32, 0);
    for byte in value.iter().take(2048) {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(six);
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held & 0xff) as u8);
        }
    }
    (value.len() >= 6).then_some(out)
}

/// Finds `123456789:A…`, starting from its colon.
pub(super) fn find_telegram_token(bytes: &[u8], at: usize, kept: usize) -> Option<Range<usize>> {
    let digits =
        bytes[kept..at].iter().rev().take(17).take_while(|byte| byte.is_ascii_digit()).count();
    let after = &bytes[at + 1..];
    let is_token = (5..=16).contains(&digits)
        && after.first() == Some(&b'A')
        && run_length(after, ByteClass::Word) == 35
        && !at.checked_sub(digits + 1).is_some_and(|before| {
            ByteClass::Word.contains(bytes[before]) && !is_word_start(bytes, at - digits)
        });
    is_token.then(|| at - digits..at + 36)
}

/// Finds `abc8Q~…`, starting from its tilde.
pub(super) fn find_azure_secret(bytes: &[u8], at: usize, kept: usize) -> Option<Range<usize>> {
    let is_part = |byte: &u8| ByteClass::Word.contains(*byte) || matches!(byte, b'~' | b'.');
    let start = at.checked_sub(5).filter(|start| *start >= kept)?;
    let [first @ .., digit, b'Q'] = &bytes[start..at] else { return None };
    let length = bytes[at + 1..].iter().take(40).take_while(|byte| is_part(byte)).count();
    let fits = first.iter().all(is_part) && digit.is_ascii_digit();
    let fits = fits && (31..=34).contains(&length);
    (fits && !is_placeholder(&bytes[start..at + 1 + length])).then_some(start..at + 1 + length)
}

/// Finds `….atlasv1.…`, starting from its first dot.
pub(super) fn find_terraform_token(bytes: &[u8], at: usize, kept: usize) -> Option<Range<usize>> {
    let after = bytes[at..].strip_prefix(b".atlasv1.")?;
    let before = bytes[kept..at]
        .iter()
        .rev()
        .take(14)
        .take_while(|byte| byte.is_ascii_alphanumeric())
        .count();
    let length =
        after.iter().take_while(|byte| ByteClass::Word.contains(**byte) || **byte == b'=').count();
    (before >= 14 && length >= 60).then(|| at - 14..at + 9 + length)
}

/// Finds `MTIz….GaBcDe.…`, the Base64 of a number, a time and a signature, starting from its first dot.
pub(super) fn find_discord_token(bytes: &[u8], at: usize, kept: usize) -> Option<Range<usize>> {
    let is_word = |byte: &&u8| ByteClass::Word.contains(**byte);
    let id = bytes[kept..at].iter().rev().take(29).take_while(is_word).count();
    let start = at - id;
    let after = &bytes[at + 1..];
    let time = run_length(&after[..after.len().min(8)], ByteClass::Word);
    let signature = after.get(time..)?.strip_prefix(b".")?;
    let length = run_length(&signature[..signature.len().min(40)], ByteClass::Word);
    let is_number =
        || decode_base64(&bytes[start..at]).is_some_and(|id| id.iter().all(u8::is_ascii_digit));
    let fits = (23..=28).contains(&id) && (6..=7).contains(&time) && (27..=38).contains(&length);
    (fits && is_number()).then_some(start..at + 1 + time + 1 + length)
}

/// Finds the password of `scheme://user:password@host`, or a token instead of the user.
pub(super) fn find_url_password(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let rest = bytes[at..].strip_prefix(b"://")?;
    let rest = &rest[..rest.len().min(1024)];
    let ends = |byte: &u8| byte.is_ascii_whitespace() || b"/\"'\\<>`?|".contains(byte);
    let authority = &rest[..rest.iter().position(ends).unwrap_or(rest.len())];
    let host = memchr::memrchr(b'@', authority)?;
    let user = &authority[..host];
    let Some(colon) = memchr::memchr(b':', user) else {
        return value::is_random(user, 20).then_some(at + 3..at + 3 + host);
    };
    let password = &user[colon + 1..];
    let start = at + 3 + colon + 1;
    (!password.is_empty() && !is_placeholder(password)).then_some(start..at + 3 + host)
}

/// Finds the address around an `@`.
pub(super) fn find_email(bytes: &[u8], at: usize, kept: usize) -> Option<Range<usize>> {
    let is_local = |byte: &&u8| byte.is_ascii_alphanumeric() || b"._%+-".contains(byte);
    let local = bytes[kept..at].iter().rev().take(128).take_while(is_local).count();
    let mut start = at - local;
    // The letter of an escape such as `\n` does not belong to it.
    if start > kept && bytes[start - 1] == b'\\' {
        start += 1;
    }
    let is_domain = |byte: &&u8| byte.is_ascii_alphanumeric() || b".-".contains(byte);
    let mut end = at + 1 + bytes[at + 1..].iter().take(255).take_while(is_domain).count();
    while end > at + 1 && matches!(bytes[end - 1], b'.' | b'-') {
        end -= 1;
    }
    let domain = &bytes[at + 1..end];
    let dot = memchr::memrchr(b'.', domain)?;
    let top = &domain[dot + 1..];
    let is_real =
        start < at && dot > 0 && top.len() >= 2 && top.iter().all(u8::is_ascii_alphabetic);
    is_real.then_some(start..end)
}

/// Finds `/home/name`, `/Users/name`, `\Users\name`, the backslashes doubled in JSON.
pub(super) fn find_home_dir(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let rest = &bytes[at..];
    let roots: [&[u8]; 5] = [b"/home/", b"/Users/", b"\\\\Users\\\\", b"\\Users\\", b"/root"];
    let root = roots.into_iter().find(|root| rest.starts_with(root))?;
    let is_name =
        |byte: &&u8| byte.is_ascii_alphanumeric() || b"._-".contains(byte) || **byte > 127;
    let name = rest[root.len()..].iter().take_while(is_name).count();
    let end = at + root.len() + name;
    let is_root = root == b"/root";
    if is_root != (name == 0) {
        return None;
    }
    // A character before it means that this is not the beginning of a path.
    let before = at.checked_sub(1).map(|before| bytes[before]);
    if before.is_some_and(|byte| byte.is_ascii_alphanumeric() && !is_drive(bytes, at))
        && !is_word_start(bytes, at)
    {
        return None;
    }
    let start = if is_drive(bytes, at) { at - 2 } else { at };
    (before.is_none_or(|byte| !b"._-~".contains(&byte))).then_some(start..end)
}

fn is_drive(bytes: &[u8], at: usize) -> bool {
    at >= 2 && bytes[at - 1] == b':' && bytes[at - 2].is_ascii_alphabetic()
}

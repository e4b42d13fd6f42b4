//! What must not leave the house, found in lines of JSON or in text, and taken out.
//!
//! A line is changed as bytes, before it is read: what comes of it in any format
//! never held the secret. What is put in its place means nothing to JSON.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

mod rules;

use rules::{Class, NAMED, RULES, SECRET_NAMES, Shape};

use crate::name::Name;

/// How often each rule found something.
pub type Found = BTreeMap<&'static str, u64>;

/// Takes out of a line of JSON, or of any text, what the rules know.
pub fn redact<'a>(bytes: Cow<'a, [u8]>, found: &mut Found) -> Cow<'a, [u8]> {
    let mut out: Option<Vec<u8>> = None;
    let (mut kept, mut at) = (0, 0);
    while at < bytes.len() {
        let Some((id, range)) = find_at(&bytes, at, kept) else {
            at += 1;
            continue;
        };
        *found.entry(id).or_default() += 1;
        let out = out.get_or_insert_with(|| Vec::with_capacity(bytes.len()));
        out.extend_from_slice(&bytes[kept..range.start]);
        match id {
            HOME => out.push(b'~'),
            _ => out.extend_from_slice(format!("[redacted:{id}]").as_bytes()),
        }
        kept = range.end;
        at = range.end.max(at + 1);
    }
    match out {
        None => bytes,
        Some(mut out) => {
            out.extend_from_slice(&bytes[kept..]);
            Cow::Owned(out)
        }
    }
}

/// Takes out of a text what the rules know.
pub fn redact_text<'a>(text: &'a str, found: &mut Found) -> Cow<'a, str> {
    match redact(Cow::Borrowed(text.as_bytes()), found) {
        Cow::Borrowed(_) => Cow::Borrowed(text),
        Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
    }
}

const HOME: &str = "home-directory";
const EMAIL: &str = "email-address";
const URL: &str = "password-in-url";
const GENERIC: &str = "generic-api-key";

/// Finds what is told by the byte at a place; nothing before `kept` is looked at again.
fn find_at(bytes: &[u8], at: usize, kept: usize) -> Option<(&'static str, Range<usize>)> {
    match bytes[at] {
        b'@' => email(bytes, at, kept).map(|range| (EMAIL, range)),
        b':' | b'=' => url_password(bytes, at)
            .map(|range| (URL, range))
            .or_else(|| telegram(bytes, at, kept).map(|range| ("telegram-bot-api-token", range)))
            .or_else(|| assigned(bytes, at, kept)),
        b'~' => azure(bytes, at, kept).map(|range| ("azure-ad-client-secret", range)),
        b'.' => terraform(bytes, at, kept).map(|range| ("hashicorp-tf-api-token", range)),
        b'/' | b'\\' => home(bytes, at).map(|range| (HOME, range)),
        b'-' => private_key(bytes, at).map(|range| ("private-key", range)),
        byte if byte.is_ascii_alphabetic() && is_start(bytes, at) => {
            if byte == b'e'
                && let Some(range) = jwt(bytes, at)
            {
                return Some(("jwt", range));
            }
            if byte | 32 == b'b'
                && let Some(range) = bearer(bytes, at)
            {
                return Some(("curl-auth-header", range));
            }
            token(bytes, at)
        }
        _ => None,
    }
}

/// Whether a word may begin here; the letter of an escape such as `\n` belongs to no word.
fn is_start(bytes: &[u8], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|before| bytes[before]) else { return true };
    if !(before.is_ascii_alphanumeric() || before == b'_') {
        return true;
    }
    let slashes = bytes[..at - 1].iter().rev().take_while(|byte| **byte == b'\\').count();
    matches!(before, b'n' | b'r' | b't' | b'b' | b'f') && slashes % 2 == 1
}

fn token(bytes: &[u8], at: usize) -> Option<(&'static str, Range<usize>)> {
    let rest = &bytes[at..];
    let rule = RULES.iter().find(|rule| {
        rest.starts_with(rule.prefix) && run(&rest[rule.prefix.len()..], rule.class) >= rule.least
    })?;
    let end = rule.prefix.len() + run(&rest[rule.prefix.len()..], rule.class);
    // Words joined by hyphens may begin with `sk-` too; keys of that kind hold digits.
    let is_words = rule.prefix == b"sk-" && !rest[..end].iter().any(u8::is_ascii_digit);
    (!is_words).then_some((rule.id, at..at + end))
}

fn run(bytes: &[u8], class: Class) -> usize {
    bytes.iter().take_while(|byte| class.has(**byte)).count()
}

/// `eyJ….eyJ….…`
fn jwt(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let rest = bytes[at..].strip_prefix(b"eyJ")?;
    let head = run(rest, Class::Word);
    let body = rest[head..].strip_prefix(b".eyJ")?;
    let end = at + 3 + head + 4 + run(body, Class::Any);
    (head >= 10 && body.len() > 10).then_some(at..end)
}

fn bearer(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let word = bytes.get(at..at + 7)?;
    if !word.eq_ignore_ascii_case(b"bearer ") {
        return None;
    }
    let length = run(&bytes[at + 7..], Class::Any);
    let value = &bytes[at + 7..at + 7 + length];
    (length >= 16 && value.iter().any(u8::is_ascii_digit)).then_some(at + 7..at + 7 + length)
}

/// `123456789:A…`, told by its colon.
fn telegram(bytes: &[u8], at: usize, kept: usize) -> Option<Range<usize>> {
    let digits = bytes[kept..at].iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let after = &bytes[at + 1..];
    let is_token = (5..=16).contains(&digits)
        && after.first() == Some(&b'A')
        && run(after, Class::Word) == 35
        && !at.checked_sub(digits + 1).is_some_and(|before| Class::Word.has(bytes[before]));
    is_token.then(|| at - digits..at + 36)
}

/// `abc8Q~…`, told by its tilde.
fn azure(bytes: &[u8], at: usize, kept: usize) -> Option<Range<usize>> {
    let is_part = |byte: &u8| Class::Word.has(*byte) || matches!(byte, b'~' | b'.');
    let start = at.checked_sub(5).filter(|start| *start >= kept)?;
    let [first @ .., digit, b'Q'] = &bytes[start..at] else { return None };
    let length = bytes[at + 1..].iter().take_while(|byte| is_part(byte)).count();
    let fits = first.iter().all(is_part) && digit.is_ascii_digit();
    (fits && (31..=34).contains(&length)).then_some(start..at + 1 + length)
}

/// `….atlasv1.…`, told by its first dot.
fn terraform(bytes: &[u8], at: usize, kept: usize) -> Option<Range<usize>> {
    let after = bytes[at..].strip_prefix(b".atlasv1.")?;
    let before =
        bytes[kept..at].iter().rev().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let length = after.iter().take_while(|byte| Class::Word.has(**byte) || **byte == b'=').count();
    (before >= 14 && length >= 60).then(|| at - 14..at + 9 + length)
}

/// A block from `-----BEGIN … PRIVATE KEY` to its end, or to the end of what there is of it.
fn private_key(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let rest = bytes[at..].strip_prefix(b"-----BEGIN ")?;
    let title = &rest[..rest.len().min(60)];
    let title = &title[..memchr::memmem::find(title, b"-----")?];
    memchr::memmem::find(title, b"PRIVATE KEY")?;
    let inside = at + 11 + title.len();
    let end = match memchr::memmem::find(&bytes[inside + 5..], b"-----END ") {
        Some(end) => {
            let end = inside + 5 + end + 9;
            let tail = &bytes[end..bytes.len().min(end + 60)];
            end + memchr::memmem::find(tail, b"-----").map_or(0, |tail| tail + 5)
        }
        None => {
            let is_key = |byte: &&u8| Class::Any.has(**byte) || b"\\ \n\r:,".contains(byte);
            inside + bytes[inside..].iter().take_while(is_key).count()
        }
    };
    Some(at..end)
}

/// The password of `scheme://user:password@host`.
fn url_password(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let rest = bytes[at..].strip_prefix(b"://")?;
    let ends =
        |byte: &u8| matches!(byte, b'/' | b' ' | b'"' | b'\'' | b'\\' | b'<' | b'>' | b'`' | b'\n');
    let authority = &rest[..rest.iter().position(ends).unwrap_or(rest.len())];
    let host = memchr::memrchr(b'@', authority)?;
    let colon = memchr::memchr(b':', &authority[..host])?;
    let start = at + 3 + colon + 1;
    let is_name =
        authority[colon + 1..host].first().is_some_and(|byte| matches!(byte, b'$' | b'{' | b'['));
    (host > colon + 1 && !is_name).then_some(start..at + 3 + host)
}

fn email(bytes: &[u8], at: usize, kept: usize) -> Option<Range<usize>> {
    let is_local = |byte: &&u8| byte.is_ascii_alphanumeric() || b"._%+-".contains(byte);
    let local = bytes[kept..at].iter().rev().take_while(is_local).count();
    let mut start = at - local;
    // The letter of an escape such as `\n` is no part of it.
    if start > kept && bytes[start - 1] == b'\\' {
        start += 1;
    }
    let is_domain = |byte: &&u8| byte.is_ascii_alphanumeric() || b".-".contains(byte);
    let mut end = at + 1 + bytes[at + 1..].iter().take_while(is_domain).count();
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

/// `/home/name`, `/Users/name`, `\Users\name`, the backslashes doubled in JSON.
fn home(bytes: &[u8], at: usize) -> Option<Range<usize>> {
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
    // Something before it means that this is no beginning of a path.
    let before = at.checked_sub(1).map(|before| bytes[before]);
    if before.is_some_and(|byte| byte.is_ascii_alphanumeric() && !is_drive(bytes, at))
        && is_start(bytes, at)
    {
        return None;
    }
    let start = if is_drive(bytes, at) { at - 2 } else { at };
    (before.is_none_or(|byte| !b"._-~".contains(&byte))).then_some(start..end)
}

fn is_drive(bytes: &[u8], at: usize) -> bool {
    at >= 2 && bytes[at - 1] == b':' && bytes[at - 2].is_ascii_alphabetic()
}

/// The value of `some_secret = "value"`, if it looks like one or is random enough.
fn assigned(bytes: &[u8], at: usize, kept: usize) -> Option<(&'static str, Range<usize>)> {
    let blank = |byte: &&u8| matches!(**byte, b' ' | b'"' | b'\'' | b'\\' | b'`');
    let is_name = |byte: u8| Class::Word.has(byte) || byte == b'.';
    let name_end = at - bytes[kept..at].iter().rev().take_while(blank).count();
    let name_len = bytes[kept..name_end].iter().rev().take_while(|byte| is_name(**byte)).count();
    let name: String = bytes[name_end - name_len..name_end]
        .iter()
        .filter(|byte| byte.is_ascii_alphanumeric())
        .map(|byte| char::from(byte.to_ascii_lowercase()))
        .collect();
    let is_secret = SECRET_NAMES.iter().any(|secret| name.ends_with(secret));
    let mut rules = NAMED.iter().filter(|rule| name.contains(rule.word)).peekable();
    if !is_secret && rules.peek().is_none() {
        return None;
    }
    let start = at + 1 + bytes[at + 1..].iter().take_while(blank).count();
    let value = &bytes[start..start + run(&bytes[start..], Class::Any)];
    if let Some(rule) = rules.find(|rule| rule.shape.fits(value)) {
        return Some((rule.id, start..start + value.len()));
    }
    let is_secret = is_secret
        && (10..=150).contains(&value.len())
        && value.iter().any(u8::is_ascii_digit)
        && entropy(value) >= 3.5;
    is_secret.then(|| (GENERIC, start..start + value.len()))
}

impl Shape {
    /// Whether a value looks so; words without a digit are names, not keys.
    fn fits(self, value: &[u8]) -> bool {
        let looks = match self {
            Self::Run(class, least, most) => {
                (least..=most).contains(&value.len()) && run(value, class) == value.len()
            }
            Self::Uuid => Name::canonical(value).is_some(),
        };
        looks && value.iter().any(u8::is_ascii_digit)
    }
}

/// Returns the bits that each byte of a value tells.
fn entropy(value: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in value {
        counts[usize::from(*byte)] += 1;
    }
    let length = value.len() as f64;
    let bits = |count: &u32| {
        let share = f64::from(*count) / length;
        -share * share.log2()
    };
    counts.iter().filter(|count| **count > 0).map(bits).sum()
}

#[cfg(test)]
mod tests {
    use super::{Found, redact_text};

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let mut found = Found::default();
        assert_eq!(redact_text(text, &mut found), expected);
        assert_eq!(found.is_empty(), text == expected);
        assert_eq!(redact_text(expected, &mut Found::default()), expected, "again");
    }

    #[test]
    fn tokens_go_by_the_name_of_what_they_are_given_to() {
        let hex = "0123456789abcdef";
        check(
            &format!("DATADOG_API={}", "a1b2".repeat(10)),
            "DATADOG_API=[redacted:datadog-access-token]",
        );
        check(
            &format!(r#"{{\"snyk.token\": \"{hex}\"}}"#)
                .replace(hex, "01234567-89ab-cdef-0123-456789abcdef"),
            r#"{\"snyk.token\": \"[redacted:snyk-api-token]\"}"#,
        );
        check(&format!("facebook: '{hex}{hex}'"), "facebook: '[redacted:facebook-secret]'");
        for harmless in ["jira: see the board", "etsy = abcdefghijklmnopqrstuvwx", "sumo: 12"] {
            check(harmless, harmless);
        }
        // The length tells a key from a sum.
        check(&format!("linear: {hex}"), &format!("linear: {hex}"));
    }

    #[test]
    fn tokens_go() {
        let github = format!("ghp_{}", "a1B2".repeat(9));
        check(&format!("use {github}!"), "use [redacted:github-pat]!");
        check(&format!(r"line\n{github}"), r"line\n[redacted:github-pat]");
        check(&format!("AKIA{}", "Z7".repeat(8)), "[redacted:aws-access-token]");
        check(&format!("k=sk-ant-api03-{}", "x9-_".repeat(20)), "k=[redacted:anthropic-api-key]");
        check(&format!("xoxb-{}-abc", "123456789012"), "[redacted:slack-bot-token]");
        check(&format!("hf_{}", "abCDefGHij".repeat(4)), "[redacted:huggingface-access-token]");
        check(&format!("glpat-{}", "abcdEFGHij".repeat(2)), "[redacted:gitlab-pat]");
        check(&format!("EAAA{}", "abcdefghijk".repeat(2)), "[redacted:square-access-token]");
        check(
            &format!("https://hooks.slack.com/services/{}", "T0aB/".repeat(9)),
            "https://[redacted:slack-webhook-url]",
        );
        check(
            &format!("bot 1234567890:AA{} ok", "x7-".repeat(11)),
            "bot [redacted:telegram-bot-api-token] ok",
        );
        check(&format!("'abc8Q~{}'", "dE5.".repeat(8)), "'[redacted:azure-ad-client-secret]'");
        check(
            &format!("{}.atlasv1.{}", "a1".repeat(7), "b2-_".repeat(16)),
            "[redacted:hashicorp-tf-api-token]",
        );
        check(
            "Authorization: Bearer abcdef0123456789abcdef",
            "Authorization: Bearer [redacted:curl-auth-header]",
        );
        check(
            &format!(
                "eyJ{}.eyJ{}.{}",
                "hbGciOiJIUzI1NiJ9", "zdWIiOiIxMjM0NTY3ODkwIn0", "dozjgNryP4J3jVmNHl0w5N"
            ),
            "[redacted:jwt]",
        );
        check("API_KEY=\"q8Xz2Lm9Wv4Rt7Yp1Ks6\"", "API_KEY=\"[redacted:generic-api-key]\"");
    }

    #[test]
    fn keys_passwords_and_people_go() {
        let key =
            r"-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAK\n-----END RSA PRIVATE KEY-----\nrest";
        check(key, r"[redacted:private-key]\nrest");
        check(
            "postgres://me:s3cr3t@db.host/x",
            "postgres://me:[redacted:password-in-url]@db.host/x",
        );
        check(r"to\nann.b+c@mail.example.org.", r"to\n[redacted:email-address].");
        check("in /home/ann/work/x.rs", "in ~/work/x.rs");
        check(r#"{"cwd":"/Users/ann"}"#, r#"{"cwd":"~"}"#);
        check(r"C:\\Users\\ann\\x", r"~\\x");
    }

    #[test]
    fn ordinary_text_stays() {
        for text in [
            "a skill-based task-list, sk-learn and desk-bound",
            "npm_config_registry hf_hub_download key-value",
            "let token = next_token(input); password: String",
            "user@host and @mention, a@b, x @ y.com",
            "https://example.org/path:8080/@scope/name",
            "/homepage /Userspace ./home",
            "input_tokens: 1234567890",
            "toolu_01ABCdef0123456789abcd msg_01XYZ0123456789abcdef",
        ] {
            check(text, text);
        }
    }
}

//! Decides whether the name of a variable, field, flag or header announces a secret.

/// What a name announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnnouncedSecret {
    /// Any value that a person could have chosen.
    Password,
    /// Mostly random values, but phrases too.
    Secret,
    /// Random values.
    Token,
    /// Clearly random values: many keys are not secrets.
    Key,
    /// A header such as `Authorization`.
    Authorization,
    Cookie,
}

/// Parts of words without which a name announces nothing; a cheap first check.
const HINTS: [&[u8]; 12] = [
    b"sig",
    b"pass",
    b"pwd",
    b"pw",
    b"secret",
    b"token",
    b"key",
    b"cred",
    b"auth",
    b"cookie",
    b"mnemonic",
    b"seed",
];

/// Words that may follow the decisive one: `DB_PASSWORD_PROD`, `SECRET_KEY_BASE`.
const SUFFIXES: [&str; 22] = [
    "prod",
    "production",
    "dev",
    "staging",
    "stage",
    "test",
    "testing",
    "local",
    "root",
    "admin",
    "old",
    "new",
    "value",
    "plain",
    "plaintext",
    "text",
    "default",
    "base",
    "primary",
    "secondary",
    "live",
    "current",
];

const PASSWORDS: [&str; 8] =
    ["password", "passwd", "pwd", "passphrase", "passwort", "pass", "pw", "passcode"];

/// Words before `pass` in names without a separator, as in `dbpass`.
const OWNERS: [&str; 18] = [
    "db", "mysql", "pg", "postgres", "user", "admin", "root", "smtp", "mail", "ftp", "ssh", "my",
    "redis", "http", "proxy", "ldap", "mongo", "sql",
];

const SECRETS: [&str; 4] = ["secret", "mnemonic", "seedphrase", "sharedsecret"];

const TOKENS: [&str; 9] =
    ["token", "apikey", "credential", "credentials", "creds", "pat", "bearer", "jwt", "authtoken"];

/// Words that make a following `key` a secret.
const SECRET_KEYS: [&str; 26] = [
    "api",
    "secret",
    "access",
    "auth",
    "private",
    "encryption",
    "encrypt",
    "signing",
    "sign",
    "master",
    "account",
    "shared",
    "client",
    "app",
    "service",
    "session",
    "deploy",
    "subscription",
    "admin",
    "storage",
    "license",
    "jwt",
    "hmac",
    "crypto",
    "cipher",
    "application",
];

/// Words that mark a key as not secret.
const PUBLIC_KEYS: [&str; 20] = [
    "public",
    "primary",
    "foreign",
    "cache",
    "sort",
    "partition",
    "object",
    "translation",
    "group",
    "query",
    "map",
    "row",
    "index",
    "unique",
    "s3",
    "storagekey",
    "hash",
    "image",
    "lock",
    "pub",
];

/// Returns what a name announces. The name may be several words separated by spaces.
pub(super) fn announced_by(name: &[u8]) -> Option<AnnouncedSecret> {
    if !HINTS.iter().any(|hint| contains_ignore_case(name, hint)) {
        return None;
    }
    let mut words = split_name(name);
    while words.len() > 1 && words.last().is_some_and(|word| is_suffix(word)) {
        words.pop();
    }
    let last = words.pop()?;
    let before = words.last().map_or("", String::as_str);
    let ends = |list: &[&str]| list.iter().any(|word| last.ends_with(word));
    if last == "authorization" || last == "authorisation" {
        return Some(AnnouncedSecret::Authorization);
    }
    if last == "cookie" {
        return Some(AnnouncedSecret::Cookie);
    }
    if is_password(&last) {
        return Some(AnnouncedSecret::Password);
    }
    if ends(&SECRETS) || last == "phrase" && before == "seed" {
        return Some(AnnouncedSecret::Secret);
    }
    // `max_tokens` and `next_token` differ in their values.
    if TOKENS.contains(&last.as_str()) || ends(&["token", "apikey"]) {
        return Some(AnnouncedSecret::Token);
    }
    if last.ends_with("key") {
        let owner = last.strip_suffix("key").filter(|owner| !owner.is_empty()).unwrap_or(before);
        let any = |list: &[&str]| list.iter().any(|word| owner.ends_with(word));
        let is_public = PUBLIC_KEYS.contains(&owner) || words.iter().any(|word| word == "public");
        return match (is_public, any(&SECRET_KEYS)) {
            (true, _) => None,
            (false, true) => Some(AnnouncedSecret::Token),
            (false, false) => Some(AnnouncedSecret::Key),
        };
    }
    (last == "auth" || last == "sig").then_some(AnnouncedSecret::Key)
}

/// Whether the name looks like one from an environment or a properties file.
pub(super) fn is_setting(name: &[u8]) -> bool {
    let is_capital =
        |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_';
    name.len() > 2 && name.iter().all(is_capital) || is_property(name)
}

/// Whether the name is one from a properties file: `spring.datasource.password`.
fn is_property(name: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_lowercase() || matches!(byte, b'.' | b'-' | b'_');
    let dots = name.iter().filter(|byte| **byte == b'.').count();
    let is_object = [&b"self."[..], b"this.", b"req.", b"user.", b"config.", b"args.", b"opts."];
    dots >= 2 && name.iter().all(is_part) && !is_object.iter().any(|start| name.starts_with(start))
}

/// Whether a value only repeats such words: `token=access_token`.
pub(super) fn is_name_itself(value: &[u8]) -> bool {
    [&b"pass"[..], b"pwd", b"secret", b"token", b"key", b"cred", b"auth"]
        .iter()
        .any(|word| contains_ignore_case(value, word))
}

fn is_password(word: &str) -> bool {
    if PASSWORDS.contains(&word) {
        return true;
    }
    ["password", "passwd", "pwd", "passphrase"].iter().any(|end| word.ends_with(end))
        || word.strip_suffix("pass").is_some_and(|owner| OWNERS.contains(&owner))
}

fn is_suffix(word: &str) -> bool {
    SUFFIXES.contains(&word) || word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text contains a word, in capitals or not.
pub(super) fn contains_ignore_case(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word))
}

/// Splits a name into words in lower case: at `_`, `-`, `.`, spaces, digits and at capitals.
fn split_name(name: &[u8]) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    for (at, byte) in name.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| name[before]);
        let next = name.get(at + 1);
        let is_hump = byte.is_ascii_uppercase()
            && (before.is_some_and(|byte| byte.is_ascii_lowercase())
                || before.is_some_and(|byte| byte.is_ascii_uppercase())
                    && next.is_some_and(u8::is_ascii_lowercase));
        let is_number =
            byte.is_ascii_digit() && before.is_some_and(|byte| byte.is_ascii_alphabetic());
        let is_break = !byte.is_ascii_alphanumeric() || is_hump || is_number;
        if is_break && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if byte.is_ascii_alphanumeric() {
            word.push(char::from(byte.to_ascii_lowercase()));
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

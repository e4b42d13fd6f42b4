//! Decides whether a value is a secret or only a placeholder.

use super::name::{contains_ignore_case, is_name_itself};

/// How a value was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueStyle {
    Quoted,
    /// Without quotes, where variables need a sign: `DB_PASSWORD=…` in a shell.
    Literal,
    /// Without quotes: a variable or a type can look the same.
    Bare,
}

/// Whether a value can be a password that a person chose.
pub(super) fn is_password(value: &[u8], style: ValueStyle) -> bool {
    if !(4..=200).contains(&value.len()) || is_placeholder(value) || is_reference(value) {
        return false;
    }
    if style == ValueStyle::Bare && is_code(value) {
        return false;
    }
    if value.contains(&b' ') {
        return style == ValueStyle::Quoted && is_passphrase(value);
    }
    let is_letters = value.iter().all(u8::is_ascii_alphabetic);
    let has_digit = value.iter().any(u8::is_ascii_digit);
    let is_identifier = value.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    match style {
        ValueStyle::Quoted | ValueStyle::Literal => {
            if is_letters && (is_label(value) || is_name_itself(value)) {
                return false;
            }
            let is_constant = value.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'_');
            if style == ValueStyle::Literal && is_constant && value.contains(&b'_') {
                return false;
            }
            has_digit || !is_words(value) || !(is_name_itself(value) || value.contains(&b'.'))
        }
        ValueStyle::Bare if is_identifier && !has_digit => false,
        ValueStyle::Bare if is_identifier => {
            let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
            // `password=password2` names a variable; `password=hunter2secretX` does not.
            let is_numbered = digits == 1 && value.last().is_some_and(u8::is_ascii_digit);
            digits < value.len() && !(is_numbered && is_name_itself(value)) || digits >= 6
        }
        ValueStyle::Bare => has_digit || value.len() >= 6 && !is_words(value) && !is_code(value),
    }
}

/// Whether a value can be a key or token that was made at random.
pub(super) fn is_random(value: &[u8], least: usize) -> bool {
    if !(least..=4096).contains(&value.len()) || is_placeholder(value) || is_reference(value) {
        return false;
    }
    let has_digit = value.iter().any(u8::is_ascii_digit);
    let has_letter = value.iter().any(u8::is_ascii_alphabetic);
    if value.contains(&b' ') || !has_letter || is_words(value) || is_code(value) {
        return false;
    }
    let bits = entropy(value);
    match (has_digit, value.len()) {
        (true, ..16) => bits >= 2.5,
        (true, _) => bits >= 3.0,
        (false, 30..) => bits >= 4.2 && has_both_cases(value),
        (false, _) => false,
    }
}

/// Whether a value is certainly random: for names that announce little.
pub(super) fn is_clearly_random(value: &[u8]) -> bool {
    is_random(value, 20)
        && has_both_cases(value)
        && entropy(value) >= 4.0
        && !value.starts_with(b"AAAA")
        && !value.contains(&b':')
}

/// Whether a value is marked as a placeholder: `<password>`, `${TOKEN}`, `your-key-here`, `xxxx`.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    let Some(first) = value.first() else { return true };
    let rest = &value[1..];
    let is_variable = match first {
        b'<' | b'{' | b'[' | b'(' => true,
        b'%' => {
            value.ends_with(b"%") || matches!(rest.first(), Some(b's' | b'd' | b'v' | b'(' | b'{'))
        }
        b'#' | b'@' => rest.first() == Some(&b'{'),
        b'!' | b'&' | b'*' => rest.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b'_'),
        b'$' => is_shell_variable(rest) || is_password_hash(value),
        _ => false,
    };
    if is_variable
        || contains_ignore_case(value, b"${")
        || contains_ignore_case(value, b"{{")
        || contains_ignore_case(value, b"$(")
    {
        return true;
    }
    let mut distinct = value.to_ascii_lowercase();
    distinct.sort_unstable();
    distinct.dedup();
    if distinct.len() <= 2 && !value.iter().any(u8::is_ascii_digit) || distinct.len() == 1 {
        return true;
    }
    const PARTS: [&[u8]; 28] = [
        b"example",
        b"placeholder",
        b"changeme",
        b"change-me",
        b"change_me",
        b"changethis",
        b"your-",
        b"your_",
        b"yourpass",
        b"yourtoken",
        b"yoursecret",
        b"yourkey",
        b"yourapi",
        b"your ",
        b"-here",
        b"_here",
        b"redacted",
        b"xxxx",
        b"****",
        b"dummy",
        b"replace",
        b"insert",
        b"not-a-",
        b"not_a_",
        b"sample",
        b"...",
        "…".as_bytes(),
        "••".as_bytes(),
    ];
    if PARTS.iter().any(|part| contains_ignore_case(value, part)) {
        return true;
    }
    let lower = value.to_ascii_lowercase();
    PLACEHOLDER_WORDS.iter().any(|word| word.as_bytes() == lower)
}

/// Placeholder words.
const PLACEHOLDER_WORDS: [&str; 78] = [
    "null",
    "none",
    "nil",
    "undefined",
    "true",
    "false",
    "string",
    "str",
    "text",
    "password",
    "passwd",
    "pass",
    "pwd",
    "secret",
    "token",
    "user",
    "username",
    "test",
    "testing",
    "foo",
    "bar",
    "baz",
    "foobar",
    "abc",
    "empty",
    "n/a",
    "tbd",
    "todo",
    "fixme",
    "default",
    "required",
    "optional",
    "hidden",
    "disabled",
    "enabled",
    "env",
    "prompt",
    "secretstr",
    "varchar",
    "char",
    "any",
    "object",
    "number",
    "int",
    "integer",
    "bool",
    "boolean",
    "bytes",
    "unknown",
    "void",
    "never",
    "self",
    "this",
    "value",
    "input",
    "field",
    "type",
    "error",
    "invalid",
    "missing",
    "masked",
    "mypassword",
    "mysecret",
    "mytoken",
    "somepassword",
    "passwort",
    "contraseña",
    "senha",
    "wachtwoord",
    "option",
    "function",
    "const",
    "static",
    "return",
    "await",
    "async",
    "hashed",
    "encrypted",
];

fn is_shell_variable(rest: &[u8]) -> bool {
    match rest.first() {
        Some(b'{' | b'(' | b'@' | b'*') => true,
        Some(_) => {
            rest.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_.:>-[]'\"".contains(byte))
        }
        None => true,
    }
}

/// Whether a value is what a password was hashed to, as `crypt` writes it.
fn is_password_hash(value: &[u8]) -> bool {
    let scheme = value.splitn(3, |byte| *byte == b'$').nth(1).unwrap_or_default();
    let known = [&b"2a"[..], b"2b", b"2y", b"1", b"5", b"6", b"y", b"scrypt", b"apr1"];
    value.iter().filter(|byte| **byte == b'$').count() >= 2
        && (known.contains(&scheme)
            || scheme.starts_with(b"argon2")
            || scheme.starts_with(b"pbkdf2"))
}

/// Whether a value refers to a secret but is none: a path, an address, a resource.
fn is_reference(value: &[u8]) -> bool {
    const STARTS: [&[u8]; 24] = [
        b"pk_live_",
        b"pk_test_",
        b"./",
        b"../",
        b"~/",
        b"http://",
        b"https://",
        b"arn:",
        b"projects/",
        b"env:",
        b"env.",
        b"process.env",
        b"os.environ",
        b"os.getenv",
        b"vault:",
        b"secret:",
        b"secrets.",
        b"op://",
        b"file:",
        b"ssm:",
        b"ref:",
        b"var.",
        b"local.",
        b"data.",
    ];
    // Some random keys begin with a slash, too.
    let is_path = value.starts_with(b"/") && is_words(value);
    is_path || STARTS.iter().any(|start| value.starts_with(start))
}

/// Whether a value is an expression: `get_token()`, `config["password"]`, `self.password`.
fn is_code(value: &[u8]) -> bool {
    let name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let length = value.iter().take_while(|byte| name(byte)).count();
    if length == 0 || value[0].is_ascii_digit() {
        return false;
    }
    // A call, which may have been cut off at its bracket.
    let calls = value.windows(2).any(|two| name(&two[0]) && two[1] == b'(');
    match &value[length..] {
        _ if calls => true,
        [b'[', ..] => true,
        [b'.', rest @ ..] => {
            let is_member = |part: &[u8]| {
                let name_length = part.iter().take_while(|byte| name(byte)).count();
                name_length > 0
                    && !part[..name_length].iter().any(u8::is_ascii_digit)
                    && matches!(part.get(name_length), None | Some(b'[' | b'!' | b'?'))
            };
            !value[..length].iter().any(u8::is_ascii_digit)
                && rest.split(|byte| *byte == b'.').all(is_member)
        }
        [b':', b':', ..] | [b'-', b'>', ..] | [b'?', b'.', ..] => true,
        _ => false,
    }
}

/// Whether a value consists of words and small numbers: `my-token-name-2`.
pub(super) fn is_words(value: &[u8]) -> bool {
    let is_break = |byte: &u8| matches!(byte, b'-' | b'_' | b'.' | b'/' | b':' | b' ' | b'@');
    let is_word = |part: &[u8]| {
        let letters = part.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let digits = part.len() - letters;
        let is_number = part[letters..].iter().all(u8::is_ascii_digit) && digits <= 3;
        is_number && (letters == 0 || is_pronounceable(&part[..letters]))
    };
    value.split(is_break).all(is_word)
}

/// Whether letters could be a word: one case or a capital first, with vowels here and there.
fn is_pronounceable(letters: &[u8]) -> bool {
    let humps =
        letters.windows(2).filter(|two| two[0].is_ascii_lowercase() && two[1].is_ascii_uppercase());
    if humps.count() > letters.len() / 5 {
        return false;
    }
    let is_vowel = |byte: &u8| b"aeiouy".contains(&byte.to_ascii_lowercase());
    let vowels = letters.iter().filter(|byte| is_vowel(byte)).count();
    let longest = letters.split(is_vowel).map(<[u8]>::len).max().unwrap_or(0);
    letters.len() <= 3 || vowels * 6 >= letters.len() && longest <= 4
}

/// Whether letters look like the label of a form field: a capital, then small letters.
fn is_label(letters: &[u8]) -> bool {
    letters[0].is_ascii_uppercase() && letters[1..].iter().all(u8::is_ascii_lowercase)
}

/// Whether several words are a passphrase rather than a sentence about one.
fn is_passphrase(value: &[u8]) -> bool {
    const SENTENCE: [&str; 38] = [
        "a",
        "an",
        "the",
        "is",
        "are",
        "was",
        "be",
        "must",
        "your",
        "you",
        "for",
        "of",
        "to",
        "in",
        "enter",
        "please",
        "not",
        "no",
        "required",
        "password",
        "passwords",
        "passphrase",
        "token",
        "secret",
        "key",
        "with",
        "at",
        "least",
        "characters",
        "can",
        "should",
        "will",
        "and",
        "or",
        "if",
        "new",
        "invalid",
        "forgot",
    ];
    let words: Vec<&[u8]> = value.split(|byte| *byte == b' ').collect();
    let is_plain = |word: &&[u8]| {
        word.len() >= 2
            && word.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
            && !SENTENCE.iter().any(|common| common.as_bytes() == *word)
    };
    (3..=24).contains(&words.len()) && words.iter().all(is_plain)
}

fn has_both_cases(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_uppercase) && value.iter().any(u8::is_ascii_lowercase)
}

/// Returns the bits of information in each byte of a value.
pub(super) fn entropy(value: &[u8]) -> f64 {
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

//! Finds passwords on command lines and in statements that no name announces.

use std::ops::Range;

use super::SecretFinding;
use super::assignment::follows_word;
use super::scan::SecretScanner;
use super::text::{QuoteMark, blank_length, indent_length, is_line_end};
use super::value::{self, ValueStyle};

/// The value that an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OptionValue {
    /// `-u name:password`
    NameAndPassword,
    /// `-U name%password`
    NamePercentPassword,
    /// `-p password`
    Password,
    /// `-ppassword`, without a space
    Attached,
}

use OptionValue::{Attached, NameAndPassword, NamePercentPassword, Password};

/// Programs with the options that take a password.
const PASSWORD_OPTIONS: &[(&[u8], &[u8], OptionValue)] = &[
    (b"curl", b"-u", NameAndPassword),
    (b"curl", b"--user", NameAndPassword),
    (b"curl", b"-U", NameAndPassword),
    (b"curl", b"--proxy-user", NameAndPassword),
    (b"http", b"-a", NameAndPassword),
    (b"http", b"--auth", NameAndPassword),
    (b"https", b"-a", NameAndPassword),
    (b"mysql", b"-p", Attached),
    (b"mysqldump", b"-p", Attached),
    (b"mysqladmin", b"-p", Attached),
    (b"mysqlimport", b"-p", Attached),
    (b"mysqlsh", b"-p", Attached),
    (b"mariadb", b"-p", Attached),
    (b"mariadb-dump", b"-p", Attached),
    (b"sshpass", b"-p", Password),
    (b"sshpass", b"-p", Attached),
    (b"redis-cli", b"-a", Password),
    (b"mongo", b"-p", Password),
    (b"mongosh", b"-p", Password),
    (b"mongodump", b"-p", Password),
    (b"mongorestore", b"-p", Password),
    (b"login", b"-p", Password),
    (b"ldapsearch", b"-w", Password),
    (b"ldapadd", b"-w", Password),
    (b"ldapmodify", b"-w", Password),
    (b"sqlcmd", b"-P", Password),
    (b"bcp", b"-P", Password),
    (b"unzip", b"-P", Password),
    (b"zip", b"-P", Password),
    (b"7z", b"-p", Attached),
    (b"7za", b"-p", Attached),
    (b"rar", b"-p", Attached),
    (b"unrar", b"-p", Attached),
    (b"plink", b"-pw", Password),
    (b"pscp", b"-pw", Password),
    (b"smbclient", b"-U", NamePercentPassword),
    (b"rpcclient", b"-U", NamePercentPassword),
];

/// Finds the password in an option such as `-u name:password`.
pub(super) fn find_option_password(
    scanner: &SecretScanner<'_>,
    at: usize,
) -> Option<SecretFinding> {
    let bytes = scanner.bytes;
    let is_option_start = at == 0 || matches!(bytes[at - 1], b' ' | b'\t' | b'n' | b't');
    if !is_option_start
        || !PASSWORD_OPTIONS.iter().any(|(_, option, _)| bytes[at..].starts_with(option))
    {
        return None;
    }
    let line = command_line(bytes, at);
    let is_program = |name: &[u8]| split_words(line).any(|word| word == name);
    let mut options = PASSWORD_OPTIONS
        .iter()
        .filter(|(name, option, _)| bytes[at..].starts_with(option) && is_program(name));
    let range =
        options.find_map(|(_, option, takes)| read_password(scanner, at + option.len(), *takes))?;
    Some(SecretFinding { rule: "password", range, public_prefix: 0 })
}

/// Returns the command at a position, up to there. A title can have several commands on one line.
fn command_line(bytes: &[u8], at: usize) -> &[u8] {
    let start = at.saturating_sub(600);
    let mut line = &bytes[start..at];
    // A backslash before the newline continues the command.
    let is_end = |at: usize| {
        matches!(line[at], b'\n') && !line[..at].ends_with(b"\\")
            || matches!(line[at], b';' | b'|' | b'(')
            || line[at] == b'n' && line[..at].ends_with(b"\\") && !line[..at].ends_with(b"\\\\\\")
    };
    if let Some(end) = (0..line.len()).rev().find(|at| is_end(*at)) {
        line = &line[end + 1..];
    }
    line
}

fn split_words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'-')
}

fn read_password(
    scanner: &SecretScanner<'_>,
    at: usize,
    takes: OptionValue,
) -> Option<Range<usize>> {
    let bytes = scanner.bytes;
    let spaces = if bytes.get(at) == Some(&b'=') { 1 } else { indent_length(&bytes[at..]) };
    match takes {
        Attached if spaces > 0 => return None,
        Password if spaces == 0 => return None,
        _ => {}
    }
    let (range, style) = word_at(scanner, at + spaces)?;
    let text = &bytes[range.clone()];
    let separator = match takes {
        NameAndPassword => b':',
        NamePercentPassword => b'%',
        Password | Attached => {
            let is_digits = text.len() < 4 && text.iter().all(u8::is_ascii_digit);
            let is_option = text.starts_with(b"-");
            let is_secret = !is_digits && !is_option && value::is_password(text, style);
            return is_secret.then_some(range);
        }
    };
    let mark = memchr::memchr(separator, text)?;
    let (name, secret) = (&text[..mark], &text[mark + 1..]);
    let is_ids = [name, secret].iter().all(|part| part.iter().all(u8::is_ascii_digit));
    let is_secret = !is_ids && !secret.is_empty() && !value::is_placeholder(secret);
    is_secret.then_some(range.start + mark + 1..range.end)
}

/// Reads one word of a command line, quoted or not.
fn word_at(scanner: &SecretScanner<'_>, at: usize) -> Option<(Range<usize>, ValueStyle)> {
    let bytes = scanner.bytes;
    if let Some(quote) = QuoteMark::read_at(&bytes[at..]) {
        if scanner.is_json() && quote.mark == b'"' && quote.slashes == 0 {
            return None;
        }
        let start = at + quote.len();
        let length = quote.quoted_length(&bytes[start..], scanner.is_json(), 300)?;
        return Some((start..start + length, ValueStyle::Quoted));
    }
    let mut end = at;
    while end < bytes.len() && end - at < 300 {
        let rest = &bytes[end..];
        if blank_length(rest) > 0 || is_line_end(rest) || b"|;<>`'\"".contains(&bytes[end]) {
            break;
        }
        end += 1;
    }
    (end > at).then_some((at..end, ValueStyle::Literal))
}

/// Finds what a word announces without a sign between: `IDENTIFIED BY '…'`, `login x password …`.
pub(super) fn find_announced_password(
    scanner: &SecretScanner<'_>,
    at: usize,
    end: usize,
) -> Option<SecretFinding> {
    let bytes = scanner.bytes;
    let name = &bytes[at..end];
    let is = |word: &[u8]| name.eq_ignore_ascii_case(word);
    let finding = |rule, range| Some(SecretFinding { rule, range, public_prefix: 0 });
    let spaces = indent_length(&bytes[end..]);
    let next = end + spaces;
    let is_auth = [&b"auth"[..], b"HTTPBasicAuth", b"BasicAuth", b"basicAuth"].contains(&name);
    if is_auth && let Some(range) = find_auth_pair(scanner, end) {
        return finding("password", range);
    }
    if is(b"Private-Lines") {
        return super::block::find_putty_key(bytes, end)
            .and_then(|range| finding("private-key", range));
    }
    if spaces == 0 {
        return if is(b"pass") && follows_word(bytes, at, 12, b"-pass") {
            find_openssl_password(scanner, end)
        } else {
            None
        };
    }
    if is(b"bearer") || is(b"basic") {
        return super::shape::find_credentials(bytes, next, is(b"basic"))
            .and_then(|range| finding("curl-auth-header", range));
    }
    if is(b"ConvertTo-SecureString") {
        let option = if bytes[next..].starts_with(b"-String ") { 8 } else { 0 };
        let (range, style) = word_at(scanner, next + option)?;
        let is_secret = value::is_password(&bytes[range.clone()], style);
        return if is_secret { finding("password", range) } else { None };
    }
    if is(b"echo") || is(b"printf") {
        return find_piped_password(scanner, next).and_then(|range| finding("password", range));
    }
    let is_password = is(b"password") || is(b"passwd");
    let is_sql = is(b"by") && follows_word(bytes, at, 60, b"identified") || is_password;
    if is_sql && matches!(QuoteMark::read_at(&bytes[next..]), Some(QuoteMark { mark: b'\'', .. })) {
        let (range, style) = word_at(scanner, next)?;
        let is_secret = value::is_password(&bytes[range.clone()], style);
        return if is_secret { finding("password", range) } else { None };
    }
    if is_password && follows_word(bytes, at, 120, b"login ") {
        let (range, style) = word_at(scanner, next)?;
        let is_secret = value::is_password(&bytes[range.clone()], style);
        return if is_secret { finding("password", range) } else { None };
    }
    // `ENV DB_PASSWORD value` in a Dockerfile.
    if follows_word(bytes, at, 4, b"ENV ") && super::name::announced_by(name).is_some() {
        let (range, style) = word_at(scanner, next)?;
        let text = &bytes[range.clone()];
        let is_secret = !text.starts_with(b"=") && value::is_password(text, style);
        return if is_secret { finding("password", range) } else { None };
    }
    if is_password || is(b"passphrase") {
        return find_spoken_password(scanner, next).and_then(|range| finding("password", range));
    }
    None
}

/// Finds the password of `auth=("name", "password")`.
fn find_auth_pair(scanner: &SecretScanner<'_>, end: usize) -> Option<Range<usize>> {
    let bytes = scanner.bytes;
    let equals = usize::from(bytes.get(end) == Some(&b'='));
    let inside = bytes.get(end + equals..)?.strip_prefix(b"(")?;
    let at = bytes.len() - inside.len();
    let quote = QuoteMark::read_at(inside)?;
    let (name, _) = word_at(scanner, at)?;
    let comma = bytes.get(name.end + quote.len()..)?.strip_prefix(b",")?;
    let (range, style) = word_at(scanner, bytes.len() - comma.len() + indent_length(comma))?;
    let is_quoted = style == ValueStyle::Quoted;
    (is_quoted && value::is_password(&bytes[range.clone()], style)).then_some(range)
}

/// Finds the password of a sentence such as `the password is …`.
fn find_spoken_password(scanner: &SecretScanner<'_>, at: usize) -> Option<Range<usize>> {
    let bytes = scanner.bytes;
    let verb = [&b"is "[..], b"was ", b"will be ", b"to "];
    let verb = verb.iter().find(|verb| bytes[at..].starts_with(verb))?;
    let (range, _) = word_at(scanner, at + verb.len())?;
    let text = &bytes[range.clone()];
    let text =
        &text[..text.len() - text.iter().rev().take_while(|byte| b".,!?)".contains(byte)).count()];
    let has_letter = text.iter().any(u8::is_ascii_alphabetic);
    let is_mixed = text.iter().any(|byte| byte.is_ascii_digit() || b"!@#$%^&*".contains(byte));
    let is_secret =
        text.len() >= 6 && has_letter && is_mixed && value::is_password(text, ValueStyle::Quoted);
    is_secret.then_some(range.start..range.start + text.len())
}

/// Finds the password of `openssl … -passin pass:…`.
fn find_openssl_password(scanner: &SecretScanner<'_>, end: usize) -> Option<SecretFinding> {
    let at = (scanner.bytes.get(end) == Some(&b':')).then_some(end + 1)?;
    let (range, style) = word_at(scanner, at)?;
    let is_secret = value::is_password(&scanner.bytes[range.clone()], style);
    is_secret.then_some(SecretFinding { rule: "password", range, public_prefix: 0 })
}

/// Finds the password of `echo … | sudo -S` and of the like.
fn find_piped_password(scanner: &SecretScanner<'_>, at: usize) -> Option<Range<usize>> {
    let bytes = scanner.bytes;
    let options = if bytes[at..].starts_with(b"-n ") { 3 } else { 0 };
    let (range, style) = word_at(scanner, at + options)?;
    let quote = if style == ValueStyle::Quoted {
        super::text::count_slashes(&bytes[range.end..]) + 1
    } else {
        0
    };
    let pipe = range.end + quote + indent_length(bytes.get(range.end + quote..)?);
    let after = bytes.get(pipe..)?.strip_prefix(b"|")?;
    let after = &after[..after.len().min(160)];
    let after = &after[..memchr::memchr2(b'|', b'\n', after).unwrap_or(after.len())];
    let readers =
        [&b"--password-stdin"[..], b"sudo -S", b"chpasswd", b"passwd --stdin", b"--with-token"];
    if !readers.iter().any(|reader| memchr::memmem::find(after, reader).is_some()) {
        return None;
    }
    let text = &bytes[range.clone()];
    let name = memchr::memmem::find(after, b"chpasswd").and_then(|_| memchr::memchr(b':', text));
    let start = name.map_or(0, |name| name + 1);
    value::is_password(&text[start..], style).then_some(range.start + start..range.end)
}

/// Finds the password in a line of `.pgpass`: `host:5432:database:user:password`.
pub(super) fn find_pgpass_password(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let rest = &bytes[at + 1..];
    let port = rest.iter().take(5).take_while(|byte| byte.is_ascii_digit()).count();
    let is_port = rest.starts_with(b"543") && port == 4
        || rest.starts_with(b"6432:")
        || rest.starts_with(b"*:");
    if !is_port {
        return None;
    }
    let field = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-*.$".contains(byte);
    let mut start = at + 1 + port.max(1);
    for _ in 0..2 {
        if bytes.get(start) != Some(&b':') {
            return None;
        }
        let length = bytes[start + 1..].iter().take(64).take_while(|byte| field(byte)).count();
        start += 1 + length;
        if length == 0 {
            return None;
        }
    }
    if bytes.get(start) != Some(&b':') {
        return None;
    }
    start += 1;
    let mut end = start;
    while end < bytes.len()
        && end - start < 200
        && blank_length(&bytes[end..]) == 0
        && !is_line_end(&bytes[end..])
    {
        end += 1;
    }
    let is_secret = value::is_password(&bytes[start..end], ValueStyle::Literal);
    (is_secret && is_line_end(&bytes[end..])).then_some(start..end)
}

//! The names that the client gives to project directories below `projects/` (R19): the slug of a path.
//!
//! The client replaces every UTF-16 unit outside `[A-Za-z0-9]` by `-`, so an emoji becomes two of them. It cuts a
//! longer name and appends a hash of the path. `tests/fixtures/project_names.json` holds what real clients did.

use std::borrow::Cow;

use unicode_normalization::{UnicodeNormalization, is_nfc};

/// How many characters of a name are kept before its hash.
const LONGEST_NAME: usize = 200;

/// Encodes a path as the client of this system names its project directory.
///
/// The path has to be absolute, with links resolved ([`real_path`](crate::real_path::real_path)).
pub fn project_dir_name(path: &str) -> String {
    // Clients since 2.1.200 or so normalise names on macOS alone, where file systems do it as well.
    if cfg!(target_os = "macos") { shorten_name(&composed(path)) } else { shorten_name(path) }
}

/// Whether a directory name encodes a path, by the rule of any client.
///
/// Of a name that was cut the hash is not compared if it may be that of a client with another hash: callers that find
/// several such names prefer the one that equals [`project_dir_name`], as the client does.
pub fn is_encoded_path(name: &str, path: &str) -> bool {
    // File systems of Windows and macOS ignore case, and clients there differ in the case of drive letters.
    let ignores_case = cfg!(target_os = "macos") || is_windows_path(path);
    encodes(name, path, ignores_case)
        || !is_nfc(path) && encodes(name, &composed(path), ignores_case)
}

/// Whether a path begins as those of Windows do: with a drive or with the name of a server.
pub fn is_windows_path(path: &str) -> bool {
    match path.as_bytes() {
        [b'\\', b'\\', ..] => true,
        [drive, b':', rest @ ..] => {
            drive.is_ascii_alphabetic() && matches!(rest, [] | [b'\\' | b'/', ..])
        }
        _ => false,
    }
}

fn encodes(name: &str, path: &str, ignores_case: bool) -> bool {
    let is_equal = |a: &str, b: &str| if ignores_case { a.eq_ignore_ascii_case(b) } else { a == b };
    let whole = replace_units(path);
    if whole.len() <= LONGEST_NAME {
        return is_equal(name, &whole);
    }
    // Clients before 2.1 cut nothing.
    is_equal(name, &whole)
        || name.split_at_checked(LONGEST_NAME).is_some_and(|(start, hash)| {
            is_equal(start, &whole[..LONGEST_NAME])
                && hash.strip_prefix('-').is_some_and(is_base_36_number)
        })
}

fn composed(path: &str) -> Cow<'_, str> {
    if is_nfc(path) { Cow::Borrowed(path) } else { Cow::Owned(path.nfc().collect()) }
}

fn shorten_name(path: &str) -> String {
    let mut name = replace_units(path);
    if name.len() > LONGEST_NAME {
        name.truncate(LONGEST_NAME);
        name.push('-');
        name.push_str(&to_base_36(hash_path(path)));
    }
    name
}

fn replace_units(path: &str) -> String {
    let replaced = |unit: u16| match u8::try_from(unit) {
        Ok(byte) if byte.is_ascii_alphanumeric() => char::from(byte),
        _ => '-',
    };
    path.encode_utf16().map(replaced).collect()
}

/// Returns the hash that the client appends: `h = 31·h + unit` in 32 bits, without its sign.
fn hash_path(path: &str) -> u32 {
    let add = |hash: i32, unit: u16| hash.wrapping_mul(31).wrapping_add(i32::from(unit));
    path.encode_utf16().fold(0, add).unsigned_abs()
}

fn to_base_36(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.extend(char::from_digit(number % 36, 36));
        number /= 36;
        if number == 0 {
            return digits.iter().rev().collect();
        }
    }
}

/// Whether a text can be a hash of some client. The longest one has 64 bits.
fn is_base_36_number(text: &str) -> bool {
    (1..=13).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_have_the_sign_and_digits_of_the_client() {
        for (path, hash) in [("", "0"), ("a", "2p"), ("polygenelubricants", "zik0zk")] {
            assert_eq!(to_base_36(hash_path(path)), hash, "{path}");
        }
    }

    #[test]
    fn paths_of_windows_are_recognised() {
        for path in [r"C:\Users", "c:/Users", "C:", r"\\server\share", r"\\?\C:\x"] {
            assert!(is_windows_path(path), "{path}");
        }
        for path in ["/home/dev", "app", "", "C", "7:x", "ab:/c", "c:x", r"\x"] {
            assert!(!is_windows_path(path), "{path}");
        }
    }
}

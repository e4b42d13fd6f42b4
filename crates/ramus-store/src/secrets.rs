//! Finds secrets in history files.

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use ramus_core::redact::{Encoding, SecretFinding, each_secret};

use crate::error::PathError;
use crate::overlay;

/// The memory limit. A longer line is searched in pieces.
const PIECE_BYTES: u64 = 32 * 1024 * 1024;

/// Calls `each` with the line number, the finding and the bytes of every secret in a file.
pub fn find_secrets(
    path: &Path,
    encoding: Encoding,
    mut each: impl FnMut(u64, &SecretFinding, &[u8]),
) -> Result<(), PathError> {
    scan_file(path, encoding, &mut each).map_err(|source| PathError::new(path, source))
}

fn scan_file(
    path: &Path,
    encoding: Encoding,
    each: &mut dyn FnMut(u64, &SecretFinding, &[u8]),
) -> io::Result<()> {
    let mut file = BufReader::with_capacity(256 * 1024, overlay::open(path)?);
    let mut bytes = Vec::new();
    let mut line = 1;
    loop {
        bytes.clear();
        match encoding {
            Encoding::JsonLine => file.by_ref().take(PIECE_BYTES).read_until(b'\n', &mut bytes)?,
            // A private key in plain text spans several lines.
            Encoding::Text => file.by_ref().take(PIECE_BYTES).read_to_end(&mut bytes)?,
        };
        if bytes.is_empty() {
            return Ok(());
        }
        let (mut seen, mut at) = (0, line);
        each_secret(&bytes, encoding, |finding, secret| {
            if encoding == Encoding::Text {
                at += count_newlines(&bytes[seen..finding.range.start]);
                seen = finding.range.start;
            }
            each(at, finding, secret);
        });
        line += count_newlines(&bytes);
    }
}

fn count_newlines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, encoding: Encoding, expected: &[(u64, &str)]) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        std::fs::write(&path, text).unwrap();
        let mut found = Vec::new();
        find_secrets(&path, encoding, |line, finding, _| found.push((line, finding.rule))).unwrap();
        assert_eq!(found, expected);
    }

    #[test]
    fn each_secret_has_its_line() {
        let token = format!("ghp_{}", "a1B2".repeat(9));
        let lines =
            format!("{{}}\n{{\"a\":\"PGPASSWORD=hunter2\"}}\n\n{{\"b\":\"{token} {token}\"}}");
        let expected = [(2, "password"), (4, "github-pat"), (4, "github-pat")];
        check(&lines, Encoding::JsonLine, &expected);
        let text = format!("one\n{token}\nthree\nDB_PASSWORD=hunter2\n");
        check(&text, Encoding::Text, &[(2, "github-pat"), (4, "password")]);
    }
}

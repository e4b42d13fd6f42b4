//! Scans a line once and calls the detector for each byte.

use std::cell::Cell;

use super::rules::ByteClass;
use super::text::is_word_start;
use super::{EMAIL, Encoding, HOME, SecretFinding, assignment, block, command, shape};

/// Yields the secrets in some bytes, from left to right and without overlaps.
pub(super) struct SecretScanner<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) encoding: Encoding,
    at: usize,
    /// The end of the last finding; no detector looks behind it.
    pub(super) kept: usize,
    /// The end of a Kubernetes secret that was begun; all values in its data are secrets.
    pub(super) manifest_end: usize,
    pub(super) in_manifest_data: bool,
    /// The end of the last value without quotes. Names that follow each other without a break
    /// (`a=b=c=…`) have values that all end there, so none of them is measured again.
    pub(super) last_bare_value: Cell<Option<BareValue>>,
}

/// A value without quotes, and its extent.
#[derive(Clone, Copy)]
pub(super) struct BareValue {
    pub(super) start: usize,
    pub(super) end: usize,
    /// The bytes that end the value.
    pub(super) ends: &'static [u8],
}

impl<'a> SecretScanner<'a> {
    pub(super) fn new(bytes: &'a [u8], encoding: Encoding) -> Self {
        Self {
            bytes,
            encoding,
            at: 0,
            kept: 0,
            manifest_end: 0,
            in_manifest_data: false,
            last_bare_value: Cell::new(None),
        }
    }

    pub(super) fn is_json(&self) -> bool {
        self.encoding == Encoding::JsonLine
    }

    /// Finds what the byte at a position can begin.
    fn find_at(&mut self, at: usize) -> Option<SecretFinding> {
        let (bytes, kept) = (self.bytes, self.kept);
        let plain = |rule, range| SecretFinding { rule, range, public_prefix: 0 };
        match bytes[at] {
            b'@' => shape::find_email(bytes, at, kept).map(|range| plain(EMAIL, range)),
            b':' => shape::find_url_password(bytes, at)
                .map(|range| plain("password-in-url", range))
                .or_else(|| {
                    let token = shape::find_telegram_token(bytes, at, kept);
                    token.map(|range| plain("telegram-bot-api-token", range))
                })
                .or_else(|| {
                    command::find_pgpass_password(bytes, at).map(|range| plain("password", range))
                }),
            b'~' => shape::find_azure_secret(bytes, at, kept)
                .map(|range| plain("azure-ad-client-secret", range)),
            b'.' => shape::find_terraform_token(bytes, at, kept)
                .map(|range| plain("hashicorp-tf-api-token", range))
                .or_else(|| {
                    let token = shape::find_discord_token(bytes, at, kept);
                    token.map(|range| plain("discord-bot-token", range))
                }),
            b'/' | b'\\' => shape::find_home_dir(bytes, at).map(|range| plain(HOME, range)),
            b'-' => block::find_private_key(bytes, at, self.is_json())
                .or_else(|| block::find_private_key_tail(bytes, at, kept))
                .map(|range| plain("private-key", range))
                .or_else(|| command::find_option_password(self, at)),
            byte if (byte.is_ascii_alphanumeric() || byte == b'_') && is_word_start(bytes, at) => {
                shape::find_token(bytes, at).or_else(|| {
                    let is_part = at > kept
                        && matches!(bytes[at - 1], b'.' | b'-')
                        && at
                            .checked_sub(2)
                            .is_some_and(|at| ByteClass::Alphanumeric.contains(bytes[at]));
                    if is_part { None } else { assignment::find_assignment(self, at) }
                })
            }
            _ => None,
        }
    }
}

impl Iterator for SecretScanner<'_> {
    type Item = SecretFinding;

    fn next(&mut self) -> Option<SecretFinding> {
        while self.at < self.bytes.len() {
            match self.find_at(self.at) {
                Some(finding) if finding.range.start >= self.kept && !finding.range.is_empty() => {
                    self.kept = finding.range.end;
                    self.at = finding.range.end.max(self.at + 1);
                    return Some(finding);
                }
                _ => self.at += 1,
            }
        }
        None
    }
}

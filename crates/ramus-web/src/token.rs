//! The secrets of the server: the token of its web app, and one-time codes, each for one browser.
//!
//! They are never stored in cookies, because a browser sends cookies to every port of
//! a host. The web app keeps the token in its local storage, which belongs to one
//! port, and sends it in a header.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A random word that only the pages of this server know.
#[derive(Clone)]
pub struct AccessToken(String);

/// How many letters a random token has.
const TOKEN_CHARS: usize = 64;

impl AccessToken {
    /// Draws 256 bits from the system.
    pub fn new_random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; TOKEN_CHARS / 2];
        getrandom::fill(&mut bytes)?;
        let hex = |byte: &u8| [byte >> 4, byte & 15].map(|n| char::from_digit(n.into(), 16));
        Ok(Self(bytes.iter().flat_map(hex).flatten().collect()))
    }

    /// Takes a word that was agreed on.
    pub fn new(word: &str) -> Self {
        Self(word.to_owned())
    }

    /// Reads a token that was kept; `None`: it is not one of ours.
    pub(crate) fn parse_token(text: &str) -> Option<Self> {
        let word = text.trim();
        let is_hex = word.len() == TOKEN_CHARS && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hex.then(|| Self::new(word))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Compares without telling by its time how much fits.
    pub fn matches_token(&self, word: &str) -> bool {
        let (own, other) = (self.0.as_bytes(), word.as_bytes());
        let differs = own.iter().zip(other).fold(0, |differs, (a, b)| differs | (a ^ b));
        own.len() == other.len() && differs == 0
    }
}

impl fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

/// Codes of which each opens one thing once.
#[derive(Debug, Default)]
pub(crate) struct OneTimeCodes {
    issued: Mutex<Vec<OneTimeCode>>,
}

#[derive(Debug)]
struct OneTimeCode {
    token: AccessToken,
    /// What it gives access to; empty for the web app itself.
    opens: String,
    until: Option<Instant>,
}

/// More are never waited for; the oldest goes.
const MAX_CODES: usize = 64;

impl OneTimeCodes {
    /// Draws a code for something; `None` as its time: it is good until it is used.
    pub(crate) fn issue_code(
        &self,
        opens: &str,
        good_for: Option<Duration>,
    ) -> Result<AccessToken, getrandom::Error> {
        let token = AccessToken::new_random()?;
        let until = good_for.map(|time| Instant::now() + time);
        let mut issued = self.lock_codes();
        issued.retain(|code| code.until.is_none_or(|until| until > Instant::now()));
        // The code that was printed stays, however many downloads there are.
        if issued.len() >= MAX_CODES
            && let Some(oldest) = issued.iter().position(|code| code.until.is_some())
        {
            issued.remove(oldest);
        }
        issued.push(OneTimeCode { token: token.clone(), opens: opens.to_owned(), until });
        Ok(token)
    }

    /// Uses a code up; `false`: it opens nothing, or something else.
    pub(crate) fn redeem_code(&self, word: &str, opens: &str) -> bool {
        let mut issued = self.lock_codes();
        issued.retain(|code| code.until.is_none_or(|until| until > Instant::now()));
        let found =
            issued.iter().position(|code| code.token.matches_token(word) && code.opens == opens);
        found.map(|at| issued.remove(at)).is_some()
    }

    /// Whether a code was not used yet.
    pub(crate) fn is_open(&self, code: &AccessToken) -> bool {
        let is_good = |code: &OneTimeCode| code.until.is_none_or(|until| until > Instant::now());
        self.lock_codes()
            .iter()
            .any(|issued| issued.token.matches_token(code.as_str()) && is_good(issued))
    }

    fn lock_codes(&self) -> MutexGuard<'_, Vec<OneTimeCode>> {
        self.issued.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_long_random_and_not_shown() {
        let (a, b) = (AccessToken::new_random().unwrap(), AccessToken::new_random().unwrap());
        assert_eq!(a.as_str().len(), TOKEN_CHARS);
        assert!(
            a.matches_token(a.as_str())
                && !a.matches_token(b.as_str())
                && !a.matches_token(&a.as_str()[1..])
                && !a.matches_token("")
        );
        assert!(!format!("{a:?}").contains(a.as_str()));
        assert!(
            AccessToken::parse_token(&format!("{}\n", a.as_str()))
                .unwrap()
                .matches_token(a.as_str())
        );
        assert!(AccessToken::parse_token("short").is_none());
    }

    #[test]
    fn a_code_opens_one_thing_once() {
        let codes = OneTimeCodes::default();
        let code = codes.issue_code("", None).unwrap();
        let ticket = codes.issue_code("/api/x", Some(Duration::from_secs(60))).unwrap();
        assert!(!codes.redeem_code("guessed", "") && !codes.redeem_code(ticket.as_str(), ""));
        assert!(codes.is_open(&code) && codes.redeem_code(code.as_str(), ""));
        assert!(!codes.redeem_code(code.as_str(), ""), "once");
        assert!(codes.redeem_code(ticket.as_str(), "/api/x"));
    }

    #[test]
    fn a_code_ends_with_its_time() {
        let codes = OneTimeCodes::default();
        let late = codes.issue_code("/api/x", Some(Duration::ZERO)).unwrap();
        assert!(!codes.redeem_code(late.as_str(), "/api/x"));
    }
}

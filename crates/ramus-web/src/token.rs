//! The secrets of a server: the token of its pages, and codes that are good for once.
//!
//! No cookie holds any of them: a browser sends cookies to every port of a host.
//! The page keeps the token in its own storage, which belongs to one port, and
//! sends it in a header.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A random word that only the pages of this server know.
#[derive(Clone)]
pub struct Token(String);

/// How many letters a random token has.
const LETTERS: usize = 64;

impl Token {
    /// Draws 256 bits from the system.
    pub fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; LETTERS / 2];
        getrandom::fill(&mut bytes)?;
        let hex = |byte: &u8| [byte >> 4, byte & 15].map(|n| char::from_digit(n.into(), 16));
        Ok(Self(bytes.iter().flat_map(hex).flatten().collect()))
    }

    /// Takes a word that was agreed on.
    pub fn new(word: &str) -> Self {
        Self(word.to_owned())
    }

    /// Reads a token that was kept; `None`: it is not one of ours.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let word = text.trim();
        let is_hex = word.len() == LETTERS && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hex.then(|| Self::new(word))
    }

    pub fn word(&self) -> &str {
        &self.0
    }

    /// Compares without telling by its time how much fits.
    pub fn is(&self, word: &str) -> bool {
        let (own, other) = (self.0.as_bytes(), word.as_bytes());
        let differs = own.iter().zip(other).fold(0, |differs, (a, b)| differs | (a ^ b));
        own.len() == other.len() && differs == 0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

/// Codes of which each opens one thing once.
#[derive(Debug, Default)]
pub(crate) struct Codes {
    issued: Mutex<Vec<Code>>,
}

#[derive(Debug)]
struct Code {
    token: Token,
    /// What it opens; empty: the page.
    opens: String,
    until: Option<Instant>,
}

/// More are never waited for; the oldest goes.
const MOST: usize = 64;

impl Codes {
    /// Draws a code for something; `None` as its time: it is good until it is used.
    pub(crate) fn issue(
        &self,
        opens: &str,
        good_for: Option<Duration>,
    ) -> Result<Token, getrandom::Error> {
        let token = Token::random()?;
        let until = good_for.map(|time| Instant::now() + time);
        let mut issued = self.lock();
        issued.retain(|code| code.until.is_none_or(|until| until > Instant::now()));
        // The code that was printed stays, however many downloads there are.
        if issued.len() >= MOST
            && let Some(oldest) = issued.iter().position(|code| code.until.is_some())
        {
            issued.remove(oldest);
        }
        issued.push(Code { token: token.clone(), opens: opens.to_owned(), until });
        Ok(token)
    }

    /// Uses a code up; `false`: it opens nothing, or something else.
    pub(crate) fn redeem(&self, word: &str, opens: &str) -> bool {
        let mut issued = self.lock();
        issued.retain(|code| code.until.is_none_or(|until| until > Instant::now()));
        let found = issued.iter().position(|code| code.token.is(word) && code.opens == opens);
        found.map(|at| issued.remove(at)).is_some()
    }

    /// Whether a code was not used yet.
    pub(crate) fn is_open(&self, code: &Token) -> bool {
        let is_good = |code: &Code| code.until.is_none_or(|until| until > Instant::now());
        self.lock().iter().any(|issued| issued.token.is(code.word()) && is_good(issued))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Code>> {
        self.issued.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_long_random_and_not_shown() {
        let (a, b) = (Token::random().unwrap(), Token::random().unwrap());
        assert_eq!(a.word().len(), LETTERS);
        assert!(a.is(a.word()) && !a.is(b.word()) && !a.is(&a.word()[1..]) && !a.is(""));
        assert!(!format!("{a:?}").contains(a.word()));
        assert!(Token::parse(&format!("{}\n", a.word())).unwrap().is(a.word()));
        assert!(Token::parse("short").is_none());
    }

    #[test]
    fn a_code_opens_one_thing_once() {
        let codes = Codes::default();
        let code = codes.issue("", None).unwrap();
        let ticket = codes.issue("/api/x", Some(Duration::from_secs(60))).unwrap();
        assert!(!codes.redeem("guessed", "") && !codes.redeem(ticket.word(), ""));
        assert!(codes.is_open(&code) && codes.redeem(code.word(), ""));
        assert!(!codes.redeem(code.word(), ""), "once");
        assert!(codes.redeem(ticket.word(), "/api/x"));
    }

    #[test]
    fn a_code_ends_with_its_time() {
        let codes = Codes::default();
        let late = codes.issue("/api/x", Some(Duration::ZERO)).unwrap();
        assert!(!codes.redeem(late.word(), "/api/x"));
    }
}

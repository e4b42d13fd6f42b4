//! The secret of one start.

use std::fmt;

/// A random word that only the person who started the server knows.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// Draws 256 bits from the system.
    pub fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes)?;
        let hex = |byte: &u8| [byte >> 4, byte & 15].map(|n| char::from_digit(n.into(), 16));
        Ok(Self(bytes.iter().flat_map(hex).flatten().collect()))
    }

    /// Takes a word that was agreed on.
    pub fn new(word: &str) -> Self {
        Self(word.to_owned())
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

#[cfg(test)]
mod tests {
    use super::Token;

    #[test]
    fn only_the_whole_word_fits() {
        let token = Token::new("teapot");
        assert!(token.is("teapot"));
        for word in ["", "tea", "teapots", "teapoT"] {
            assert!(!token.is(word), "{word}");
        }
    }

    #[test]
    fn two_starts_have_two_tokens() {
        let (a, b) = (Token::random().unwrap(), Token::random().unwrap());
        assert_ne!(a.word(), b.word());
        assert_eq!(a.word().len(), 64);
        assert_eq!(format!("{a:?}"), "Token");
    }
}

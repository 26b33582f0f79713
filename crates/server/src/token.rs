//! The access token. It is never printed and is compared in constant time.

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// An access token, stored as SHA-256 so that the length does not affect the comparison time.
#[derive(Clone)]
pub struct Token([u8; 32]);

impl Token {
    /// Creates a token. Surrounding whitespace is ignored.
    pub fn new(token: &str) -> Self {
        Self(Sha256::digest(token.trim().as_bytes()).into())
    }

    /// Returns whether the value of an `Authorization` header contains this token.
    pub fn is_shown_by(&self, authorization: &str) -> bool {
        let Some((scheme, token)) = authorization.split_once(' ') else { return false };
        let shown: [u8; 32] = Sha256::digest(token.trim().as_bytes()).into();
        scheme.eq_ignore_ascii_case("bearer") & bool::from(self.0.ct_eq(&shown))
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(***)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_token_is_accepted_and_it_is_never_printed() {
        let token = Token::new("correct-horse\n");
        assert!(token.is_shown_by("Bearer correct-horse") && token.is_shown_by("bearer  correct-horse "));
        for wrong in ["Bearer correct-hors", "Bearer ", "correct-horse", "Basic correct-horse", ""] {
            assert!(!token.is_shown_by(wrong), "{wrong}");
        }
        assert_eq!(format!("{token:?}"), "Token(***)");
    }
}

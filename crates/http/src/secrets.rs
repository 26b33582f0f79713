//! Secrets that this process knows, and their removal from texts of others.

use std::borrow::Cow;
use std::sync::{PoisonError, RwLock};

/// What stands in place of a secret.
pub const REDACTED: &str = "[redacted]";

/// The shortest text that is taken for a secret. Shorter ones would be found in ordinary words.
const SHORTEST: usize = 8;

/// Secrets, the longest first, because one may be part of another.
static KNOWN: RwLock<Vec<String>> = RwLock::new(Vec::new());

/// Remembers a secret, such as the key of a provider, for [`redacted`].
pub fn remember(secret: &str) {
    let secret = secret.trim();
    if secret.len() < SHORTEST {
        return;
    }
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    if !known.iter().any(|one| one == secret) {
        known.push(secret.to_owned());
        known.sort_by_key(|one| std::cmp::Reverse(one.len()));
    }
}

/// Returns the text with `[redacted]` in place of every known secret.
///
/// Models, servers and programs may repeat a key that they were given. What they say goes through
/// this function before it is used, and so does what is printed or appended to a file.
pub fn redacted(text: &str) -> Cow<'_, str> {
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    let mut text = Cow::Borrowed(text);
    for secret in known.iter() {
        if text.contains(secret.as_str()) {
            text = Cow::Owned(text.replace(secret.as_str(), REDACTED));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_secrets_are_replaced_and_short_ones_are_not() {
        remember(" sk-one-secret \n");
        remember("sk-one-secret-longer");
        remember("short");
        assert_eq!(redacted("a sk-one-secret b, sk-one-secret-longer"), "a [redacted] b, [redacted]");
        assert!(matches!(redacted("nothing short here"), Cow::Borrowed(_)));
    }
}

//! What can go wrong between us and a model, told apart by what can be done about it.

use std::time::Duration;

/// A call that failed. Its text is one sentence that names the backend and what to do; it never holds a key.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{backend}: {message}")]
pub struct Error {
    backend: String,
    kind: ErrorKind,
    message: String,
}

/// Why a call failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The name of the backend or its address is wrong: nothing was sent.
    Configuration,
    /// No key, or a key that the provider refuses.
    Authentication,
    /// Too many calls; the provider may say when to come back.
    RateLimit {
        /// How long to wait.
        retry_after: Option<Duration>,
    },
    /// The account has no credit left.
    Quota,
    /// No answer in time.
    Timeout,
    /// The provider's fault (5xx).
    Server,
    /// Not reached, or cut off.
    Connection,
    /// The model will not answer this.
    Refusal,
    /// An answer that is empty, too large or not what the protocol says.
    BadAnswer,
    /// The provider does not accept the request (4xx): model, image or parameters.
    BadRequest,
}

impl ErrorKind {
    /// What errors are grouped by.
    pub fn name(self) -> &'static str {
        match self {
            Self::Configuration => "ConfigurationError",
            Self::Authentication => "AuthenticationError",
            Self::RateLimit { .. } => "RateLimitError",
            Self::Quota => "QuotaError",
            Self::Timeout => "TimeoutError",
            Self::Server => "ServerError",
            Self::Connection => "ConnectionError",
            Self::Refusal => "RefusalError",
            Self::BadAnswer => "BadAnswerError",
            Self::BadRequest => "BadRequestError",
        }
    }
}

impl Error {
    /// An error of `backend`.
    pub fn new(backend: impl Into<String>, kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { backend: backend.into(), kind, message: message.into() }
    }

    /// Why the call failed.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The backend that was called.
    pub fn backend(&self) -> &str {
        &self.backend
    }

    /// What it says, without the backend.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Whether the same call may succeed later.
    pub fn is_transient(&self) -> bool {
        match self.kind {
            ErrorKind::RateLimit { .. }
            | ErrorKind::Timeout
            | ErrorKind::Server
            | ErrorKind::Connection
            | ErrorKind::BadAnswer => true,
            ErrorKind::Configuration
            | ErrorKind::Authentication
            | ErrorKind::Quota
            | ErrorKind::Refusal
            | ErrorKind::BadRequest => false,
        }
    }
}

/// At most `limit` characters of a text from outside, on one line.
pub(super) fn excerpt(text: &str, limit: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_names_the_backend() {
        let error = Error::new("openai.gpt-4o", ErrorKind::Authentication, "the key was refused: set OPENAI_API_KEY");
        assert_eq!(error.to_string(), "openai.gpt-4o: the key was refused: set OPENAI_API_KEY");
        assert!(!error.is_transient());
    }

    #[test]
    fn excerpts_are_one_line_and_cut_between_characters() {
        assert_eq!(excerpt("  two\n lines ", 20), "two lines");
        assert_eq!(excerpt("ééééé", 3), "ééé…");
    }
}

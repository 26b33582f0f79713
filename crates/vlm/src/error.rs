//! Errors of model calls, grouped by what can be done about them.

use std::time::Duration;

/// A failed call. The message names the backend and never contains a key.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{backend}: {message}")]
pub struct Error {
    backend: String,
    kind: ErrorKind,
    message: String,
    rejects_logprobs: bool,
}

/// The reason why a call failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The backend name or the address is invalid. Nothing was sent.
    Configuration,
    /// The key is missing or was rejected.
    Authentication,
    /// Too many calls.
    RateLimit {
        /// The pause that the provider asks for.
        retry_after: Option<Duration>,
    },
    /// The account has no credit left.
    Quota,
    /// The call timed out.
    Timeout,
    /// A server error (5xx).
    Server,
    /// The server cannot be reached, or the connection was interrupted.
    Connection,
    /// The model refused to answer.
    Refusal,
    /// The answer is empty, too large or does not follow the protocol.
    BadAnswer,
    /// The provider rejected the request (4xx): model, image or parameters.
    BadRequest,
}

impl ErrorKind {
    /// Returns the name of the error type, for grouping.
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
    /// Creates an error of `backend`.
    pub fn new(backend: impl Into<String>, kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { backend: backend.into(), kind, message: message.into(), rejects_logprobs: false }
    }

    /// The reason why the call failed.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The name of the backend.
    pub fn backend(&self) -> &str {
        &self.backend
    }

    /// The message without the backend.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Marks the error: the provider rejected the request because of its log-probabilities.
    #[cfg(feature = "providers")]
    pub(super) fn with_rejected_logprobs(self, rejects_logprobs: bool) -> Self {
        Self { rejects_logprobs, ..self }
    }

    /// Returns whether the provider rejected the request because of its log-probabilities.
    #[cfg(feature = "providers")]
    pub(super) fn rejects_logprobs(&self) -> bool {
        self.rejects_logprobs
    }

    /// Returns whether the same call may succeed later.
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

/// Returns at most `limit` characters of an external text, on one line.
#[cfg(feature = "providers")]
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

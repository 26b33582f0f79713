//! Converts provider errors to our error kinds. Messages are reworded, because the text of servers
//! may contain whole requests or the key.

use std::error::Error as _;
use std::time::Duration;

use reqwest::header::HeaderMap;
use serde_json::Value;

use super::error::excerpt;
use super::{Error, ErrorKind, Secret, redacted};

/// The maximum length of a quoted server message, in characters.
const REPEATED: usize = 300;

/// What went wrong between us and the server.
#[derive(Debug)]
pub(super) enum Fault {
    /// An error status.
    Status { status: u16, body: Vec<u8>, headers: HeaderMap },
    /// A content type that is not JSON.
    NotJson(String),
    /// JSON that cannot be read.
    InvalidJson,
    /// A response above this limit. Not all of it was read.
    TooLarge(usize),
    /// The connection.
    Transport(reqwest::Error),
}

/// The server, as named in errors.
#[derive(Debug)]
pub(super) struct Peer {
    /// The name of the backend.
    pub name: String,
    /// The provider's name for the model.
    pub model: String,
    /// Scheme, host and port.
    pub server: String,
    pub key: Option<Secret>,
    /// The environment variable of the key.
    pub key_variable: &'static str,
}

impl Peer {
    pub fn refusal(&self, reason: &str) -> Error {
        let reason = self.harmless(reason);
        self.error(ErrorKind::Refusal, format!("the model will not answer this: {reason}"))
    }

    pub fn error(&self, kind: ErrorKind, message: impl Into<String>) -> Error {
        Error::new(&self.name, kind, message)
    }

    /// Removes the key from an external text and shortens it.
    fn harmless(&self, text: &str) -> String {
        let text = self.key.as_ref().map_or(text.to_owned(), |key| key.redact(text));
        excerpt(&redacted(&text), REPEATED)
    }

    /// Converts a fault to an error of ours.
    pub fn explain(&self, fault: Fault) -> Error {
        match fault {
            Fault::Status { status, body, headers } => self.explain_status(status, &body, &headers),
            Fault::NotJson(kind) => {
                let found = if kind.is_empty() { "no content type".to_owned() } else { self.harmless(&kind) };
                self.error(ErrorKind::BadAnswer, format!("the server sent {found} instead of JSON: check base_url"))
            }
            Fault::InvalidJson => self.error(ErrorKind::BadAnswer, "the server's answer is not valid JSON"),
            Fault::TooLarge(most) => self.error(
                ErrorKind::BadAnswer,
                format!("the server sent more than {} MB, more than any answer needs", most >> 20),
            ),
            Fault::Transport(error) => self.explain_transport(&error),
        }
    }

    fn explain_transport(&self, error: &reqwest::Error) -> Error {
        if error.is_timeout() {
            return self.error(ErrorKind::Timeout, format!("{} does not answer in time", self.server));
        }
        // The innermost cause is the most specific, and unlike the outer ones it contains no
        // address.
        let mut cause: &dyn std::error::Error = error;
        while let Some(inner) = cause.source() {
            cause = inner;
        }
        let cause = if error.source().is_some() { self.harmless(&cause.to_string()) } else { "it failed".to_owned() };
        let what = if error.is_connect() { "cannot be reached" } else { "cut the connection" };
        let message = format!("{} {what} ({cause}): check the network, base_url and that it runs", self.server);
        self.error(ErrorKind::Connection, message)
    }

    fn explain_status(&self, status: u16, body: &[u8], headers: &HeaderMap) -> Error {
        let body: Value = serde_json::from_slice(body).unwrap_or(Value::Null);
        let code =
            ["/error/code", "/error/type", "/error/status"].map(|path| body.pointer(path).and_then(Value::as_str));
        let is = |name: &str| code.contains(&Some(name));
        let said = ["/error/message", "/0/error/message", "/message", "/detail", "/error"];
        let said = said.iter().find_map(|path| body.pointer(path).and_then(Value::as_str));
        // There is no error code for this: OpenAI names the parameter, others mention it.
        let blamed = body.pointer("/error/param").and_then(Value::as_str);
        let blames_logprobs = blamed.into_iter().chain(said).any(|text| text.to_lowercase().contains("logprobs"));
        let said = said.map_or(format!("status {status}"), |text| format!("status {status}, {}", self.harmless(text)));
        let key = self.key_variable;
        let (kind, message) = match status {
            401 => (ErrorKind::Authentication, format!("the key was refused: set {key}")),
            403 => {
                let model = &self.model;
                (ErrorKind::Authentication, format!("access was denied: the key in {key} may not use \"{model}\""))
            }
            // Gemini reports a wrong key as an invalid argument.
            400 if body.to_string().contains("API_KEY_INVALID") => {
                (ErrorKind::Authentication, format!("the key was refused: set {key}"))
            }
            _ if is("content_filter") => (ErrorKind::Refusal, format!("the model will not answer this: {said}")),
            402 => (ErrorKind::Quota, "the account has no credit left: see the provider's billing page".to_owned()),
            _ if is("insufficient_quota") => {
                (ErrorKind::Quota, "the account has no credit left: see the provider's billing page".to_owned())
            }
            429 => {
                let retry_after = retry_after(headers, &body);
                (ErrorKind::RateLimit { retry_after }, "too many calls: wait, or run fewer at a time".to_owned())
            }
            408 => (ErrorKind::Timeout, "the server gave up waiting".to_owned()),
            500.. => (ErrorKind::Server, format!("the server failed ({said}): try again later")),
            404 => {
                let model = &self.model;
                (ErrorKind::BadRequest, format!("not found ({said}): check the model's name \"{model}\" and base_url"))
            }
            300..400 => (ErrorKind::BadRequest, format!("the server moved (status {status}): correct base_url")),
            _ => (ErrorKind::BadRequest, format!("the request was not accepted ({said})")),
        };
        self.error(kind, message).with_rejected_logprobs(kind == ErrorKind::BadRequest && blames_logprobs)
    }
}

/// Returns the requested pause: from the headers (seconds, milliseconds, a date) or from Google's
/// response body.
fn retry_after(headers: &HeaderMap, body: &Value) -> Option<Duration> {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let seconds = |text: &str| text.trim().parse().ok().and_then(|value| Duration::try_from_secs_f64(value).ok());
    if let Some(milliseconds) = header("retry-after-ms").and_then(|text| text.trim().parse::<u64>().ok()) {
        return Some(Duration::from_millis(milliseconds));
    }
    if let Some(text) = header("retry-after") {
        return seconds(text).or_else(|| {
            let date = jiff::fmt::rfc2822::parse(text.trim()).ok()?.timestamp();
            Some(Duration::try_from(date.duration_since(jiff::Timestamp::now())).unwrap_or(Duration::ZERO))
        });
    }
    let details = body.pointer("/error/details")?.as_array()?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?;
    seconds(delay.trim_end_matches('s'))
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;
    use serde_json::json;

    use super::*;

    #[test]
    fn rejected_log_probabilities_are_recognized() {
        let peer = Peer {
            name: "openai.m".into(),
            model: "m".into(),
            server: "http://localhost".into(),
            key: None,
            key_variable: "OPENAI_API_KEY",
        };
        let rejects = |status, error: Value| {
            peer.explain_status(status, json!({ "error": error }).to_string().as_bytes(), &HeaderMap::new())
                .rejects_logprobs()
        };
        assert!(rejects(400, json!({"message": "Logprobs are not supported"})));
        assert!(rejects(400, json!({"message": "Unsupported parameter", "param": "top_logprobs"})));
        assert!(!rejects(400, json!({"message": "Unsupported parameter", "param": "temperature"})));
        assert!(!rejects(500, json!({"message": "logprobs failed"})));
    }

    #[test]
    fn the_time_to_come_back_is_read_in_every_form() {
        let headers = |name: &'static str, value: &str| {
            HeaderMap::from_iter([(name.parse().unwrap(), HeaderValue::from_str(value).unwrap())])
        };
        let none = Value::Null;
        assert_eq!(retry_after(&headers("retry-after", "7"), &none), Some(Duration::from_secs(7)));
        assert_eq!(retry_after(&headers("retry-after-ms", "250"), &none), Some(Duration::from_millis(250)));
        let past = "Wed, 21 Oct 2015 07:28:00 GMT";
        assert_eq!(retry_after(&headers("retry-after", past), &none), Some(Duration::ZERO));
        let future = retry_after(&headers("retry-after", "Tue, 01 Jan 2999 00:00:00 GMT"), &none);
        assert!(future.unwrap() > Duration::from_secs(1_000_000));
        assert_eq!(retry_after(&headers("retry-after", "soon"), &none), None);
        assert_eq!(retry_after(&headers("retry-after", "-3"), &none), None);
        let body = json!({"error": {"details": [{"@type": "x"}, {"retryDelay": "34.5s"}]}});
        assert_eq!(retry_after(&HeaderMap::new(), &body), Some(Duration::from_millis(34_500)));
    }
}

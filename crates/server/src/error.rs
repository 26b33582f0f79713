//! Errors of the API, with the body `{"detail": {error_type, message, timestamp}}`.

use agenticiqa::imaging::Error as DecodeError;
use agenticiqa::{agent, scoring, setup, tools};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

/// The body of all error responses.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ErrorBody {
    /// Details of the error.
    pub detail: Detail,
    /// Status code; only in streams, where the HTTP status has already been sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
}

/// The type of errors about paths outside of the allowed folders.
const FORBIDDEN_PATH: &str = "ForbiddenPathError";

/// Details of an error.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Detail {
    /// Error type, such as `ValidationError`.
    pub error_type: String,
    /// What failed and how to fix it.
    pub message: String,
    /// Time of the error.
    pub timestamp: String,
}

/// An error response.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct Problem {
    status: StatusCode,
    kind: &'static str,
    message: String,
    retry_after: Option<u64>,
    /// Whether the server has no allowed folders.
    no_folders: bool,
}

impl Problem {
    /// Creates an error. `kind` becomes `error_type` in the response.
    pub fn new(status: StatusCode, kind: &'static str, message: impl Into<String>) -> Self {
        Self { status, kind, message: message.into(), retry_after: None, no_folders: false }
    }

    /// Creates a 422 error: a field is missing or invalid.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "ValidationError", message)
    }

    /// Creates a 400 error: a file is not an image or cannot be read.
    pub fn picture(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "PictureError", message)
    }

    /// Creates a 403 error: a path is outside of the allowed folders.
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, FORBIDDEN_PATH, message)
    }

    /// Creates a 403 error: a path was given, but the server has no allowed folders.
    pub fn no_folders(message: impl Into<String>) -> Self {
        Self { no_folders: true, ..Self::forbidden(message) }
    }

    /// Returns whether a path is outside of the allowed folders. False if there are no allowed
    /// folders.
    pub fn is_outside(&self) -> bool {
        self.kind == FORBIDDEN_PATH && !self.no_folders
    }

    /// Creates a 404 error.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "NotFoundError", message)
    }

    /// Creates a 413 error: the request exceeds a limit.
    pub fn too_large(message: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "TooLargeError", message)
    }

    /// Creates a 429 error with a `Retry-After` header.
    pub fn busy(message: impl Into<String>, seconds: u64) -> Self {
        let busy = Self::new(StatusCode::TOO_MANY_REQUESTS, "BusyError", message);
        Self { retry_after: Some(seconds.max(1)), ..busy }
    }

    /// Creates a 500 error. The cause is logged and not sent to the client.
    pub fn internal(what: impl std::fmt::Display) -> Self {
        tracing::error!("{what}");
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "InternalError",
            "the server failed on this request: its log says why",
        )
    }

    /// Adds the field and the file name to the message.
    pub fn about(self, field: &str, name: &str) -> Self {
        Self { message: format!("{field}: {name}: {}", self.message), ..self }
    }

    /// Returns the status code.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// Returns the response body.
    pub fn body(&self) -> ErrorBody {
        let (error_type, message) = (self.kind.to_owned(), self.message.clone());
        ErrorBody { detail: Detail { error_type, message, timestamp: Timestamp::now().to_string() }, status: None }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = (self.status, axum::Json(self.body())).into_response();
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

impl From<&DecodeError> for Problem {
    fn from(error: &DecodeError) -> Self {
        match error.reason() {
            DecodeError::NeedsMemory { .. } => Self::too_large(error.reason().to_string()),
            DecodeError::TooLarge { width, height, max_pixels } => Self::too_large(format!(
                "the image has {width}x{height} pixels, more than the {max_pixels} that this server accepts"
            )),
            other => Self::picture(other.to_string()),
        }
    }
}

impl From<agent::Error> for Problem {
    fn from(error: agent::Error) -> Self {
        match error {
            agent::Error::Picture(error) => Self::from(&error),
            agent::Error::NoOptions => Self::invalid(format!("{error}: send them in `options`")),
            agent::Error::Tool(error) => error.into(),
            other => Self::invalid(other.to_string()),
        }
    }
}

impl From<scoring::Error> for Problem {
    fn from(error: scoring::Error) -> Self {
        match error {
            scoring::Error::Reference(error) => Self::from(&error),
            scoring::Error::Tool(error) => error.into(),
            scoring::Error::ReferenceMissing { tool } => {
                Self::invalid(format!("{tool} compares with a reference image: send one, or name a no-reference tool"))
            }
            other => Self::invalid(other.to_string()),
        }
    }
}

impl From<tools::Error> for Problem {
    fn from(error: tools::Error) -> Self {
        let advice = match &error {
            tools::Error::UnknownTool { .. } => "; GET /tools lists all tools",
            tools::Error::Unavailable { remedy: Some(_), .. } => "; the operator of the server can install it",
            _ => "",
        };
        Self::invalid(format!("{error}{advice}"))
    }
}

impl From<setup::Error> for Problem {
    fn from(error: setup::Error) -> Self {
        Self::invalid(format!("backend: {error}"))
    }
}

impl From<tokio::task::JoinError> for Problem {
    fn from(error: tokio::task::JoinError) -> Self {
        Self::internal(format!("a task failed: {error}"))
    }
}

impl From<std::io::Error> for Problem {
    fn from(error: std::io::Error) -> Self {
        Self::internal(format!("the data folder cannot be used: {error}"))
    }
}

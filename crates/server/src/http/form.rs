//! Reads request bodies (JSON or multipart) into fields and files.
//!
//! Memory is charged for bytes received, not for `Content-Length`. The total over all requests is
//! limited, and so is the time for sending a body.

use std::sync::LazyLock;

use axum::body::Body;
use axum::extract::{FromRequest as _, Multipart, Request};
use axum::http::{StatusCode, header};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::app::Limits;
use crate::error::Problem;
use crate::sources::RequestImage;

/// The maximum total size of request bodies in memory, in kilobytes.
const BUDGET: usize = 512 << 10;
static MEMORY: LazyLock<Semaphore> = LazyLock::new(|| Semaphore::new(BUDGET));

/// The maximum number of parts in a form.
const MOST_PARTS: usize = 10_000;
/// The maximum size of a text field in bytes.
const LONGEST_TEXT: usize = 2 << 20;
/// Fields that are lists: either repeated, or a JSON array.
const LISTS: [&str; 3] = ["options", "tools", "names"];
/// Fields whose text is parsed as JSON.
const VALUES: [&str; 6] = ["regions", "region", "all", "recursive", "max_replan_iterations", "concurrency"];

/// An uploaded file.
#[derive(Debug)]
pub struct Upload {
    /// The name of the form field.
    pub field: String,
    /// The sanitized file name.
    pub name: String,
    /// The contents of the file.
    pub bytes: Bytes,
}

/// The fields and files of a request.
#[derive(Debug, Default)]
pub struct Form {
    /// The fields.
    pub fields: Map<String, Value>,
    /// The files, in order.
    pub files: Vec<Upload>,
    held: Vec<SemaphorePermit<'static>>,
}

impl Form {
    /// Reads a JSON or multipart body.
    pub async fn read(request: Request, limits: &Limits) -> Result<Self, Problem> {
        let slow = |_| {
            let message = format!("the request was not received within {:?}", limits.read_timeout);
            Problem::new(StatusCode::REQUEST_TIMEOUT, "TimeoutError", message)
        };
        tokio::time::timeout(limits.read_timeout, Self::read_now(request, limits)).await.map_err(slow)?
    }

    async fn read_now(request: Request, limits: &Limits) -> Result<Self, Problem> {
        let length = request.headers().get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok());
        if length.and_then(|length| length.parse::<u64>().ok()).is_some_and(|length| length > limits.body as u64) {
            return Err(too_large(limits));
        }
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let mut form = Self::default();
        if kind == "multipart/form-data" {
            form.read_parts(request, limits).await?;
            return Ok(form);
        }
        let body = form.read_whole(request.into_body(), limits).await?;
        if body.iter().all(u8::is_ascii_whitespace) {
            return Err(Problem::invalid("the body is empty: send JSON, or a form with an `image` file"));
        }
        if kind != "application/json" && !kind.ends_with("+json") {
            let message = format!("unsupported media type {kind:?}: send application/json or multipart/form-data");
            return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "MediaTypeError", message));
        }
        match serde_json::from_slice(&body) {
            Ok(Value::Object(fields)) => form.fields = fields,
            Ok(_) => return Err(Problem::invalid("the body must be a JSON object")),
            Err(error) => return Err(Problem::invalid(format!("the body is not JSON: {error}"))),
        }
        Ok(form)
    }

    async fn read_whole(&mut self, body: Body, limits: &Limits) -> Result<Bytes, Problem> {
        let mut stream = body.into_data_stream();
        let mut whole = BytesMut::new();
        while let Some(chunk) = stream.next().await {
            let chunk = chunk.map_err(|_| Problem::invalid("the body ended before it was complete"))?;
            if whole.len() + chunk.len() > limits.body {
                return Err(too_large(limits));
            }
            self.hold(chunk.len())?;
            whole.extend_from_slice(&chunk);
        }
        Ok(whole.freeze())
    }

    async fn read_parts(&mut self, request: Request, limits: &Limits) -> Result<(), Problem> {
        let form = Multipart::from_request(request, &()).await;
        let mut form = form.map_err(|error| Problem::invalid(format!("cannot read the form: {error}")))?;
        let refused = |error: axum::extract::multipart::MultipartError| match error.status() {
            StatusCode::PAYLOAD_TOO_LARGE => too_large(limits),
            _ => Problem::invalid(format!("cannot read the form: {}", error.body_text())),
        };
        let (mut total, mut parts) = (0, 0);
        while let Some(mut part) = form.next_field().await.map_err(refused)? {
            parts += 1;
            if parts > MOST_PARTS {
                return Err(Problem::too_large(format!("a form can have at most {MOST_PARTS} parts")));
            }
            let field = part.name().unwrap_or_default().to_owned();
            let name = part.file_name().map(harmless);
            let mut bytes = BytesMut::new();
            while let Some(chunk) = part.chunk().await.map_err(refused)? {
                total += chunk.len();
                if total > limits.body {
                    return Err(too_large(limits));
                }
                self.hold(chunk.len())?;
                bytes.extend_from_slice(&chunk);
            }
            match name {
                Some(name) => self.files.push(Upload { field, name, bytes: bytes.freeze() }),
                None if field == "image" || field == "reference" => {
                    self.files.push(Upload { name: field.clone(), field, bytes: bytes.freeze() });
                }
                None => self.add_text(field, &bytes)?,
            }
        }
        Ok(())
    }

    /// Adds a text field. Lists and JSON values are parsed.
    fn add_text(&mut self, field: String, bytes: &[u8]) -> Result<(), Problem> {
        if bytes.len() > LONGEST_TEXT {
            return Err(Problem::too_large(format!("{field}: at most {LONGEST_TEXT} bytes of text are allowed")));
        }
        let text = std::str::from_utf8(bytes).map_err(|_| Problem::invalid(format!("{field} is not UTF-8 text")))?;
        let json = || serde_json::from_str::<Value>(text);
        if LISTS.contains(&field.as_str()) {
            let more = match json() {
                Ok(Value::Array(values)) => values,
                _ if text.is_empty() => Vec::new(),
                _ => vec![Value::String(text.to_owned())],
            };
            match self.fields.entry(field).or_insert_with(|| Value::Array(Vec::new())) {
                Value::Array(values) => values.extend(more),
                other => *other = Value::Array(more),
            }
            return Ok(());
        }
        let value = match VALUES.contains(&field.as_str()) {
            true if text.trim().is_empty() => return Ok(()),
            true => json().map_err(|error| Problem::invalid(format!("{field} is not JSON: {error}")))?,
            false => Value::String(text.to_owned()),
        };
        if self.fields.insert(field.clone(), value).is_some() {
            return Err(Problem::invalid(format!("{field} is given twice")));
        }
        Ok(())
    }

    fn hold(&mut self, bytes: usize) -> Result<(), Problem> {
        let kilobytes = u32::try_from(bytes.div_ceil(1024)).unwrap_or(u32::MAX);
        let permit = MEMORY.try_acquire_many(kilobytes);
        self.held.push(permit.map_err(|_| Problem::busy("the server is receiving too much data: try again", 2))?);
        Ok(())
    }

    /// Deserializes the fields. Errors name the field.
    pub fn parse<T: DeserializeOwned>(&mut self) -> Result<T, Problem> {
        let fields = Value::Object(std::mem::take(&mut self.fields));
        serde_path_to_error::deserialize(fields).map_err(|error| {
            let (path, reason) = (error.path().to_string(), error.inner().to_string());
            Problem::invalid(if path == "." { reason } else { format!("{path}: {reason}") })
        })
    }

    /// Returns the image of a field: uploaded, or named by path or ID.
    pub fn picture(
        &mut self,
        field: &str,
        path: Option<String>,
        id: Option<String>,
    ) -> Result<Option<RequestImage>, Problem> {
        let index = self.files.iter().position(|file| file.field == field);
        let sent = index.map(|index| self.files.remove(index));
        if self.files.iter().any(|file| file.field == field) {
            return Err(Problem::invalid(format!("{field} is uploaded twice")));
        }
        match (sent, path, id) {
            (None, None, None) => Ok(None),
            (Some(Upload { name, bytes, .. }), None, None) => Ok(Some(RequestImage::Sent { name, bytes })),
            (None, Some(path), None) => Ok(Some(RequestImage::Path(path))),
            (None, None, Some(id)) => Ok(Some(RequestImage::Id(id))),
            _ => {
                Err(Problem::invalid(format!("set one of {field} (a file), {field}_path and {field}_id, not several")))
            }
        }
    }

    /// Returns an error if the form contains other files.
    pub fn finish(&self) -> Result<(), Problem> {
        match self.files.first() {
            None => Ok(()),
            Some(file) => Err(Problem::invalid(format!("{:?}: unexpected file", file.field))),
        }
    }
}

fn too_large(limits: &Limits) -> Problem {
    Problem::too_large(format!("the request is larger than the limit of {} bytes", limits.body))
}

/// Sanitizes a file name: keeps the last path segment, without characters that are unsafe in
/// headers, paths or terminals.
pub fn harmless(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let kept: String = last.chars().filter(|c| !c.is_control() && !matches!(c, '"' | '<' | '>')).take(200).collect();
    let kept = kept.trim().trim_start_matches('.').to_owned();
    if kept.is_empty() { "picture".to_owned() } else { kept }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_harmless() {
        assert_eq!(harmless("../../etc/passwd"), "passwd");
        assert_eq!(harmless("C:\\photos\\a b.png"), "a b.png");
        assert_eq!(harmless("a\r\nSet-Cookie: x=\"1\".png"), "aSet-Cookie: x=1.png");
        assert_eq!(harmless("\u{7}.."), "picture");
        assert_eq!(harmless("照片.jpg"), "照片.jpg");
    }

    #[test]
    fn lists_are_repeated_or_json() {
        let mut form = Form::default();
        form.add_text("options".into(), b"Blur").unwrap();
        form.add_text("options".into(), b"Noise").unwrap();
        form.add_text("tools".into(), br#"["SSIM","PSNR"]"#).unwrap();
        form.add_text("max_replan_iterations".into(), b"1").unwrap();
        assert_eq!(
            Value::Object(form.fields.clone()),
            serde_json::json!(
            {"options": ["Blur", "Noise"], "tools": ["SSIM", "PSNR"], "max_replan_iterations": 1})
        );
        assert!(form.add_text("regions".into(), b"{face").unwrap_err().to_string().contains("regions is not JSON"));
        form.add_text("query".into(), b"a").unwrap();
        assert!(form.add_text("query".into(), b"b").unwrap_err().to_string().contains("given twice"));
    }
}

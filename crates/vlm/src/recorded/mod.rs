//! Records answers and replays them without a network.
//!
//! A request is identified by the SHA-256 of everything that affects its answer: backend, texts,
//! images, sampling options and schema. Each answer is stored once. The same request then always
//! gets the stored answer, also while recording, so that a replay matches the recording. Failures
//! are stored until an answer replaces them. Keys and images are not stored, only hashes of images.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};

use super::stored::{Request, StoredAnswer};
use super::{Answer, Attachment, BackendName, Capabilities, Error, ErrorKind, KeptSize, Options, Prompt, Vlm};
use agenticiqa_imaging::files::write_atomically;

/// The file with the properties of a backend.
const FACTS: &str = "backend.json";
/// The media types that are recorded as accepted or not accepted.
const MEDIA_TYPES: [&str; 6] = ["image/jpeg", "image/png", "image/webp", "image/gif", "image/bmp", "image/tiff"];

/// Whether answers are recorded or replayed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recording {
    /// Makes calls and stores their answers in this folder.
    Record(PathBuf),
    /// Makes no calls: all answers come from this folder.
    Replay(PathBuf),
}

/// The result of a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    Answer(StoredAnswer),
    Failure { kind: String, retry_after_seconds: Option<f64>, message: String },
}

#[derive(Debug, Serialize, Deserialize)]
struct Stored {
    request: Request,
    outcome: Outcome,
}

/// The stored answers of one backend.
#[derive(Debug)]
struct Shelf {
    backend: String,
    folder: PathBuf,
}

impl Shelf {
    fn new(folder: &Path, backend: &str) -> Self {
        let plain = |c: char| if c.is_alphanumeric() || matches!(c, '.' | '-' | '_') { c } else { '_' };
        Self { backend: backend.to_owned(), folder: folder.join(backend.chars().map(plain).collect::<String>()) }
    }

    fn error(&self, message: String) -> Error {
        Error::new(&self.backend, ErrorKind::Configuration, message)
    }

    fn path(&self, hash: &str) -> PathBuf {
        self.folder.join(&hash[..2]).join(format!("{hash}.json"))
    }

    /// Returns the stored result. A damaged file counts as missing.
    fn find(&self, hash: &str) -> Option<Outcome> {
        let path = self.path(hash);
        let json = std::fs::read(&path).ok()?;
        match serde_json::from_slice::<Stored>(&json) {
            Ok(stored) => Some(stored.outcome),
            Err(error) => {
                tracing::warn!("{}: the stored answer cannot be read: {error}", path.display());
                None
            }
        }
    }

    fn store(&self, request: Request, hash: &str, outcome: Outcome) -> Result<(), Error> {
        let written = serde_json::to_vec_pretty(&Stored { request, outcome }).map_err(io::Error::from);
        let path = self.path(hash);
        let written = written.and_then(|json| write_atomically(&path, &json));
        written.map_err(|error| self.error(format!("{}: the answer cannot be stored: {error}", path.display())))
    }
}

fn stored_error(backend: &str, kind: &str, retry_after_seconds: Option<f64>, message: String) -> Error {
    let retry_after = retry_after_seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let kinds = [
        ErrorKind::Configuration,
        ErrorKind::Authentication,
        ErrorKind::RateLimit { retry_after },
        ErrorKind::Quota,
        ErrorKind::Timeout,
        ErrorKind::Server,
        ErrorKind::Connection,
        ErrorKind::Refusal,
        ErrorKind::BadAnswer,
        ErrorKind::BadRequest,
    ];
    let kind = kinds.into_iter().find(|known| known.name() == kind).unwrap_or(ErrorKind::Server);
    Error::new(backend, kind, message)
}

/// A model whose answers are recorded.
#[derive(Debug)]
pub(super) struct Recorder {
    model: Arc<dyn Vlm>,
    shelf: Shelf,
    /// Held while checking whether an answer is already stored.
    storing: Mutex<()>,
}

/// The properties of a backend that are needed to build the same requests again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Facts {
    backend: String,
    formats: Vec<String>,
    max_image_bytes: u64,
    /// Missing in recordings of earlier versions.
    #[serde(default)]
    kept_size: Option<KeptSize>,
    json_schema: bool,
    logprobs: bool,
}

impl Recorder {
    /// Stores the answers of `model` below `folder`.
    pub fn new(model: Arc<dyn Vlm>, folder: &Path) -> Result<Self, Error> {
        let shelf = Shelf::new(folder, model.name());
        let capabilities = model.capabilities();
        let facts = Facts {
            backend: model.name().to_owned(),
            formats: MEDIA_TYPES.iter().filter(|mime| model.accepts(mime)).map(ToString::to_string).collect(),
            max_image_bytes: model.max_image_bytes() as u64,
            kept_size: Some(model.kept_size()),
            json_schema: capabilities.json_schema,
            logprobs: capabilities.logprobs,
        };
        let path = shelf.folder.join(FACTS);
        let written = serde_json::to_vec_pretty(&facts).map_err(io::Error::from);
        let written = written.and_then(|json| write_atomically(&path, &json));
        written.map_err(|error| shelf.error(format!("{}: cannot be written: {error}", path.display())))?;
        Ok(Self { model, shelf, storing: Mutex::default() })
    }
}

impl Vlm for Recorder {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn generate<'a>(
        &'a self,
        prompt: &'a Prompt,
        images: &'a [Attachment],
        options: &'a Options,
    ) -> BoxFuture<'a, Result<Answer, Error>> {
        Box::pin(async move {
            let request = Request::new(self.name(), prompt, images, options);
            let hash = request.hash().map_err(|error| self.shelf.error(error.to_string()))?;
            if let Some(Outcome::Answer(stored)) = self.shelf.find(&hash) {
                return Ok(stored.into());
            }
            let outcome = self.model.generate(prompt, images, options).await;
            let _alone = self.storing.lock().unwrap_or_else(PoisonError::into_inner);
            // Another sample may have stored an answer to the same request meanwhile. Use that one.
            if let Some(Outcome::Answer(stored)) = self.shelf.find(&hash) {
                return Ok(stored.into());
            }
            let stored = match &outcome {
                Ok(answer) => Outcome::Answer(answer.into()),
                Err(error) => Outcome::Failure {
                    kind: error.kind().name().to_owned(),
                    retry_after_seconds: match error.kind() {
                        ErrorKind::RateLimit { retry_after } => retry_after.map(|time| time.as_secs_f64()),
                        _ => None,
                    },
                    message: error.message().to_owned(),
                },
            };
            self.shelf.store(request, &hash, stored)?;
            outcome
        })
    }

    fn models(&self, timeout: Duration) -> BoxFuture<'_, Result<Vec<String>, Error>> {
        self.model.models(timeout)
    }

    fn capabilities(&self) -> Capabilities {
        self.model.capabilities()
    }

    fn accepts(&self, mime: &str) -> bool {
        self.model.accepts(mime)
    }

    fn max_image_bytes(&self) -> usize {
        self.model.max_image_bytes()
    }

    fn kept_size(&self) -> KeptSize {
        self.model.kept_size()
    }
}

/// Replays stored answers: needs no key, no address and no network.
#[derive(Debug)]
pub(super) struct Player {
    shelf: Shelf,
    facts: Facts,
}

impl Player {
    /// Opens the answers of `backend` below `folder`.
    pub fn open(folder: &Path, backend: &BackendName) -> Result<Self, Error> {
        let shelf = Shelf::new(folder, backend.as_str());
        let path = shelf.folder.join(FACTS);
        let read = std::fs::read(&path).and_then(|json| serde_json::from_slice(&json).map_err(io::Error::from));
        let facts =
            read.map_err(|error| shelf.error(format!("there is no recording of it ({}: {error})", path.display())))?;
        Ok(Self { shelf, facts })
    }
}

impl Vlm for Player {
    fn name(&self) -> &str {
        &self.shelf.backend
    }

    fn generate<'a>(
        &'a self,
        prompt: &'a Prompt,
        images: &'a [Attachment],
        options: &'a Options,
    ) -> BoxFuture<'a, Result<Answer, Error>> {
        Box::pin(async move {
            let request = Request::new(self.name(), prompt, images, options);
            let hash = request.hash().map_err(|error| self.shelf.error(error.to_string()))?;
            match self.shelf.find(&hash) {
                Some(Outcome::Answer(stored)) => Ok(stored.into()),
                Some(Outcome::Failure { kind, retry_after_seconds, message }) => {
                    Err(stored_error(self.name(), &kind, retry_after_seconds, message))
                }
                None => {
                    let message = format!("no answer to this request is recorded ({})", &hash[..12]);
                    Err(self.shelf.error(message))
                }
            }
        })
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { json_schema: self.facts.json_schema, logprobs: self.facts.logprobs }
    }

    fn accepts(&self, mime: &str) -> bool {
        self.facts.formats.iter().any(|format| format == mime)
    }

    fn max_image_bytes(&self) -> usize {
        usize::try_from(self.facts.max_image_bytes).unwrap_or(usize::MAX)
    }

    fn kept_size(&self) -> KeptSize {
        self.facts.kept_size.unwrap_or(KeptSize::UNKNOWN)
    }
}

#[cfg(test)]
mod tests;

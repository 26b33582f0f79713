//! Requests and answers in the form in which they are stored.
//!
//! A request is identified by the SHA-256 of everything that affects its answer: backend, texts,
//! images, sampling options and schema. Keys and images are not stored, only hashes of images.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use super::{Answer, Attachment, Options, Prompt, TokenLogprob, Usage};

/// A request in its stored form.
#[derive(Debug, Serialize, Deserialize)]
pub struct Request {
    backend: String,
    system: String,
    user: String,
    images: Vec<Picture>,
    temperature: f64,
    top_p: Option<f64>,
    max_tokens: u32,
    seed: Option<u64>,
    logprobs: bool,
    schema: Option<serde_json::Value>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Picture {
    label: String,
    mime: String,
    sha256: String,
}

impl Request {
    /// Describes a request.
    pub fn new(backend: &str, prompt: &Prompt, images: &[Attachment], options: &Options) -> Self {
        let picture = |image: &Attachment| Picture {
            label: image.label.clone(),
            mime: image.mime.to_owned(),
            sha256: hex(&Sha256::digest(&image.bytes)),
        };
        Self {
            backend: backend.to_owned(),
            system: prompt.system.clone(),
            user: prompt.user.clone(),
            images: images.iter().map(picture).collect(),
            temperature: options.temperature,
            top_p: options.top_p,
            max_tokens: options.max_tokens,
            seed: options.seed,
            logprobs: options.logprobs,
            schema: options.schema.as_ref().map(|schema| serde_json::json!([schema.name, schema.schema])),
        }
    }

    /// Returns the SHA-256 of the request, in hexadecimal.
    pub fn hash(&self) -> Result<String, serde_json::Error> {
        Ok(hex(&Sha256::digest(serde_json::to_vec(self)?)))
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// An answer in its stored form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredAnswer {
    text: String,
    logprobs: Option<Vec<StoredToken>>,
    usage: Usage,
    model: String,
    truncated: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct StoredToken {
    token: String,
    logprob: Exact,
    top: Vec<(String, Exact)>,
}

/// A number stored with all its bits, which many JSON readers do not preserve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
struct Exact(f64);

impl<'de> Deserialize<'de> for Exact {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = Box::<RawValue>::deserialize(deserializer)?;
        written.get().parse().map(Self).map_err(serde::de::Error::custom)
    }
}

impl StoredAnswer {
    /// Returns about how many bytes the answer takes in memory.
    pub fn size(&self) -> u32 {
        let tokens = self.logprobs.iter().flatten().map(|token| 64 + 48 * token.top.len()).sum::<usize>();
        u32::try_from(128 + self.text.len() + tokens).unwrap_or(u32::MAX)
    }
}

impl From<&Answer> for StoredAnswer {
    fn from(answer: &Answer) -> Self {
        let token = |token: &TokenLogprob| StoredToken {
            token: token.token.clone(),
            logprob: Exact(token.logprob),
            top: token.top.iter().map(|(text, logprob)| (text.clone(), Exact(*logprob))).collect(),
        };
        Self {
            text: answer.text.clone(),
            logprobs: answer.logprobs.as_ref().map(|tokens| tokens.iter().map(token).collect()),
            usage: answer.usage,
            model: answer.model.clone(),
            truncated: answer.truncated,
        }
    }
}

impl From<StoredAnswer> for Answer {
    fn from(stored: StoredAnswer) -> Self {
        let token = |token: StoredToken| TokenLogprob {
            token: token.token,
            logprob: token.logprob.0,
            top: token.top.into_iter().map(|(text, logprob)| (text, logprob.0)).collect(),
        };
        Self {
            text: stored.text,
            logprobs: stored.logprobs.map(|tokens| tokens.into_iter().map(token).collect()),
            usage: stored.usage,
            model: stored.model,
            truncated: stored.truncated,
        }
    }
}

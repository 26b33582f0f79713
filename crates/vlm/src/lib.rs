//! Calls vision-language models of several providers through one trait.
//!
//! A [`Vlm`] takes a [`Prompt`] with images and returns an [`Answer`]: the text, optional
//! log-probabilities, and the token use. [`connect`] creates a [`Vlm`] from a [`BackendName`] such
//! as `openai.gpt-4o`. The providers are OpenAI and compatible servers (vLLM, llama.cpp,
//! DashScope), Anthropic, Google Gemini and Ollama.
//!
//! ```
//! use agenticiqa_vlm::{BackendName, Client, Options, Prompt, ProviderSettings, connect};
//!
//! let backend: BackendName = "ollama.qwen2.5vl:7b".parse()?;
//! let client = Client::new(connect(&backend, &ProviderSettings::default())?); // sends nothing
//! assert_eq!(client.name(), "ollama.qwen2.5vl:7b");
//!
//! # async fn ask(client: Client) -> Result<(), Box<dyn std::error::Error>> {
//! let prompt = Prompt { system: "Answer in one word.".into(), user: "What color is the sky?".into() };
//! let answer = client.generate(&prompt, &[], &Options::default(), &|_| ()).await?;
//! println!("{} ({} tokens)", answer.text, answer.usage.completion_tokens);
//! # Ok(())
//! # }
//! # let _ = ask;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Other types build on this:
//!
//! - [`Client`] retries failed calls with growing pauses ([`RetryPolicy`]).
//! - [`prepare`] encodes an image as an [`Attachment`] within the limits of a model
//!   ([`ImageLimits`]).
//! - [`Traffic`] adds request and token limits ([`LimitCard`], [`Limiter`]) and recording or replay
//!   of answers ([`Recording`]).
//! - [`AnswerCache`] keeps usable answers, so that the same question is paid for once.
//! - [`RateCard`] computes the cost of calls from prices that the user provides.
//! - [`Error`] has an [`ErrorKind`]. Its messages never contain the API key.
//! - [`queue_timeout`] measures time limits without the time spent in queues.
//!
//! The crate `agenticiqa-agent` uses this crate for its model reasoner. The file of each provider
//! documents which request fields are sent and how the response is read.

mod answer_cache;
#[cfg(feature = "providers")]
mod anthropic;
mod backend;
#[cfg(feature = "providers")]
mod chat;
mod client;
mod error;
#[cfg(feature = "providers")]
mod failure;
#[cfg(feature = "providers")]
mod google;
#[cfg(feature = "providers")]
mod http;
mod limits;
mod ollama;
#[cfg(feature = "providers")]
mod openai;
mod picture;
#[cfg(feature = "providers")]
mod protocol;
pub mod queue_timeout;
mod rates;
mod recorded;
pub mod rules;
#[cfg(feature = "providers")]
mod schema;
mod stored;
mod traffic;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};

pub use agenticiqa_http::{BaseUrl, NotAnAddress, redacted};
pub use answer_cache::{AnswerCache, AnswerKey};
pub use backend::{BackendName, NotABackend, Provider, ProviderSettings, Secret};
pub use client::{Client, Event, RetryPolicy};
pub use error::{Error, ErrorKind};
pub use limits::{LimitCard, Limiter, Limits, Pace};
pub use ollama::ollama_url;
pub use picture::{DEFAULT_MAX_SIDE, ImageLimits, prepare};
pub use rates::{RateCard, Rates};
pub use recorded::Recording;
pub use traffic::{Calls, Traffic};

/// The text of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prompt {
    /// The system prompt; empty for none.
    pub system: String,
    /// The user prompt. It follows the images.
    pub user: String,
}

/// An image that is sent with a prompt. Created by [`prepare`].
#[derive(Clone, PartialEq, Eq)]
pub struct Attachment {
    /// The label that precedes the image ("Image:", "Reference image:").
    pub label: String,
    /// The media type of `bytes`, such as `image/png`.
    pub mime: &'static str,
    /// The bytes of the image file.
    pub bytes: Arc<[u8]>,
}

impl fmt::Debug for Attachment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { label, mime, bytes } = self;
        f.debug_struct("Attachment").field("label", label).field("mime", mime).field("bytes", &bytes.len()).finish()
    }
}

/// The options of a call. Defaults: temperature 0, 2048 tokens, 60 seconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// The sampling temperature; 0 selects the most likely answer.
    pub temperature: f64,
    /// The probability mass for nucleus sampling.
    pub top_p: Option<f64>,
    /// The maximum length of the answer in tokens.
    pub max_tokens: u32,
    /// The time limit of one call, including the connection.
    pub timeout: Duration,
    /// The schema of the answer. Ignored by backends whose [`Capabilities`] lack it.
    pub schema: Option<JsonSchema>,
    /// Whether to request log-probabilities. Ignored by backends whose [`Capabilities`] lack them.
    pub logprobs: bool,
    /// The seed for reproducible answers, if the provider supports it.
    pub seed: Option<u64>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            temperature: 0.0,
            top_p: None,
            max_tokens: 2048,
            timeout: Duration::from_secs(60),
            schema: None,
            logprobs: false,
            seed: None,
        }
    }
}

/// A JSON Schema for the answer.
///
/// Providers support subsets of JSON Schema. Unsupported keywords such as `maxLength` are removed
/// before sending, so answers still have to be validated. OpenAI's strict mode requires every
/// property: allow `null` for optional ones.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonSchema {
    /// The name of the object: letters, digits, `_` and `-`.
    pub name: String,
    /// The schema. Its root is an object.
    pub schema: serde_json::Value,
}

/// The answer of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The text; never empty.
    pub text: String,
    /// The log-probabilities of each token, if requested and supported.
    pub logprobs: Option<Vec<TokenLogprob>>,
    /// The tokens used.
    pub usage: Usage,
    /// The name of the model as reported by the server.
    pub model: String,
    /// Whether the answer was cut off at `max_tokens`.
    pub truncated: bool,
}

/// A token of an answer with its alternatives.
#[derive(Debug, Clone, PartialEq)]
pub struct TokenLogprob {
    /// The text of the token, including white space.
    pub token: String,
    /// The natural logarithm of its probability.
    pub logprob: f64,
    /// The most likely tokens at this position with their log-probabilities, most likely first.
    pub top: Vec<(String, f64)>,
}

/// The number of tokens used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the prompt and the images.
    pub prompt_tokens: u64,
    /// Tokens of the answer, including reasoning tokens.
    pub completion_tokens: u64,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.prompt_tokens += other.prompt_tokens;
        self.completion_tokens += other.completion_tokens;
    }
}

/// Optional features of a backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// Whether answers can be constrained to a JSON Schema.
    pub json_schema: bool,
    /// Whether log-probabilities are available.
    pub logprobs: bool,
}

/// A vision-language model.
pub trait Vlm: Send + Sync + fmt::Debug {
    /// The name of the backend, such as `openai.gpt-4o`.
    fn name(&self) -> &str;

    /// Sends one request, without retries.
    fn generate<'a>(
        &'a self,
        prompt: &'a Prompt,
        images: &'a [Attachment],
        options: &'a Options,
    ) -> BoxFuture<'a, Result<Answer, Error>>;

    /// Lists the models of the server; empty if unsupported. The call is free and verifies the
    /// server and the key.
    fn models(&self, timeout: Duration) -> BoxFuture<'_, Result<Vec<String>, Error>> {
        let _ = timeout;
        Box::pin(async { Ok(Vec::new()) })
    }

    /// Returns the optional features of the backend.
    fn capabilities(&self) -> Capabilities;

    /// Returns whether image files of this media type can be sent unchanged.
    fn accepts(&self, mime: &str) -> bool;

    /// The maximum size of an image file in bytes.
    fn max_image_bytes(&self) -> usize {
        usize::MAX
    }
}

/// Creates the model for a backend name. Nothing is sent.
#[cfg(feature = "providers")]
pub fn connect(backend: &BackendName, settings: &ProviderSettings) -> Result<Arc<dyn Vlm>, Error> {
    backend.provider().connect(backend, settings)
}

/// Returns an error: this build has no providers.
#[cfg(not(feature = "providers"))]
pub fn connect(backend: &BackendName, _: &ProviderSettings) -> Result<Arc<dyn Vlm>, Error> {
    Err(Error::new(backend.as_str(), ErrorKind::Configuration, "this build cannot call models (feature `providers`)"))
}

//! Vision-language models behind one trait: a question and images in, text, log-probabilities and token use out.
//!
//! [`connect`] turns a [`BackendName`] such as `openai.gpt-4o` into a [`Vlm`]; a [`Client`] adds retries;
//! [`prepare`] makes an [`Attachment`] of an image. The wire formats of OpenAI, Anthropic and Google are the
//! crate `genai`'s; one file a provider says what is asked of it and how its answers are read.
//!
//! ```no_run
//! use agenticiqa_vlm::{BackendName, Client, Options, Prompt, ProviderSettings, Secret, connect};
//!
//! # async fn ask() -> Result<(), Box<dyn std::error::Error>> {
//! let backend: BackendName = "openai.gpt-4o".parse()?;
//! let settings = ProviderSettings { base_url: None, api_key: Some(Secret::new(std::env::var("OPENAI_API_KEY")?)) };
//! let client = Client::new(connect(&backend, &settings)?);
//! let prompt = Prompt { system: "Answer in one word.".into(), user: "Which color has the sky?".into() };
//! let answer = client.generate(&prompt, &[], &Options::default(), &|_| ()).await?;
//! println!("{} ({} tokens)", answer.text, answer.usage.completion_tokens);
//! # Ok(())
//! # }
//! ```

mod anthropic;
mod backend;
mod chat;
mod client;
mod error;
mod failure;
mod google;
mod http;
mod limits;
mod ollama;
mod openai;
mod picture;
pub mod queue_timeout;
mod rates;
mod recorded;
pub mod rules;
mod schema;
mod traffic;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};

pub use agenticiqa_http::{BaseUrl, NotAnAddress};
pub use backend::{BackendName, NotABackend, Provider, ProviderSettings, Secret};
pub use client::{Client, Event, RetryPolicy};
pub use error::{Error, ErrorKind};
pub use limits::{LimitCard, Limiter, Limits, Pace};
pub use ollama::ollama_url;
pub use picture::{DEFAULT_MAX_SIDE, ImageLimits, prepare};
pub use rates::{RateCard, Rates};
pub use recorded::Recording;
pub use traffic::{Calls, Traffic};

/// What is said to the model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prompt {
    /// Who the model is and what it has to do; empty for none.
    pub system: String,
    /// The question itself. It follows the images.
    pub user: String,
}

/// An image that goes with a prompt; [`prepare`] makes it.
#[derive(Clone, PartialEq, Eq)]
pub struct Attachment {
    /// What the image is, said right before it ("Image:", "Reference image:").
    pub label: String,
    /// Media type of `bytes`, such as `image/png`.
    pub mime: &'static str,
    /// The file.
    pub bytes: Arc<[u8]>,
}

impl fmt::Debug for Attachment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { label, mime, bytes } = self;
        f.debug_struct("Attachment").field("label", label).field("mime", mime).field("bytes", &bytes.len()).finish()
    }
}

/// How to answer. The defaults are the seeds': greedy, 2048 tokens, 60 seconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Randomness of the answer; 0 is the most likely one.
    pub temperature: f64,
    /// Share of probability that tokens are drawn from.
    pub top_p: Option<f64>,
    /// The longest answer, in tokens.
    pub max_tokens: u32,
    /// How long one call may take, connection and answer together.
    pub timeout: Duration,
    /// The form of the answer. Ignored by a backend whose [`Capabilities`] lack it.
    pub schema: Option<JsonSchema>,
    /// Whether log-probabilities are wanted. Ignored by a backend whose [`Capabilities`] lack them.
    pub logprobs: bool,
    /// For answers that can be repeated, where the provider can.
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

/// A JSON Schema that the answer has to fulfil.
///
/// Providers take subsets of JSON Schema: what one would refuse (a `maxLength`, say) is taken out before it is sent, so an
/// answer still has to be checked. OpenAI's strict mode makes every property required: let optional ones be null.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonSchema {
    /// Letters, digits, `_` and `-`; tells the model what the object is.
    pub name: String,
    /// The schema; its root is an object.
    pub schema: serde_json::Value,
}

/// What the model said.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The text, never empty.
    pub text: String,
    /// For each token of the answer, if asked for and given.
    pub logprobs: Option<Vec<TokenLogprob>>,
    /// What it cost.
    pub usage: Usage,
    /// The model that answered, as the server names it.
    pub model: String,
    /// The answer ended because `max_tokens` was reached.
    pub truncated: bool,
}

/// One token of an answer, and what else might have stood there.
#[derive(Debug, Clone, PartialEq)]
pub struct TokenLogprob {
    /// The token's text, with its blanks.
    pub token: String,
    /// Natural logarithm of its probability.
    pub logprob: f64,
    /// The most likely tokens at this place with their log-probabilities, most likely first.
    pub top: Vec<(String, f64)>,
}

/// Tokens that were read and written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of prompt and images.
    pub prompt_tokens: u64,
    /// Tokens of the answer, thinking included.
    pub completion_tokens: u64,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.prompt_tokens += other.prompt_tokens;
        self.completion_tokens += other.completion_tokens;
    }
}

/// What a backend can do besides answering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// Answers can be bound to a JSON Schema.
    pub json_schema: bool,
    /// Answers come with log-probabilities.
    pub logprobs: bool,
}

/// A model that looks at images and answers.
pub trait Vlm: Send + Sync + fmt::Debug {
    /// The backend's name, such as `openai.gpt-4o`.
    fn name(&self) -> &str;

    /// One question, one answer; no retries.
    fn generate<'a>(
        &'a self,
        prompt: &'a Prompt,
        images: &'a [Attachment],
        options: &'a Options,
    ) -> BoxFuture<'a, Result<Answer, Error>>;

    /// The models that its server offers; empty if it does not say. Costs nothing and shows whether the server answers and
    /// takes the key.
    fn models(&self, timeout: Duration) -> BoxFuture<'_, Result<Vec<String>, Error>> {
        let _ = timeout;
        Box::pin(async { Ok(Vec::new()) })
    }

    /// What it can do.
    fn capabilities(&self) -> Capabilities;

    /// Whether it takes image files of that media type as they are.
    fn accepts(&self, mime: &str) -> bool;

    /// The largest image file that it takes, in bytes.
    fn max_image_bytes(&self) -> usize {
        usize::MAX
    }
}

/// The model behind a backend's name. Nothing is sent yet.
pub fn connect(backend: &BackendName, settings: &ProviderSettings) -> Result<Arc<dyn Vlm>, Error> {
    Ok(match backend.provider() {
        Provider::OpenAi | Provider::Ollama => Arc::new(openai::OpenAi::connect(backend, settings)?),
        Provider::Anthropic => Arc::new(anthropic::Anthropic::connect(backend, settings)?),
        Provider::Google => Arc::new(google::Google::connect(backend, settings)?),
    })
}

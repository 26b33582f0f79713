//! The Google Gemini `generateContent` API.
//!
//! Request: `contents[].parts` (text and `inline_data`), `systemInstruction`, `generationConfig`
//! with `temperature`, `topP`, `maxOutputTokens`, `seed`, `responseMimeType`, `responseJsonSchema`,
//! `responseLogprobs` and `logprobs`. Response: `candidates[0].content.parts[].text`,
//! `finishReason`, `logprobsResult`, `usageMetadata`. A blocked prompt has no candidates but
//! `promptFeedback.blockReason`.

use std::time::Duration;

use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::chat::{Chat, Endpoints, Fields};
use super::protocol::Protocol;
use super::{
    Answer, Attachment, BackendName, Capabilities, Error, Options, Prompt, ProviderSettings, TokenLogprob, Vlm, schema,
};

/// JSON Schema keywords that Gemini does not support.
const UNSUPPORTED: [&str; 7] =
    ["minLength", "maxLength", "pattern", "exclusiveMinimum", "exclusiveMaximum", "uniqueItems", "$schema"];

/// A model of Google.
#[derive(Debug)]
pub(super) struct Google {
    chat: Chat,
    /// Gemini 1 and 2.0: JSON without a schema, and at most 5 alternatives per token.
    old: bool,
}

impl Google {
    pub fn connect(backend: &BackendName, settings: &ProviderSettings) -> Result<Self, Error> {
        let endpoints = Endpoints {
            protocol: Protocol::Gemini,
            default: "https://generativelanguage.googleapis.com/v1beta/",
            version: "v1beta",
            key_optional: false,
        };
        let model = backend.model();
        let old = ["gemini-1", "gemini-2.0"].iter().any(|family| model.starts_with(family));
        Ok(Self { chat: Chat::connect(backend, model, settings, &endpoints)?, old })
    }

    fn fields(&self, options: &Options, logprobs: bool) -> Fields {
        let mut config = Map::new();
        let mut set = |name: &str, value: Value| drop(config.insert(name.to_owned(), value));
        set("temperature", json!(options.temperature));
        set("maxOutputTokens", json!(options.max_tokens));
        if let Some(top_p) = options.top_p {
            set("topP", json!(top_p));
        }
        if let Some(seed) = options.seed {
            // Gemini requires a 32-bit integer.
            set("seed", json!(seed & 0x7fff_ffff));
        }
        if let Some(wanted) = &options.schema {
            set("responseMimeType", json!("application/json"));
            if !self.old {
                set("responseJsonSchema", schema::without(&wanted.schema, &UNSUPPORTED));
            }
        }
        if logprobs {
            set("responseLogprobs", json!(true));
            set("logprobs", json!(if self.old { 5 } else { 20 }));
        }
        Fields::from_iter([("generationConfig".to_owned(), Value::Object(config))])
    }
}

impl Vlm for Google {
    fn name(&self) -> &str {
        self.chat.name()
    }

    fn generate<'a>(
        &'a self,
        prompt: &'a Prompt,
        images: &'a [Attachment],
        options: &'a Options,
    ) -> BoxFuture<'a, Result<Answer, Error>> {
        Box::pin(async move {
            let fields = |logprobs| self.fields(options, logprobs);
            let reply = self.chat.send_with_logprobs(prompt, images, fields, options).await?;
            let logprobs = reply.body.pointer("/candidates/0/logprobsResult").and_then(read_logprobs);
            self.chat.answer(reply, None, logprobs, options)
        })
    }

    fn models(&self, timeout: Duration) -> BoxFuture<'_, Result<Vec<String>, Error>> {
        Box::pin(self.chat.models(timeout))
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { json_schema: !self.old, logprobs: self.chat.gives_logprobs() }
    }

    fn accepts(&self, mime: &str) -> bool {
        matches!(mime, "image/png" | "image/jpeg" | "image/webp")
    }

    /// A request is limited to 20 MB, with base64 encoding and a second image.
    fn max_image_bytes(&self) -> usize {
        7_000_000
    }
}

/// `logprobsResult`: the chosen token of each step and its alternatives.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LogprobsResult {
    chosen_candidates: Vec<Candidate>,
    #[serde(default)]
    top_candidates: Vec<Step>,
}

#[derive(Deserialize)]
struct Step {
    #[serde(default)]
    candidates: Vec<Candidate>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate {
    #[serde(default)]
    token: String,
    /// Protocol buffers omit the value 0.
    #[serde(default)]
    log_probability: f64,
}

fn read_logprobs(result: &Value) -> Option<Vec<TokenLogprob>> {
    let LogprobsResult { chosen_candidates, top_candidates } = LogprobsResult::deserialize(result).ok()?;
    let mut steps = top_candidates.into_iter();
    let read = |chosen: Candidate| TokenLogprob {
        token: chosen.token,
        logprob: chosen.log_probability,
        top: steps.next().map_or(Vec::new(), |step| {
            step.candidates.into_iter().map(|other| (other.token, other.log_probability)).collect()
        }),
    };
    Some(chosen_candidates.into_iter().map(read).collect())
}

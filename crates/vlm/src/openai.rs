//! The OpenAI Chat Completions API, also used by Ollama, vLLM, llama.cpp and DashScope.
//!
//! Request: `model`, `messages` (a system text; a user message of text and `image_url` parts with
//! data URLs), `temperature`, `top_p`, `max_tokens`, `seed`, `response_format` (a strict JSON
//! Schema), `logprobs` with `top_logprobs`. Response: `choices[0].message.content` or `.refusal`,
//! `finish_reason`, `logprobs.content[]`, `usage`.

use std::time::Duration;

use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};

use super::chat::{Chat, Endpoints, Fields};
use super::protocol::Protocol;
use super::{
    Answer, Attachment, BackendName, Capabilities, Error, Options, Prompt, Provider, ProviderSettings, TokenLogprob,
    Vlm, schema,
};

/// The maximum number of alternatives per token.
const TOP_LOGPROBS: u32 = 20;
const TOP_LOGPROBS_OF_DASHSCOPE: u32 = 5;

/// Keywords that OpenAI's strict schemas do not support. Other servers accept them and need them to
/// limit strings.
const UNSUPPORTED: [&str; 3] = ["minLength", "maxLength", "uniqueItems"];

/// A model behind the OpenAI protocol.
#[derive(Debug)]
pub(super) struct OpenAi {
    chat: Chat,
    server: Server,
    top_logprobs: u32,
}

/// The type of server. OpenAI's own server accepts fewer parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Server {
    /// api.openai.com with a GPT-4 model.
    Own,
    /// api.openai.com with a reasoning model, which accepts no sampling parameters and has no
    /// log-probabilities.
    OwnReasoning,
    /// Any other server.
    Compatible,
}

impl OpenAi {
    pub fn connect(backend: &BackendName, settings: &ProviderSettings) -> Result<Self, Error> {
        let ollama = backend.provider() == Provider::Ollama;
        let at = |host: &str| settings.base_url.as_ref().is_some_and(|url| url.as_str().contains(host));
        let own = !ollama && (settings.base_url.is_none() || at("//api.openai.com"));
        let endpoints = Endpoints {
            protocol: Protocol::OpenAi,
            default: if ollama { "http://127.0.0.1:11434/v1/" } else { "https://api.openai.com/v1/" },
            version: "v1",
            key_optional: !own,
        };
        let server = match own {
            true if is_reasoning_model(backend.model()) => Server::OwnReasoning,
            true => Server::Own,
            false => Server::Compatible,
        };
        let top_logprobs = if at("dashscope") { TOP_LOGPROBS_OF_DASHSCOPE } else { TOP_LOGPROBS };
        Ok(Self { chat: Chat::connect(backend, backend.model(), settings, &endpoints)?, server, top_logprobs })
    }

    fn fields(&self, options: &Options, logprobs: bool) -> Fields {
        let mut fields = Fields::new();
        let mut set = |name: &str, value: Value| drop(fields.insert(name.to_owned(), value));
        let reasoning = self.server == Server::OwnReasoning;
        set(if reasoning { "max_completion_tokens" } else { "max_tokens" }, json!(options.max_tokens));
        if !reasoning {
            set("temperature", json!(options.temperature));
            if let Some(top_p) = options.top_p {
                set("top_p", json!(top_p));
            }
        }
        if let Some(seed) = options.seed {
            set("seed", json!(seed));
        }
        if let Some(wanted) = &options.schema {
            let unsupported: &[&str] = if self.server == Server::Compatible { &[] } else { &UNSUPPORTED };
            let schema = schema::closed(&schema::without(&wanted.schema, unsupported));
            let format = json!({"name": wanted.name, "strict": true, "schema": schema});
            set("response_format", json!({"type": "json_schema", "json_schema": format}));
        }
        if logprobs && !reasoning {
            set("logprobs", json!(true));
            set("top_logprobs", json!(self.top_logprobs));
        }
        fields
    }
}

impl Vlm for OpenAi {
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
            let refusal = reply.body.pointer("/choices/0/message/refusal").and_then(Value::as_str).map(str::to_owned);
            let logprobs = reply.body.pointer("/choices/0/logprobs/content").and_then(read_logprobs);
            self.chat.answer(reply, refusal, logprobs, options)
        })
    }

    fn models(&self, timeout: Duration) -> BoxFuture<'_, Result<Vec<String>, Error>> {
        Box::pin(self.chat.models(timeout))
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { json_schema: true, logprobs: self.server != Server::OwnReasoning && self.chat.gives_logprobs() }
    }

    /// All compatible servers accept PNG and JPEG; other formats are not reliable.
    fn accepts(&self, mime: &str) -> bool {
        match mime {
            "image/png" | "image/jpeg" => true,
            "image/webp" | "image/gif" => self.server != Server::Compatible,
            _ => false,
        }
    }

    fn max_image_bytes(&self) -> usize {
        20_000_000
    }
}

/// A token of `logprobs.content`.
#[derive(Deserialize)]
struct Token {
    token: String,
    logprob: f64,
    #[serde(default)]
    top_logprobs: Vec<Alternative>,
}

#[derive(Deserialize)]
struct Alternative {
    token: String,
    logprob: f64,
}

fn read_logprobs(content: &Value) -> Option<Vec<TokenLogprob>> {
    let tokens = Vec::<Token>::deserialize(content).ok()?;
    let read = |Token { token, logprob, top_logprobs }| TokenLogprob {
        token,
        logprob,
        top: top_logprobs.into_iter().map(|Alternative { token, logprob }| (token, logprob)).collect(),
    };
    Some(tokens.into_iter().map(read).collect())
}

/// Returns whether a model is a reasoning model: o1, o3 and so on, and GPT-5 or later except its
/// chat variants.
fn is_reasoning_model(model: &str) -> bool {
    let digit_after = |prefix: &str| {
        let rest = model.strip_prefix(prefix)?;
        rest.chars().next()?.to_digit(10)
    };
    digit_after("o").is_some() || (digit_after("gpt-").is_some_and(|version| version >= 5) && !model.contains("chat"))
}

#[cfg(test)]
mod tests {
    use super::super::{JsonSchema, Secret};
    use super::*;

    fn fields_for(model: &str) -> Fields {
        let settings = ProviderSettings { base_url: None, api_key: Some(Secret::new("sk-test")) };
        let openai = OpenAi::connect(&format!("openai.{model}").parse().unwrap(), &settings).unwrap();
        let schema = json!({"type": "object", "properties": {"note": {"type": "string", "maxLength": 9}}});
        let schema = Some(JsonSchema { name: "verdict".to_owned(), schema });
        openai.fields(&Options { schema, top_p: Some(0.1), ..Options::default() }, true)
    }

    #[test]
    fn its_own_server_gets_no_bounds_that_it_would_refuse() {
        let fields = fields_for("gpt-4o");
        let schema =
            json!({"type": "object", "properties": {"note": {"type": "string"}}, "additionalProperties": false});
        assert_eq!(fields["response_format"]["json_schema"]["schema"], schema);
        assert_eq!((&fields["temperature"], &fields["top_p"]), (&json!(0.0), &json!(0.1)));
        assert_eq!((&fields["logprobs"], &fields["top_logprobs"]), (&json!(true), &json!(20)));
    }

    #[test]
    fn reasoning_models_get_no_sampling_parameters() {
        let fields = fields_for("o3");
        let names: Vec<&String> = fields.keys().collect();
        assert_eq!(names, ["max_completion_tokens", "response_format"]);
        assert_eq!(fields["max_completion_tokens"], 2048);
    }

    #[test]
    fn reasoning_models_are_told_by_name() {
        for model in ["o1", "o3-mini", "o4-mini", "gpt-5", "gpt-5.2-mini", "gpt-6"] {
            assert!(is_reasoning_model(model), "{model}");
        }
        for model in ["gpt-4o", "gpt-4.1", "gpt-4o-mini", "gpt-5-chat-latest", "chatgpt-4o-latest", "omni"] {
            assert!(!is_reasoning_model(model), "{model}");
        }
    }
}

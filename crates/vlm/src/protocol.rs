//! The three protocols of the providers: addresses, headers, messages and answers.

use base64::Engine as _;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value, json};

use super::{Attachment, Prompt, Secret, Usage};

/// The version of Anthropic's protocol.
const ANTHROPIC_VERSION: HeaderValue = HeaderValue::from_static("2023-06-01");

/// How a provider is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Protocol {
    /// OpenAI's Chat Completions, also of Ollama, vLLM, llama.cpp and DashScope.
    OpenAi,
    /// Anthropic's Messages.
    Anthropic,
    /// Google's `generateContent`.
    Gemini,
}

/// What an answer says, whatever the protocol.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Said {
    pub text: String,
    /// Why the model stopped, in the words of the provider.
    pub stop: Option<String>,
    pub usage: Usage,
    /// The name of the model as the server states it.
    pub model: Option<String>,
}

impl Said {
    /// Whether the provider has removed the answer, or part of it.
    pub fn is_filtered(&self) -> bool {
        const FILTERED: [&str; 10] = [
            "content_filter",
            "refusal",
            "SAFETY",
            "RECITATION",
            "BLOCKLIST",
            "PROHIBITED_CONTENT",
            "SPII",
            "LANGUAGE",
            "IMAGE_SAFETY",
            "IMAGE_PROHIBITED_CONTENT",
        ];
        self.stop.as_deref().is_some_and(|stop| FILTERED.contains(&stop))
    }

    /// Whether the answer was cut off because it was too long.
    pub fn is_truncated(&self) -> bool {
        const CUT: [&str; 4] = ["length", "max_tokens", "MAX_TOKENS", "model_context_window_exceeded"];
        self.stop.as_deref().is_some_and(|stop| CUT.contains(&stop))
    }
}

impl Protocol {
    /// Returns the path of a question, relative to the API.
    pub fn chat_path(self, model: &str) -> String {
        match self {
            Self::OpenAi => "chat/completions".to_owned(),
            Self::Anthropic => "messages".to_owned(),
            Self::Gemini => format!("models/{model}:generateContent"),
        }
    }

    /// Returns the headers that carry the key.
    pub fn headers(self, key: Option<&Secret>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if self == Self::Anthropic {
            headers.insert(HeaderName::from_static("anthropic-version"), ANTHROPIC_VERSION);
        }
        let (name, value) = match (self, key) {
            (_, None) => return headers,
            (Self::OpenAi, Some(key)) => (AUTHORIZATION, format!("Bearer {}", key.reveal())),
            (Self::Anthropic, Some(key)) => (HeaderName::from_static("x-api-key"), key.reveal().to_owned()),
            (Self::Gemini, Some(key)) => (HeaderName::from_static("x-goog-api-key"), key.reveal().to_owned()),
        };
        // Cannot fail: `Chat::connect` accepts only visible ASCII characters.
        if let Ok(mut value) = HeaderValue::from_str(&value) {
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        headers
    }

    /// Returns the body of a question: system text, each image after its label, then the question.
    pub fn body(self, model: &str, prompt: &Prompt, images: &[Attachment]) -> Map<String, Value> {
        let mut parts = Vec::new();
        for image in images {
            if !image.label.is_empty() {
                parts.push(self.text_part(&image.label));
            }
            parts.push(self.image_part(image));
        }
        parts.push(self.text_part(&prompt.user));
        let mut body = Map::new();
        let mut set = |name: &str, value: Value| drop(body.insert(name.to_owned(), value));
        let system = (!prompt.system.is_empty()).then_some(prompt.system.as_str());
        match self {
            Self::OpenAi => {
                // Some servers accept only plain text where there is no image.
                let content = if images.is_empty() { json!(prompt.user) } else { json!(parts) };
                let system = system.map(|system| json!({"role": "system", "content": system}));
                let messages: Vec<Value> =
                    system.into_iter().chain([json!({"role": "user", "content": content})]).collect();
                set("model", json!(model));
                set("stream", json!(false));
                set("messages", json!(messages));
            }
            Self::Anthropic => {
                set("model", json!(model));
                set("stream", json!(false));
                if let Some(system) = system {
                    set("system", json!(system));
                }
                set("messages", json!([{"role": "user", "content": parts}]));
            }
            Self::Gemini => {
                if let Some(system) = system {
                    set("systemInstruction", json!({"parts": [{"text": system}]}));
                }
                set("contents", json!([{"role": "user", "parts": parts}]));
            }
        }
        body
    }

    fn text_part(self, text: &str) -> Value {
        match self {
            Self::OpenAi | Self::Anthropic => json!({"type": "text", "text": text}),
            Self::Gemini => json!({"text": text}),
        }
    }

    fn image_part(self, image: &Attachment) -> Value {
        let data = base64::engine::general_purpose::STANDARD.encode(&image.bytes);
        let mime = image.mime;
        match self {
            Self::OpenAi => json!({"type": "image_url", "image_url": {"url": format!("data:{mime};base64,{data}")}}),
            Self::Anthropic => {
                json!({"type": "image", "source": {"type": "base64", "media_type": mime, "data": data}})
            }
            Self::Gemini => json!({"inline_data": {"mime_type": mime, "data": data}}),
        }
    }

    /// Reads an answer. What is missing is empty.
    pub fn read(self, body: &Value) -> Said {
        let word = |path: &str| body.pointer(path).and_then(Value::as_str).map(str::to_owned);
        let count = |path: &str| body.pointer(path).and_then(Value::as_u64).unwrap_or(0);
        match self {
            Self::OpenAi => Said {
                text: without_thoughts(&joined(body.pointer("/choices/0/message/content"))),
                stop: word("/choices/0/finish_reason"),
                usage: Usage {
                    prompt_tokens: count("/usage/prompt_tokens"),
                    completion_tokens: count("/usage/completion_tokens"),
                },
                model: word("/model"),
            },
            Self::Anthropic => Said {
                text: joined(body.get("content")),
                stop: word("/stop_reason"),
                usage: Usage {
                    prompt_tokens: count("/usage/input_tokens")
                        + count("/usage/cache_creation_input_tokens")
                        + count("/usage/cache_read_input_tokens"),
                    completion_tokens: count("/usage/output_tokens"),
                },
                model: word("/model"),
            },
            Self::Gemini => Said {
                text: joined(body.pointer("/candidates/0/content/parts")),
                stop: word("/candidates/0/finishReason"),
                usage: Usage {
                    prompt_tokens: count("/usageMetadata/promptTokenCount"),
                    completion_tokens: count("/usageMetadata/candidatesTokenCount")
                        + count("/usageMetadata/thoughtsTokenCount"),
                },
                model: word("/modelVersion"),
            },
        }
    }

    /// Returns the names of a list of models.
    pub fn model_names(self, body: &Value) -> Vec<String> {
        let (list, name) = match self {
            Self::OpenAi | Self::Anthropic => ("data", "id"),
            Self::Gemini => ("models", "name"),
        };
        let models = body.get(list).and_then(Value::as_array).into_iter().flatten();
        let names = models.filter_map(|model| model.get(name)?.as_str());
        names.map(|name| name.strip_prefix("models/").unwrap_or(name).to_owned()).collect()
    }
}

/// Returns a text, or the texts of a list of parts without those of reasoning.
fn joined(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.trim().to_owned(),
        Some(Value::Array(parts)) => {
            let spoken = parts.iter().filter(|part| part.get("thought") != Some(&Value::Bool(true)));
            let texts = spoken.filter_map(|part| part.get("text")?.as_str());
            texts.collect::<Vec<_>>().join("\n\n").trim().to_owned()
        }
        _ => String::new(),
    }
}

/// Removes text between `<think>` tags, which is not part of the answer.
fn without_thoughts(text: &str) -> String {
    let rest = text.split_once("<think>").and_then(|(before, rest)| Some((before, rest.split_once("</think>")?.1)));
    rest.map_or_else(|| text.to_owned(), |(before, after)| format!("{before}{}", after.trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_joined_and_thoughts_left_out() {
        let parts = json!({"candidates": [{"content": {"parts": [
            {"text": "Hm.", "thought": true}, {"text": "Yes."}, {"text": "It is."}]}}]});
        assert_eq!(Protocol::Gemini.read(&parts).text, "Yes.\n\nIt is.");
        let typed =
            json!({"choices": [{"message": {"content": [{"type": "thinking", "thinking": []}, {"text": "No."}]}}]});
        assert_eq!(Protocol::OpenAi.read(&typed).text, "No.");
        assert_eq!(without_thoughts("<think>a</think>\n b"), "b");
        assert_eq!(without_thoughts("<think>without end"), "<think>without end");
        for protocol in [Protocol::OpenAi, Protocol::Anthropic, Protocol::Gemini] {
            for strange in [json!(null), json!([1]), json!({"choices": {}, "content": 3, "candidates": "x"})] {
                assert_eq!(protocol.read(&strange), Said::default());
            }
        }
    }

    #[test]
    fn a_key_is_not_shown_with_its_headers() {
        for protocol in [Protocol::OpenAi, Protocol::Anthropic, Protocol::Gemini] {
            let headers = protocol.headers(Some(&Secret::new("sk-secret")));
            assert!(!format!("{headers:?}").contains("secret"));
        }
    }
}

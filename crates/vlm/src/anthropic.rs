//! The Anthropic Messages API.
//!
//! Request: `model`, `max_tokens` (required), `system`, `messages` (text and base64 `image`
//! blocks), `temperature`, `top_p`, `output_config.format` (a JSON Schema). Response: `content[]`
//! with text blocks, `stop_reason` (may be `refusal`), `usage.input_tokens` and `output_tokens`.
//! Log-probabilities and seeds are not supported.

use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::chat::{Chat, Endpoints, Fields};
use super::protocol::Protocol;
use super::{
    Answer, Attachment, BackendName, Capabilities, Error, KeptSize, Options, Prompt, ProviderSettings, Vlm, schema,
};

/// Common names of models whose API name contains a date.
const REAL_NAMES: &[(&str, &str)] = &[
    ("claude-3-haiku", "claude-3-haiku-20240307"),
    ("claude-3-opus", "claude-3-opus-20240229"),
    ("claude-3-5-sonnet", "claude-3-5-sonnet-20241022"),
    ("claude-3-5-haiku", "claude-3-5-haiku-20241022"),
    ("claude-3-7-sonnet", "claude-3-7-sonnet-20250219"),
    ("claude-sonnet-4", "claude-sonnet-4-20250514"),
    ("claude-opus-4", "claude-opus-4-20250514"),
];

/// JSON Schema keywords that Anthropic does not support.
const UNSUPPORTED: [&str; 12] = [
    "minLength",
    "maxLength",
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
    "uniqueItems",
    "$schema",
];

/// A model of Anthropic.
#[derive(Debug)]
pub(super) struct Anthropic {
    chat: Chat,
    version: Option<(u32, u32)>,
}

impl Anthropic {
    pub fn connect(backend: &BackendName, settings: &ProviderSettings) -> Result<Self, Error> {
        let endpoints = Endpoints {
            protocol: Protocol::Anthropic,
            default: "https://api.anthropic.com/v1/",
            version: "v1",
            key_optional: settings.base_url.is_some(),
        };
        let model = real_name(backend.model());
        Ok(Self { version: version(&model), chat: Chat::connect(backend, &model, settings, &endpoints)? })
    }

    fn fields(&self, options: &Options) -> Fields {
        let mut fields = Fields::new();
        let mut set = |name: &str, value: Value| drop(fields.insert(name.to_owned(), value));
        set("max_tokens", json!(options.max_tokens));
        let (temperature, top_p) = self.sampling();
        if temperature {
            set("temperature", json!(options.temperature.min(1.0)));
        }
        if let Some(top_p) = options.top_p.filter(|_| top_p) {
            set("top_p", json!(top_p));
        }
        if let Some(wanted) = options.schema.as_ref().filter(|_| self.capabilities().json_schema) {
            let schema = schema::closed(&schema::without(&wanted.schema, &UNSUPPORTED));
            set("output_config", json!({"format": {"type": "json_schema", "schema": schema}}));
        }
        fields
    }

    /// Returns whether the model accepts `temperature`, and whether it accepts `top_p` in addition.
    /// Claude 4 and later accept only one of them, 4.7 and later none.
    fn sampling(&self) -> (bool, bool) {
        match self.version {
            Some(version) if version >= (4, 7) => (false, false),
            Some(version) if version < (4, 0) => (true, true),
            _ => (true, false),
        }
    }
}

impl Vlm for Anthropic {
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
            let reply = self.chat.send(prompt, images, self.fields(options), options.timeout).await?;
            self.chat.answer(reply, None, None, options)
        })
    }

    fn models(&self, timeout: Duration) -> BoxFuture<'_, Result<Vec<String>, Error>> {
        Box::pin(self.chat.models(timeout))
    }

    /// JSON Schemas are supported since Claude 4.5 and Opus 4.1.
    fn capabilities(&self) -> Capabilities {
        let least = if self.chat.model().contains("opus") { (4, 1) } else { (4, 5) };
        Capabilities { json_schema: self.version.is_some_and(|version| version >= least), logprobs: false }
    }

    fn accepts(&self, mime: &str) -> bool {
        matches!(mime, "image/png" | "image/jpeg" | "image/webp" | "image/gif")
    }

    /// The limit is 5 MiB after base64 encoding.
    fn max_image_bytes(&self) -> usize {
        5 * 1024 * 1024 / 4 * 3
    }

    fn kept_size(&self) -> KeptSize {
        match self.version {
            Some(version) if version >= (4, 7) => KeptSize::ANTHROPIC_LARGE,
            _ => KeptSize::ANTHROPIC,
        }
    }
}

/// Returns the API name of a model: without dots, and with a date where the API requires one.
fn real_name(model: &str) -> String {
    if !model.starts_with("claude-") {
        return model.to_owned();
    }
    let model = model.replace('.', "-");
    REAL_NAMES.iter().find(|(name, _)| *name == model).map_or(model, |(_, real)| (*real).to_owned())
}

/// Returns the major and minor version in a model name: `claude-3-5-sonnet-20241022`,
/// `claude-opus-4-7`.
fn version(model: &str) -> Option<(u32, u32)> {
    let numbers: Vec<u32> =
        model.split('-').filter(|part| part.len() <= 2).filter_map(|part| part.parse().ok()).collect();
    Some((*numbers.first()?, numbers.get(1).copied().unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn family_names_become_real_ones() {
        for (name, real) in [
            ("claude-3.5-sonnet", "claude-3-5-sonnet-20241022"),
            ("claude-3-5-sonnet-20240620", "claude-3-5-sonnet-20240620"),
            ("claude-3.7-sonnet", "claude-3-7-sonnet-20250219"),
            ("claude-sonnet-4.5", "claude-sonnet-4-5"),
            ("claude-opus-4.1", "claude-opus-4-1"),
            ("claude-sonnet-4", "claude-sonnet-4-20250514"),
            ("something.else", "something.else"),
        ] {
            assert_eq!(real_name(name), real);
        }
    }

    #[test]
    fn versions_are_found_on_both_sides_of_the_family() {
        assert_eq!(version("claude-3-5-sonnet-20241022"), Some((3, 5)));
        assert_eq!(version("claude-3-opus-20240229"), Some((3, 0)));
        assert_eq!(version("claude-opus-4-7"), Some((4, 7)));
        assert_eq!(version("claude-sonnet-5"), Some((5, 0)));
        assert_eq!(version("proxy-model"), None);
    }
}

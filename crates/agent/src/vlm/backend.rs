//! Which model, where, and with which key.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Error, ErrorKind};

/// Who runs a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Provider {
    /// OpenAI, and by `base_url` every server that speaks its protocol (vLLM, llama.cpp, DashScope ...).
    OpenAi,
    /// Anthropic.
    Anthropic,
    /// Google Gemini.
    Google,
    /// Ollama, on this machine unless told otherwise.
    Ollama,
}

impl Provider {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::OpenAi, Self::Anthropic, Self::Google, Self::Ollama];

    /// The first part of a backend's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Google => "google",
            Self::Ollama => "ollama",
        }
    }

    /// The environment variables that hold its key, first one first.
    pub fn key_variables(self) -> &'static [&'static str] {
        match self {
            Self::OpenAi => &["OPENAI_API_KEY"],
            Self::Anthropic => &["ANTHROPIC_API_KEY"],
            Self::Google => &["GOOGLE_API_KEY", "GEMINI_API_KEY"],
            Self::Ollama => &["OLLAMA_API_KEY"],
        }
    }

    /// The environment variables that hold its address, first one first.
    pub fn base_url_variables(self) -> &'static [&'static str] {
        match self {
            Self::OpenAi => &["OPENAI_BASE_URL"],
            Self::Anthropic => &["ANTHROPIC_BASE_URL"],
            Self::Google => &["GOOGLE_API_BASE_URL"],
            Self::Ollama => &["OLLAMA_BASE_URL", "OLLAMA_HOST"],
        }
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// `provider.model`: `openai.gpt-4o`, `ollama.qwen2.5vl:7b`. The model may hold dots.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BackendName {
    provider: Provider,
    model: String,
}

impl BackendName {
    /// Who runs the model.
    pub fn provider(&self) -> Provider {
        self.provider
    }

    /// The model as the user names it.
    pub fn model(&self) -> &str {
        &self.model
    }
}

impl FromStr for BackendName {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let wrong = |message: &str| Err(Error::new(name.trim(), ErrorKind::Configuration, message));
        let (provider, model) = match name.trim().split_once('.') {
            Some((provider, model)) if !model.trim().is_empty() => (provider, model.trim()),
            _ if name.trim() == "builtin" => return wrong("the built-in analyst is not a model that can be called"),
            _ => return wrong("not a backend: write provider.model, such as openai.gpt-4o"),
        };
        let Some(provider) = Provider::ALL.into_iter().find(|known| known.name() == provider) else {
            return wrong(
                "unknown provider: use openai (also for OpenAI-compatible servers), anthropic, google or ollama",
            );
        };
        Ok(Self { provider, model: model.to_owned() })
    }
}

impl TryFrom<String> for BackendName {
    type Error = Error;

    fn try_from(name: String) -> Result<Self, Error> {
        name.parse()
    }
}

impl From<BackendName> for String {
    fn from(name: BackendName) -> Self {
        name.to_string()
    }
}

impl fmt::Display for BackendName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.provider, self.model)
    }
}

/// A key. It is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a key; blanks around it are dropped.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into().trim().to_owned())
    }

    /// The key itself, for the header of a request.
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }

    /// `text` with every occurrence of the key replaced.
    pub(super) fn redact(&self, text: &str) -> String {
        if self.0.is_empty() { text.to_owned() } else { text.replace(&self.0, "***") }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Where a provider is and how to get in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProviderSettings {
    /// Its address, if not the provider's own. A path is kept; without one the API's own version is added.
    pub base_url: Option<String>,
    /// The key, if it needs one.
    pub api_key: Option<Secret>,
}

/// Key and address of a provider from the environment; `lookup` is `|name| std::env::var(name).ok()` but for tests.
/// Empty variables count as missing.
pub fn settings_from_env(provider: Provider, lookup: impl Fn(&str) -> Option<String>) -> ProviderSettings {
    let first = |names: &[&str]| {
        let values = names.iter().filter_map(|name| lookup(name));
        values.map(|value| value.trim().to_owned()).find(|value| !value.is_empty())
    };
    ProviderSettings {
        base_url: first(provider.base_url_variables()),
        api_key: first(provider.key_variables()).map(Secret::new),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_provider_ends_at_the_first_dot() {
        for (name, provider, model) in [
            ("openai.gpt-4o", Provider::OpenAi, "gpt-4o"),
            ("anthropic.claude-3.5-sonnet", Provider::Anthropic, "claude-3.5-sonnet"),
            ("google.gemini-2.0-flash", Provider::Google, "gemini-2.0-flash"),
            ("ollama.qwen2.5vl:7b", Provider::Ollama, "qwen2.5vl:7b"),
            ("openai.Qwen/Qwen2.5-VL-7B", Provider::OpenAi, "Qwen/Qwen2.5-VL-7B"),
        ] {
            let backend: BackendName = name.parse().unwrap();
            assert_eq!((backend.provider(), backend.model()), (provider, model));
            assert_eq!(backend.to_string(), name);
        }
    }

    #[test]
    fn names_that_are_none_say_what_is_wrong() {
        for (name, says) in [
            ("builtin", "built-in analyst"),
            ("gpt-4o", "provider.model"),
            ("openai.", "provider.model"),
            ("", "provider.model"),
            ("mistral.pixtral", "unknown provider"),
            ("OpenAI.gpt-4o", "unknown provider"),
        ] {
            let error = name.parse::<BackendName>().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Configuration);
            assert!(error.to_string().contains(says), "{error}");
        }
    }

    #[test]
    fn names_are_strings_in_files() {
        let backend: BackendName = serde_json::from_str("\"ollama.llava:7b\"").unwrap();
        assert_eq!(serde_json::to_string(&backend).unwrap(), "\"ollama.llava:7b\"");
        assert!(serde_json::from_str::<BackendName>("\"builtin\"").is_err());
    }

    #[test]
    fn settings_come_from_the_first_variable_that_is_set() {
        let variables = |name: &str| match name {
            "GOOGLE_API_KEY" => Some(" ".to_owned()),
            "GEMINI_API_KEY" => Some("gemini-secret\n".to_owned()),
            "OLLAMA_HOST" => Some("192.168.0.7:11434".to_owned()),
            _ => None,
        };
        let google = settings_from_env(Provider::Google, variables);
        assert_eq!(google.api_key.as_ref().unwrap().reveal(), "gemini-secret");
        assert_eq!(google.base_url, None);
        assert!(!format!("{google:?}").contains("secret"));
        let ollama = settings_from_env(Provider::Ollama, variables);
        assert_eq!(ollama.base_url.as_deref(), Some("192.168.0.7:11434"));
        assert_eq!(settings_from_env(Provider::OpenAi, variables), ProviderSettings::default());
    }
}

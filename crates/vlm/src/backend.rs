//! Backend names, providers, addresses and keys.

use std::fmt;
use std::str::FromStr;
#[cfg(feature = "providers")]
use std::sync::Arc;

use serde::{Deserialize, Serialize};

#[cfg(feature = "providers")]
use agenticiqa_http::REDACTED;

use super::BaseUrl;
#[cfg(feature = "providers")]
use super::{Error, Vlm};

/// Creates a model. Nothing is sent.
#[cfg(feature = "providers")]
type Connect = fn(&BackendName, &ProviderSettings) -> Result<Arc<dyn Vlm>, Error>;

/// The constants of a provider.
struct Facts {
    name: &'static str,
    key_variables: &'static [&'static str],
    base_url_variables: &'static [&'static str],
    needs_key: bool,
    example: &'static str,
    families: &'static [&'static str],
    #[cfg(feature = "providers")]
    connect: Connect,
}

/// Defines [`Provider`] from one row per provider.
macro_rules! providers {
    ($($(#[$doc:meta])* $provider:ident => $facts:expr,)*) => {
        /// A provider of models.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Provider {
            $($(#[$doc])* $provider,)*
        }

        impl Provider {
            /// All providers.
            pub const ALL: [Self; [$(Self::$provider),*].len()] = [$(Self::$provider),*];

            const fn facts(self) -> Facts {
                match self {
                    $(Self::$provider => $facts,)*
                }
            }
        }
    };
}

providers! {
    /// OpenAI, or through `base_url` any compatible server (vLLM, llama.cpp, DashScope).
    OpenAi => Facts {
        name: "openai",
        key_variables: &["OPENAI_API_KEY"],
        base_url_variables: &["OPENAI_BASE_URL"],
        needs_key: true,
        example: "openai.gpt-4o",
        families: &["gpt"],
        #[cfg(feature = "providers")]
        connect: |backend, settings| Ok(Arc::new(super::openai::OpenAi::connect(backend, settings)?)),
    },
    /// Anthropic.
    Anthropic => Facts {
        name: "anthropic",
        key_variables: &["ANTHROPIC_API_KEY"],
        base_url_variables: &["ANTHROPIC_BASE_URL"],
        needs_key: true,
        example: "anthropic.claude-3.5-sonnet",
        families: &["claude"],
        #[cfg(feature = "providers")]
        connect: |backend, settings| Ok(Arc::new(super::anthropic::Anthropic::connect(backend, settings)?)),
    },
    /// Google Gemini.
    Google => Facts {
        name: "google",
        key_variables: &["GOOGLE_API_KEY", "GEMINI_API_KEY"],
        base_url_variables: &["GOOGLE_API_BASE_URL"],
        needs_key: true,
        example: "google.gemini-2.0-flash",
        families: &["gemini"],
        #[cfg(feature = "providers")]
        connect: |backend, settings| Ok(Arc::new(super::google::Google::connect(backend, settings)?)),
    },
    /// Ollama, by default on this machine.
    Ollama => Facts {
        name: "ollama",
        key_variables: &["OLLAMA_API_KEY"],
        base_url_variables: &["OLLAMA_BASE_URL", "OLLAMA_HOST"],
        needs_key: false,
        example: "ollama.qwen2.5vl:7b",
        families: &["qwen", "llava", "llama"],
        #[cfg(feature = "providers")]
        connect: |backend, settings| Ok(Arc::new(super::openai::OpenAi::connect(backend, settings)?)),
    },
}

impl Provider {
    /// The provider part of a backend name.
    pub fn name(self) -> &'static str {
        self.facts().name
    }

    /// The environment variables for the API key, in order of precedence.
    pub fn key_variables(self) -> &'static [&'static str] {
        self.facts().key_variables
    }

    /// The environment variables for the address, in order of precedence.
    pub fn base_url_variables(self) -> &'static [&'static str] {
        self.facts().base_url_variables
    }

    /// Whether the servers of the provider require a key.
    pub fn needs_key(self) -> bool {
        self.facts().needs_key
    }

    /// An example of a backend with image input.
    pub fn example(self) -> &'static str {
        self.facts().example
    }

    /// How the names of its best-known models begin, such as `gpt`.
    pub fn families(self) -> &'static [&'static str] {
        self.facts().families
    }

    /// Returns the provider with a name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|provider| provider.name() == name)
    }

    /// Lists the key variables of the providers that require a key: `OPENAI_API_KEY, ... or
    /// GOOGLE_API_KEY`.
    pub fn list_required_keys() -> String {
        let providers = Self::ALL.into_iter().filter(|provider| provider.needs_key());
        alternatives(providers.filter_map(|provider| provider.key_variables().first().copied()))
    }

    /// Lists how a backend name may begin.
    fn list_prefixes() -> String {
        alternatives(Self::ALL.map(|provider| match provider {
            Self::OpenAi => format!("{provider}. (also for compatible servers)"),
            _ => format!("{provider}."),
        }))
    }

    /// Creates the model for a backend of this provider.
    #[cfg(feature = "providers")]
    pub(super) fn connect(self, backend: &BackendName, settings: &ProviderSettings) -> Result<Arc<dyn Vlm>, Error> {
        (self.facts().connect)(backend, settings)
    }
}

/// Joins words as `a, b or c`.
fn alternatives<W: Into<String>>(words: impl IntoIterator<Item = W>) -> String {
    let mut words: Vec<String> = words.into_iter().map(Into::into).collect();
    let last = words.pop().unwrap_or_default();
    if words.is_empty() { last } else { format!("{} or {last}", words.join(", ")) }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A backend name, `provider.model`: `openai.gpt-4o`, `ollama.qwen2.5vl:7b`. The model may contain
/// dots.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BackendName {
    provider: Provider,
    name: String,
}

impl BackendName {
    /// The provider.
    pub fn provider(&self) -> Provider {
        self.provider
    }

    /// The name of the model as the user wrote it.
    pub fn model(&self) -> &str {
        self.name.split_once('.').map_or("", |(_, model)| model)
    }

    /// The full name.
    pub fn as_str(&self) -> &str {
        &self.name
    }
}

/// The reason why a text is not a backend name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotABackend {
    /// The provider or the model is missing.
    #[error("must be provider.model, such as openai.gpt-4o")]
    Incomplete,
    /// The name contains blanks.
    #[error("must be provider.model without blanks")]
    Blanks,
    /// The provider is unknown.
    #[error("must begin with a provider: {}", Provider::list_prefixes())]
    UnknownProvider,
}

impl FromStr for BackendName {
    type Err = NotABackend;

    fn from_str(text: &str) -> Result<Self, NotABackend> {
        let name = text.trim();
        let (provider, _) =
            name.split_once('.').filter(|(_, model)| !model.is_empty()).ok_or(NotABackend::Incomplete)?;
        if name.chars().any(|letter| letter.is_whitespace() || letter.is_control()) {
            return Err(NotABackend::Blanks);
        }
        let provider = Provider::find(provider).ok_or(NotABackend::UnknownProvider)?;
        Ok(Self { provider, name: name.to_owned() })
    }
}

impl TryFrom<String> for BackendName {
    type Error = NotABackend;

    fn try_from(name: String) -> Result<Self, NotABackend> {
        name.parse()
    }
}

impl From<BackendName> for String {
    fn from(backend: BackendName) -> Self {
        backend.name
    }
}

impl fmt::Display for BackendName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// An API key. It is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a key and trims white space around it. From now on it is removed from all that models
    /// say and from all that is written ([`redacted`](crate::redacted)).
    pub fn new(value: impl Into<String>) -> Self {
        let value = value.into().trim().to_owned();
        agenticiqa_http::remember(&value);
        Self(value)
    }

    /// The key itself, for the header of a request.
    #[cfg(feature = "providers")]
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }

    /// Replaces every occurrence of the key in `text`.
    #[cfg(feature = "providers")]
    pub(super) fn redact(&self, text: &str) -> String {
        if self.0.is_empty() { text.to_owned() } else { text.replace(&self.0, REDACTED) }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// The address and the API key of a provider.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProviderSettings {
    /// The address of the server. Default: the address of the provider. If the URL has no path, the
    /// version path of the API is added.
    pub base_url: Option<BaseUrl>,
    /// The API key, if required.
    pub api_key: Option<Secret>,
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
            assert_eq!((backend.as_str(), backend.to_string().as_str()), (name, name));
        }
    }

    #[test]
    fn names_that_are_none_say_what_is_wrong() {
        for (name, error) in [
            ("builtin", NotABackend::Incomplete),
            ("gpt-4o", NotABackend::Incomplete),
            ("openai.", NotABackend::Incomplete),
            ("", NotABackend::Incomplete),
            ("openai.gpt 4o", NotABackend::Blanks),
            ("mistral.pixtral", NotABackend::UnknownProvider),
            ("OpenAI.gpt-4o", NotABackend::UnknownProvider),
        ] {
            assert_eq!(name.parse::<BackendName>(), Err(error), "{name}");
        }
        assert_eq!(
            NotABackend::UnknownProvider.to_string(),
            "must begin with a provider: openai. (also for compatible servers), anthropic., google. or ollama."
        );
    }

    #[test]
    fn every_provider_has_an_example_of_its_own() {
        for provider in Provider::ALL {
            let example: BackendName = provider.example().parse().unwrap();
            assert_eq!(example.provider(), provider);
        }
    }

    #[test]
    fn names_are_strings_in_files() {
        let backend: BackendName = serde_json::from_str("\"ollama.llava:7b\"").unwrap();
        assert_eq!(serde_json::to_string(&backend).unwrap(), "\"ollama.llava:7b\"");
        assert!(serde_json::from_str::<BackendName>("\"builtin\"").is_err());
    }
}

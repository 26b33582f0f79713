//! The backend of a role, as named in the configuration.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

use super::error::{did_you_mean, nearest};
use agenticiqa_vlm::{BackendName, NotABackend, Provider};

/// The name of the built-in analyst.
const BUILTIN: &str = "builtin";

/// A backend: `builtin`, or `provider.model` such as `openai.gpt-4o` and `ollama.qwen2.5vl:7b`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(try_from = "BackendText")]
pub enum Backend {
    /// The built-in analyst.
    Builtin,
    /// A model of a provider.
    Model(BackendName),
}

impl Backend {
    /// The name of the backend.
    pub fn as_str(&self) -> &str {
        self.model().map_or(BUILTIN, BackendName::as_str)
    }

    /// Returns whether this is the built-in analyst.
    pub fn is_builtin(&self) -> bool {
        self.model().is_none()
    }

    /// Returns the model, or `None` for the built-in analyst.
    pub fn model(&self) -> Option<&BackendName> {
        match self {
            Self::Builtin => None,
            Self::Model(name) => Some(name),
        }
    }

    /// Returns the provider of the model, or `None` for the built-in analyst.
    pub fn provider(&self) -> Option<Provider> {
        self.model().map(BackendName::provider)
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A text that is not a backend.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InvalidBackend {
    /// The rule that the text violates, such as "must be builtin or provider.model".
    pub rule: String,
    /// A similar backend.
    pub suggestion: Option<String>,
}

impl fmt::Display for InvalidBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.rule, did_you_mean(self.suggestion.as_deref()))
    }
}

impl std::error::Error for InvalidBackend {}

impl FromStr for Backend {
    type Err = InvalidBackend;

    fn from_str(text: &str) -> Result<Self, InvalidBackend> {
        let name = text.trim();
        if name == BUILTIN {
            return Ok(Self::Builtin);
        }
        name.parse().map(Self::Model).map_err(|error| match error {
            NotABackend::Incomplete => {
                let words = Provider::ALL.map(Provider::name).into_iter().chain([BUILTIN]);
                let rule = "must be builtin or provider.model, such as openai.gpt-4o".to_owned();
                let suggestion = nearest(name, words).map(str::to_owned).or_else(|| guess_provider(name));
                InvalidBackend { rule, suggestion }
            }
            NotABackend::UnknownProvider => {
                let (provider, model) = name.split_once('.').unwrap_or((name, ""));
                let near = nearest(provider, Provider::ALL.map(Provider::name));
                let suggestion = near.map(|near| format!("{near}.{model}")).or_else(|| guess_provider(name));
                InvalidBackend { rule: error.to_string(), suggestion }
            }
            _ => InvalidBackend { rule: error.to_string(), suggestion: None },
        })
    }
}

/// Suggests the provider for a model name without one, such as `gpt-4o`.
fn guess_provider(model: &str) -> Option<String> {
    let lower = model.to_lowercase();
    let is_of = |provider: &Provider| provider.families().iter().any(|family| lower.starts_with(family));
    let provider = Provider::ALL.into_iter().find(is_of);
    provider.map(|provider| format!("{provider}.{model}"))
}

/// The text of a backend. The configuration recognizes this type by its name and reports an
/// [`InvalidBackend`] with its fields.
#[derive(Deserialize)]
struct BackendText(String);

/// The name of [`BackendText`] in serde.
pub(super) const BACKEND_TEXT: &str = "BackendText";

impl TryFrom<BackendText> for Backend {
    type Error = InvalidBackend;

    fn try_from(BackendText(name): BackendText) -> Result<Self, InvalidBackend> {
        name.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backends_are_builtin_or_a_model_of_a_known_provider() {
        let backend: Backend = " ollama.qwen2.5vl:7b ".parse().unwrap();
        assert_eq!((backend.as_str(), backend.provider()), ("ollama.qwen2.5vl:7b", Some(Provider::Ollama)));
        assert!(!backend.is_builtin());
        let builtin: Backend = " builtin ".parse().unwrap();
        assert_eq!((builtin.as_str(), builtin.provider(), builtin.is_builtin()), (BUILTIN, None, true));
    }

    #[test]
    fn near_misses_are_suggested() {
        for (name, says) in [
            ("gpt-4o", "did you mean openai.gpt-4o?"),
            ("claude-3.5-sonnet", "did you mean anthropic.claude-3.5-sonnet?"),
            ("qwen2.5vl:7b", "did you mean ollama.qwen2.5vl:7b?"),
            ("opnai.gpt-4o", "did you mean openai.gpt-4o?"),
            ("OpenAI.gpt-4o", "did you mean openai.gpt-4o?"),
            ("built-in", "did you mean builtin?"),
            ("mistral.pixtral", "must begin with a provider"),
            ("openai.", "provider.model"),
            ("openai.gpt 4o", "without blanks"),
            ("", "provider.model"),
        ] {
            let error = name.parse::<Backend>().unwrap_err().to_string();
            assert!(error.contains(says), "{name}: {error}");
        }
    }
}

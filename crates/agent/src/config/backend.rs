//! The names of backends and the addresses of their servers.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

use super::error::did_you_mean;

/// What is known of a provider before any of its models is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Provider {
    /// The first part of a backend's name.
    pub name: &'static str,
    /// The variables that may hold its key, first one first.
    pub key_variables: &'static [&'static str],
    /// The variables that may hold its address, first one first.
    pub base_url_variables: &'static [&'static str],
    /// Whether its own servers want a key.
    pub needs_key: bool,
    /// A model of it that sees pictures.
    pub example: &'static str,
}

/// The providers whose models can be called.
pub const PROVIDERS: [Provider; 4] = [
    Provider {
        name: "openai",
        key_variables: &["OPENAI_API_KEY"],
        base_url_variables: &["OPENAI_BASE_URL"],
        needs_key: true,
        example: "openai.gpt-4o",
    },
    Provider {
        name: "anthropic",
        key_variables: &["ANTHROPIC_API_KEY"],
        base_url_variables: &["ANTHROPIC_BASE_URL"],
        needs_key: true,
        example: "anthropic.claude-3.5-sonnet",
    },
    Provider {
        name: "google",
        key_variables: &["GOOGLE_API_KEY", "GEMINI_API_KEY"],
        base_url_variables: &["GOOGLE_API_BASE_URL"],
        needs_key: true,
        example: "google.gemini-2.0-flash",
    },
    Provider {
        name: "ollama",
        key_variables: &["OLLAMA_API_KEY"],
        base_url_variables: &["OLLAMA_BASE_URL", "OLLAMA_HOST"],
        needs_key: false,
        example: "ollama.qwen2.5vl:7b",
    },
];

/// The built-in analyst's name.
const BUILTIN: &str = "builtin";

/// Who thinks: `builtin`, or `provider.model` such as `openai.gpt-4o` and `ollama.qwen2.5vl:7b`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Backend(String);

impl Backend {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is the built-in analyst.
    pub fn is_builtin(&self) -> bool {
        self.0 == BUILTIN
    }

    /// Who runs the model; `None` for the built-in analyst.
    pub fn provider(&self) -> Option<&'static Provider> {
        let (name, _) = self.0.split_once('.')?;
        PROVIDERS.iter().find(|provider| provider.name == name)
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Backend {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let name = text.trim();
        if name == BUILTIN {
            return Ok(Self(name.to_owned()));
        }
        let Some((provider, model)) = name.split_once('.').filter(|(_, model)| !model.is_empty()) else {
            let words = PROVIDERS.iter().map(|provider| provider.name).chain([BUILTIN]);
            let suggestion = match did_you_mean(name, words) {
                nothing if nothing.is_empty() => guess_provider(name),
                suggestion => suggestion,
            };
            return Err(format!("must be builtin or provider.model, such as openai.gpt-4o{suggestion}"));
        };
        if name.chars().any(|letter| letter.is_whitespace() || letter.is_control()) {
            return Err("must be provider.model without blanks".to_owned());
        }
        let names = PROVIDERS.map(|provider| provider.name);
        if names.contains(&provider) {
            return Ok(Self(name.to_owned()));
        }
        let suggestion = match did_you_mean(provider, names) {
            nothing if nothing.is_empty() => guess_provider(name),
            suggestion => suggestion.replace('?', &format!(".{model}?")),
        };
        Err(format!(
            "must begin with a provider: openai. (also for compatible servers), anthropic., google. or ollama.{suggestion}"
        ))
    }
}

/// A model without its provider, as in `gpt-4o`: well-known families tell whose it is.
fn guess_provider(model: &str) -> String {
    const FAMILIES: [(&str, &str); 6] = [
        ("gpt", "openai"),
        ("claude", "anthropic"),
        ("gemini", "google"),
        ("qwen", "ollama"),
        ("llava", "ollama"),
        ("llama", "ollama"),
    ];
    let lower = model.to_lowercase();
    let family = FAMILIES.iter().find(|(family, _)| lower.starts_with(family));
    family.map_or_else(String::new, |(_, provider)| format!(", did you mean {provider}.{model}?"))
}

impl TryFrom<String> for Backend {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        name.parse()
    }
}

/// The address of a server. A user name, a password and a query in it are never printed.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct BaseUrl(String);

impl BaseUrl {
    /// The address itself, for requests.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for BaseUrl {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let text = text.trim();
        let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
        let host = rest.and_then(|rest| rest.split('/').next()).unwrap_or_default();
        if host.is_empty() || text.chars().any(|letter| letter.is_whitespace() || letter.is_control()) {
            return Err("is not an address: write http:// or https:// and the name of a server".to_owned());
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&without_secrets(&self.0))
    }
}

impl fmt::Debug for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", without_secrets(&self.0))
    }
}

/// An address with user name, password and query hidden; any other text as it is.
pub(super) fn without_secrets(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let (authority, path) = rest.find(['/', '?', '#']).map_or((rest, ""), |end| rest.split_at(end));
    let host = authority.rsplit_once('@').map_or(authority.to_owned(), |(_, host)| format!("***@{host}"));
    let (path, hidden) = path.split_once('?').map_or((path, ""), |(path, _)| (path, "?***"));
    format!("{scheme}://{host}{path}{hidden}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backends_are_builtin_or_a_model_of_a_known_provider() {
        for (name, provider) in [
            ("openai.gpt-4o", "openai"),
            ("anthropic.claude-3.5-sonnet", "anthropic"),
            ("google.gemini-2.0-flash", "google"),
            ("ollama.qwen2.5vl:7b", "ollama"),
            ("openai.Qwen/Qwen2.5-VL-7B-Instruct", "openai"),
        ] {
            let backend: Backend = name.parse().unwrap();
            assert_eq!((backend.as_str(), backend.provider().unwrap().name), (name, provider));
            assert!(!backend.is_builtin());
        }
        let builtin: Backend = " builtin ".parse().unwrap();
        assert!(builtin.is_builtin() && builtin.provider().is_none());
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
            let error = name.parse::<Backend>().unwrap_err();
            assert!(error.contains(says), "{name}: {error}");
        }
    }

    #[test]
    fn every_provider_has_an_example_of_its_own() {
        for provider in PROVIDERS {
            let example: Backend = provider.example.parse().unwrap();
            assert_eq!(example.provider(), Some(&provider));
        }
    }

    #[test]
    fn addresses_are_checked_and_their_secrets_hidden() {
        let url = BaseUrl::try_from("https://me:sk-secret@host:8000/v1?key=sk-secret".to_owned()).unwrap();
        assert_eq!(url.to_string(), "https://***@host:8000/v1?***");
        assert!(!format!("{url:?}").contains("secret"));
        assert!(url.as_str().contains("sk-secret"));
        assert_eq!(
            BaseUrl::try_from(" http://localhost:8000 ".to_owned()).unwrap().to_string(),
            "http://localhost:8000"
        );
        for wrong in ["localhost:8000", "ftp://host", "http://", "http:///v1", "http://a b"] {
            assert!(BaseUrl::try_from(wrong.to_owned()).unwrap_err().contains("http://"), "{wrong}");
        }
    }
}

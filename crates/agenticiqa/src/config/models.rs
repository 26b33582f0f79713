//! `model_backends.yaml`: the backend of each role, the addresses of providers, and token prices.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use garde::Validate;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};

use super::Environment;
use super::backend::Backend;
use super::expand::is_variable_name;
use super::read::unknown_field;
use agenticiqa_agent::state::ByNode;
use agenticiqa_vlm::rules::within;
use agenticiqa_vlm::{BackendName, BaseUrl, LimitCard, Provider, RateCard};

/// The backends of the roles, and how to reach them.
#[derive(Debug, Clone, PartialEq, Deserialize, Validate)]
#[serde(deny_unknown_fields, expecting = "roles with their fields")]
pub struct ModelBackends {
    /// Turns the question into a plan.
    #[garde(dive)]
    pub planner: Role,
    /// Gathers the evidence.
    #[garde(dive)]
    pub executor: Role,
    /// Answers from the evidence.
    #[garde(dive)]
    pub summarizer: Role,
    /// The addresses of the providers.
    #[garde(skip)]
    pub providers: Providers,
    /// The prices of tokens, by backend.
    #[garde(dive)]
    pub rates: RateCard,
    /// Requests and tokens per minute, by backend.
    #[garde(dive)]
    pub limits: LimitCard,
}

/// The settings of one role.
#[derive(Debug, Clone, PartialEq, Deserialize, Validate)]
#[serde(deny_unknown_fields, expecting = "the fields of a role, such as backend and temperature")]
pub struct Role {
    /// The backend.
    #[garde(skip)]
    pub backend: Backend,
    /// The sampling temperature; 0 selects the most likely answer.
    #[garde(custom(within(0.0, 2.0)))]
    pub temperature: f64,
    /// The probability mass for nucleus sampling; `None` uses the default of the provider.
    #[garde(inner(custom(within(1e-6, 1.0))))]
    pub top_p: Option<f64>,
    /// The maximum length of an answer in tokens.
    #[garde(custom(within(1.0, 1e6)))]
    pub max_tokens: u32,
    /// The time limit of one call in seconds.
    #[garde(custom(within(0.001, 86400.0)))]
    pub timeout_seconds: f64,
    /// The maximum number of attempts per question.
    #[garde(custom(within(1.0, 10.0)))]
    pub retry_attempts: u32,
    /// The backend to use when the first one fails.
    #[garde(skip)]
    pub fallback_backend: Option<Backend>,
    /// The address of `backend`, if it differs from the provider's.
    #[garde(skip)]
    pub base_url: Option<BaseUrl>,
}

impl Role {
    /// The time limit of one call.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs_f64(self.timeout_seconds)
    }
}

/// The settings of the providers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Providers(BTreeMap<Provider, ProviderSettings>);

impl Providers {
    /// Returns the settings of a provider.
    pub fn get(&self, provider: Provider) -> &ProviderSettings {
        static DEFAULT: ProviderSettings = ProviderSettings { base_url: None, api_key_env: None };
        self.0.get(&provider).unwrap_or(&DEFAULT)
    }
}

impl<'de> Deserialize<'de> for Providers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ProvidersVisitor)
    }
}

struct ProvidersVisitor;

impl<'de> Visitor<'de> for ProvidersVisitor {
    type Value = Providers;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("providers with their fields")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Providers, A::Error> {
        let mut providers = Providers::default();
        while let Some((ProviderName(provider), settings)) = access.next_entry()? {
            providers.0.insert(provider, settings);
        }
        Ok(providers)
    }
}

/// The key of a section of [`Providers`]. An error here is reported at the location of the name.
#[derive(Deserialize)]
#[serde(try_from = "String")]
struct ProviderName(Provider);

impl TryFrom<String> for ProviderName {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let unknown = || unknown_field(&name, &Provider::ALL.map(Provider::name));
        Provider::find(&name).map(Self).ok_or_else(unknown)
    }
}

/// The settings of one provider. API keys are not part of the configuration, only the names of
/// their variables.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "the fields of a provider, such as base_url")]
pub struct ProviderSettings {
    /// The address, if it differs from the default.
    pub base_url: Option<BaseUrl>,
    /// The environment variable of the key, if it differs from the default.
    pub api_key_env: Option<VariableName>,
}

/// The name of an environment variable.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct VariableName(String);

impl VariableName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for VariableName {
    type Error = &'static str;

    /// Rejects an invalid name without repeating it, because it may be the key itself.
    fn try_from(name: String) -> Result<Self, &'static str> {
        let upper = !name.chars().any(|letter| letter.is_ascii_lowercase());
        if is_variable_name(&name) && upper {
            Ok(Self(name))
        } else {
            Err(
                "is not the name of an environment variable: write a name in capitals, such as OPENAI_API_KEY, and put \
                 the key into that variable",
            )
        }
    }
}

impl ModelBackends {
    /// Returns the three roles by name.
    pub fn roles(&self) -> [(&'static str, &Role); 3] {
        [("planner", &self.planner), ("executor", &self.executor), ("summarizer", &self.summarizer)]
    }

    /// Returns the models of the roles; `None` for the built-in analyst.
    pub fn models(&self) -> ByNode<Option<BackendName>> {
        let model = |role: &Role| match &role.backend {
            Backend::Model(name) => Some(name.clone()),
            _ => None,
        };
        ByNode { planner: model(&self.planner), executor: model(&self.executor), summarizer: model(&self.summarizer) }
    }

    /// Returns the address of a role's backend; `None` means the default of the provider.
    pub fn base_url<'a>(&'a self, role: &'a Role) -> Option<&'a BaseUrl> {
        role.base_url.as_ref().or_else(|| self.provider_url(&role.backend))
    }

    /// Returns the address of a role's fallback. The address of the role belongs only to its first
    /// backend.
    pub fn fallback_base_url(&self, role: &Role) -> Option<&BaseUrl> {
        self.provider_url(role.fallback_backend.as_ref()?)
    }

    fn provider_url(&self, backend: &Backend) -> Option<&BaseUrl> {
        self.providers.get(backend.provider()?).base_url.as_ref()
    }

    /// Returns the key of a provider from the environment.
    pub fn key(&self, provider: Provider, environment: &Environment) -> Option<String> {
        let key = self.key_variables(provider).into_iter().find_map(|variable| environment.lookup(variable));
        key.inspect(|key| agenticiqa_http::remember(key))
    }

    /// Returns whether the provider of a backend needs a key and the environment has none. A server
    /// at a configured `base_url` may need no key.
    pub fn lacks_key(&self, backend: &Backend, base_url: Option<&BaseUrl>, environment: &Environment) -> bool {
        let provider = backend.provider().filter(|provider| provider.needs_key() && base_url.is_none());
        provider.is_some_and(|provider| self.key(provider, environment).is_none())
    }

    /// Returns the environment variables for the key of a provider, in order of precedence.
    pub fn key_variables(&self, provider: Provider) -> Vec<&str> {
        match &self.providers.get(provider).api_key_env {
            Some(variable) => vec![variable.as_str()],
            None => provider.key_variables().to_vec(),
        }
    }

    /// Returns the providers of all roles and fallbacks.
    pub fn providers_in_use(&self) -> Vec<Provider> {
        let backends =
            self.roles().into_iter().flat_map(|(_, role)| [Some(&role.backend), role.fallback_backend.as_ref()]);
        let used: Vec<Provider> = backends.flatten().filter_map(Backend::provider).collect();
        Provider::ALL.into_iter().filter(|provider| used.contains(provider)).collect()
    }
}

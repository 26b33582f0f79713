//! `model_backends.yaml`: who plays each role, how providers are reached, what tokens cost.

use std::time::Duration;

use garde::Validate;
use serde::Deserialize;

use super::backend::Backend;
use super::expand::is_variable_name;
use agenticiqa_agent::state::ByNode;
use agenticiqa_vlm::rules::within;
use agenticiqa_vlm::{BackendName, BaseUrl, LimitCard, Provider, RateCard};

/// Who does the thinking.
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
    /// How each provider is reached.
    #[garde(skip)]
    pub providers: Providers,
    /// What tokens cost, by backend.
    #[garde(dive)]
    pub rates: RateCard,
    /// Requests and tokens a minute, by backend.
    #[garde(dive)]
    pub limits: LimitCard,
}

/// How one role is played.
#[derive(Debug, Clone, PartialEq, Deserialize, Validate)]
#[serde(deny_unknown_fields, expecting = "the fields of a role, such as backend and temperature")]
pub struct Role {
    /// Who plays it.
    #[garde(skip)]
    pub backend: Backend,
    /// Randomness of the answers; 0 is the most likely one.
    #[garde(custom(within(0.0, 2.0)))]
    pub temperature: f64,
    /// The share of probability that tokens are drawn from; `None` leaves it to the provider.
    #[garde(inner(custom(within(1e-6, 1.0))))]
    pub top_p: Option<f64>,
    /// The longest answer, in tokens.
    #[garde(custom(within(1.0, 1e6)))]
    pub max_tokens: u32,
    /// How long one call may take, in seconds.
    #[garde(custom(within(0.001, 86400.0)))]
    pub timeout_seconds: f64,
    /// How often one question is asked at most.
    #[garde(custom(within(1.0, 10.0)))]
    pub retry_attempts: u32,
    /// Who is asked when the backend has failed.
    #[garde(skip)]
    pub fallback_backend: Option<Backend>,
    /// The address of `backend`, if not the provider's.
    #[garde(skip)]
    pub base_url: Option<BaseUrl>,
}

impl Role {
    /// How long one call may take.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs_f64(self.timeout_seconds)
    }
}

/// How each provider is reached.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "providers with their fields")]
pub struct Providers {
    /// OpenAI and servers that speak its protocol.
    pub openai: ProviderSettings,
    /// Anthropic.
    pub anthropic: ProviderSettings,
    /// Google.
    pub google: ProviderSettings,
    /// Ollama.
    pub ollama: ProviderSettings,
}

impl Providers {
    /// The settings of a provider.
    pub fn get(&self, provider: Provider) -> &ProviderSettings {
        match provider {
            Provider::OpenAi => &self.openai,
            Provider::Anthropic => &self.anthropic,
            Provider::Google => &self.google,
            Provider::Ollama => &self.ollama,
        }
    }
}

/// How one provider is reached. Keys are not part of the configuration, only the names of variables that hold them.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "the fields of a provider, such as base_url")]
pub struct ProviderSettings {
    /// Its address, if not its own.
    pub base_url: Option<BaseUrl>,
    /// The variable that holds the key, if not the usual one.
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

    /// Refuses without repeating the text: it may be the key itself.
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
    /// The three roles by name.
    pub fn roles(&self) -> [(&'static str, &Role); 3] {
        [("planner", &self.planner), ("executor", &self.executor), ("summarizer", &self.summarizer)]
    }

    /// The models that the roles ask; the built-in analyst is none.
    pub fn models(&self) -> ByNode<Option<BackendName>> {
        let model = |role: &Role| match &role.backend {
            Backend::Model(name) => Some(name.clone()),
            _ => None,
        };
        ByNode { planner: model(&self.planner), executor: model(&self.executor), summarizer: model(&self.summarizer) }
    }

    /// The address of a role's backend; `None` is the provider's own.
    pub fn base_url<'a>(&'a self, role: &'a Role) -> Option<&'a BaseUrl> {
        role.base_url.as_ref().or_else(|| self.provider_url(&role.backend))
    }

    /// The address of a role's fallback; the role's own address belongs to its first backend.
    pub fn fallback_base_url(&self, role: &Role) -> Option<&BaseUrl> {
        self.provider_url(role.fallback_backend.as_ref()?)
    }

    fn provider_url(&self, backend: &Backend) -> Option<&BaseUrl> {
        self.providers.get(backend.provider()?).base_url.as_ref()
    }

    /// The variables that may hold a provider's key, first one first.
    pub fn key_variables(&self, provider: Provider) -> Vec<&str> {
        match &self.providers.get(provider).api_key_env {
            Some(variable) => vec![variable.as_str()],
            None => provider.key_variables().to_vec(),
        }
    }

    /// Every provider that a role or its fallback needs.
    pub fn providers_in_use(&self) -> Vec<Provider> {
        let backends =
            self.roles().into_iter().flat_map(|(_, role)| [Some(&role.backend), role.fallback_backend.as_ref()]);
        let used: Vec<Provider> = backends.flatten().filter_map(Backend::provider).collect();
        Provider::ALL.into_iter().filter(|provider| used.contains(provider)).collect()
    }
}

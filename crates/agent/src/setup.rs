//! From settings to an agent that works by them.

use std::path::PathBuf;
use std::sync::Arc;

use agenticiqa_imaging::Decoder;

use crate::agent::{Agent, Options};
use crate::checkpoint::Checkpoints;
use crate::config::{Backend, BaseUrl, Environment, Role, Settings};
use crate::executor::Grounding;
use crate::journal::Node;
use crate::reasoner::Reasoner;
use crate::reasoner::builtin::Builtin;
use crate::reasoner::fallback::WithFallback;
use crate::reasoner::vlm::VlmReasoner;
use crate::state::ByNode;
use crate::summarizer::fusion::Fusion;
use crate::tools::{self, Registry, ToolCache};
use crate::vlm::{self, BackendName, Client, ProviderSettings, RateCard, Rates, RetryPolicy, Secret};

/// Why the settings do not make an agent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The tool list or a model file is no good.
    #[error(transparent)]
    Tools(#[from] tools::Error),
    /// The tool list cannot be read.
    #[error("{path}: {error}")]
    ToolList {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A backend cannot be set up.
    #[error(transparent)]
    Backend(#[from] vlm::Error),
}

/// The tools by the settings: the built-in list or the user's, with the model files that are given.
pub fn registry(settings: &Settings) -> Result<Registry, Error> {
    let given = &settings.pipeline.tools;
    let mut registry = match &given.metadata {
        Some(path) => {
            let json = std::fs::read_to_string(path);
            Registry::from_json(&json.map_err(|error| Error::ToolList { path: path.clone(), error })?)?
        }
        None => Registry::builtin()?,
    };
    for (tool, path) in &given.models {
        registry.load_model(tool, path)?;
    }
    Ok(registry)
}

/// The agent by the settings; keys are looked up in the environment.
pub fn agent(settings: &Settings, environment: &Environment, registry: Registry) -> Result<Agent, Error> {
    let (models, pipeline) = (&settings.models, &settings.pipeline);
    let of = |node: Node, role: &Role| reasoner(node, role, settings, environment);
    let rate = |rate: &crate::config::Rate| Rates { prompt: rate.prompt, completion: rate.completion };
    Ok(Agent {
        registry: Arc::new(registry),
        cache: Arc::new(ToolCache::new(pipeline.cache.memory_entries, pipeline.cache.disk.clone())),
        reasoners: ByNode {
            planner: of(Node::Planner, &models.planner)?,
            executor: of(Node::Executor, &models.executor)?,
            summarizer: of(Node::Summarizer, &models.summarizer)?,
        },
        options: Options {
            decoder: Decoder { max_pixels: pipeline.images.max_pixels },
            max_replan_iterations: pipeline.max_replan_iterations,
            grounding: match pipeline.executor.grounding {
                crate::config::Grounding::Auto => Grounding::Auto,
                crate::config::Grounding::Off => Grounding::Off,
            },
            fusion: Fusion { eta: pipeline.fusion.eta, levels: pipeline.fusion.levels },
            timeouts: ByNode {
                planner: models.planner.timeout(),
                executor: models.executor.timeout(),
                summarizer: models.summarizer.timeout(),
            },
            checkpoints: pipeline.checkpoints.dir.as_ref().map(Checkpoints::new),
            resume: false,
            rates: RateCard(models.rates.iter().map(|(name, given)| (name.clone(), rate(given))).collect()),
        },
    })
}

/// Who plays a role, with a deputy where one is named.
fn reasoner(
    node: Node,
    role: &Role,
    settings: &Settings,
    environment: &Environment,
) -> Result<Arc<dyn Reasoner>, Error> {
    let one = |backend: &Backend, url: Option<&BaseUrl>| -> Result<Arc<dyn Reasoner>, Error> {
        if backend.is_builtin() {
            return Ok(Arc::new(Builtin));
        }
        let client = client(backend, url, role, settings, environment)?;
        Ok(Arc::new(VlmReasoner {
            node,
            client,
            options: vlm::Options {
                temperature: role.temperature,
                top_p: role.top_p,
                max_tokens: role.max_tokens,
                timeout: role.timeout(),
                ..vlm::Options::default()
            },
            attempts: role.retry_attempts,
            max_side: settings.pipeline.images.max_side as usize,
        }))
    };
    let first = one(&role.backend, settings.models.base_url(role))?;
    match &role.fallback_backend {
        None => Ok(first),
        Some(backend) => {
            let second = one(backend, settings.models.fallback_base_url(role))?;
            Ok(Arc::new(WithFallback { node, first, second }))
        }
    }
}

/// The client of a backend.
pub fn client(
    backend: &Backend,
    url: Option<&BaseUrl>,
    role: &Role,
    settings: &Settings,
    environment: &Environment,
) -> Result<Client, Error> {
    let name: BackendName = backend.as_str().parse()?;
    let variables = backend.provider().map(|provider| settings.models.key_variables(provider)).unwrap_or_default();
    let key =
        variables.into_iter().filter_map(|variable| environment.lookup(variable)).find(|key| !key.trim().is_empty());
    let base_url = url.map(|url| url.as_str().to_owned());
    let provider = ProviderSettings { base_url, api_key: key.map(Secret::new) };
    let policy = RetryPolicy { attempts: role.retry_attempts, ..RetryPolicy::default() };
    let concurrency = settings.pipeline.executor.concurrency as usize;
    Ok(Client::new(vlm::connect(&name, &provider)?).with_policy(policy).with_concurrency(concurrency))
}

//! From settings to an agent that works by them.

use std::path::PathBuf;
use std::sync::Arc;

use agenticiqa_imaging::Decoder;

use crate::agent::{Agent, Options};
use crate::checkpoint::Checkpoints;
use crate::config::{Backend, Environment, Role, Settings};
use crate::journal::Node;
use crate::reasoner::Reasoner;
use crate::reasoner::builtin::Builtin;
use crate::reasoner::fallback::WithFallback;
use crate::reasoner::vlm::VlmReasoner;
use crate::state::ByNode;
use crate::tools::{self, Registry, ToolCache};
use crate::vlm::{self, BackendName, BaseUrl, Client, ProviderSettings, RetryPolicy, Secret};

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
            grounding: pipeline.executor.grounding,
            fusion: pipeline.fusion,
            timeouts: ByNode {
                planner: models.planner.timeout(),
                executor: models.executor.timeout(),
                summarizer: models.summarizer.timeout(),
            },
            checkpoints: pipeline.checkpoints.dir.as_ref().map(Checkpoints::new),
            resume: false,
            rates: models.rates.clone(),
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
        let Backend::Model(model) = backend else { return Ok(Arc::new(Builtin)) };
        let client = client(model, url, role, settings, environment)?;
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
    backend: &BackendName,
    url: Option<&BaseUrl>,
    role: &Role,
    settings: &Settings,
    environment: &Environment,
) -> Result<Client, Error> {
    let variables = settings.models.key_variables(backend.provider());
    let key = variables.into_iter().find_map(|variable| environment.lookup(variable));
    let provider = ProviderSettings { base_url: url.cloned(), api_key: key.map(Secret::new) };
    let policy = RetryPolicy { attempts: role.retry_attempts, ..RetryPolicy::default() };
    let concurrency = settings.pipeline.executor.concurrency as usize;
    Ok(Client::new(vlm::connect(backend, &provider)?).with_policy(policy).with_concurrency(concurrency))
}

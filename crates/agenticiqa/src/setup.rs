//! Creates an agent from settings.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agenticiqa_imaging::Decoder;
use agenticiqa_imaging::files::read_limited;

use crate::config::{Backend, Environment, Role, Settings};
use crate::{tools, vlm};
use agenticiqa_agent::checkpoint::Checkpoints;
use agenticiqa_agent::reasoner::Reasoner;
use agenticiqa_agent::reasoner::builtin::Builtin;
use agenticiqa_agent::reasoner::fallback::WithFallback;
use agenticiqa_agent::reasoner::vlm::VlmReasoner;
use agenticiqa_agent::state::ByNode;
use agenticiqa_agent::state::Node;
use agenticiqa_agent::{Agent, Options};
use agenticiqa_tools::{Registry, ToolCache, ToolList, ToolResources, Worker};
use agenticiqa_vlm::{
    AnswerCache, BackendName, BaseUrl, Calls, Client, ProviderSettings, RetryPolicy, Secret, Traffic, Vlm,
};

/// The reason why an agent cannot be created from the settings.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The tool list or a model file is invalid.
    #[error(transparent)]
    Tools(#[from] tools::Error),
    /// The tool list cannot be read.
    #[error("{path}: {error}")]
    ToolList {
        /// The path of the file.
        path: PathBuf,
        /// The cause.
        error: std::io::Error,
    },
    /// A backend cannot be set up.
    #[error(transparent)]
    Backend(#[from] vlm::Error),
}

/// Returns the tool list: the built-in one or the user's, with the user's additions.
pub fn tool_list(settings: &Settings) -> Result<ToolList, Error> {
    let tools = &settings.pipeline.tools;
    let mut list = match &tools.metadata {
        Some(path) => {
            let unreadable = |error| Error::ToolList { path: path.clone(), error };
            let json = read_limited(path, agenticiqa_tools::LARGEST_LIST).map_err(unreadable)?;
            let json = String::from_utf8(json).map_err(|_| unreadable(ErrorKind::InvalidData.into()))?;
            ToolList::parse(&json, &path.display().to_string())?
        }
        None => ToolList::builtin()?,
    };
    for (name, entry) in &tools.add {
        list.add(name, entry.clone());
    }
    Ok(list)
}

/// Creates the tools: the list and the configured model files.
pub fn registry(settings: &Settings) -> Result<Registry, Error> {
    let tools = &settings.pipeline.tools;
    let list = tool_list(settings)?;
    let worker = tools.worker.settings().map(Worker::new).unwrap_or_default();
    let installed = settings.data_folder.as_deref().map(ToolResources::in_folder).unwrap_or_default();
    let own = tools.metadata.as_ref().and_then(|path| path.parent()).map(Path::to_owned);
    let resources = ToolResources { worker, own, ..installed };
    let mut registry = Registry::from_list(list, &resources)?;
    for (tool, path) in &tools.models {
        registry.load_model(tool, path)?;
    }
    Ok(registry)
}

/// Returns the decoder with the limits of the settings.
pub fn decoder(settings: &Settings) -> Decoder {
    let images = &settings.pipeline.images;
    Decoder { max_pixels: images.max_pixels, max_memory: images.max_memory_bytes }
}

/// Returns the limits for model calls.
pub fn traffic(settings: &Settings) -> Traffic {
    Traffic { limits: settings.models.limits.clone(), ..Traffic::default() }
}

/// Creates the agent. Keys are looked up in the environment.
pub fn agent(settings: &Settings, environment: &Environment, registry: Registry) -> Result<Agent, Error> {
    agent_with(settings, environment, registry, traffic(settings))
}

/// Creates the agent with custom `traffic` for its models.
pub fn agent_with(
    settings: &Settings,
    environment: &Environment,
    registry: Registry,
    traffic: Traffic,
) -> Result<Agent, Error> {
    let (models, pipeline) = (&settings.models, &settings.pipeline);
    let mut connected = Models { traffic, ..Models::new(settings, environment) };
    let mut of = |node: Node, role: &Role| connected.reasoner(node, role);
    Ok(Agent {
        registry: Arc::new(registry),
        cache: Arc::new(ToolCache::new(pipeline.cache.memory_entries, pipeline.cache.disk.clone())),
        reasoners: ByNode {
            planner: of(Node::Planner, &models.planner)?,
            executor: of(Node::Executor, &models.executor)?,
            summarizer: of(Node::Summarizer, &models.summarizer)?,
        },
        options: Options {
            decoder: decoder(settings),
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

/// The models of the settings. Each is connected once and shared by all roles, because setting up
/// TLS takes milliseconds and calls to one server can share connections.
#[derive(Debug)]
pub struct Models<'a> {
    settings: &'a Settings,
    environment: &'a Environment,
    traffic: Traffic,
    answers: Option<AnswerCache>,
    connected: HashMap<(BackendName, Option<BaseUrl>), Arc<dyn Vlm>>,
}

impl<'a> Models<'a> {
    /// Creates the models of `settings`. Keys are looked up in the environment.
    pub fn new(settings: &'a Settings, environment: &'a Environment) -> Self {
        let cache = &settings.pipeline.cache;
        let folder = cache.disk.as_ref().map(|folder| folder.join("answers"));
        let answers = cache.model_answers.then(|| AnswerCache::new(folder));
        Self { settings, environment, traffic: Traffic::default(), answers, connected: HashMap::new() }
    }

    /// Connects a model at an address; `None` means the default of the provider. Nothing is sent.
    pub fn connect(&mut self, backend: &BackendName, url: Option<&BaseUrl>) -> Result<Arc<dyn Vlm>, vlm::Error> {
        let place = (backend.clone(), url.cloned());
        if let Some(model) = self.connected.get(&place) {
            return Ok(Arc::clone(model));
        }
        let key = self.settings.models.key(backend.provider(), self.environment);
        let provider = ProviderSettings { base_url: url.cloned(), api_key: key.map(Secret::new) };
        let model = self.traffic.connect(backend, &provider)?;
        self.connected.insert(place, Arc::clone(&model));
        Ok(model)
    }

    /// Creates the reasoner of a role, with its fallback if one is configured.
    fn reasoner(&mut self, node: Node, role: &Role) -> Result<Arc<dyn Reasoner>, Error> {
        let models = &self.settings.models;
        let first = self.one(node, role, &role.backend, models.base_url(role))?;
        match &role.fallback_backend {
            None => Ok(first),
            Some(backend) => {
                let second = self.one(node, role, backend, models.fallback_base_url(role))?;
                Ok(Arc::new(WithFallback { node, first, second }))
            }
        }
    }

    fn one(
        &mut self,
        node: Node,
        role: &Role,
        backend: &Backend,
        url: Option<&BaseUrl>,
    ) -> Result<Arc<dyn Reasoner>, Error> {
        let Backend::Model(name) = backend else { return Ok(Arc::new(Builtin)) };
        let policy = RetryPolicy { attempts: role.retry_attempts, ..RetryPolicy::default() };
        let concurrency = self.settings.pipeline.executor.concurrency as usize;
        let concurrency = self.traffic.calls.as_ref().map_or(concurrency, Calls::at_a_time);
        let client = Client::new(self.connect(name, url)?).with_policy(policy).with_concurrency(concurrency);
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
            answers: self.answers.as_ref().map(|cache| cache.for_server(url.map_or("", BaseUrl::as_str))),
            max_side: self.settings.pipeline.images.max_side as usize,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Overrides;

    #[test]
    fn a_model_is_connected_once_for_each_address() {
        let environment = Environment::with_variables("/nowhere", [("OPENAI_API_KEY", "sk-secret")]).unwrap();
        let settings = Settings::load(None, &environment, &Overrides::default()).unwrap();
        let mut models = Models::new(&settings, &environment);
        let (backend, other) = ("openai.gpt-4o".parse().unwrap(), "openai.gpt-4o-mini".parse().unwrap());
        let url = "http://127.0.0.1:9".parse().unwrap();
        let first = models.connect(&backend, None).unwrap();
        assert!(Arc::ptr_eq(&first, &models.connect(&backend, None).unwrap()));
        assert!(!Arc::ptr_eq(&first, &models.connect(&backend, Some(&url)).unwrap()));
        assert!(!Arc::ptr_eq(&first, &models.connect(&other, None).unwrap()));
        assert!(!format!("{models:?}").contains("secret"));
    }

    #[test]
    fn roles_with_one_backend_share_its_model() {
        let environment = Environment::with_variables("/nowhere", [("OPENAI_API_KEY", "sk-secret")]).unwrap();
        let overrides = Overrides { backend: Some("openai.gpt-4o".to_owned()), ..Overrides::default() };
        let settings = Settings::load(None, &environment, &overrides).unwrap();
        let mut models = Models::new(&settings, &environment);
        for (node, (_, role)) in
            [Node::Planner, Node::Executor, Node::Summarizer].into_iter().zip(settings.models.roles())
        {
            models.reasoner(node, role).unwrap();
        }
        assert_eq!(models.connected.len(), 1);
    }
}

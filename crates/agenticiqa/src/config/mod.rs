//! The configuration: backends, pipeline options, and the origin of each setting.
//!
//! The layers are the built-in defaults (`configs/*.yaml`), files, environment variables and the
//! command line. Later layers win. A file needs only the fields that it changes. An unknown field,
//! an invalid value or an undefined variable is an error that names its location and field. API
//! keys are not part of the configuration: [`Environment::lookup`] finds them when a model is
//! called.
//!
//! ```
//! use agenticiqa::config::{Environment, Overrides, Settings};
//!
//! let environment = Environment::with_variables("/nowhere", [("AGENTICIQA_BACKEND", "ollama.qwen2.5vl:7b")])?;
//! let overrides = Overrides { backend: None, max_replan: Some(0), ..Overrides::default() };
//! let settings = Settings::load(None, &environment, &overrides)?;
//! assert_eq!(settings.models.planner.backend.as_str(), "ollama.qwen2.5vl:7b");
//! assert_eq!(settings.pipeline.max_replan_iterations, 0);
//! assert_eq!(settings.source("max_replan_iterations").unwrap().origin.to_string(), "override max_replan");
//! # Ok::<(), agenticiqa::config::Error>(())
//! ```

mod backend;
mod environment;
mod error;
mod expand;
mod files;
mod layers;
mod models;
mod origin;
mod pipeline;
mod read;
#[cfg(test)]
mod tests;
mod tree;
mod trust;

use std::path::{Path, PathBuf};

pub use backend::{Backend, InvalidBackend};
pub use environment::Environment;
pub use error::Error;
pub use models::{ModelBackends, ProviderSettings, Providers, Role, VariableName};
pub use origin::{Origin, Source};
pub use pipeline::{
    Cache, Checkpoints, Executor, Images, LogFormat, LogLevel, Logging, Pipeline, Server, Tools, Worker,
};
pub use trust::{TRUST_VARIABLE, TrustStore};

pub(crate) use error::{did_you_mean, nearest};

use agenticiqa_tools::Flaw;

/// Values that override files and environment variables, such as command-line flags.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overrides {
    /// The backend of all roles.
    pub backend: Option<String>,
    /// The backend of the planner; wins over `backend`.
    pub planner_backend: Option<String>,
    /// The backend of the executor; wins over `backend`.
    pub executor_backend: Option<String>,
    /// The backend of the summarizer; wins over `backend`.
    pub summarizer_backend: Option<String>,
    /// The maximum number of replans.
    pub max_replan: Option<u32>,
    /// Any field of either file as `(key, value)`; wins over all others.
    pub assignments: Vec<(String, String)>,
}

/// The effective configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The backends of the roles.
    pub models: ModelBackends,
    /// The options of an assessment.
    pub pipeline: Pipeline,
    /// Every field with its value and origin.
    pub sources: Vec<Source>,
    /// The fields of the working folder's files that were ignored, because the folder is not
    /// trusted to name programs and servers ([`Environment::trusting`]).
    pub ignored: Vec<Source>,
    /// The files that were read, in order.
    pub files: Vec<PathBuf>,
    /// The folder of installed files: `tools.data_dir`, else the user's data folder. `None` if
    /// there is neither.
    pub data_folder: Option<PathBuf>,
}

impl Settings {
    /// Reads all layers. `config` is a folder that contains `model_backends.yaml`, `pipeline.yaml`
    /// or both, or a single file, recognized by its name or its fields. Without it, `./configs/` is
    /// read if it exists, else the user's folder (`$XDG_CONFIG_HOME/agenticiqa` or
    /// `~/.config/agenticiqa`).
    pub fn load(config: Option<&Path>, environment: &Environment, overrides: &Overrides) -> Result<Self, Error> {
        let mut documents = layers::Documents::defaults()?;
        let (files, local) = files::find(config, environment)?;
        let mut ignored = Vec::new();
        for file in &files {
            ignored.extend(documents.lay_file(file, !local || environment.is_trusted(), environment)?);
        }
        documents.lay_environment(environment)?;
        documents.lay_overrides(overrides, environment)?;
        let mut settings = Self::read(&documents, files)?;
        let variable = |name: String| Source {
            field: name.clone(),
            value: String::new(),
            origin: Origin::Variable { name, dotenv: true },
        };
        ignored.extend(environment.withheld().into_iter().map(variable));
        settings.ignored = ignored;
        settings.data_folder = settings.data_folder.or_else(|| files::data_folder(environment));
        Ok(settings)
    }

    /// Returns the built-in defaults, without files, environment or overrides.
    pub fn builtin() -> Result<Self, Error> {
        Self::read(&layers::Documents::defaults()?, Vec::new())
    }

    fn read(documents: &layers::Documents, files: Vec<PathBuf>) -> Result<Self, Error> {
        let models = read::read(&documents.models)?;
        let pipeline: Pipeline = read::read(&documents.pipeline)?;
        for (name, entry) in &pipeline.tools.add {
            let refused = |flaw: Flaw| {
                let path = format!("tools.add.{name}.{}", flaw.field);
                read::violation(&documents.pipeline, &path, &flaw.reason)
            };
            entry.check(name).map_err(refused)?;
        }
        let data_folder = pipeline.tools.data_dir.clone();
        Ok(Self { models, pipeline, sources: documents.sources(), ignored: Vec::new(), files, data_folder })
    }

    /// Returns the folder of installed tools.
    pub fn tools_folder(&self) -> Result<&Path, Error> {
        self.data_folder.as_deref().ok_or(Error::NoDataFolder)
    }

    /// Returns the source of a field, such as `planner.backend`.
    pub fn source(&self, field: &str) -> Option<&Source> {
        self.sources.iter().find(|source| source.field == field)
    }

    /// Returns every field with its value and origin as text. Keys and passwords are never
    /// included.
    pub fn describe(&self) -> Vec<(String, String, String)> {
        let row = |source: &Source| (source.field.clone(), source.value.clone(), source.origin.to_string());
        self.sources.iter().map(row).collect()
    }
}

/// Returns the user's configuration folder. `.env` cannot change it.
pub fn user_folder(environment: &Environment) -> Option<PathBuf> {
    files::user_folder(environment)
}

/// Returns the environment variables that set fields of the configuration.
pub fn variables() -> impl Iterator<Item = &'static str> {
    layers::VARIABLES.into_iter().map(|(name, _)| name)
}

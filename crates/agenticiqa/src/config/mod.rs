//! The configuration: who thinks, how an assessment runs, and where each setting comes from.
//!
//! Layers, later wins: what is built in (`configs/*.yaml`), files, environment variables, the command line. A file needs
//! only the fields that it changes; an unknown field, a bad value or an undefined variable is an error that names place
//! and field. Keys of providers are no part of it: [`Environment::lookup`] finds them when a model is called.
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

use std::path::{Path, PathBuf};

pub use backend::Backend;
pub use environment::Environment;
pub use error::Error;
pub use models::{ModelBackends, ProviderSettings, Providers, Role, VariableName};
pub use origin::{Origin, Source};
pub use pipeline::{
    Cache, Checkpoints, Executor, Images, LogFormat, LogLevel, Logging, Pipeline, Server, Tools, Worker,
};

pub(crate) use error::did_you_mean;

use agenticiqa_tools::Flaw;

/// What the command line says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overrides {
    /// `--backend`, for all roles.
    pub backend: Option<String>,
    /// `--planner-backend`; wins over `backend`.
    pub planner_backend: Option<String>,
    /// `--executor-backend`; wins over `backend`.
    pub executor_backend: Option<String>,
    /// `--summarizer-backend`; wins over `backend`.
    pub summarizer_backend: Option<String>,
    /// `--max-replan`.
    pub max_replan: Option<u32>,
    /// `--backend-override KEY=VALUE`: any field of either file; wins over all others.
    pub assignments: Vec<(String, String)>,
}

/// The configuration in force.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Who does the thinking.
    pub models: ModelBackends,
    /// How an assessment runs.
    pub pipeline: Pipeline,
    /// Every field with its value and where it comes from.
    pub sources: Vec<Source>,
    /// The files that were read, first one first.
    pub files: Vec<PathBuf>,
    /// Where installed files are: `tools.data_dir`, else the user's data folder. `None` where there is neither.
    pub data_folder: Option<PathBuf>,
}

impl Settings {
    /// Reads all layers. `config` is a folder that holds `model_backends.yaml`, `pipeline.yaml` or both, or one file,
    /// told by its name or its fields. Without it `./configs/` is read if there, else the user's own folder
    /// (`$XDG_CONFIG_HOME/agenticiqa` or `~/.config/agenticiqa`).
    pub fn load(config: Option<&Path>, environment: &Environment, overrides: &Overrides) -> Result<Self, Error> {
        let mut documents = layers::Documents::defaults()?;
        let files = files::find(config, environment)?;
        for file in &files {
            documents.lay_file(file, environment)?;
        }
        documents.lay_environment(environment)?;
        documents.lay_overrides(overrides, environment)?;
        let mut settings = Self::read(&documents, files)?;
        settings.data_folder = settings.data_folder.or_else(|| files::data_folder(environment));
        Ok(settings)
    }

    /// What is built in, without files, environment or command line.
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
        Ok(Self { models, pipeline, sources: documents.sources(), files, data_folder })
    }

    /// Where tools are installed.
    pub fn tools_folder(&self) -> Result<&Path, Error> {
        self.data_folder.as_deref().ok_or(Error::NoDataFolder)
    }

    /// The source of one field, such as `planner.backend`.
    pub fn source(&self, field: &str) -> Option<&Source> {
        self.sources.iter().find(|source| source.field == field)
    }

    /// Every field with its value and where it comes from, for people. No key and no password is among them.
    pub fn describe(&self) -> Vec<(String, String, String)> {
        let row = |source: &Source| (source.field.clone(), source.value.clone(), source.origin.to_string());
        self.sources.iter().map(row).collect()
    }
}

/// The user's own folder for configuration.
pub fn user_folder(environment: &Environment) -> Option<PathBuf> {
    files::user_folder(environment)
}

/// The variables that set fields of the configuration.
pub fn variables() -> impl Iterator<Item = &'static str> {
    layers::VARIABLES.into_iter().map(|(name, _)| name)
}

//! The tools: what is known of each, how a raw score becomes one from 1 to 5, and how a tool is run.

mod availability;
mod cache;
mod check;
mod engine;
mod metadata;
mod normalisation;
pub mod onnx;
mod registry;
mod run;

pub use availability::Availability;
pub use cache::{CacheKey, CacheStatistics, CachedRun, ToolCache};
pub use check::{CheckOutcome, SamplePair};
pub use engine::Material;
pub use metadata::{Backend, Metadata, ToolType};
pub use normalisation::{Logistic, Scale};
pub use registry::{Registry, Tool, Workshop};
pub use run::{Failure, ToolRun, raw_number};

/// Why the tools could not be set up or found; each message says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The tool list is not valid.
    #[error("tools.json: {0}")]
    Metadata(#[from] serde_json::Error),
    /// The parameters of one tool make no sense.
    #[error("tools.json: {tool}: {reason}")]
    InvalidTool {
        /// The tool's name.
        tool: String,
        /// What is wrong.
        reason: String,
    },
    /// No tool has that name.
    #[error("no tool is called {name:?}{}; `agenticiqa tools list` shows all", suggestion.as_ref().map(|near| format!(", did you mean {near}?")).unwrap_or_default())]
    UnknownTool {
        /// The name that was asked for.
        name: String,
        /// The nearest existing name.
        suggestion: Option<String>,
    },
    /// The tool exists but cannot run here.
    #[error("{tool} cannot run here: {reason}")]
    Unavailable {
        /// The tool's name.
        tool: String,
        /// Why not.
        reason: String,
    },
    /// A model file could not be read.
    #[error("{path}: {reason}")]
    Model {
        /// The file.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
}

//! The tools: what is known of each, how a raw score becomes one from 1 to 5, and how a tool is run.

mod availability;
mod cache;
mod check;
mod command;
mod engine;
mod fused_fr;
mod fused_nr;
mod inputs;
pub mod install;
mod list;
mod metadata;
mod model_file;
mod normalization;
pub mod onnx;
mod process;
mod registry;
mod run;
pub mod scoring;
mod worker;

pub use availability::{Availability, Remedy};
pub use cache::{CacheKey, CacheStatistics, CachedRun, ToolCache};
pub use check::{CheckOutcome, SamplePair};
pub use command::CommandLine;
pub use engine::ToolInput;
pub use inputs::{Digest, Part, Source};
pub use list::ToolList;
pub use metadata::{Backend, Calibration, Flaw, Metadata, ToolType};
pub use normalization::{Logistic, Scale};
pub use registry::{Registry, Tool, ToolResources};
pub use run::{Failure, ToolRun, raw_number};
pub use worker::{Worker, WorkerScore, WorkerSection, WorkerSettings};

/// Why the tools could not be set up or found; each message says what is wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The tool list is not valid.
    #[error("{file}: {reason}")]
    Metadata {
        /// The file.
        file: String,
        /// The place in it, and what is wrong there.
        reason: String,
    },
    /// The values of one tool make no sense.
    #[error("{file}: {tool}: {flaw}")]
    InvalidTool {
        /// The file.
        file: String,
        /// The tool's name.
        tool: String,
        /// What is wrong.
        flaw: Flaw,
    },
    /// Two tools of a list have one name.
    #[error("{file}: {first} and {second} are the same name: case, - and _ do not tell tools apart")]
    SameName {
        /// The file.
        file: String,
        /// The one.
        first: String,
        /// The other.
        second: String,
    },
    /// No tool has that name.
    #[error("no tool is called {name:?}{}", suggestion.as_ref().map(|near| format!(", did you mean {near}?")).unwrap_or_default())]
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
        /// What would make it run.
        remedy: Option<Remedy>,
    },
    /// The tool has no files that could be installed.
    #[error("{reason}")]
    NothingToInstall {
        /// Why, and what to do instead.
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

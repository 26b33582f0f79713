//! Image quality tools behind one interface, with scores on one calibrated scale from 1 (bad) to 5
//! (excellent).
//!
//! A tool is a metric or a model that scores an image: a built-in metric such as SSIM, a built-in
//! model such as Fused-NR, a network in an ONNX file, a metric of the Python package pyiqa, or a
//! program of your own. The AgenticIQA agent, its command line, its server and its Python package
//! all run tools through this crate. Use it directly to score images without the agent.
//!
//! ```
//! use agenticiqa_metrics::{Image, Pair};
//! use agenticiqa_tools::{ToolInput, Registry};
//!
//! let registry = Registry::builtin()?;
//! let reference = Image::from_gray8(64, 64, (0..4096).map(|i| (i % 251) as u8).collect())?;
//! let distorted = Image::from_gray8(64, 64, (0..4096).map(|i| (i % 241) as u8).collect())?;
//! let run = registry.get("ssim")?.run(&ToolInput::new(Pair::new(&reference, &distorted)?));
//! assert!((1.0..=5.0).contains(&run.normalized_score.unwrap()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Overview
//! - [`Registry`] holds all tools by name. [`Registry::builtin`] needs no files;
//!   [`Registry::from_list`] adds installed models, the Python worker and your own tools
//!   ([`ToolResources`]).
//! - [`Tool::run`] measures one [`ToolInput`] and returns a [`ToolRun`]: the raw score, the score
//!   from 1 to 5, the time, and a map if the tool has one. A failure is part of the result
//!   ([`Failure`]).
//! - [`Scale`] maps raw scores to the scale from 1 to 5.
//! - [`scoring`] scores files and regions with several tools, one row per result.
//! - [`Metadata`] is the entry of a tool in `tools.json`, [`ToolList`] the whole list.
//! - [`install`] downloads, checks and converts the files that tools need.
//! - [`onnx`] describes how a network in an ONNX file scores an image.
//! - [`Worker`] runs metrics of pyiqa in a Python process.
//! - [`ToolCache`] stores results, and [`SamplePair`] tests whether tools work on this machine.
//!
//! # Features
//! All are on by default: `install` (download and conversion), `onnx` (ONNX models) and `worker`
//! (metrics of pyiqa). Without them, the built-in tools and your own programs remain.
//!
//! This crate does not choose tools for a question; the agent does that (`agenticiqa-agent`).

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
pub use metadata::{Backend, Calibration, Flaw, LARGEST_LIST, Metadata, ToolType};
pub use normalization::{Logistic, Scale};
pub use registry::{Registry, Tool, ToolResources};
pub use run::{Failure, ToolRun, raw_number};
#[cfg(feature = "worker")]
pub use worker::WorkerScore;
pub use worker::{Worker, WorkerSection, WorkerSettings};

/// Reasons why tools cannot be set up or found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The tool list is not valid.
    #[error("{file}: {reason}")]
    Metadata {
        /// The file.
        file: String,
        /// The location in the file and the problem.
        reason: String,
    },
    /// The entry of a tool has an invalid value.
    #[error("{file}: {tool}: {flaw}")]
    InvalidTool {
        /// The file.
        file: String,
        /// The tool's name.
        tool: String,
        /// The invalid value.
        flaw: Flaw,
    },
    /// Two tools of a list have the same name.
    #[error("{file}: {first} and {second} are the same name: case, - and _ do not tell tools apart")]
    SameName {
        /// The file.
        file: String,
        /// Name of the first tool.
        first: String,
        /// Name of the second tool.
        second: String,
    },
    /// No tool has that name.
    #[error("no tool is called {name:?}{}", suggestion.as_ref().map(|near| format!(", did you mean {near}?")).unwrap_or_default())]
    UnknownTool {
        /// The requested name.
        name: String,
        /// The nearest existing name.
        suggestion: Option<String>,
    },
    /// The tool exists but cannot run on this machine.
    #[error("{tool} cannot run here: {reason}")]
    Unavailable {
        /// The tool's name.
        tool: String,
        /// The reason.
        reason: String,
        /// How to make it run.
        remedy: Option<Remedy>,
    },
    /// The tool has no files that could be installed.
    #[error("{reason}")]
    NothingToInstall {
        /// The reason, and what to do instead.
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

//! Image quality assessment: ask a question about an image; get an answer, a score from 1 (bad) to 5
//! (excellent), and the evidence behind both.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let photo = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/osprey-blurred.jpg");
//! # /*
//! let photo = "photo.jpg";
//! # */
//! let agent = agenticiqa::Agent::builtin()?;
//! let answer = agent.assess(photo, "Is it sharp?").await?;
//! println!("{answer}");
//! # assert!(answer.score().is_some());
//! # Ok(())
//! # }
//! ```
//!
//! [`Agent::assess_blocking`] does the same without a runtime. You can also run the tools without the
//! agent. Each returns a raw score and a score from 1 to 5:
//!
//! ```
//! use agenticiqa::metrics::Image;
//! use agenticiqa::tools::{Part, Registry};
//!
//! let reference = Image::from_gray8(64, 64, (0..4096).map(|i| (i % 251) as u8).collect())?;
//! let distorted = Image::from_gray8(64, 64, (0..4096).map(|i| (i % 241) as u8).collect())?;
//! let registry = Registry::builtin()?;
//! let run = Part::new(distorted, Some(reference)).measure(registry.get("ssim")?, false);
//! assert!(run.normalized_score.is_some_and(|score| (1.0..=5.0).contains(&score)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Modules
//!
//! | module | purpose |
//! | --- | --- |
//! | [`config`], [`setup`], [`doctor`] | settings, the agent they describe, and what is missing |
//! | [`agent`], [`state`], [`events`] | the method: requests, records, progress |
//! | [`tools`], [`scoring`] | every tool behind one list; scoring without an agent |
//! | [`metrics`], [`imaging`], [`perception`] | pixels to numbers, files to pixels, images to distortions |
//! | [`vlm`] | vision-language models |
//! | `batch`, `gate` | many assessments, and limits for them |
//! | `dataset`, `eval`, `calibrate`, `report` | agreement with human opinions |
//!
//! # Features
//!
//! All are on by default: `vlm` (providers over HTTP), `onnx` (learned tools), `install` (their
//! weights), `worker` (pyiqa in a Python process), `batch`, `parquet`, `evaluation`, `avif`, `jpegxl`
//! (SSIMULACRA2, Butteraugli). Without any of them, the library builds without HTTP, TLS, archives,
//! workbooks and templates.

pub mod config;
pub mod doctor;
mod front_door;
pub mod setup;

pub use front_door::{Agent, Answer, Error};

pub use agenticiqa_agent as agent;
pub use agenticiqa_agent::{
    advice, checkpoint, events, executor, fusion, graph, inputs, language, planner, question, reasoner, state,
    summarizer, words,
};
#[cfg(feature = "batch")]
pub use agenticiqa_batch as batch;
#[cfg(feature = "batch")]
pub use agenticiqa_batch::{PathRules, gate};
#[cfg(feature = "evaluation")]
pub use agenticiqa_evaluation::{calibrate, dataset, eval, report};
pub use agenticiqa_imaging as imaging;
pub use agenticiqa_imaging::write_atomically;
pub use agenticiqa_metrics as metrics;
#[cfg(feature = "onnx")]
pub use agenticiqa_onnx as onnx;
#[cfg(feature = "evaluation")]
pub use agenticiqa_statistics as statistics;
pub use agenticiqa_tools as tools;
pub use agenticiqa_tools::scoring;
pub use agenticiqa_vision::{analysis, detector, fused_fr, fused_nr, perception, regions, repair};
pub use agenticiqa_vlm as vlm;

/// The examples of the READMEs, compiled with the documentation tests.
#[cfg(doctest)]
mod readmes {
    #[doc = include_str!("../README.md")]
    struct Crate;

    #[doc = include_str!("../../../README.md")]
    struct Project;
}

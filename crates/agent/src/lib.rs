//! Image quality assessment as a library: every tool behind one name, on one calibrated scale from 1 to 5.
//!
//! ```
//! use agenticiqa::metrics::{Image, Pair};
//! use agenticiqa::tools::Registry;
//!
//! let registry = Registry::builtin()?;
//! let reference = Image::from_gray8(64, 64, (0..4096).map(|i| (i % 251) as u8).collect())?;
//! let distorted = Image::from_gray8(64, 64, (0..4096).map(|i| (i % 241) as u8).collect())?;
//! let run = registry.get("ssim")?.run(&Pair::new(&reference, &distorted)?);
//! assert!((1.0..=5.0).contains(&run.normalized_score.unwrap()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod agent;
pub mod checkpoint;
pub mod config;
pub mod doctor;
pub mod executor;
mod files;
pub mod graph;
pub mod journal;
pub mod perception;
pub mod planner;
pub mod question;
pub mod reasoner;
mod rules;
pub mod scoring;
pub mod setup;
pub mod state;
pub mod subject;
pub mod summarizer;
pub mod tools;
pub mod vlm;

pub use agenticiqa_imaging as imaging;
pub use agenticiqa_metrics as metrics;

//! Image quality assessment as a library: a question about a picture in, an answer with its evidence out; every tool
//! behind one name, on one calibrated scale from 1 to 5.
//!
//! ```
//! use agenticiqa::agent::{Input, Request};
//! use agenticiqa::config::{Environment, Settings};
//! use agenticiqa::journal::Journal;
//! use agenticiqa::metrics::Image;
//! use agenticiqa::{imaging, setup};
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let settings = Settings::builtin()?;
//! let environment = Environment::with_variables(".", [("NO_KEY", "needed")])?;
//! let agent = setup::agent(&settings, &environment, setup::registry(&settings)?)?;
//! let photo = Image::from_gray8(256, 256, (0..65536_u64).map(|i| (i * i / 97 % 251) as u8).collect())?;
//! let image = Input::Bytes("photo.png".into(), imaging::encode_png(&photo)?);
//! let request = Request { query: "Is it blurry?".into(), ..Request::new(image) };
//! let record = agent.assess(request, Journal::default()).await?;
//! println!("{}", record.summarizer_result.ok_or("no answer")?.final_answer);
//! # Ok(())
//! # }
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(run())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The tools alone:
//!
//! ```
//! use agenticiqa::metrics::{Image, Pair};
//! use agenticiqa::tools::{Material, Registry};
//!
//! let registry = Registry::builtin()?;
//! let reference = Image::from_gray8(64, 64, (0..4096).map(|i| (i % 251) as u8).collect())?;
//! let distorted = Image::from_gray8(64, 64, (0..4096).map(|i| (i % 241) as u8).collect())?;
//! let run = registry.get("ssim")?.run(&Material::new(Pair::new(&reference, &distorted)?));
//! assert!((1.0..=5.0).contains(&run.normalized_score.unwrap()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod agent;
pub mod batch;
pub mod blind;
pub mod calibrate;
pub mod checkpoint;
pub mod config;
pub mod dataset;
pub mod doctor;
pub mod eval;
pub mod executor;
mod files;
pub mod fused;
pub mod gate;
pub mod graph;
pub mod journal;
mod patience;
pub mod perception;
mod places;
pub mod planner;
pub mod question;
pub mod reasoner;
pub mod report;
mod rules;
pub mod scoring;
mod sealed;
pub mod setup;
pub mod state;
pub mod subject;
pub mod summarizer;
pub mod tools;
pub mod vlm;

pub use files::write_atomically;
pub use places::Places;

pub use agenticiqa_imaging as imaging;
pub use agenticiqa_metrics as metrics;
pub use agenticiqa_onnx as onnx;
pub use agenticiqa_statistics as statistics;

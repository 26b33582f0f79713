//! Image quality assessment as a library: a question about an image in, an answer with its evidence out; every tool
//! behind one name, on one calibrated scale from 1 to 5.
//!
//! ```
//! use agenticiqa_agent::{Input, Request};
//! use agenticiqa::config::{Environment, Settings};
//! use agenticiqa_agent::events::EventLog;
//! use agenticiqa_metrics::Image;
//! use agenticiqa::{imaging, setup};
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let settings = Settings::builtin()?;
//! let environment = Environment::with_variables(".", [("NO_KEY", "needed")])?;
//! let agent = setup::agent(&settings, &environment, setup::registry(&settings)?)?;
//! let photo = Image::from_gray8(256, 256, (0..65536_u64).map(|i| (i * i / 97 % 251) as u8).collect())?;
//! let image = Input::Bytes("photo.png".into(), imaging::encode_png(&photo)?);
//! let request = Request { query: "Is it blurry?".into(), ..Request::new(image) };
//! let record = agent.assess(request, EventLog::default()).await?;
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

pub mod config;
pub mod doctor;
pub mod setup;

pub use agenticiqa_agent as agent;
pub use agenticiqa_agent::{
    checkpoint, events, executor, fusion, graph, inputs, planner, question, reasoner, state, summarizer, words,
};
pub use agenticiqa_batch as batch;
pub use agenticiqa_batch::{PathRules, gate};
pub use agenticiqa_evaluation::{calibrate, dataset, eval, report};
pub use agenticiqa_imaging as imaging;
pub use agenticiqa_imaging::write_atomically;
pub use agenticiqa_metrics as metrics;
pub use agenticiqa_onnx as onnx;
pub use agenticiqa_statistics as statistics;
pub use agenticiqa_tools as tools;
pub use agenticiqa_tools::scoring;
pub use agenticiqa_vision::{fused_fr, fused_nr, perception};
pub use agenticiqa_vlm as vlm;

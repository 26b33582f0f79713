//! The AgenticIQA method: answers a question about the quality of an image.
//!
//! An [`Agent`] sends a [`Request`] through three nodes. The planner turns the question into a
//! plan. The executor finds distortions, judges their severity and runs quality tools. The
//! summarizer fuses the tool scores with the judgment of the reasoner and writes the answer. If
//! evidence is missing, the summarizer asks for a new plan. The result is an
//! [`AssessmentRecord`](state::AssessmentRecord) with the answer, the score, the reasons and all
//! evidence.
//!
//! Each node uses a [`Reasoner`](reasoner::Reasoner): the built-in analyst
//! ([`Builtin`](reasoner::builtin::Builtin)), which needs no model and no network, or a
//! vision-language model ([`VlmReasoner`](reasoner::vlm::VlmReasoner)).
//! [`WithFallback`](reasoner::fallback::WithFallback) combines two reasoners.
//!
//! The command line, the HTTP server and the Python package build on this crate. To create an agent
//! from configuration files, use `agenticiqa::setup` of the crate `agenticiqa`. To assess many
//! images, use the crate `agenticiqa-batch`.
//!
//! ```
//! use std::sync::Arc;
//!
//! use agenticiqa_agent::events::EventLog;
//! use agenticiqa_agent::reasoner::{Reasoner, builtin::Builtin};
//! use agenticiqa_agent::state::ByNode;
//! use agenticiqa_agent::{Agent, Input, Options, Request};
//! use agenticiqa_metrics::Image;
//! use agenticiqa_tools::{Registry, ToolCache};
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let builtin: Arc<dyn Reasoner> = Arc::new(Builtin);
//! let agent = Agent {
//!     registry: Arc::new(Registry::builtin()?),
//!     cache: Arc::new(ToolCache::new(1000, None)),
//!     reasoners: ByNode { planner: builtin.clone(), executor: builtin.clone(), summarizer: builtin },
//!     options: Options::default(),
//! };
//!
//! // An image file works the same way: `Input::Path("photo.jpg".into())`.
//! let gray = (0..65536_u64).map(|i| (i * i / 97 % 251) as u8).collect();
//! let png = agenticiqa_imaging::encode_png(&Image::from_gray8(256, 256, gray)?)?;
//! let image = Input::Bytes("photo.png".into(), png);
//!
//! let request = Request { query: "Is it blurry?".into(), ..Request::new(image) };
//! let record = agent.assess(request, EventLog::default()).await?;
//! let result = record.summarizer_result.ok_or("no answer")?;
//! println!("{}", result.final_answer);
//! assert!(!result.quality_reasoning.as_str().is_empty());
//! # Ok(())
//! # }
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(run())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Modules
//!
//! - [`state`]: plan, evidence, conclusion and record, with JSON Schemas.
//! - [`planner`], [`executor`], [`summarizer`]: the three nodes; [`graph`] decides which is next.
//! - [`fusion`]: fuses tool scores with the judgment of the reasoner; the prediction interval.
//! - [`reasoner`]: the built-in analyst and vision-language models behind one trait.
//! - [`question`]: the options of a multiple-choice question and the form of the answer.
//! - [`events`]: progress events, token use and problems of a running assessment.
//! - [`checkpoint`]: saves the state after each node, so that an assessment can resume.
//! - [`inputs`]: decoded images and the regions cut from them.
//! - [`views`]: parts of the image at 100% and brightened copies, for models.
//! - [`language`]: the languages of the built-in analyst.
//! - [`advice`]: what to do about each fault, in words.
//! - [`suggestions`]: questions that an image makes interesting.
//! - [`words`]: quality levels in words.

pub mod advice;
mod agent;
pub mod checkpoint;
mod disagreements;
pub mod events;
pub mod executor;
pub mod fusion;
pub mod graph;
pub mod inputs;
pub mod planner;
pub mod reasoner;
pub mod state;
pub mod summarizer;
pub mod words;

pub use agent::{Agent, Assessment, DEFAULT_QUERY, Error, Input, Options, Request};
pub use agenticiqa_question as question;
pub use agenticiqa_question::{language, suggestions};
pub use inputs::views;

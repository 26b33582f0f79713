//! The AgenticIQA method: a planner, an executor and a summarizer over tools and models.

mod agent;
pub mod checkpoint;
pub mod events;
pub mod executor;
pub mod graph;
pub mod inputs;
pub mod planner;
pub mod question;
pub mod reasoner;
pub mod state;
pub mod summarizer;

pub use agent::{Agent, DEFAULT_QUERY, Error, Input, Options, Request};

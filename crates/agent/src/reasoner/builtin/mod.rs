//! The built-in analyst: reads the question with a lexicon, selects tools by their known strengths,
//! and writes the answer from the measurements. It needs no model and no network.

pub(crate) mod answer;
pub mod conclusion;
mod intent;
mod lexicon;
mod objects;
pub mod planner;
mod roles;
mod verdict;

pub use roles::Builtin;
pub(crate) use roles::{describe, measure};

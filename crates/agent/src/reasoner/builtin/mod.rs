//! The built-in analyst: reads the question with a lexicon, selects tools by their known strengths,
//! and writes the answer from the measurements. It needs no model and no network.

pub mod conclusion;
mod intent;
mod kinds;
mod lexicon;
mod objects;
pub mod planner;
mod roles;

pub use roles::Builtin;

//! What goes through the agent: plan, evidence, conclusion. Values that the specification forbids cannot be made.

mod invalid;
mod vocabulary;

pub use invalid::Invalid;
pub use vocabulary::{Distortion, GLOBAL, Severity};

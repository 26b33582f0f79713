//! The built-in analyst: reads the question with a lexicon of the field, chooses tools by what they are known to judge
//! well, and writes the answer from what was measured.

pub mod conclusion;
mod intent;
mod kinds;
mod lexicon;
mod objects;
pub mod planner;
mod roles;
pub mod selection;

pub use roles::Builtin;

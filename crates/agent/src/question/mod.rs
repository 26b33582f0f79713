//! Reads the question: its options, the form of the answer, and the option that an answer names.

mod form;
mod letter;
mod options;
pub(crate) mod words;

pub use form::answer_form;
pub use letter::choice_letter;
pub use options::{options_given, options_in, question_without_options};

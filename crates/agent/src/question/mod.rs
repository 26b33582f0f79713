//! The question as it is written: its options, the form that its answer takes, and which option an answer names.

mod form;
mod letter;
mod options;
pub(crate) mod words;

pub use form::answer_form;
pub use letter::choice_letter;
pub use options::{options_given, options_in, question_without_options};
pub use words::is_chinese_text;

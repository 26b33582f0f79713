//! Reads questions about the quality of an image, and words the answers.
//!
//! [`options_in`] finds the options in a question, [`answer_form`] says whether it wants a level, a letter
//! or a sentence, and [`choice_letter`] finds the option that an answer names. [`meaning`] turns a
//! question into a typed value: what it asks, and what it claims about the image. [`language`] has the words
//! and sentences of each language.
//!
//! ```
//! use agenticiqa_question::{AnswerForm, answer_form, options_in, understand};
//!
//! let question = "Is the noise level low?";
//! assert_eq!(answer_form(question, &options_in(question), None), AnswerForm::Text);
//!
//! let understood = understand(question, &[]);
//! assert_eq!((understood.form, understood.aspects), ("yes or no", vec!["noise"]));
//! ```

mod answer;
mod form;
mod kind;
pub mod language;
mod letter;
pub mod meaning;
mod options;
pub mod suggestions;
mod understanding;
pub mod words;

pub use answer::{AnswerForm, AnswerOption};
pub use form::answer_form;
pub use letter::choice_letter;
pub use meaning::{MAX_BYTES, check_length};
pub use options::{options_given, options_in, question_without_options};
pub use understanding::{Understanding, understand};

//! How a question is understood, for reports about many questions.

use super::meaning;
use crate::language::Language;

/// How one question is understood.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Understanding {
    /// Whether the measurements answer it.
    pub understood: bool,
    /// The kind of answer that it wants, such as "yes or no".
    pub form: &'static str,
    /// What it is about, such as "sharpness".
    pub aspects: Vec<&'static str>,
    /// Words without a meaning.
    pub unknown: Vec<String>,
    /// The language.
    pub language: &'static str,
}

/// Reads a question with its options.
pub fn understand(question: &str, options: &[&str]) -> Understanding {
    let meaning = meaning::read(question);
    let of_options: Vec<meaning::Meaning> = options.iter().map(|option| meaning::read(option)).collect();
    let of_parts = matches!(meaning.form, meaning::Form::WhichPart | meaning::Form::Where);
    let claims = || meaning.measured().chain(of_options.iter().filter(|_| !of_parts).flat_map(|one| one.measured()));
    let mut aspects: Vec<&'static str> = claims().map(|claim| claim.aspect.name()).collect();
    aspects.sort_unstable();
    aspects.dedup();
    let whole = meaning.form == meaning::Form::Whole;
    let number = matches!(meaning.form, meaning::Form::Value | meaning::Form::Print | meaning::Form::Compare);
    Understanding {
        understood: !aspects.is_empty() || whole || number || meaning.is_understood(),
        form: meaning.form.name(),
        aspects,
        unknown: meaning.unknown,
        language: match Language::of(question) {
            Language::English => "English",
            Language::Chinese => "Chinese",
        },
    }
}

//! Quality levels in words, in the language of the question.

use crate::language::Language;
use crate::state::QualityLevel;

/// Describes a range of levels, such as "between fair and good".
pub fn between(first: QualityLevel, last: QualityLevel, language: Language) -> String {
    language.phrases().levels(&word(first, language), &word(last, language))
}

/// The name of a level in a sentence.
pub fn word(level: QualityLevel, language: Language) -> String {
    language.phrases().level(level).to_owned()
}

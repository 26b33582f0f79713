//! Quality levels in words, in the language of the question.

use crate::state::QualityLevel;

/// Describes a range of levels, such as "between fair and good".
pub fn between(first: QualityLevel, last: QualityLevel, chinese: bool) -> String {
    let (first, last) = (word(first, chinese), word(last, chinese));
    if chinese { format!("介于{first}与{last}之间") } else { format!("between {first} and {last}") }
}

/// The name of a level in a sentence.
pub fn word(level: QualityLevel, chinese: bool) -> String {
    let chinese_word = match level {
        QualityLevel::Bad => "很差",
        QualityLevel::Poor => "较差",
        QualityLevel::Fair => "一般",
        QualityLevel::Good => "良好",
        QualityLevel::Excellent => "优秀",
    };
    if chinese { chinese_word.to_owned() } else { level.name().to_lowercase() }
}

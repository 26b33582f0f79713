//! The languages of the built-in analyst, one file for each.
//!
//! A question is read with the words of all languages at once (`Lexicon`). The answer is written in
//! the language of the question (`Phrases`). A new language is a new file with both, and a new
//! variant of [`Language`].

mod chinese;
mod english;
mod lexicon;
mod phrases;

pub use lexicon::{Direction, Lexicon, List, SubjectWords, Term, entries};
pub use phrases::{Phrases, Run};

/// A language that the built-in analyst reads and writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    /// English, also the language of texts that no other language recognizes.
    #[default]
    English,
    /// Chinese.
    Chinese,
}

impl Language {
    /// All languages.
    pub const ALL: [Self; 2] = [Self::English, Self::Chinese];

    /// Returns the language of a text.
    pub fn of(text: &str) -> Self {
        Self::ALL.into_iter().find(|language| (language.lexicon().recognizes)(text)).unwrap_or_default()
    }

    /// The words that the analyst recognizes in questions.
    pub fn lexicon(self) -> &'static Lexicon {
        match self {
            Self::English => &english::LEXICON,
            Self::Chinese => &chinese::LEXICON,
        }
    }

    /// The sentences that the analyst writes.
    pub fn phrases(self) -> &'static dyn Phrases {
        match self {
            Self::English => &english::English,
            Self::Chinese => &chinese::Chinese,
        }
    }
}

/// Returns the word lists of all languages.
pub fn lexicons() -> impl Iterator<Item = &'static Lexicon> {
    Language::ALL.into_iter().map(Language::lexicon)
}

/// Returns whether a character is a word by itself in some language.
pub fn is_word(character: char) -> bool {
    lexicons().any(|lexicon| (lexicon.is_word)(character))
}

/// Returns whether a character ends a sentence in some language.
pub fn ends_sentence(character: char) -> bool {
    Language::ALL.into_iter().any(|language| language.phrases().sentence_ends().contains(&character))
}

/// Returns whether a character is the full stop of some language.
pub fn is_full_stop(character: char) -> bool {
    Language::ALL.into_iter().any(|language| language.phrases().full_stop().chars().eq([character]))
}

/// Returns whether a text is in a list of any language.
pub fn is_listed(text: &str, list: List) -> bool {
    lexicons().any(|lexicon| entries(list(lexicon)).any(|entry| entry == text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_of_a_text_is_detected() {
        for (text, expected) in [
            ("", Language::English),
            ("Is the image blurry?", Language::English),
            ("Ist das Bild unscharf?", Language::English),
            ("图像模糊吗？", Language::Chinese),
            ("Use BRISQUE: 这张图", Language::Chinese),
        ] {
            assert_eq!(Language::of(text), expected, "{text}");
        }
    }

    #[test]
    fn no_term_is_listed_twice_or_blank() {
        let mut all: Vec<&str> =
            lexicons().flat_map(|lexicon| lexicon.terms).flat_map(|term| term.phrases.split('|')).collect();
        all.sort_unstable();
        let count = all.len();
        all.dedup();
        assert_eq!(count, all.len());
        assert!(all.iter().all(|phrase| !phrase.is_empty() && phrase.trim() == *phrase));
    }
}

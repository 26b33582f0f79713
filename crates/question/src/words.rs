//! Splits text into words and finds the words of all languages in it. A word consists of letters and
//! digits, or is one character of a language without spaces.

use crate::language::{List, entries, is_word, lexicons};

/// One word of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word<'a> {
    /// The text as written.
    pub text: &'a str,
    /// The text in lower case.
    pub folded: String,
    /// Byte offset of the start.
    pub start: usize,
    /// Byte offset of the end.
    pub end: usize,
    /// Whether a punctuation mark such as a comma precedes the word.
    pub after_mark: bool,
}

/// Splits a text into words. Hyphens, underscores and apostrophes separate words but are not marks.
pub fn words(text: &str) -> Vec<Word<'_>> {
    let mut words: Vec<Word<'_>> = Vec::new();
    let mut begin: Option<usize> = None;
    let mut after_mark = false;
    let end_of_text = std::iter::once((text.len(), ' '));
    for (at, character) in text.char_indices().chain(end_of_text) {
        let latin = character.is_alphanumeric() && !is_word(character);
        if let Some(start) = begin.filter(|_| !latin) {
            push(&mut words, text, start..at, &mut after_mark);
            begin = None;
        }
        if latin {
            begin.get_or_insert(at);
        } else if is_word(character) {
            push(&mut words, text, at..at + character.len_utf8(), &mut after_mark);
        } else if !character.is_whitespace() && !matches!(character, '-' | '_' | '\'' | '’') {
            after_mark = true;
        }
    }
    words
}

fn push<'a>(words: &mut Vec<Word<'a>>, text: &'a str, range: std::ops::Range<usize>, after_mark: &mut bool) {
    let (start, end) = (range.start, range.end);
    let text = &text[range];
    words.push(Word { text, folded: text.to_lowercase(), start, end, after_mark: std::mem::take(after_mark) });
}

/// Returns the number of words that `pattern` matches at `at`. Patterns are lower case; `*` matches
/// any ending. A pattern does not match across a punctuation mark.
pub fn matches_at(words: &[Word<'_>], at: usize, pattern: &str) -> Option<usize> {
    let mut next = at;
    let mut take = |fits: &dyn Fn(&str) -> bool| {
        let word = words.get(next).filter(|word| next == at || !word.after_mark)?;
        next += 1;
        fits(&word.folded).then_some(())
    };
    for piece in pattern.split(' ') {
        if piece.starts_with(is_word) {
            for character in piece.chars() {
                take(&|word| word.chars().eq([character]))?;
            }
        } else if let Some(stem) = piece.strip_suffix('*') {
            take(&|word| word.starts_with(stem))?;
        } else {
            take(&|word| word == piece)?;
        }
    }
    Some(next - at)
}

/// Returns the position and the number of words of the first match of `pattern`.
pub fn find(words: &[Word<'_>], pattern: &str) -> Option<(usize, usize)> {
    (0..words.len()).find_map(|at| matches_at(words, at, pattern).map(|length| (at, length)))
}

/// Returns the number of words that the longest match of `phrases` (separated by `|`) covers at
/// `at`.
pub fn phrase_at(words: &[Word<'_>], at: usize, phrases: &str) -> Option<usize> {
    entries(phrases).filter_map(|phrase| matches_at(words, at, phrase)).max()
}

/// Returns the number of words that the longest match of a list covers at `at`, in any language.
pub fn listed_at(words: &[Word<'_>], at: usize, list: List) -> Option<usize> {
    lexicons().filter_map(|lexicon| phrase_at(words, at, list(lexicon))).max()
}

/// Returns the number of words of the longest match of `phrases` anywhere.
pub fn longest(words: &[Word<'_>], phrases: &str) -> Option<usize> {
    (0..words.len()).filter_map(|at| phrase_at(words, at, phrases)).max()
}

/// Returns the number of words of the longest match of a list anywhere, in any language.
pub fn longest_listed(words: &[Word<'_>], list: List) -> Option<usize> {
    lexicons().filter_map(|lexicon| longest(words, list(lexicon))).max()
}

/// Returns whether any of `phrases` (separated by `|`) occurs.
pub fn contains(words: &[Word<'_>], phrases: &str) -> bool {
    entries(phrases).any(|phrase| find(words, phrase).is_some())
}

/// Returns whether an entry of a list occurs, in any language.
pub fn contains_listed(words: &[Word<'_>], list: List) -> bool {
    lexicons().any(|lexicon| contains(words, list(lexicon)))
}

/// Returns whether the text starts with an entry of a list, in any language.
pub fn starts_with_listed(words: &[Word<'_>], list: List) -> bool {
    listed_at(words, 0, list).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latin_words_and_chinese_characters_are_parted() {
        let words = words("Is the cat's 天空 out-of-focus?");
        let folded: Vec<&str> = words.iter().map(|word| word.folded.as_str()).collect();
        assert_eq!(folded, ["is", "the", "cat", "s", "天", "空", "out", "of", "focus"]);
    }

    #[test]
    fn patterns_match_whole_words_and_stems_but_not_across_marks() {
        let words = words("Too dark, blurry; 很模糊");
        assert_eq!(find(&words, "too dark"), Some((0, 2)));
        assert_eq!(find(&words, "blur*"), Some((2, 1)));
        assert_eq!(find(&words, "blur"), None);
        assert_eq!(find(&words, "dark blurry"), None);
        assert_eq!(find(&words, "模糊"), Some((4, 2)));
    }
}

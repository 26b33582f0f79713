//! Finds words for distortions and visual attributes in a text.

use crate::language::{Term, is_listed, lexicons};
use crate::question::words::{Word, contains_listed, listed_at, phrase_at};

/// An occurrence of a term.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mention {
    /// The index of the first word.
    pub at: usize,
    /// The number of words.
    pub length: usize,
    /// The term.
    pub term: &'static Term,
    /// Whether the term is negated: "no noise", "free of noise", "不模糊".
    pub denied: bool,
}

/// Returns all terms of a text, the longest match at each position.
pub(super) fn mentions(words: &[Word<'_>]) -> Vec<Mention> {
    let mut mentions = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let longest = lexicons()
            .flat_map(|lexicon| lexicon.terms)
            .filter_map(|term| phrase_at(words, at, term.phrases).map(|length| (length, term)))
            .max_by_key(|(length, _)| *length);
        match longest {
            Some((length, term)) => {
                mentions.push(Mention { at, length, term, denied: denied(words, at) });
                at += length;
            }
            None => at += 1,
        }
    }
    mentions
}

/// Returns whether the words of a mention may be the adjective of an object.
pub(super) fn may_be_adjective(words: &[Word<'_>], mention: &Mention) -> bool {
    mention.length == 1 && listed_at(words, mention.at, |lexicon| lexicon.context.adjectives) == Some(1)
}

/// Returns whether one of the two words before a term negates it.
fn denied(words: &[Word<'_>], at: usize) -> bool {
    let word = |back: usize| at.checked_sub(back).map(|index| words[index].folded.as_str());
    let denies = |word: Option<&str>| word.is_some_and(|word| is_listed(word, |lexicon| lexicon.context.denials));
    // "是不是模糊" and "有没有噪点" are questions, not negations.
    let asks = |back: usize| match (word(back + 1), word(back)) {
        (Some(before), Some(denial)) => {
            lexicons().any(|lexicon| lexicon.context.asking_denials.contains(&(before, denial)))
        }
        _ => false,
    };
    let contracted = |word: &str| is_listed(word, |lexicon| lexicon.context.contracted);
    let after_mark = |back: usize| at.checked_sub(back).is_some_and(|index| words[index].after_mark);
    if after_mark(0) {
        return false;
    }
    if denies(word(1)) {
        return !asks(1) && (!word(1).is_some_and(contracted) || contraction_denies(words, at - 1));
    }
    let between = word(1).is_some_and(|word| is_listed(word, |lexicon| lexicon.context.fillers)) && !after_mark(1);
    between && denies(word(2)) && !asks(2)
}

/// Returns whether the "t" of a contraction negates the next word: "isn't sharp" does, the question
/// "Isn't it sharp?" does not.
fn contraction_denies(words: &[Word<'_>], at: usize) -> bool {
    at.checked_sub(1).is_some_and(|verb| verb > 0 && !words[verb].after_mark)
}

/// Returns whether a text is about the whole image or its quality.
pub(super) fn speaks_of_quality(words: &[Word<'_>]) -> bool {
    contains_listed(words, |lexicon| lexicon.context.quality)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::Direction;
    use crate::question::words::words;
    use crate::state::Distortion;
    use Direction::{TooHigh, TooLow};
    use Distortion::{Blurs, Brightness, Color, Compression, Contrast, Noise, Sharpness};

    fn read(text: &str) -> Vec<(Distortion, bool, Option<Direction>)> {
        let words = words(text);
        mentions(&words).iter().map(|m| (m.term.distortions[0], m.denied, m.term.direction)).collect()
    }

    #[test]
    fn words_of_the_field_have_their_category_denial_and_direction() {
        for (text, expected) in [
            ("motion blur", vec![(Blurs, false, None)]),
            ("out-of-focus", vec![(Blurs, false, None)]),
            ("in focus", vec![(Blurs, false, None)]),
            ("no noise", vec![(Noise, true, None)]),
            ("free of noise", vec![(Noise, true, None)]),
            ("not sharp", vec![(Blurs, true, None)]),
            ("is not too dark", vec![(Brightness, true, Some(TooLow))]),
            ("over-exposed", vec![(Brightness, false, Some(TooHigh))]),
            ("washed out", vec![(Contrast, false, Some(TooLow))]),
            ("oversharpened, noisy", vec![(Sharpness, false, Some(TooHigh)), (Noise, false, None)]),
            ("colour banding", vec![(Compression, false, None)]),
            ("mosquito noise", vec![(Compression, false, None)]),
            ("是不是模糊", vec![(Blurs, false, None)]),
            ("有没有噪点", vec![(Noise, false, None)]),
            ("不模糊", vec![(Blurs, true, None)]),
            ("没有噪点", vec![(Noise, true, None)]),
            ("不够清晰", vec![(Blurs, false, None)]),
            ("曝光过度", vec![(Brightness, false, Some(TooHigh))]),
            ("块效应和偏色", vec![(Compression, false, None), (Color, false, None)]),
            ("Isn't it sharp?", vec![(Blurs, false, None)]),
            ("It isn't sharp", vec![(Blurs, true, None)]),
            ("a nice day", vec![]),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }
}

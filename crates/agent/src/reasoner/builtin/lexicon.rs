//! Finds words for distortions and visual attributes in a text.

use crate::language::{Sense, Term, is_listed, lexicons};
use crate::question::words::{Word, contains_listed, listed_at, longest, phrase_at};
use crate::state::Severity;

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

impl Mention {
    /// Defect, virtue or property, after negation.
    pub fn sense(&self) -> Sense {
        match (self.term.sense, self.denied) {
            (Sense::Defect, true) => Sense::Virtue,
            (Sense::Virtue, true) => Sense::Defect,
            (sense, _) => sense,
        }
    }
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

/// Returns the severity that the words of degree in a text mean.
pub(super) fn degree(words: &[Word<'_>]) -> Option<Severity> {
    const SEVERITIES: [Severity; 5] =
        [Severity::Extreme, Severity::Severe, Severity::Moderate, Severity::Slight, Severity::None];
    let found = SEVERITIES.into_iter().filter_map(|severity| {
        let degrees = lexicons().map(|lexicon| (lexicon.context.degree)(severity));
        Some((degrees.filter_map(|degree| longest(words, degree)).max()?, severity))
    });
    // The longest phrase wins: "not at all" over "not", "very severe" over "severe".
    found.max_by_key(|(length, severity)| (*length, *severity == Severity::None)).map(|(_, severity)| severity)
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
    use Sense::{Defect, Virtue};

    fn read(text: &str) -> Vec<(Distortion, Sense, Option<Direction>)> {
        let words = words(text);
        mentions(&words).iter().map(|m| (m.term.distortions[0], m.sense(), m.term.direction)).collect()
    }

    #[test]
    fn words_of_the_field_have_their_category_sense_and_direction() {
        for (text, expected) in [
            ("motion blur", vec![(Blurs, Defect, None)]),
            ("out-of-focus", vec![(Blurs, Defect, None)]),
            ("in focus", vec![(Blurs, Virtue, None)]),
            ("no noise", vec![(Noise, Virtue, None)]),
            ("free of noise", vec![(Noise, Virtue, None)]),
            ("not sharp", vec![(Blurs, Defect, None)]),
            ("is not too dark", vec![(Brightness, Virtue, Some(TooLow))]),
            ("over-exposed", vec![(Brightness, Defect, Some(TooHigh))]),
            ("washed out", vec![(Contrast, Defect, Some(TooLow))]),
            ("oversharpened, noisy", vec![(Sharpness, Defect, Some(TooHigh)), (Noise, Defect, None)]),
            ("colour banding", vec![(Compression, Defect, None)]),
            ("mosquito noise", vec![(Compression, Defect, None)]),
            ("是不是模糊", vec![(Blurs, Defect, None)]),
            ("有没有噪点", vec![(Noise, Defect, None)]),
            ("不模糊", vec![(Blurs, Virtue, None)]),
            ("没有噪点", vec![(Noise, Virtue, None)]),
            ("不够清晰", vec![(Blurs, Defect, None)]),
            ("曝光过度", vec![(Brightness, Defect, Some(TooHigh))]),
            ("块效应和偏色", vec![(Compression, Defect, None), (Color, Defect, None)]),
            ("Isn't it sharp?", vec![(Blurs, Virtue, None)]),
            ("It isn't sharp", vec![(Blurs, Defect, None)]),
            ("a nice day", vec![]),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn degrees_are_read_from_adverbs() {
        for (text, expected) in [
            ("Slightly blurry", Some(Severity::Slight)),
            ("very severe", Some(Severity::Extreme)),
            ("Severe", Some(Severity::Severe)),
            ("not at all", Some(Severity::None)),
            ("中等", Some(Severity::Moderate)),
            ("非常严重", Some(Severity::Extreme)),
            ("blurry", None),
        ] {
            assert_eq!(degree(&words(text)), expected, "{text}");
        }
    }
}

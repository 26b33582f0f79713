//! Level probabilities of a model, from the log-probabilities of its answer token.

use crate::fusion::Fusion;
use crate::state::QualityLevel;
use agenticiqa_vlm::{Answer, TokenLogprob};

/// Returns the level that an answer names: by letter, by letter and word, or by word.
pub fn named_level(answer: &str) -> Option<QualityLevel> {
    let answer = answer.trim().trim_matches(['"', '\'', '(', ')', '.', ' ']);
    let mut characters = answer.chars();
    let letter = characters.next().and_then(QualityLevel::from_letter);
    let alone = characters.next().is_none_or(|next| !next.is_alphanumeric());
    let by_word = |word: &str| QualityLevel::ALL.into_iter().find(|level| level.name().eq_ignore_ascii_case(word));
    letter.filter(|_| alone).or_else(|| by_word(answer))
}

/// Returns the probability of each level, worst first: from the log-probabilities of the answer
/// token if available, else mostly on the named level.
pub fn probabilities(answer: &Answer, level: QualityLevel) -> [f64; 5] {
    let tokens = answer.logprobs.as_deref().unwrap_or_default();
    let from_tokens = answer_token(tokens).and_then(|token| Fusion::softmax(level_logarithms(token)));
    from_tokens.unwrap_or_else(|| Fusion::named(usize::from(level.number()) - 1))
}

/// Returns the probability of each level, worst first, from the last token that is the word of a level.
pub fn word_probabilities(tokens: &[TokenLogprob]) -> Option<[f64; 5]> {
    let is_word = |token: &&TokenLogprob| token.token.trim().len() > 1 && named_level(&token.token).is_some();
    Fusion::softmax(level_logarithms(tokens.iter().rfind(is_word)?))
}

/// Returns the token that starts the value of `final_answer`.
fn answer_token(tokens: &[TokenLogprob]) -> Option<&TokenLogprob> {
    let text: String = tokens.iter().map(|token| token.token.as_str()).collect();
    let key = text.find("\"final_answer\"")? + "\"final_answer\"".len();
    let colon = key + text[key..].find(':')? + 1;
    let value = text[colon..].char_indices().find(|(_, c)| c.is_alphanumeric())?.0 + colon;
    let mut start = 0;
    tokens.iter().find(|token| {
        start += token.token.len();
        start > value
    })
}

/// Returns the log-probability of each level among the alternatives of a token. A quote or a blank
/// may precede the letter.
fn level_logarithms(token: &TokenLogprob) -> [Option<f64>; 5] {
    let mut logarithms = [None; 5];
    let spoken = std::iter::once((token.token.as_str(), token.logprob));
    let others =
        token.top.iter().map(|(text, logprob)| (text.as_str(), *logprob)).filter(|(text, _)| *text != token.token);
    for (text, logprob) in spoken.chain(others) {
        let bare = text.trim_matches(|c: char| !c.is_alphanumeric());
        if let Some(level) = named_level(bare) {
            let entry: &mut Option<f64> = &mut logarithms[usize::from(level.number()) - 1];
            // Several spellings of one letter: add their probabilities.
            *entry = Some(entry.map_or(logprob, |earlier: f64| (earlier.exp() + logprob.exp()).ln()));
        }
    }
    logarithms
}

#[cfg(test)]
mod tests {
    use super::*;
    use agenticiqa_vlm::Usage;

    fn token(text: &str, top: &[(&str, f64)]) -> TokenLogprob {
        let logprob = top.iter().find(|(other, _)| *other == text).map_or(-0.01, |(_, logprob)| *logprob);
        TokenLogprob { token: text.into(), logprob, top: top.iter().map(|(text, p)| ((*text).into(), *p)).collect() }
    }

    fn answer(logprobs: Option<Vec<TokenLogprob>>) -> Answer {
        Answer { text: String::new(), logprobs, usage: Usage::default(), model: String::new(), truncated: false }
    }

    #[test]
    fn letters_words_and_both_are_levels_and_sentences_are_not() {
        for (text, level) in
            [("B", "Good"), ("(b)", "Good"), ("C. Fair", "Fair"), ("excellent", "Excellent"), (" E ", "Bad")]
        {
            assert_eq!(named_level(text).map(QualityLevel::name), Some(level), "{text}");
        }
        for text in ["Blurry", "A1", "", "Average", "F"] {
            assert_eq!(named_level(text), None, "{text}");
        }
    }

    #[test]
    fn probabilities_are_those_of_the_answer_token() {
        let tokens = vec![
            token("{\"", &[]),
            token("final_answer", &[("A", -0.1)]),
            token("\":", &[]),
            token(" \"", &[]),
            token("B", &[("B", 0.6_f64.ln()), ("C", 0.3_f64.ln()), (" b", 0.1_f64.ln())]),
            token("\"", &[]),
        ];
        let probabilities = probabilities(&answer(Some(tokens)), QualityLevel::Good);
        assert!((probabilities[3] - 0.7).abs() < 1e-9 && (probabilities[2] - 0.3).abs() < 1e-9, "{probabilities:?}");
    }

    #[test]
    fn without_log_probabilities_the_named_level_has_most() {
        assert_eq!(probabilities(&answer(None), QualityLevel::Poor)[1], 0.7);
        let unrelated = vec![token("Hello", &[("Hi", -1.0)])];
        assert_eq!(probabilities(&answer(Some(unrelated)), QualityLevel::Poor)[1], 0.7);
    }
}

//! Finds the letter of an option in a free-text answer.

use super::words::{Word, words};
use crate::AnswerOption;
use crate::language::is_listed;

/// Returns the letter that an answer names: alone, with a mark, after a word such as "answer", or
/// by the text of the option.
pub fn choice_letter(answer: &str, options: &[AnswerOption]) -> Option<char> {
    let answer = answer.trim().trim_matches(['*', '`', '"', '\'', '“', '”', '「', '」']).trim();
    let known = |letter: char| {
        let letter = letter.to_ascii_uppercase();
        options.iter().map(|option| option.letter).find(|known| known.to_ascii_uppercase() == letter)
    };
    let words = words(answer);
    if let [only] = &words[..]
        && let Some(letter) = single(only).and_then(known)
    {
        return Some(letter);
    }
    if let Some(option) = options.iter().find(|option| same_words(&option.text, &words)) {
        return Some(option.letter);
    }
    let bracketed = bracketed(answer, &words);
    if bracketed.len() > 1 {
        return None;
    }
    marked_at_start(answer, &words)
        .and_then(known)
        .or_else(|| after_cue(answer, &words).and_then(known))
        .or_else(|| by_text(&words, options))
        .or_else(|| bracketed.first().copied().and_then(known))
}

fn single(word: &Word<'_>) -> Option<char> {
    let mut characters = word.text.chars();
    let letter = characters.next().filter(char::is_ascii_alphabetic)?;
    characters.next().is_none().then_some(letter)
}

fn same_words(text: &str, answer: &[Word<'_>]) -> bool {
    let text = words(text);
    !text.is_empty() && text.iter().map(|word| &word.folded).eq(answer.iter().map(|word| &word.folded))
}

/// "B. Moderate", "(B) Moderate", "B, because ...", "B is right".
fn marked_at_start(answer: &str, words: &[Word<'_>]) -> Option<char> {
    let first = words.first()?;
    let letter = single(first)?;
    let after = answer[first.end..].chars().next()?;
    let marked = matches!(after, '.' | ')' | ']' | ':' | ',' | ';' | '、' | '．' | '）' | '：' | '，' | '。');
    (marked || stands_for_itself(words, 0)).then_some(letter)
}

/// Returns whether a bare upper-case letter is an answer and not an article or a pronoun.
fn stands_for_itself(words: &[Word<'_>], at: usize) -> bool {
    let Some(word) = words.get(at) else { return false };
    let next = words.get(at + 1);
    let goes_on = next.is_none_or(|next| next.after_mark || is_listed(&next.folded, |lexicon| lexicon.options.reasons));
    if is_listed(word.text, |lexicon| lexicon.options.letters) {
        goes_on
    } else {
        word.text.chars().all(|letter| letter.is_ascii_uppercase())
    }
}

/// "The answer is B", "答案是B", "Option (c)".
fn after_cue(answer: &str, words: &[Word<'_>]) -> Option<char> {
    let is_cue = |at: &usize| is_listed(&words[*at].folded, |lexicon| lexicon.options.cues);
    for cue in (0..words.len()).filter(is_cue) {
        let mut at = cue + 1;
        while words.get(at).is_some_and(|word| is_listed(&word.folded, |lexicon| lexicon.options.links)) {
            at += 1;
        }
        let Some((word, letter)) = words.get(at).and_then(|word| single(word).map(|letter| (word, letter))) else {
            continue;
        };
        let after = answer[word.end..].chars().next();
        let closed = after.is_none_or(|after| !after.is_alphanumeric() && !after.is_whitespace());
        if closed || stands_for_itself(words, at) {
            return Some(letter);
        }
    }
    None
}

/// Returns the only option whose words occur in the answer. A longer option wins over a shorter
/// option that it contains. "Yes" and "no" count only at the start, and negated text does not
/// count.
fn by_text(answer: &[Word<'_>], options: &[AnswerOption]) -> Option<char> {
    let mut found: Vec<(usize, usize, char)> = Vec::new();
    for option in options {
        let text = words(&option.text);
        let short = is_listed(&option.text.trim().to_lowercase(), |lexicon| lexicon.options.short);
        let places = answer.windows(text.len().max(1)).enumerate().filter(|(at, window)| {
            let same = !text.is_empty() && text.iter().zip(window.iter()).all(|(one, two)| one.folded == two.folded);
            same && (!short || *at == 0) && !denied(answer, *at)
        });
        found.extend(places.map(|(at, _)| (at, text.len(), option.letter)));
    }
    let within = |inner: &(usize, usize, char), outer: &(usize, usize, char)| {
        outer.1 > inner.1 && outer.0 <= inner.0 && inner.0 + inner.1 <= outer.0 + outer.1
    };
    let kept: Vec<&(usize, usize, char)> =
        found.iter().filter(|inner| !found.iter().any(|outer| within(inner, outer))).collect();
    let letter = kept.first()?.2;
    kept.iter().all(|(_, _, other)| *other == letter).then_some(letter)
}

fn denied(answer: &[Word<'_>], at: usize) -> bool {
    at.checked_sub(1).is_some_and(|before| is_listed(&answer[before].folded, |lexicon| lexicon.options.denials))
}

/// Returns the letters in brackets, each once: "I think it is (B)".
fn bracketed(answer: &str, words: &[Word<'_>]) -> Vec<char> {
    let in_brackets = |word: &&Word<'_>| {
        answer[..word.start].ends_with(['(', '（', '[']) && answer[word.end..].starts_with([')', '）', ']'])
    };
    let mut letters: Vec<char> =
        words.iter().filter(in_brackets).filter_map(single).map(|letter| letter.to_ascii_uppercase()).collect();
    letters.sort_unstable();
    letters.dedup();
    letters
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(texts: &[&str]) -> Vec<AnswerOption> {
        ('A'..).zip(texts).map(|(letter, text)| AnswerOption { letter, text: (*text).to_owned() }).collect()
    }

    #[test]
    fn answers_name_their_option_in_many_ways() {
        let severities = options(&["Slight", "Moderate", "Severe"]);
        for answer in [
            "B",
            "b",
            "(B)",
            "B.",
            "**B**",
            "B. Moderate",
            "(B) Moderate",
            "B: moderate",
            "B) it is visible",
            "Answer: B",
            "The answer is B",
            "the correct option is (b).",
            "I choose B because it is visible",
            "moderate",
            "Moderate.",
            "The blur is moderate",
            "I think it is (B)",
            "B, as it is visible",
            "B is correct",
            "答案是B",
            "选B。",
            "选项 B",
            "答案：B",
            "Answer: b.",
        ] {
            assert_eq!(choice_letter(answer, &severities), Some('B'), "{answer}");
        }
        let yes_no = options(&["Yes", "No"]);
        assert_eq!(choice_letter("Yes, there is no blur", &yes_no), Some('A'));
        assert_eq!(choice_letter("No.", &yes_no), Some('B'));
        assert_eq!(choice_letter("Answer: A because it is dark", &yes_no), Some('A'));
    }

    #[test]
    fn words_are_no_letters_and_doubt_is_no_answer() {
        let all = options(&["Sharp", "Blurry", "Noisy"]);
        for answer in [
            "Blur is severe",
            "A bit dark",
            "Answer: A bit dark",
            "The answer is a bit unclear",
            "I cannot tell",
            "D",
            "",
            "Sharp and noisy",
            "It is not sharp",
            "Cannot say",
            "(A) or (B)",
        ] {
            assert_eq!(choice_letter(answer, &all), None, "{answer}");
        }
        assert_eq!(choice_letter("It is slightly blurry", &options(&["Blurry", "Slightly blurry"])), Some('B'));
        assert_eq!(choice_letter("There is no blur", &options(&["Yes", "No"])), None);
    }

    #[test]
    fn letters_are_those_of_the_options() {
        let odd = [AnswerOption { letter: 'C', text: "x".into() }, AnswerOption { letter: 'E', text: "y".into() }];
        assert_eq!(choice_letter("e", &odd), Some('E'));
        assert_eq!(choice_letter("A", &odd), None);
    }
}

//! The options of a multiple-choice question: part of the question text, or given as a list.

use std::ops::Range;

use crate::AnswerOption;
use crate::language::{entries, is_word, lexicons};
use agenticiqa_vision::vocabulary::Invalid;

/// How the letter of an option is marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    /// `(A)` or `[A]`.
    Bracketed,
    /// `A)`.
    Parenthesis,
    /// `A.`.
    Dot,
    /// `A:`.
    Colon,
    /// `A、`.
    Enumeration,
}

/// A letter that may start an option.
#[derive(Debug, Clone)]
struct Marker {
    letter: char,
    style: Style,
    lower_case: bool,
    range: Range<usize>,
    /// Whether it starts a line or follows the end of a sentence.
    apart: bool,
}

/// Returns the options in the text of a question: at least two, starting with A, on one or several
/// lines.
pub fn options_in(query: &str) -> Vec<AnswerOption> {
    let chain = chain_in(query);
    let texts = texts_of(query, &chain);
    chain.iter().zip(texts).map(|(marker, range)| option(marker.letter, &query[range])).collect()
}

/// Returns the question without the options in its text.
pub fn question_without_options(query: &str) -> String {
    let chain = chain_in(query);
    let (Some(first), Some(last)) = (chain.first(), texts_of(query, &chain).pop()) else {
        return query.trim().to_owned();
    };
    let mut head = query[..first.range.start].trim_end().trim_end_matches([':', '：', '-', '*']).trim_end();
    for label in lexicons().flat_map(|lexicon| entries(lexicon.options.labels)) {
        let folded = head.to_ascii_lowercase();
        if folded.ends_with(label) {
            head = head[..head.len() - label.len()].trim_end();
        }
    }
    let tail = query[last.end..].trim();
    if tail.is_empty() { head.trim().to_owned() } else { format!("{} {tail}", head.trim()) }
}

/// Assigns letters to options given as a list: `A. Yes` keeps its letter, other texts get the free
/// letters from A on.
pub fn options_given(texts: &[String]) -> Result<Vec<AnswerOption>, Invalid> {
    let letters_and_texts: Vec<(Option<char>, &str)> = texts.iter().map(|text| lettered(text)).collect();
    let mut options: Vec<AnswerOption> = Vec::new();
    for (given, text) in &letters_and_texts {
        let taken = |letter: &char| {
            options.iter().any(|option| option.letter == *letter)
                || given.is_none() && letters_and_texts.iter().any(|(other, _)| *other == Some(*letter))
        };
        let letter = given.or_else(|| ('A'..='Z').find(|letter| !taken(letter)));
        let letter = letter.ok_or_else(|| Invalid::new("option", "one of at most 26", texts.len().to_string()))?;
        if taken(&letter) {
            return Err(Invalid::new("option", "a letter that no other option has", format!("{letter} again")));
        }
        let option = option(letter, text);
        if option.text.is_empty() {
            return Err(Invalid::new("option", "text, with or without a letter before it", "blank"));
        }
        options.push(option);
    }
    Ok(options)
}

/// Splits an option into its letter, if it starts with one, and its text.
fn lettered(text: &str) -> (Option<char>, &str) {
    let text = text.trim();
    match markers(text).into_iter().next().filter(|marker| marker.range.start == 0) {
        Some(marker) => (Some(marker.letter), &text[marker.range.end..]),
        None => (None, text),
    }
}

/// Returns the longest chain of marks of one style: A, B, C and so on, each followed by a text.
fn chain_in(query: &str) -> Vec<Marker> {
    let markers = markers(query);
    let mut best: Vec<Marker> = Vec::new();
    for (index, first) in markers.iter().enumerate().filter(|(_, marker)| marker.letter == 'A') {
        let mut chain = vec![first.clone()];
        for marker in &markers[index + 1..] {
            let expected = char::from(b'A' + chain.len().min(25) as u8);
            let same_style = (marker.style, marker.lower_case) == (first.style, first.lower_case);
            if same_style && marker.letter == expected && chain.len() < 26 {
                chain.push(marker.clone());
            }
        }
        let texts = texts_of(query, &chain);
        let each_says_something = texts.into_iter().all(|text| !tidy(&query[text]).is_empty());
        // "Is A. Lincoln beside B. Franklin": initials are not options unless they continue to C.
        let unlike_initials = first.apart || matches!(first.style, Style::Bracketed | Style::Parenthesis);
        if each_says_something && (unlike_initials && chain.len() > 1 || chain.len() > 2) && chain.len() > best.len() {
            best = chain;
        }
    }
    best
}

/// Returns the range of each option's text: up to the next mark; the last option ends with its
/// line.
fn texts_of(query: &str, chain: &[Marker]) -> Vec<Range<usize>> {
    let ends = chain.iter().skip(1).map(|marker| marker.range.start).map(Some).chain([None]);
    let text = |(marker, end): (&Marker, Option<usize>)| {
        let begin = marker.range.end;
        let end = end.unwrap_or_else(|| query[begin..].find('\n').map_or(query.len(), |line| begin + line));
        begin..end
    };
    chain.iter().zip(ends).map(text).collect()
}

/// Returns every letter that is marked like an option.
fn markers(text: &str) -> Vec<Marker> {
    let characters: Vec<(usize, char)> = text.char_indices().collect();
    let at = |index: usize| characters.get(index).map(|(_, character)| *character);
    let position = |index: usize| characters.get(index).map_or(text.len(), |(position, _)| *position);
    let mut markers = Vec::new();
    for index in 0..characters.len() {
        let Some((letter, lower_case)) = at(index).and_then(letter_of) else { continue };
        let before = index.checked_sub(1).and_then(at);
        let after = at(index + 1);
        let bracketed =
            matches!(before, Some('(' | '（' | '[' | '【')) && matches!(after, Some(')' | '）' | ']' | '】'));
        let style = match after {
            _ if bracketed => Style::Bracketed,
            Some(')' | '）') => Style::Parenthesis,
            Some('.' | '．') => Style::Dot,
            Some(':' | '：') => Style::Colon,
            Some('、') => Style::Enumeration,
            _ => continue,
        };
        let inside_a_word = before.is_some_and(|before| before.is_alphanumeric() && !is_word(before));
        let abbreviation = style == Style::Dot
            && at(index + 2).is_some_and(|next| next.is_ascii_alphabetic())
            && !at(index + 3).is_some_and(char::is_alphanumeric);
        if inside_a_word || !bracketed && matches!(before, Some('.' | '\'' | '/' | '(' | '（')) || abbreviation {
            continue;
        }
        let start = if bracketed { index - 1 } else { index };
        let range = position(start)..position(index + 2);
        let apart = stands_apart(&text[..range.start]);
        markers.push(Marker { letter, style, lower_case, range, apart });
    }
    markers
}

/// Returns whether the text before a mark ends a line or a sentence, or is a list dash.
fn stands_apart(before: &str) -> bool {
    let same_line = before.rsplit('\n').next().unwrap_or_default().trim_end();
    same_line.chars().next_back().is_none_or(|last| !last.is_alphanumeric() && !matches!(last, '"' | '\''))
}

/// Returns the letter in upper case and whether it was lower case. Full-width letters count.
fn letter_of(character: char) -> Option<(char, bool)> {
    let narrow = match character {
        'Ａ'..='Ｚ' | 'ａ'..='ｚ' => char::from_u32(u32::from(character) - 0xfee0)?,
        other => other,
    };
    narrow.is_ascii_alphabetic().then(|| (narrow.to_ascii_uppercase(), narrow.is_ascii_lowercase()))
}

fn option(letter: char, text: &str) -> AnswerOption {
    AnswerOption { letter, text: tidy(text) }
}

/// Puts the text on one line and removes the separator before the next option.
fn tidy(text: &str) -> String {
    const SEPARATORS: [char; 14] = [',', ';', '.', '?', '/', '|', '，', '；', '、', '。', '？', '-', '*', ' '];
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut rest = joined.trim_start_matches(['*', ' ']).trim_end_matches(SEPARATORS);
    let joints = || lexicons().flat_map(|lexicon| entries(lexicon.options.joints));
    for joint in joints() {
        rest = rest.strip_suffix(joint).unwrap_or(rest).trim_end_matches(SEPARATORS);
    }
    if joints().any(|joint| joint.strip_prefix(' ') == Some(rest)) { String::new() } else { rest.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(query: &str) -> String {
        options_in(query)
            .iter()
            .map(|option| format!("{}={}", option.letter, option.text))
            .collect::<Vec<_>>()
            .join("|")
    }

    #[test]
    fn options_are_found_on_lines_and_inline_in_every_style() {
        for (query, expected) in [
            ("Is it blurry?\nA. Yes\nB. No", "A=Yes|B=No"),
            ("Is it blurry? A. Yes B. No", "A=Yes|B=No"),
            ("Is it blurry? A.Yes B.No", "A=Yes|B=No"),
            ("How noisy? A) not at all, B) slightly; C) very", "A=not at all|B=slightly|C=very"),
            ("Is the car (A) sharp, (B) blurry, or (C) noisy?", "A=sharp|B=blurry|C=noisy"),
            ("Which one?\n(a) the sky\n(b) the car\nAnswer with a letter.", "A=the sky|B=the car"),
            ("Pick: A: Blur B: Noise", "A=Blur|B=Noise"),
            ("图像质量如何？A、好B、一般C、差", "A=好|B=一般|C=差"),
            ("图像是否模糊？\nＡ．是\nＢ．否", "A=是|B=否"),
            ("哪种失真最严重？（A）模糊（B）噪点（C）过曝", "A=模糊|B=噪点|C=过曝"),
            (
                "Which distortion\n- A. Motion blur\n- B. JPEG artifacts\n- C. Noise",
                "A=Motion blur|B=JPEG artifacts|C=Noise",
            ),
            ("Which is worst a) blur b) noise c) banding d) haze", "A=blur|B=noise|C=banding|D=haze"),
            ("Which is worst A. blur B. noise C. haze", "A=blur|B=noise|C=haze"),
            ("How is it? [A] Good [B] Bad", "A=Good|B=Bad"),
        ] {
            assert_eq!(read(query), expected, "{query}");
        }
    }

    #[test]
    fn prose_has_no_options() {
        for prose in [
            "Is the portrait of A. Lincoln sharp?",
            "Is A. Lincoln beside B. Franklin in focus?",
            "Is there any artefact, e.g. blocking, i.e. squares?",
            "I.e. is it blurry?",
            "Was it taken at 5 a.m. or at 6 b.c.?",
            "Is plan A: better than this?",
            "Is the U.S.A. flag sharp? B. The rest",
            "B. No A. Yes",
            "A. Yes",
            "Is (A) (B) written on the wall?",
            "",
        ] {
            assert_eq!(read(prose), "", "{prose}");
        }
    }

    #[test]
    fn the_question_stays_without_its_options() {
        for (query, expected) in [
            ("Is it blurry?\nA. Yes\nB. No\nAnswer with the letter.", "Is it blurry? Answer with the letter."),
            ("Is it blurry? Options: A) yes B) no", "Is it blurry?"),
            ("图像是否模糊？选项：A、是B、否", "图像是否模糊？"),
            ("Is it blurry?", "Is it blurry?"),
        ] {
            assert_eq!(question_without_options(query), expected, "{query}");
        }
    }

    #[test]
    fn given_options_keep_their_letters_or_get_free_ones() {
        let given = |texts: &[&str]| {
            let texts: Vec<String> = texts.iter().map(ToString::to_string).collect();
            options_given(&texts)
                .map(|options| options.iter().map(|option| format!("{}={}", option.letter, option.text)).collect())
        };
        let read: Result<Vec<String>, Invalid> = given(&["Yes", "No"]);
        assert_eq!(read.unwrap(), ["A=Yes", "B=No"]);
        assert_eq!(given(&["B. Yes", "(A) No", "Unsure"]).unwrap(), ["B=Yes", "A=No", "C=Unsure"]);
        assert_eq!(given(&["A bit blurry", "Blurred"]).unwrap(), ["A=A bit blurry", "B=Blurred"]);
        assert_eq!(given(&["No", "A. Yes"]).unwrap(), ["B=No", "A=Yes"]);
        assert!(given(&["A. Yes", "A. No"]).unwrap_err().to_string().contains("A again"));
        assert!(given(&["Yes", " "]).unwrap_err().to_string().contains("blank"));
        assert!(given(&["x"; 27]).unwrap_err().to_string().contains("at most 26"));
    }
}

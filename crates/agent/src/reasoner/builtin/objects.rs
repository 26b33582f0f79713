//! Finds the objects that a question names: given regions, common nouns of photographs, and other
//! nouns in the position of an object ("Is the lamp overexposed?").

use super::lexicon::Mention;
use crate::language::{Lexicon, SubjectWords, entries, is_word, lexicons};
use crate::question::words::{Word, listed_at, matches_at, phrase_at, words};

/// An object that the question names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Object {
    /// The name of the region, or the words of the question.
    pub name: String,
    /// The index of the first word.
    pub at: usize,
    /// The number of words.
    pub length: usize,
}

/// Returns the objects that a question names, in order. `taken` are the positions of other words,
/// such as tool names.
pub(super) fn objects(
    question: &[Word<'_>],
    mentions: &[Mention],
    region_names: &[&str],
    taken: &[std::ops::Range<usize>],
) -> Vec<Object> {
    let mut found = regions(question, region_names);
    let regions = found.len();
    let free = |at: usize, found: &[Object]| {
        !found.iter().any(|object| (object.at..object.at + object.length).contains(&at))
            && !mentions.iter().any(|mention| (mention.at..mention.at + mention.length).contains(&at))
            && !taken.iter().any(|range| range.contains(&at))
    };
    let mut at = 0;
    while at < question.len() {
        match noun_at(question, at).filter(|_| free(at, &found)) {
            Some(length) => {
                found.push(named(question, at, length));
                at += length;
            }
            None => at += 1,
        }
    }
    let known: Vec<Object> = found.clone();
    let is_region = |object: &Object| known[..regions].contains(object);
    found.retain(|object| is_region(object) || !is_modifier(question, object, &known));
    let more: Vec<Object> = lexicons()
        .flat_map(|lexicon| {
            let subjects = lexicon.objects.subjects.as_ref();
            let subjects = subjects.map(|around| subjects_of(question, mentions, lexicon, around));
            noun_phrases(question, mentions, lexicon).into_iter().chain(subjects.unwrap_or_default())
        })
        .filter(|phrase| (phrase.at..phrase.at + phrase.length).all(|at| free(at, &known)))
        .collect();
    found.extend(more);
    found.sort_by_key(|object| object.at);
    found
}

/// Returns the object that an option of a "which part" question names: a region, a known noun, or
/// the words of the option.
pub(super) fn option_object(text: &str, region_names: &[&str]) -> Option<String> {
    let option = words(text);
    if let Some(object) = objects(&option, &[], region_names, &[]).into_iter().next() {
        return Some(object.name);
    }
    let skip = usize::from(listed_at(&option, 0, |lexicon| lexicon.objects.determiners).is_some());
    let rest = &option[skip..];
    let generic = |at: usize| {
        listed_at(rest, at, |lexicon| lexicon.objects.generic).is_some()
            || listed_at(rest, at, |lexicon| lexicon.objects.image).is_some()
    };
    let short = (1..=4).contains(&rest.len()) && !(0..rest.len()).any(generic);
    short.then(|| named(rest, 0, rest.len()).name)
}

/// Returns the number of words of the known noun that starts at `at`.
pub(super) fn noun_at(words: &[Word<'_>], at: usize) -> Option<usize> {
    let saying_at = |begin: usize| listed_at(words, begin, |lexicon| lexicon.objects.sayings);
    let in_a_saying = |begin: usize| saying_at(begin).is_some_and(|length| begin + length > at);
    if (at.saturating_sub(3)..=at).any(in_a_saying) {
        return None;
    }
    let first = listed_noun_at(words, at)?;
    // "car window" is one object.
    let next = at + first;
    let compound = words.get(next).is_some_and(|word| !word.after_mark && !word.folded.starts_with(is_word));
    let more = if compound && first == 1 { listed_noun_at(words, next).unwrap_or(0) } else { 0 };
    Some(first + more)
}

fn listed_noun_at(words: &[Word<'_>], at: usize) -> Option<usize> {
    let nouns = lexicons().flat_map(|lexicon| entries(lexicon.objects.nouns).map(move |noun| (lexicon, noun)));
    let length = |(lexicon, noun)| matches_at(words, at, noun).or_else(|| plural_at(words, at, noun, lexicon));
    nouns.filter_map(length).max()
}

/// Returns the number of words of `noun` if its plural starts at `at`.
fn plural_at(words: &[Word<'_>], at: usize, noun: &str, lexicon: &Lexicon) -> Option<usize> {
    let count = noun.split(' ').count();
    let slice = words.get(at..at + count)?;
    let broken = slice.iter().skip(1).any(|word| word.after_mark);
    let fits = noun.split(' ').zip(slice).enumerate().all(|(index, (part, word))| {
        word.folded == part || index + 1 == count && (lexicon.objects.is_plural)(&word.folded, part)
    });
    (fits && !broken).then_some(count)
}

fn is_plural(word: &str, singular: &str) -> bool {
    lexicons().any(|lexicon| (lexicon.objects.is_plural)(word, singular))
}

fn named(words: &[Word<'_>], at: usize, length: usize) -> Object {
    let mut name = String::new();
    for word in &words[at..at + length] {
        if !name.is_empty() && !word.folded.starts_with(is_word) {
            name.push(' ');
        }
        name.push_str(&word.folded);
    }
    Object { name, at, length }
}

fn regions(question: &[Word<'_>], names: &[&str]) -> Vec<Object> {
    let mut found: Vec<Object> = Vec::new();
    let mut parts: Vec<(&str, Vec<Word<'_>>)> = names.iter().map(|name| (*name, words(name))).collect();
    parts.sort_by_key(|(_, parts)| std::cmp::Reverse(parts.len()));
    for (name, parts) in parts.iter().filter(|(_, parts)| !parts.is_empty()) {
        let fits = |at: &usize| {
            question.get(*at..at + parts.len()).is_some_and(|slice| {
                slice
                    .iter()
                    .zip(parts)
                    .all(|(word, part)| word.folded == part.folded || is_plural(&word.folded, &part.folded))
            })
        };
        let place = (0..question.len())
            .filter(fits)
            .find(|at| !found.iter().any(|other| *at < other.at + other.length && other.at < at + parts.len()));
        found.extend(place.map(|at| Object { name: (*name).trim().to_owned(), at, length: parts.len() }));
    }
    found
}

/// Returns whether a noun only modifies another: "car photo", "which person", "the person's face",
/// "the sky in the background", "背景中的天空".
fn is_modifier(question: &[Word<'_>], object: &Object, all: &[Object]) -> bool {
    let end = object.at + object.length;
    let begins = |at: usize| all.iter().any(|other| other.at == at);
    let ends = |at: usize| all.iter().any(|other| other.at + other.length == at);
    let of_the_picture =
        listed_at(question, end, |lexicon| lexicon.objects.image).is_some() && !question[end].after_mark;
    let asks_before = |back: usize| {
        let mut which = lexicons().flat_map(|lexicon| entries(lexicon.objects.which));
        object.at.checked_sub(back).is_some_and(|at| which.any(|word| matches_at(question, at, word) == Some(back)))
    };
    let asked_for = asks_before(1) || asks_before(2);
    let owner = lexicons().map(|lexicon| &lexicon.objects).any(|objects| {
        (end..end + 3).any(|at| {
            phrase_at(question, at, objects.possessive).is_some()
                && begins(at + 1)
                && (end..at).all(|between| phrase_at(question, between, objects.possessive_places).is_some())
        })
    });
    let article_at = |at: usize| listed_at(question, at, |lexicon| lexicon.objects.articles).is_some();
    let article = usize::from(object.at > 0 && article_at(object.at - 1));
    let place_at = |at: usize| listed_at(question, at, |lexicon| lexicon.objects.places).is_some();
    let place = object.at.checked_sub(article + 1);
    let place = place.is_some_and(|at| place_at(at) && ends(at) && !question[at].after_mark);
    of_the_picture || asked_for || owner || place
}

/// Finds nouns that are not in the list but are in the position of an object.
fn noun_phrases(question: &[Word<'_>], mentions: &[Mention], lexicon: &Lexicon) -> Vec<Object> {
    let objects = &lexicon.objects;
    let is_in = |list: &str, at: usize| phrase_at(question, at, list).is_some();
    let mention_at = |at: usize| mentions.iter().any(|mention| mention.at == at);
    let mention_ends = |at: usize| mentions.iter().any(|mention| mention.at + mention.length == at);
    let quality_at = |at: usize| is_in(lexicon.form.quality, at);
    let mut found = Vec::new();
    for determiner in (0..question.len()).filter(|at| is_in(objects.determiners, *at)) {
        let begin = determiner + 1;
        let ends_at = |at: &usize| {
            let Some(word) = question.get(*at) else { return true };
            word.after_mark || mention_at(*at) || is_in(objects.stop, *at) || word.folded.starts_with(is_word)
        };
        let end = (begin..).find(ends_at).unwrap_or(begin);
        let generic = |at: usize| is_in(objects.generic, at) || is_in(objects.image, at);
        if !(1..=3).contains(&(end - begin)) || (begin..end).any(generic) {
            continue;
        }
        let before = |back: usize| determiner.checked_sub(back);
        let links = before(1).is_some_and(|at| is_in(objects.places, at) || is_in(objects.verbs, at));
        let linked = links && before(1).is_some_and(|at| mention_ends(at) || at > 0 && quality_at(at - 1));
        let predicate = (end..(end + 4).min(question.len()))
            .take_while(|at| *at == end || !question[*at].after_mark)
            .find(|at| mention_at(*at) || !is_in(objects.stop, *at))
            .is_some_and(mention_at);
        if linked || predicate {
            found.push(named(question, begin, end - begin));
        }
    }
    found
}

/// Finds the words before a distortion term in a language without spaces: "杯子模糊吗".
fn subjects_of(question: &[Word<'_>], mentions: &[Mention], lexicon: &Lexicon, around: &SubjectWords) -> Vec<Object> {
    let mut found = Vec::new();
    let mut clause = 0;
    for mention in mentions {
        let begin = (clause..=mention.at)
            .rev()
            .find(|at| question.get(*at).is_some_and(|word| word.after_mark))
            .unwrap_or(clause);
        clause = mention.at + mention.length;
        let (mut first, mut last) = (begin, mention.at);
        if question.get(first..last).is_none_or(|slice| slice.iter().any(|word| !word.folded.starts_with(is_word))) {
            continue;
        }
        while let Some(length) = (first < last).then(|| phrase_at(question, first, around.before)).flatten() {
            first += length;
        }
        let ending = |last: usize| {
            entries(around.after)
                .map(|filler| (filler.chars().count(), filler))
                .filter(|(length, filler)| {
                    last.checked_sub(*length)
                        .is_some_and(|at| at >= first && phrase_at(question, at, filler) == Some(*length))
                })
                .map(|(length, _)| length)
                .max()
        };
        while let Some(length) = ending(last) {
            last -= length;
        }
        let usable = (2..=4).contains(&last.saturating_sub(first))
            && !(first..last).any(|at| {
                phrase_at(question, at, around.excluded)
                    .or_else(|| phrase_at(question, at, lexicon.objects.image))
                    .is_some()
            });
        if usable {
            found.push(named(question, first, last - first));
        }
    }
    found
}

//! Finds the sign of the words at a position. One lookup a position: reading is linear in the text.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::sign::Sign;
use super::{chinese, english};
use crate::language::is_word;
use crate::words::Word;

/// Phrases with one meaning, separated by `|`; `*` at the end of a word matches any ending.
pub(super) type Entry = (Sign, &'static str);

/// The shortest stem, in bytes.
const SHORTEST_STEM: usize = 2;

struct Phrase {
    pieces: Vec<String>,
    sign: Sign,
}

/// The words of all languages, by their first word.
pub(super) struct Dictionary {
    exact: HashMap<String, Vec<Phrase>>,
    stems: HashMap<String, Vec<Phrase>>,
    words: HashMap<usize, Vec<&'static str>>,
}

static DICTIONARY: LazyLock<Dictionary> = LazyLock::new(|| Dictionary::new(&[english::WORDS, chinese::WORDS]));

impl Dictionary {
    /// The dictionary of all languages.
    pub fn get() -> &'static Self {
        &DICTIONARY
    }

    fn new(languages: &[&'static [Entry]]) -> Self {
        let mut dictionary = Self { exact: HashMap::new(), stems: HashMap::new(), words: HashMap::new() };
        for (sign, phrases) in languages.iter().copied().flatten() {
            for phrase in phrases.split('|').filter(|phrase| !phrase.is_empty()) {
                dictionary.add(phrase, *sign);
            }
        }
        dictionary
    }

    fn add(&mut self, phrase: &'static str, sign: Sign) {
        let mut pieces: Vec<String> = Vec::new();
        for piece in phrase.split(' ').filter(|piece| !piece.is_empty()) {
            if piece.starts_with(is_word) {
                pieces.extend(piece.chars().map(String::from));
            } else {
                pieces.push(piece.to_owned());
                let word = piece.trim_end_matches('*');
                let of_field = matches!(sign, Sign::Property(_) | Sign::State(..));
                if of_field && word.len() >= 4 && word.is_ascii() {
                    self.words.entry(word.len()).or_default().push(word);
                }
            }
        }
        let Some(first) = pieces.first().cloned() else { return };
        let phrase = Phrase { pieces, sign };
        match first.strip_suffix('*') {
            Some(stem) => self.stems.entry(stem.to_owned()).or_default().push(phrase),
            None => self.exact.entry(first).or_default().push(phrase),
        }
    }

    /// Returns the sign of the longest phrase at a position, and the number of its words.
    pub fn sign_at(&self, words: &[Word<'_>], at: usize) -> Option<(usize, Sign)> {
        let first = words.get(at)?.folded.as_str();
        let stems = (SHORTEST_STEM..=first.len())
            .filter(|end| first.is_char_boundary(*end))
            .filter_map(|end| self.stems.get(&first[..end]));
        let phrases = stems.chain(self.exact.get(first)).flatten();
        let fitting = phrases.filter_map(|phrase| Some((phrase.length_at(words, at)?, phrase)));
        // Of equally long phrases, the one that is spelled out wins over a stem.
        let longest = fitting.max_by_key(|(length, phrase)| (*length, phrase.pieces[0].trim_end_matches('*').len()))?;
        Some((longest.0, longest.1.sign))
    }

    /// Returns the words of the field with a number of letters.
    pub fn words_of_length(&self, letters: usize) -> &[&'static str] {
        self.words.get(&letters).map_or(&[], Vec::as_slice)
    }
}

impl Phrase {
    fn length_at(&self, words: &[Word<'_>], at: usize) -> Option<usize> {
        let slice = words.get(at..at + self.pieces.len())?;
        let fits = |(index, (piece, word)): (usize, (&String, &Word<'_>))| {
            let same = match piece.strip_suffix('*') {
                Some(stem) => word.folded.starts_with(stem),
                None => word.folded == *piece,
            };
            same && (index == 0 || !word.after_mark)
        };
        self.pieces.iter().zip(slice).enumerate().all(fits).then_some(self.pieces.len())
    }
}

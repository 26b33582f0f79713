//! The words that a language must provide to read questions.

use agenticiqa_vision::vocabulary::{Distortion, QualityLevel};

/// Selects a word list of a language: `|lexicon| lexicon.objects.image`.
pub type List = fn(&'static Lexicon) -> &'static str;

/// Returns the entries of a word list.
pub fn entries(list: &str) -> impl Iterator<Item = &str> {
    list.split('|').filter(|entry| !entry.is_empty())
}

/// The direction in which a property is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Too dark, too flat, too pale.
    TooLow,
    /// Too bright, too harsh, too colorful.
    TooHigh,
}

/// Words with the same meaning.
#[derive(Debug)]
pub struct Term {
    /// The distortion categories that the words mean, the main one first.
    pub distortions: &'static [Distortion],
    /// The direction, if the words imply one.
    pub direction: Option<Direction>,
    /// The words, as a list.
    pub phrases: &'static str,
}

/// Makes a term.
pub(super) const fn term(
    distortions: &'static [Distortion],
    direction: Option<Direction>,
    phrases: &'static str,
) -> Term {
    Term { distortions, direction, phrases }
}

/// The words of a language.
///
/// A list is one string with its entries separated by `|`. An entry is one or more lower-case words
/// separated by spaces; `*` at the end of a word matches any ending. An empty list has no entries.
#[derive(Debug)]
pub struct Lexicon {
    /// Returns whether a text is in this language. English is the default and recognizes nothing.
    pub recognizes: fn(&str) -> bool,
    /// Returns whether a character is a word by itself, in languages without spaces.
    pub is_word: fn(char) -> bool,
    /// Words that decide the form of the answer.
    pub form: FormWords,
    /// Words of options, and of answers that name an option.
    pub options: OptionWords,
    /// Words for distortions and visual attributes. Of equally long matches, the last term wins.
    pub terms: &'static [Term],
    /// Words around a term.
    pub context: ContextWords,
    /// Words for objects in an image.
    pub objects: ObjectWords,
    /// Words that decide the plan.
    pub plan: PlanWords,
    /// Words for a quality level.
    pub level: fn(QualityLevel) -> &'static str,
}

/// Words that decide the form of the answer: a score or a sentence.
#[derive(Debug)]
pub struct FormWords {
    /// First words of requests for reasons or descriptions.
    pub explain: &'static str,
    /// Words that ask for reasons at any position.
    pub why: &'static str,
    /// Requests for a rating, at any position.
    pub rate: &'static str,
    /// Phrases in which the words of `rate` have another meaning.
    pub not_rate: &'static str,
    /// The word "quality".
    pub quality: &'static str,
    /// Complete questions about the overall quality.
    pub how_is_quality: &'static str,
    /// Verbs that ask for a rating together with `quality`, at any position.
    pub judge: &'static str,
    /// First words of questions that ask for a rating together with `quality`.
    pub asking: &'static str,
    /// Words of questions that mention quality but ask about one aspect.
    pub partial: &'static str,
}

/// Words of options, and of answers that name an option.
#[derive(Debug)]
pub struct OptionWords {
    /// Labels before a list of options, in the order in which they are removed.
    pub labels: &'static str,
    /// Words before the last option, with the space before them, in the order in which they are
    /// removed.
    pub joints: &'static str,
    /// Words that announce the letter of the answer.
    pub cues: &'static str,
    /// Words that may be between such a word and the letter.
    pub links: &'static str,
    /// Words after a bare letter that show that the letter is the answer.
    pub reasons: &'static str,
    /// Upper-case letters that are also words.
    pub letters: &'static str,
    /// Short answers, which count only at the start.
    pub short: &'static str,
    /// Words that negate the option that follows them.
    pub denials: &'static str,
    /// First words of an option that says yes.
    pub yes: &'static str,
    /// First words of an option that says no.
    pub no: &'static str,
    /// Options that deny any distortion.
    pub nothing_wrong: &'static str,
    /// Options that admit not to know.
    pub unsure: &'static str,
}

/// Words around a term.
#[derive(Debug)]
pub struct ContextWords {
    /// Terms that may describe an object instead of the quality: "the dark car".
    pub adjectives: &'static str,
    /// Words that negate the next term.
    pub denials: &'static str,
    /// Denials that are the end of a contracted verb: the "t" of "isn't".
    pub contracted: &'static str,
    /// Words that may be between a denial and its term.
    pub fillers: &'static str,
    /// A word and a denial that form a question together.
    pub asking_denials: &'static [(&'static str, &'static str)],
    /// Returns whether the first word of a term has another meaning, given the words before and
    /// after the term and the number of its words.
    pub has_other_meaning: fn(&str, Option<&str>, Option<&str>, usize) -> bool,
    /// Words of a text about quality or its defects.
    pub quality: &'static str,
}

/// Words for objects in an image.
#[derive(Debug)]
pub struct ObjectWords {
    /// Words for the image itself.
    pub image: &'static str,
    /// Common objects in photographs, singular.
    pub nouns: &'static str,
    /// Returns whether the first word is the plural of the second.
    pub is_plural: fn(&str, &str) -> bool,
    /// Phrases with a noun that is not an object in the image.
    pub sayings: &'static str,
    /// Words that can be in the position of an object but are not objects.
    pub generic: &'static str,
    /// Words that end the name of an object.
    pub stop: &'static str,
    /// Words before the name of an object.
    pub determiners: &'static str,
    /// Articles and possessives after a word of `places`.
    pub articles: &'static str,
    /// Prepositions of place.
    pub places: &'static str,
    /// Verbs between an object and its property.
    pub verbs: &'static str,
    /// "Which" and "what", before the object that is asked for.
    pub which: &'static str,
    /// The word between an owner and what it owns.
    pub possessive: &'static str,
    /// Words of place between an owner and the possessive.
    pub possessive_places: &'static str,
    /// Words around objects in languages without determiners.
    pub subjects: Option<SubjectWords>,
}

/// Words around an object that is directly before a term, in languages without determiners.
#[derive(Debug)]
pub struct SubjectWords {
    /// Words before the object.
    pub before: &'static str,
    /// Words after the object.
    pub after: &'static str,
    /// Words that are not part of an object.
    pub excluded: &'static str,
}

/// Words that decide the plan.
#[derive(Debug)]
pub struct PlanWords {
    /// Words of emotion, style and beauty, which are not technical quality.
    pub taste: &'static str,
    /// Words of light and color that also describe a mood.
    pub moods: &'static str,
    /// Questions about the content of the image.
    pub content: &'static str,
    /// Questions whether an object is in the image.
    pub presence: &'static str,
    /// Words for technical quality.
    pub technical: &'static str,
    /// Words next to which a common word is the name of a tool.
    pub near_tools: &'static str,
    /// Names of tools that are also everyday words, as the tools are written.
    pub everyday_tools: &'static str,
    /// Words that separate clauses.
    pub clauses: &'static str,
    /// Parts of words in a reason for a new plan: contradictory evidence.
    pub contradiction: &'static str,
    /// Parts of words in a reason for a new plan: missing tool scores.
    pub missing_scores: &'static str,
    /// Parts of words in a reason for a new plan: objects without an analysis.
    pub missing_analysis: &'static str,
}

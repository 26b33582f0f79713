//! The meaning of a question as a typed value: its form, and what it claims about the image.
//!
//! Reading is linear: each word is looked up once in a `dictionary`; judgments, degrees and
//! denials are then attached to what they are said of (`reader`).

mod chinese;
mod claim;
mod colors;
mod dictionary;
mod english;
mod form;
mod reader;
mod sign;
mod spelling;

pub use claim::Claim;
pub use colors::colors_in;
pub use form::Form;
pub use reader::Joint;

pub use sign::{Aspect, Degree, Grade, Kind, Pole};

use dictionary::Dictionary;
use reader::Token;
use sign::Sign;

use super::words::{Word, listed_at, words};
use crate::language::is_word;
use agenticiqa_vision::vocabulary::Invalid;

/// The longest question, in bytes.
pub const MAX_BYTES: usize = 4096;
/// More sentences than this are not answered one by one.
const MOST_SENTENCES: usize = 6;

/// Whether "most" or "least" is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extreme {
    /// "the sharpest", "the most"
    Most,
    /// "the least sharp"
    Least,
}

/// What a sentence asks and claims.
#[derive(Debug, Clone)]
pub struct Meaning {
    /// The kind of answer that it wants.
    pub form: Form,
    /// What it says about the image.
    pub claims: Vec<Claim>,
    /// Whether all claims are asked for or one of them.
    pub joint: Joint,
    /// A judgment without an aspect, and whether it is denied: "Is it good?"
    pub grade: Option<(Grade, bool)>,
    /// A degree without an aspect: "Severe".
    pub degree: Option<Degree>,
    /// A problem without an aspect, and whether it is denied.
    pub issue: Option<bool>,
    /// Whether something is denied.
    pub denies: bool,
    /// "most" or "least".
    pub extreme: Option<Extreme>,
    /// Whether two parts are compared: "sharper than".
    pub than: bool,
    /// Whether a number is asked for: "the sharpness value".
    pub wants_value: bool,
    /// Whether the number is the quality setting of a JPEG file.
    pub jpeg_quality: bool,
    /// "lost", "lacking", of an aspect that it may not name.
    pub lacks: bool,
    /// Whether the reference is named.
    pub reference: bool,
    /// Words that were read as another word: what was written, and what was read.
    pub misspelled: Vec<(String, &'static str)>,
    /// Words without a meaning here.
    pub unknown: Vec<String>,
    /// The sentence.
    pub text: String,
}

impl Meaning {
    /// The claims about aspects that are measured.
    pub fn measured(&self) -> impl Iterator<Item = &Claim> {
        self.claims.iter().filter(|claim| claim.aspect.is_measured())
    }

    /// Whether the measurements answer the question.
    pub fn is_understood(&self) -> bool {
        !matches!(self.form, Form::Beyond | Form::Instruction)
    }
}

/// Checks the length of a question.
pub fn check_length(query: &str, options: &[String]) -> Result<(), Invalid> {
    let bytes = query.len() + options.iter().map(String::len).sum::<usize>();
    if bytes <= MAX_BYTES {
        return Ok(());
    }
    let expected = format!("at most {MAX_BYTES} bytes with its options");
    Err(Invalid::new("query", expected, format!("{bytes} bytes")))
}

/// Reads every sentence of a question. Statements are left out if there is a question.
pub fn read_all(question: &str) -> Vec<Meaning> {
    let all: Vec<Meaning> = sentences(clipped(question)).into_iter().map(read).collect();
    let has_mark = |meaning: &Meaning| meaning.text.ends_with(['?', '？']);
    let questions = all.iter().any(has_mark);
    let orders = |meaning: &Meaning| {
        matches!(
            meaning.form,
            Form::Whole
                | Form::RateSeveral
                | Form::Advice
                | Form::Print
                | Form::Where
                | Form::WhichPart
                | Form::Compare
        )
    };
    // Next to a question, "My friend says that it is too dark." is no question.
    let asks = |meaning: &Meaning| has_mark(meaning) || meaning.is_understood() && (!questions || orders(meaning));
    let asking: Vec<Meaning> = all.iter().filter(|meaning| asks(meaning)).take(MOST_SENTENCES).cloned().collect();
    if asking.is_empty() { all.into_iter().take(1).collect() } else { asking }
}

/// Reads one sentence.
pub fn read(text: &str) -> Meaning {
    let text = clipped(text);
    let (words, asks_whether) = without_not(words(text));
    let (mut tokens, mut misspelled, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
    let dictionary = Dictionary::get();
    let mut at = 0;
    while at < words.len() {
        let found = dictionary.sign_at(&words, at).or_else(|| {
            let (sign, word) = spelling::nearest(&words, at)?;
            misspelled.push((words[at].text.to_owned(), word));
            Some((1, sign))
        });
        let Some((length, sign)) = found else {
            if !is_plain(&words, at) {
                unknown.push(words[at].folded.clone());
            }
            at += 1;
            continue;
        };
        tokens.push(Token { sign, at, length, after_mark: words[at].after_mark });
        at += length;
    }
    if asks_whether {
        tokens.push(Token { sign: Sign::Ask, at: words.len(), length: 0, after_mark: false });
    }
    // "中" is a grade only if it stands alone: elsewhere it means "in".
    tokens.retain(|token| {
        words.len() == 1 || token.length > 1 || words.get(token.at).is_none_or(|word| word.text != "中")
    });
    // "No noise in it, right?" does not judge anything.
    if tokens.last().is_some_and(|last| last.sign == Sign::Grade(Grade::Good) && last.after_mark && tokens.len() > 1) {
        tokens.pop();
    }
    // "Isn't it sharp?" asks whether it is: the denial belongs to the question.
    let contraction =
        words.iter().take(2).any(|word| matches!(word.folded.as_str(), "t" | "isnt" | "arent" | "doesnt"));
    if contraction && words.len() > 2 {
        tokens.retain(|token| !(token.at < 2 && token.sign == Sign::Deny));
        if !tokens.iter().any(|token| token.sign == Sign::Ask) {
            tokens.insert(0, Token { sign: Sign::Ask, at: 0, length: 1, after_mark: false });
        }
    }
    // "不是很模糊吗" asks in the same way.
    if words.last().is_some_and(|word| word.text == "吗") {
        let first = |token: &Token| {
            words[token.at].text == "不" && words.get(token.at + 1).is_some_and(|next| next.text == "是")
        };
        tokens.retain(|token| !(token.sign == Sign::Deny && first(token)));
    }
    let focus = settle_focus(&mut tokens);
    let read = reader::read(&tokens);
    let asks_me =
        matches!(words.first().map(|word| word.folded.as_str()), Some("can" | "could" | "would" | "do" | "will"))
            && words.get(1).is_some_and(|word| word.folded == "you");
    let particle = words.last().is_some_and(|word| matches!(word.text, "吗" | "么" | "嘛"));
    let points = words.iter().any(|word| word.text == "分") || tokens.iter().any(|token| token.sign == Sign::Rate);
    let has_points = points && text.contains(|letter: char| letter.is_ascii_digit());
    let asking =
        form::Asking { has_points, asks_me, has_mark: text.trim_end().ends_with(['?', '？']), has_particle: particle };
    let form = match form::form(&tokens, &read, asking) {
        // "What is the main focus?" asks for the sharpest part.
        form::Form::Which if focus == Some(Pole::High) => Form::WhichPart,
        form => form,
    };
    let has = |sign: Sign| tokens.iter().any(|token| token.sign == sign);
    let ends = |ending: &str| {
        words.iter().any(|word| {
            word.folded.ends_with(ending)
                && matches!(
                    dictionary.sign_at(&words, index_of(&words, word)),
                    Some((_, Sign::State(..) | Sign::Grade(_)))
                )
        })
    };
    let extreme = if has(Sign::Least) || has(Sign::Less) {
        Some(Extreme::Least)
    } else if has(Sign::Most) || has(Sign::More) || ends("est") || ends("er") || ends("worst") {
        Some(Extreme::Most)
    } else {
        None
    };
    let of_file = |claim: &Claim| claim.aspect == Aspect::Compression;
    let jpeg_quality =
        read.claims.iter().all(of_file) && read.claims.iter().any(|claim| is_jpeg_quality(claim, &words));
    let form = if jpeg_quality && !has(Sign::Ask) { Form::HowMuch } else { form };
    Meaning {
        form,
        joint: read.joint,
        grade: read.grade,
        degree: read.degree,
        issue: read.issue,
        denies: read.denies,
        claims: read.claims,
        extreme,
        than: has(Sign::Than),
        wants_value: has(Sign::Value) || has(Sign::Resolution) || jpeg_quality,
        jpeg_quality,
        lacks: has(Sign::Lack),
        reference: has(Sign::Reference),
        misspelled,
        unknown,
        text: text.trim().to_owned(),
    }
}

/// Takes the denial out of "清不清晰" and "多不多", which ask whether something is so. Returns whether they do.
fn without_not(mut words: Vec<Word<'_>>) -> (Vec<Word<'_>>, bool) {
    /// Words that ask by themselves: "是不是", "能不能".
    const ASKING: [&str; 8] = ["是", "会", "能", "有", "要", "可", "该", "存"];
    let asks = |at: usize, words: &[Word<'_>]| {
        let length = (1..=2).find(|length| {
            let not = words.get(at + length).is_some_and(|word| word.text == "不");
            let again = words.get(at + length + 1);
            not && again.is_some_and(|again| again.text == words[at].text && !again.after_mark)
        })?;
        (!ASKING.contains(&words[at].text) && words[at].text.starts_with(is_word)).then_some(length)
    };
    let mut found = false;
    let mut at = 0;
    while at < words.len() {
        if let Some(length) = asks(at, &words) {
            let mark = words[at].after_mark;
            words.drain(at..=at + length);
            words[at].after_mark = mark;
            found = true;
        }
        at += 1;
    }
    (words, found)
}

/// "the JPEG quality", "which quality setting": not how strong the compression is.
fn is_jpeg_quality(claim: &Claim, words: &[Word<'_>]) -> bool {
    let named = |word: &Word<'_>| matches!(word.folded.as_str(), "quality" | "质" | "setting" | "factor");
    claim.aspect == Aspect::Compression && claim.pole == Some(Pole::Low) && !claim.denied && words.iter().any(named)
}

/// Decides what "the focus" means: "How is the focus?" and "Is the focus correct?" ask how sharp it is, "Where is
/// the focus?" and "Is the focus on the bird?" what is sharp. Returns the side that is claimed.
fn settle_focus(tokens: &mut [Token]) -> Option<Pole> {
    let judged = |token: &Token| {
        matches!(token.sign, Sign::Grade(_) | Sign::Issue | Sign::How | Sign::Rate | Sign::Lack | Sign::Value)
            || matches!(token.sign, Sign::State(Aspect::Sharpness, ..))
    };
    let judged = tokens.iter().any(judged);
    let asks = |token: &Token| matches!(token.sign, Sign::Which | Sign::Where | Sign::Ask);
    let pole = (!judged && tokens.iter().any(asks)).then_some(Pole::High);
    let focus = tokens.iter_mut().filter(|token| token.sign == Sign::Focus);
    let settled = focus.map(|token| {
        token.sign = pole.map_or(Sign::Property(Aspect::Sharpness), |pole| Sign::State(Aspect::Sharpness, pole, None));
    });
    (settled.count() > 0).then_some(pole).flatten()
}

fn index_of(words: &[Word<'_>], word: &Word<'_>) -> usize {
    words.partition_point(|other| other.start < word.start)
}

/// Cuts a text to the longest question.
fn clipped(text: &str) -> &str {
    let mut end = text.len().min(MAX_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Splits a text after each mark that ends a sentence.
fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut begin = 0;
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let ends = matches!(character, '?' | '？' | '。' | '!' | '！' | '\n' | ';' | '；')
            || character == '.' && characters.peek().is_none_or(|(_, next)| next.is_whitespace());
        if ends {
            let end = at + character.len_utf8();
            found.push(&text[begin..end]);
            begin = end;
        }
    }
    found.push(&text[begin..]);
    found.retain(|sentence| sentence.chars().any(char::is_alphanumeric));
    found
}

/// Whether a word without a sign needs none: an article, a verb, an object, a number.
fn is_plain(words: &[Word<'_>], at: usize) -> bool {
    let word = &words[at];
    let listed = |list| listed_at(words, at, list).is_some();
    let is_paper = matches!(word.folded.as_bytes(), [b'a', b'0'..=b'6']);
    is_paper
        || word.folded.chars().all(|character| character.is_ascii_digit())
        || word.folded.chars().count() == 1
        || listed(|lexicon| lexicon.objects.stop)
        || listed(|lexicon| lexicon.objects.determiners)
        || listed(|lexicon| lexicon.objects.places)
        || listed(|lexicon| lexicon.objects.image)
        || listed(|lexicon| lexicon.objects.nouns)
        || listed(|lexicon| lexicon.objects.generic)
        || words[at]
            .folded
            .strip_suffix('s')
            .is_some_and(|singular| crate::language::is_listed(singular, |lexicon| lexicon.objects.nouns))
}

#[cfg(test)]
mod tests;

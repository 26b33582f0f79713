//! Families of models that are asked or read differently from general models.
//!
//! Models that were tuned to rate images answer with a number or a level in words, often after their
//! thoughts in `<think>` tags. They are served by vLLM, llama.cpp or Ollama and recognized by the name
//! of the model. None of them was run with this program; the tests read answers in the form that
//! their authors publish.

use crate::fusion::Fusion;
use crate::state::{QualityLevel, Score};
use agenticiqa_vlm::Answer;

use super::levels;

/// How a family states the quality of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rating {
    /// As JSON with a letter, like general models.
    Json,
    /// As a number from 1 to 5.
    Number,
    /// As a level in words; the score comes from its log-probabilities.
    Level,
}

/// A family of models.
#[derive(Debug, PartialEq, Eq)]
pub struct Profile {
    /// The name of the family.
    pub name: &'static str,
    /// Parts of model names, in lower case without punctuation.
    names: &'static [&'static str],
    /// Whether it thinks in `<think>` tags before it answers. A schema would forbid that, so none is sent.
    pub thinks: bool,
    /// How it rates.
    pub rating: Rating,
}

/// The known families. A name may contain that of a base model, so tuned models come first.
pub const PROFILES: [Profile; 5] = [
    Profile { name: "Q-Insight", names: &["qinsight"], thinks: true, rating: Rating::Number },
    Profile { name: "VisualQuality-R1", names: &["visualqualityr1"], thinks: true, rating: Rating::Number },
    Profile { name: "DeQA-Score", names: &["deqa"], thinks: false, rating: Rating::Level },
    Profile { name: "Qwen2.5-VL", names: &["qwen25vl"], thinks: false, rating: Rating::Json },
    Profile { name: "InternVL", names: &["internvl"], thinks: false, rating: Rating::Json },
];

/// The profile of all other models.
const GENERAL: Profile = Profile { name: "general", names: &[], thinks: false, rating: Rating::Json };

impl Profile {
    /// Returns the profile of a backend, such as `openai.Q-Insight-7B`.
    pub fn of(backend: &str) -> &'static Self {
        let folded: String = backend.chars().filter(char::is_ascii_alphanumeric).collect();
        let folded = folded.to_ascii_lowercase();
        PROFILES.iter().find(|profile| profile.names.iter().any(|name| folded.contains(name))).unwrap_or(&GENERAL)
    }

    /// Returns what is added to the user prompt.
    pub fn suffix(&self, rates: bool) -> Option<String> {
        let answer = match (self.rating, rates) {
            (Rating::Level, true) => {
                return Some(
                    "\nAnswer with one sentence: The quality of the image is <excellent, good, fair, poor or bad>."
                        .to_owned(),
                );
            }
            (Rating::Number, true) => {
                "your overall rating of the quality of this image, one number from 1.00 (bad) to 5.00 (excellent)"
            }
            _ => "the JSON object",
        };
        self.thinks
            .then(|| format!("\nFirst think in <think> </think> tags. Then write {answer} in <answer> </answer> tags."))
    }

    /// Returns whether answers to a question are constrained by a schema.
    pub fn takes_schema(&self, rates: bool) -> bool {
        !(self.thinks || rates && self.rating == Rating::Level)
    }
}

/// An answer without its thoughts.
#[derive(Debug, PartialEq, Eq)]
pub struct Spoken<'a> {
    /// The answer; empty if the thoughts do not end.
    pub answer: &'a str,
    /// The thoughts.
    pub thoughts: Option<&'a str>,
    /// Whether the thoughts do not end.
    pub endless: bool,
}

/// Separates the thoughts of an answer. The opening tag may be missing, because some templates write it
/// into the prompt.
pub fn spoken(text: &str) -> Spoken<'_> {
    const OPEN: &str = "<think>";
    const CLOSE: &str = "</think>";
    let (thoughts, rest, endless) = match (text.find(OPEN), text.rfind(CLOSE)) {
        (open, Some(close)) if open.is_none_or(|open| open < close) => {
            let start = open.map_or(0, |open| open + OPEN.len());
            (Some(text[start..close].trim()), &text[close + CLOSE.len()..], false)
        }
        (Some(open), _) => (Some(text[open + OPEN.len()..].trim()), &text[..open], true),
        _ => (None, text, false),
    };
    let answer = match rest.rfind("<answer>") {
        Some(start) => {
            let inside = &rest[start + "<answer>".len()..];
            inside.split("</answer>").next().unwrap_or(inside)
        }
        None => rest,
    };
    Spoken { answer: answer.trim(), thoughts: thoughts.filter(|thoughts| !thoughts.is_empty()), endless }
}

/// A rating that is not JSON with a letter.
#[derive(Debug, Clone, PartialEq)]
pub struct Rated {
    /// The nearest level.
    pub level: QualityLevel,
    /// The probability of each level, worst first.
    pub probabilities: [f64; 5],
    /// The reasons.
    pub reasoning: String,
}

impl Profile {
    /// Reads a rating in the form of the family, or why it cannot be read.
    pub fn rated(&self, answer: &Answer) -> Result<Rated, String> {
        let said = spoken(&answer.text);
        if said.endless {
            return Err("the thoughts do not end: think briefly, then answer".to_owned());
        }
        match self.rating {
            Rating::Json => Err("this model answers in JSON".to_owned()),
            Rating::Number => {
                let rating = number(said.answer).ok_or_else(|| "there is no rating in it".to_owned())?;
                let score = Score::new(rating).map_err(|_| format!("the rating must be from 1 to 5, not {rating}"))?;
                let sentence = || format!("The model rates the image {rating:.2} of 5.");
                let reasoning = said.thoughts.map_or_else(sentence, str::to_owned);
                Ok(Rated { level: QualityLevel::of(score), probabilities: between(rating), reasoning })
            }
            Rating::Level => {
                let level = only_level(said.answer).ok_or_else(|| "it names no level, or several".to_owned())?;
                let tokens = answer.logprobs.as_deref().unwrap_or_default();
                let probabilities = levels::word_probabilities(tokens)
                    .unwrap_or_else(|| Fusion::named(usize::from(level.number()) - 1));
                Ok(Rated { level, probabilities, reasoning: said.answer.to_owned() })
            }
        }
    }
}

/// Returns the rating of an answer: a number alone, or the field `rating` or `score` of an object.
fn number(answer: &str) -> Option<f64> {
    for object in super::json::objects(answer) {
        for field in ["rating", "score", "final_answer"] {
            let value = object.get(field);
            let read = value.and_then(|value| value.as_f64().or_else(|| value.as_str()?.trim().parse().ok()));
            if read.is_some() {
                return read;
            }
        }
    }
    answer.trim().trim_end_matches('.').parse::<f64>().ok().filter(|rating| rating.is_finite())
}

/// Distributes a rating over the two levels around it, so that their mean is the rating.
fn between(rating: f64) -> [f64; 5] {
    let lower = (rating.floor() as usize).clamp(1, 4);
    let share = rating - lower as f64;
    let mut probabilities = [0.0; 5];
    probabilities[lower - 1] = 1.0 - share;
    probabilities[lower] = share;
    probabilities
}

/// Returns the level that a sentence names, if it names exactly one.
fn only_level(sentence: &str) -> Option<QualityLevel> {
    let words = sentence.split(|c: char| !c.is_alphabetic());
    let mut named: Vec<QualityLevel> = words.filter(|word| word.len() > 1).filter_map(levels::named_level).collect();
    named.dedup();
    match named[..] {
        [level] => Some(level),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agenticiqa_vlm::{TokenLogprob, Usage};

    fn answer(text: &str, logprobs: Option<Vec<TokenLogprob>>) -> Answer {
        Answer { text: text.to_owned(), logprobs, usage: Usage::default(), model: String::new(), truncated: false }
    }

    #[test]
    fn families_are_known_by_the_name_of_the_model() {
        for (backend, family) in [
            ("openai.Q-Insight", "Q-Insight"),
            ("openai.ByteDance/Q-Insight-7B", "Q-Insight"),
            ("openai.TianheWu/VisualQuality-R1-7B", "VisualQuality-R1"),
            ("openai.zhiyuanyou/DeQA-Score-Mix3", "DeQA-Score"),
            ("ollama.qwen2.5vl:7b", "Qwen2.5-VL"),
            ("openai.Qwen/Qwen2.5-VL-7B-Instruct", "Qwen2.5-VL"),
            ("openai.OpenGVLab/InternVL3_5-8B", "InternVL"),
            ("openai.gpt-4o", "general"),
        ] {
            assert_eq!(Profile::of(backend).name, family, "{backend}");
        }
    }

    #[test]
    fn thoughts_are_no_answer() {
        for (text, said, thoughts, endless) in [
            ("<think>soft {\"a\": 1}</think>\n{\"b\": 2}", "{\"b\": 2}", Some("soft {\"a\": 1}"), false),
            ("soft edges</think> <answer>3.10</answer>", "3.10", Some("soft edges"), false),
            ("<think>x</think><answer>2.5", "2.5", Some("x"), false),
            ("<think>and then again and again", "", Some("and then again and again"), true),
            ("<think>x</think> then <think>y</think> 4", "4", Some("x</think> then <think>y"), false),
            ("<think></think>ok", "ok", None, false),
            ("plain", "plain", None, false),
        ] {
            assert_eq!(spoken(text), Spoken { answer: said, thoughts, endless }, "{text}");
        }
    }

    #[test]
    fn ratings_of_q_insight_and_visualquality_r1_are_numbers_after_thoughts() {
        let (q_insight, r1) = (Profile::of("openai.q-insight"), Profile::of("openai.visualquality-r1"));
        let rated =
            q_insight.rated(&answer("<think>The grain is strong.</think><answer>{\"rating\": 2.25}</answer>", None));
        let rated = rated.unwrap();
        assert_eq!((rated.level, rated.reasoning.as_str()), (QualityLevel::Poor, "The grain is strong."));
        let mean: f64 = rated.probabilities.iter().zip(1..).map(|(share, level)| share * f64::from(level)).sum();
        assert!((mean - 2.25).abs() < 1e-12, "{:?}", rated.probabilities);
        let rated = r1.rated(&answer("<think>Sharp and clean.</think>\n<answer>4.81</answer>", None)).unwrap();
        assert_eq!(rated.level, QualityLevel::Excellent);
        assert_eq!(r1.rated(&answer("<answer>5</answer>", None)).unwrap().probabilities, [0.0, 0.0, 0.0, 0.0, 1.0]);
        for (text, says) in [
            ("<think>on and on and on", "do not end"),
            ("<answer>81</answer>", "from 1 to 5"),
            ("<answer>good</answer>", "no rating"),
            ("<answer>NaN</answer>", "no rating"),
        ] {
            let refused = r1.rated(&answer(text, None)).unwrap_err();
            assert!(refused.contains(says), "{text}: {refused}");
        }
    }

    #[test]
    fn ratings_of_deqa_score_are_the_log_probabilities_of_its_word() {
        let token = |text: &str, top: &[(&str, f64)]| TokenLogprob {
            token: text.to_owned(),
            logprob: top.first().map_or(-0.1, |(_, share)| f64::ln(*share)),
            top: top.iter().map(|(text, share)| ((*text).to_owned(), f64::ln(*share))).collect(),
        };
        let levels = [(" good", 0.5), (" fair", 0.3), (" excellent", 0.1), (" poor", 0.08), (" bad", 0.02)];
        let tokens = vec![token("The", &[]), token(" image", &[]), token(" is", &[]), token(" good", &levels)];
        let deqa = Profile::of("openai.DeQA-Score");
        let rated = deqa.rated(&answer("The quality of the image is good.", Some(tokens))).unwrap();
        assert_eq!(rated.level, QualityLevel::Good);
        let expected = [0.02, 0.08, 0.3, 0.5, 0.1];
        assert!(rated.probabilities.iter().zip(expected).all(|(share, other)| (share - other).abs() < 1e-9));
        let bare = deqa.rated(&answer("The quality of the image is poor.", None)).unwrap();
        assert_eq!(bare.probabilities[1], 0.7);
        assert!(deqa.rated(&answer("Between good and bad.", None)).is_err());
        assert!(deqa.rated(&answer("I cannot say.", None)).is_err());
    }

    #[test]
    fn a_schema_would_forbid_thoughts_and_words() {
        assert!(!Profile::of("openai.q-insight").takes_schema(false));
        let deqa = Profile::of("openai.deqa-score");
        assert!(deqa.takes_schema(false) && !deqa.takes_schema(true));
        let general = Profile::of("openai.gpt-4o");
        assert!(general.takes_schema(true) && general.suffix(true).is_none());
    }
}

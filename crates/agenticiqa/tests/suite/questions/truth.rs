//! Decides whether an answer is right.

use serde::Deserialize;

/// What counts as a right answer.
#[derive(Debug, Clone, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum Right {
    /// The answer begins with "Yes" or "Probably".
    Yes,
    /// The answer begins with "No" or "Probably not".
    No,
    /// The answer says that this cannot be judged.
    Cannot,
    /// The answer is the letter of this option.
    Letter(char),
    /// The score is in this range.
    Score(f64, f64),
    /// The answer says all of this.
    Says {
        /// One word of each list must occur.
        #[serde(default)]
        words: Vec<Vec<String>>,
        /// None of these words may occur.
        #[serde(default)]
        not: Vec<String>,
        /// These words may occur only after the first of `words`: "left, while the right is sharp".
        #[serde(default)]
        later: Vec<String>,
        /// A number in this range must occur.
        number: Option<[f64; 2]>,
    },
}

const YES: [&str; 4] = ["yes", "probably", "是", "很可能是"];
const NO: [&str; 6] = ["no", "probably not", "否", "不是", "很可能不是", "不，"];
const CANNOT: [&str; 17] = [
    "cannot tell",
    "cannot judge",
    "cannot say",
    "cannot know",
    "cannot be measured",
    "cannot be judged",
    "cannot be told",
    "can't tell",
    "can't judge",
    "not judge",
    "unable to",
    "无法",
    "不能判断",
    "不能回答",
    "判断不了",
    "看不出",
    "不知道",
];
/// A word after one of these is denied: "no blur", "没有模糊".
const DENIALS: [&str; 19] = [
    "no",
    "not",
    "no visible",
    "not too",
    "without",
    "without visible",
    "free of",
    "neither",
    "nor",
    "neither too",
    "nor too",
    "isn't",
    "没有",
    "没有可见的",
    "无",
    "不",
    "不是",
    "未见",
    "并非",
];

impl Right {
    /// The name of the kind of truth.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Cannot => "cannot",
            Self::Letter(_) => "letter",
            Self::Score(..) => "score",
            Self::Says { .. } => "words",
        }
    }

    /// Whether an answer with its score is right.
    pub fn accepts(&self, answer: &str, score: Option<f64>) -> bool {
        let answer = answer.trim().to_lowercase();
        match self {
            Self::Yes => says_yes(&answer),
            Self::No => says_no(&answer),
            Self::Cannot => {
                !says_yes(&answer) && !says_no(&answer) && CANNOT.iter().any(|phrase| answer.contains(phrase))
            }
            Self::Letter(letter) => answer == letter.to_lowercase().to_string(),
            Self::Score(low, high) => score.is_some_and(|score| (*low..=*high).contains(&score)),
            Self::Says { words, not, later, number } => {
                let first = words.iter().flatten().filter_map(|word| place(&answer, word)).min();
                let early = |word: &String| place(&answer, word).is_some_and(|at| first.is_none_or(|first| at < first));
                words.iter().all(|list| list.iter().any(|word| place(&answer, word).is_some()))
                    && !not.iter().any(|word| place(&answer, word).is_some())
                    && !later.iter().any(early)
                    && number.is_none_or(|[low, high]| numbers(&answer).any(|number| (low..=high).contains(&number)))
            }
        }
    }
}

pub fn says_yes(answer: &str) -> bool {
    !says_no(answer) && YES.iter().any(|word| starts_with(answer, word))
}

pub fn says_no(answer: &str) -> bool {
    NO.iter().any(|word| starts_with(answer, word))
}

/// Whether a text starts with a word, and not just with its letters ("noise").
fn starts_with(text: &str, word: &str) -> bool {
    text.strip_prefix(word).is_some_and(|rest| ends_word(word, rest))
}

fn ends_word(word: &str, rest: &str) -> bool {
    !word.is_ascii() || !rest.starts_with(|next: char| next.is_ascii_alphanumeric())
}

/// Where a text has a word that begins with `word` and is not denied.
fn place(text: &str, word: &str) -> Option<usize> {
    let word = word.to_lowercase();
    let mut places = text.match_indices(&word).map(|(at, _)| at);
    places.find(|&at| {
        let before = &text[..at];
        let starts = !word.is_ascii() || !before.ends_with(|last: char| last.is_ascii_alphanumeric());
        starts && !DENIALS.iter().any(|denial| ends_with_word(before.trim_end(), denial))
    })
}

fn ends_with_word(text: &str, word: &str) -> bool {
    let before = text.strip_suffix(word);
    before.is_some_and(|before| !word.is_ascii() || !before.ends_with(|last: char| last.is_ascii_alphanumeric()))
}

fn numbers(text: &str) -> impl Iterator<Item = f64> {
    let parts = text.split(|letter: char| !letter.is_ascii_digit() && letter != '.');
    parts.filter_map(|part| part.trim_matches('.').parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(words: &[&[&str]], not: &[&str]) -> Right {
        let owned = |list: &[&str]| list.iter().map(|&word| word.to_owned()).collect();
        Right::Says {
            words: words.iter().map(|list| owned(list)).collect(),
            not: owned(not),
            later: Vec::new(),
            number: None,
        }
    }

    #[test]
    fn yes_is_not_no_and_doubt_is_neither() {
        for answer in ["Yes.", "Yes: severe blur", "Probably. It is dark", "Probably: dark", "是：模糊", "很可能是。"]
        {
            assert!(Right::Yes.accepts(answer, None), "{answer}");
            assert!(!Right::No.accepts(answer, None), "{answer}");
        }
        for answer in ["No.", "No, it is sharp", "Probably not: sharp", "否：清晰", "不是。", "很可能不是：清晰"]
        {
            assert!(Right::No.accepts(answer, None), "{answer}");
            assert!(!Right::Yes.accepts(answer, None), "{answer}");
        }
        let neither =
            ["", "Noise is low", "Not certain: slight blur", "Cannot tell: dark", "无法判断：暗", "Severe", "不确定："];
        for answer in neither {
            assert!(!Right::Yes.accepts(answer, None) && !Right::No.accepts(answer, None), "{answer}");
        }
    }

    #[test]
    fn what_cannot_be_judged_has_to_be_said() {
        assert!(Right::Cannot.accepts("Cannot tell: this is a matter of taste.", None));
        assert!(Right::Cannot.accepts("I cannot judge that.", None));
        assert!(Right::Cannot.accepts("无法判断：需要看内容", None));
        assert!(!Right::Cannot.accepts("Yes, it is beautiful", None));
        assert!(!Right::Cannot.accepts("No. I cannot tell more.", None));
        assert!(!Right::Cannot.accepts("是：整体质量良好", None));
    }

    #[test]
    fn a_letter_is_the_whole_answer() {
        assert!(Right::Letter('B').accepts("B", None));
        assert!(!Right::Letter('B').accepts("A", None));
        assert!(!Right::Letter('B').accepts("Blurry", None));
    }

    #[test]
    fn words_count_unless_they_are_denied() {
        let blur = says(&[&["blur", "soft"]], &["noise"]);
        assert!(blur.accepts("The image is strongly blurred.", None));
        assert!(blur.accepts("Soft focus and no visible noise", None));
        assert!(!blur.accepts("No visible blur in the whole image", None));
        assert!(!blur.accepts("It is not blurred.", None));
        assert!(!blur.accepts("Severe blur and severe noise", None));
        assert!(!blur.accepts("Severe noise", None));
        let both = says(&[&["blur"], &["noise", "grain"]], &[]);
        assert!(both.accepts("Blur and noise", None) && !both.accepts("Blur", None));
        assert!(says(&[&["模糊"]], &["噪"]).accepts("整张图像有严重的模糊", None));
        assert!(!says(&[&["模糊"]], &[]).accepts("整张图像没有可见的模糊", None));
        assert!(!says(&[&["left"]], &[]).accepts("cleft", None));
    }

    #[test]
    fn what_is_named_first_is_the_answer() {
        let left: Right = serde_json::from_str(r#"{"says": {"words": [["left"]], "later": ["right"]}}"#).unwrap();
        assert!(left.accepts("The left half is blurred, the right one is sharp.", None));
        assert!(!left.accepts("The right half is blurred, the left one is sharp.", None));
        assert!(!left.accepts("The right half.", None) && !left.accepts("Everywhere.", None));
        let dark: Right = serde_json::from_str(r#"{"says": {"words": [["dark"]], "later": ["bright"]}}"#).unwrap();
        assert!(
            dark.accepts("Too dark rather than too bright.", None) && dark.accepts("Not too bright, but dark", None)
        );
        assert!(!dark.accepts("Neither too dark nor too bright.", None));
    }

    #[test]
    fn numbers_have_to_be_in_their_range() {
        let range = Right::Says { words: Vec::new(), not: Vec::new(), later: Vec::new(), number: Some([20.0, 25.0]) };
        assert!(range.accepts("The PSNR is 22.31 dB.", None));
        assert!(range.accepts("about 25.", None));
        assert!(!range.accepts("The PSNR is 32.31 dB.", None) && !range.accepts("low", None));
        assert!(Right::Score(1.0, 2.5).accepts("D", Some(2.0)));
        assert!(!Right::Score(1.0, 2.5).accepts("D", Some(3.0)) && !Right::Score(1.0, 2.5).accepts("D", None));
    }

    #[test]
    fn what_is_right_is_read_from_short_json() {
        let read = |json: &str| serde_json::from_str::<Right>(json).unwrap();
        assert_eq!(read(r#""no""#), Right::No);
        assert_eq!(read(r#"{"letter": "C"}"#), Right::Letter('C'));
        assert_eq!(read(r#"{"score": [1, 2.5]}"#), Right::Score(1.0, 2.5));
        assert_eq!(read(r#"{"says": {"words": [["blur"]]}}"#), says(&[&["blur"]], &[]));
    }
}

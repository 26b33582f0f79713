//! LLVisionQA of Q-Bench (Wu et al., ICLR 2024): multiple-choice questions about low-level vision.
//!
//! `llvisionqa_dev.json` and `llvisionqa_test.json` are lists of {img_path, question, candidates,
//! correct_ans, type, concern}. The answers of the test part are not published. Images are in
//! `images/`.

use std::path::Path;

use serde::Deserialize;
use serde_json::json;

use super::files::{Files, read_text, stem};
use super::{Dataset, Entry, Error, Info, Sample};

pub(super) const DATASET: Dataset = Dataset {
    info: Info {
        name: "LLVisionQA",
        summary: "2990 questions about low-level vision with options (Q-Bench); answers of the dev part only",
        layout: "llvisionqa_dev.json, llvisionqa_test.json, images/",
    },
    read,
};

/// The meanings of `type`.
const TYPES: [&str; 3] = ["yes-or-no", "what", "how"];
/// The meanings of `concern`.
const CONCERNS: [&str; 4] = ["distortion", "other", "in-context distortion", "in-context other"];

#[derive(Deserialize)]
struct Question {
    img_path: String,
    question: String,
    candidates: Vec<String>,
    correct_ans: Option<String>,
    #[serde(rename = "type")]
    kind: Option<usize>,
    concern: Option<usize>,
}

fn read(files: &Files) -> Result<Vec<Entry>, Error> {
    let parts = [("llvisionqa_dev.json", "validation"), ("llvisionqa_test.json", "test")];
    let mut entries = Vec::new();
    for (name, split) in parts {
        let Some(path) = files.find(name) else { continue };
        let questions: Vec<Question> =
            serde_json::from_str(&read_text(path)?).map_err(|error| Error::file(path, error))?;
        for (index, question) in questions.into_iter().enumerate() {
            entries.push(entry(path, index, question, split)?);
        }
    }
    if entries.is_empty() {
        files.require(&["llvisionqa_dev.json"], "get it from the dataset's page and unpack the images next to it")?;
    }
    Ok(entries)
}

fn entry(path: &Path, index: usize, question: Question, split: &str) -> Result<Entry, Error> {
    let answer = match question.correct_ans.as_deref().filter(|answer| !answer.trim().is_empty()) {
        None => None,
        Some(answer) => {
            let place = question.candidates.iter().position(|option| option.trim() == answer.trim());
            let strange =
                || Error::file(path, format!("question {index}: correct_ans {answer:?} is none of its candidates"));
            Some(letter(place.ok_or_else(strange)?))
        }
    };
    let name = |names: &[&'static str], index: Option<usize>| index.and_then(|index| names.get(index).copied());
    let metadata = json!({
        "question_type": name(&TYPES, question.kind),
        "concern": name(&CONCERNS, question.concern),
    });
    let content = stem(&question.img_path);
    let sample = Sample {
        sample_id: format!("llvisionqa_{}_{index:04}", if split == "test" { "test" } else { "dev" }),
        query: question.question,
        options: Some(question.candidates),
        answer,
        split: Some(split.to_owned()),
        ..Sample::default()
    };
    Ok(Entry { image: question.img_path, reference: None, content, sample }.with_metadata(metadata))
}

/// Returns the letter of the option at an index.
pub(super) fn letter(place: usize) -> String {
    char::from(b'A' + place.min(25) as u8).to_string()
}

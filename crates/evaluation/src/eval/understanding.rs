//! How many questions of a file the built-in analyst understands, by form and axis, and which words it
//! does not know.

use std::collections::BTreeMap;
use std::path::Path;

use agenticiqa_agent::question::{Understanding, understand};
use serde::{Deserialize, Serialize};

use super::Error;
use crate::dataset;

/// The most frequent unknown words that are reported.
const MOST_WORDS: usize = 40;

/// A number of questions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnderstoodCount {
    /// Questions.
    pub questions: usize,
    /// Questions that measurements answer.
    pub understood: usize,
}

impl UnderstoodCount {
    fn add(&mut self, understood: bool) {
        self.questions += 1;
        self.understood += usize::from(understood);
    }

    /// The share of understood questions.
    pub fn share(&self) -> f64 {
        if self.questions == 0 { 0.0 } else { self.understood as f64 / self.questions as f64 }
    }
}

/// How many questions of a file are understood.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnderstoodQuestions {
    /// The path of the file.
    pub input: String,
    /// All questions.
    pub overall: UnderstoodCount,
    /// By the values of `concern`, if the file has this field.
    pub by_concern: BTreeMap<String, UnderstoodCount>,
    /// By language.
    pub by_language: BTreeMap<String, UnderstoodCount>,
    /// By form.
    pub by_form: BTreeMap<String, UnderstoodCount>,
    /// By axis; a question may have several.
    pub by_axis: BTreeMap<String, UnderstoodCount>,
    /// Unknown words with the number of questions that have them, most frequent first.
    pub unknown_words: Vec<(String, usize)>,
    /// Questions that are not understood.
    pub not_understood: Vec<String>,
}

/// One line: an object with a question, or the question itself.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Line {
    Object {
        #[serde(alias = "query")]
        question: String,
        #[serde(default, alias = "candidates")]
        options: Vec<String>,
        #[serde(default)]
        concern: Option<String>,
    },
    Text(String),
}

/// Reads a file with one question a line: JSON objects with `question` (or `query`) and `options`, JSON
/// strings, or plain text.
pub fn understanding(path: &Path) -> Result<UnderstoodQuestions, Error> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| dataset::Error::File { path: path.to_owned(), reason: error.to_string() })?;
    let mut report = UnderstoodQuestions { input: path.display().to_string(), ..UnderstoodQuestions::default() };
    let mut words: BTreeMap<String, usize> = BTreeMap::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (question, options, concern) = match serde_json::from_str(line) {
            Ok(Line::Object { question, options, concern }) => (question, options, concern),
            Ok(Line::Text(question)) => (question, Vec::new(), None),
            Err(_) => (line.to_owned(), Vec::new(), None),
        };
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        report.add(&question, concern, understand(&question, &options), &mut words);
    }
    let mut words: Vec<(String, usize)> = words.into_iter().collect();
    words.sort_by(|(one, first), (other, second)| second.cmp(first).then_with(|| one.cmp(other)));
    words.truncate(MOST_WORDS);
    report.unknown_words = words;
    Ok(report)
}

impl UnderstoodQuestions {
    fn add(
        &mut self,
        question: &str,
        concern: Option<String>,
        found: Understanding,
        words: &mut BTreeMap<String, usize>,
    ) {
        let Understanding { understood, form, aspects, unknown, language } = found;
        self.overall.add(understood);
        if let Some(concern) = concern {
            self.by_concern.entry(concern).or_default().add(understood);
        }
        self.by_language.entry(language.to_owned()).or_default().add(understood);
        self.by_form.entry(form.to_owned()).or_default().add(understood);
        for aspect in aspects {
            self.by_axis.entry(aspect.to_owned()).or_default().add(understood);
        }
        for word in unknown {
            *words.entry(word).or_default() += 1;
        }
        if !understood {
            self.not_understood.push(question.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_counted_by_form_and_axis() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("questions.jsonl");
        let lines = [
            r#"{"question": "Is it blurry?", "options": ["Yes", "No"], "concern": "distortion"}"#,
            r#""What is the noise level?""#,
            "图像模糊吗？",
            r#"{"query": "Who is the wizzle?"}"#,
        ];
        std::fs::write(&path, lines.join("\n")).unwrap();
        let report = understanding(&path).unwrap();
        assert_eq!(report.overall, UnderstoodCount { questions: 4, understood: 3 });
        assert_eq!(report.by_form["yes or no"].questions, 2);
        assert_eq!(report.by_axis["sharpness"].understood, 2);
        assert_eq!(report.by_language["Chinese"].questions, 1);
        assert_eq!(report.by_concern["distortion"].understood, 1);
        assert_eq!(report.unknown_words, [("wizzle".to_owned(), 1)]);
        assert_eq!(report.not_understood, ["Who is the wizzle?"]);
        assert!(understanding(&folder.path().join("none")).is_err());
    }
}

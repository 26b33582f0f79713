//! AgenticIQA-Eval (arXiv 2509.26006): multiple-choice questions about planning, execution and
//! conclusion.
//!
//! Its files are not public at the time of writing, so no layout is fixed. Every `.json` (a list of
//! questions, or lists by task) and `.jsonl` below the folder is read, with common field names. The
//! task is the field `task_type` or the name of the file: planner, executor_distortion,
//! executor_tool or summarizer.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::files::{Files, read_text, stem};
use super::llvisionqa::letter;
use super::manifest::without_place;
use super::{Dataset, Entry, Error, Info, Sample};

pub(super) const DATASET: Dataset = Dataset {
    info: Info {
        name: "AgenticIQA-Eval",
        summary: "1000 questions with options about planning, distortions, tools and conclusions",
        layout: "planner.json, executor_distortion.json, executor_tool.json, summarizer.json (or .jsonl, or one file with task_type), images below",
    },
    read,
};

const TASKS: [&str; 4] = ["planner", "executor_distortion", "executor_tool", "summarizer"];
const QUESTION: [&str; 3] = ["question", "query", "prompt"];
const OPTIONS: [&str; 3] = ["options", "candidates", "choices"];
const ANSWER: [&str; 4] = ["answer", "correct_ans", "correct_answer", "gt"];
const IMAGE: [&str; 6] = ["image_path", "img_path", "image", "distorted_path", "dist_path", "distorted_image"];
const REFERENCE: [&str; 4] = ["reference_path", "ref_path", "reference", "reference_image"];
const TASK: [&str; 3] = ["task_type", "task", "stage"];
const TYPE: [&str; 2] = ["question_type", "type"];

fn read(files: &Files) -> Result<Vec<Entry>, Error> {
    let mut entries = Vec::new();
    for path in [files.with_extension("json"), files.with_extension("jsonl")].concat() {
        for question in questions(path)? {
            let wrong = |reason: String| Error::file(path, format!("{}: {reason}", question.place));
            entries.push(entry(&question, entries.len()).map_err(wrong)?);
        }
    }
    if entries.is_empty() {
        files.require(&["planner.json"], "put the questions there as .json or .jsonl")?;
    }
    Ok(entries)
}

/// A question as written in a file.
struct Question {
    /// Its location, for messages.
    place: String,
    fields: Map<String, Value>,
    /// The task that the file name states.
    task: Option<&'static str>,
}

impl Question {
    fn is_one(&self) -> bool {
        first(&self.fields, &QUESTION).is_some() && first(&self.fields, &OPTIONS).is_some()
    }
}

/// Reads the questions of a file. Other entries are skipped.
fn questions(path: &Path) -> Result<Vec<Question>, Error> {
    let text = read_text(path)?;
    let named = task(&stem(&path.to_string_lossy()));
    let mut found = Vec::new();
    if path.extension().is_some_and(|own| own.eq_ignore_ascii_case("jsonl")) {
        for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let fields = serde_json::from_str(line);
            let fields = fields.map_err(|error| Error::line(path, index + 1, without_place(&error)))?;
            found.push(Question { place: format!("line {}", index + 1), fields, task: named });
        }
    } else {
        let value: Value = serde_json::from_str(&text).map_err(|error| Error::file(path, error))?;
        let lists = match value {
            Value::Array(list) => vec![(named, list)],
            Value::Object(lists) => {
                let list = |(name, value): (String, Value)| Some((task(&name).or(named), value.as_array()?.clone()));
                lists.into_iter().filter_map(list).collect()
            }
            _ => Vec::new(),
        };
        for (task, list) in lists {
            for (index, value) in list.into_iter().enumerate() {
                let Value::Object(fields) = value else { continue };
                found.push(Question { place: format!("question {}", index + 1), fields, task });
            }
        }
    }
    found.retain(Question::is_one);
    Ok(found)
}

fn entry(Question { fields, task: task_of_file, .. }: &Question, index: usize) -> Result<Entry, String> {
    let text = |names: &[&str]| first(fields, names).and_then(Value::as_str).map(str::to_owned);
    let options = options(first(fields, &OPTIONS))?;
    let answer = match text(&ANSWER) {
        None => None,
        Some(answer) => Some(answer_letter(&answer, &options)?),
    };
    let image = text(&IMAGE).ok_or_else(|| format!("it has no image: {} is missing", IMAGE[0]))?;
    let task_type = text(&TASK).as_deref().and_then(task).or(*task_of_file);
    let reference = text(&REFERENCE).filter(|path| !path.is_empty());
    let metadata = json!({
        "task_type": task_type,
        "question_type": text(&TYPE),
        "reference_mode": if reference.is_some() { "FR" } else { "NR" },
    });
    let id = fields.get("sample_id").or(fields.get("id"));
    let sample_id = match id {
        Some(Value::String(id)) => id.clone(),
        Some(Value::Number(id)) => format!("agenticiqa_eval_{}_{id}", task_type.unwrap_or("task")),
        _ => format!("agenticiqa_eval_{index:04}"),
    };
    let sample = Sample {
        sample_id,
        query: text(&QUESTION).ok_or("its question is no text")?,
        options: Some(options),
        answer,
        split: Some("test".to_owned()),
        ..Sample::default()
    };
    let content = stem(reference.as_ref().unwrap_or(&image));
    Ok(Entry { image, reference, content, sample }.with_metadata(metadata))
}

/// Reads options as a list, or by letter.
fn options(value: Option<&Value>) -> Result<Vec<String>, String> {
    let texts: Option<Vec<String>> = match value {
        Some(Value::Array(list)) => list.iter().map(|option| option.as_str().map(str::to_owned)).collect(),
        Some(Value::Object(by_letter)) => by_letter.values().map(|option| option.as_str().map(str::to_owned)).collect(),
        _ => None,
    };
    texts.filter(|texts| texts.len() >= 2).ok_or_else(|| "its options are not a list of at least two texts".to_owned())
}

/// Returns the letter of an answer that is a letter, a lettered option or the text of an option.
fn answer_letter(answer: &str, options: &[String]) -> Result<String, String> {
    let answer = answer.trim();
    let by_text = options.iter().position(|option| option.trim().eq_ignore_ascii_case(answer));
    let first = answer.trim_start_matches('(').chars().next().map(|c| c.to_ascii_uppercase());
    let bare =
        answer.len() == 1 || answer[answer.len().min(1)..].starts_with(['.', ')', ':']) || answer.starts_with('(');
    let by_letter = first.filter(|c| bare && c.is_ascii_uppercase()).map(|c| (c as u8 - b'A') as usize);
    by_text
        .or(by_letter.filter(|place| *place < options.len()))
        .map(letter)
        .ok_or_else(|| format!("its answer {answer:?} is none of its {} options", options.len()))
}

fn first<'a>(object: &'a Map<String, Value>, names: &[&str]) -> Option<&'a Value> {
    names.iter().find_map(|name| object.get(*name)).filter(|value| !value.is_null())
}

/// Returns the task that a name means.
fn task(name: &str) -> Option<&'static str> {
    let name = name.to_lowercase().replace([' ', '-'], "_");
    let by_part = if name.contains("distortion") {
        Some("executor_distortion")
    } else if name.contains("tool") {
        Some("executor_tool")
    } else {
        None
    };
    by_part.or_else(|| TASKS.into_iter().find(|task| name.contains(task)))
}

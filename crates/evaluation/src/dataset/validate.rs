//! Validates a manifest: every line, every path, and consistency across lines.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value};

use super::Error;
use super::manifest::{Sample, lines, resolve, without_place};

/// A problem in a manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The line number, from 1.
    pub line: usize,
    /// The sample ID, if known.
    pub sample_id: Option<String>,
    /// The field.
    pub field: String,
    /// What is wrong, and how to fix it.
    pub reason: String,
}

/// The result of a validation.
#[derive(Debug, Clone, Serialize)]
pub struct Validation {
    /// The number of non-blank lines.
    pub samples: usize,
    /// The number of samples with a reference.
    pub with_reference: usize,
    /// The number of samples with an opinion.
    pub with_mos: usize,
    /// The number of samples with a correct answer.
    pub with_answer: usize,
    /// The number of samples in each split.
    pub splits: BTreeMap<String, usize>,
    /// All problems, by line.
    pub problems: Vec<Problem>,
}

/// Validates fields, ranges, duplicates and splits that share a scene. Checks files unless `paths`
/// is false.
pub fn validate(path: &Path, paths: bool) -> Result<Validation, Error> {
    let mut check = Check { path, paths, ids: HashMap::new(), scenes: HashMap::new(), found: Validation::new() };
    for line in lines(path)? {
        let (line, text) = line?;
        check.found.samples += 1;
        check.line(line, &text);
    }
    if check.found.samples == 0 {
        check.found.problems.push(Problem {
            line: 1,
            sample_id: None,
            field: "manifest".into(),
            reason: "there are no samples in it".into(),
        });
    }
    Ok(check.found)
}

impl Validation {
    fn new() -> Self {
        let (splits, problems) = (BTreeMap::new(), Vec::new());
        Self { samples: 0, with_reference: 0, with_mos: 0, with_answer: 0, splits, problems }
    }
}

struct Check<'a> {
    path: &'a Path,
    paths: bool,
    ids: HashMap<String, usize>,
    /// The split of each reference, and the line that set it.
    scenes: HashMap<String, (String, usize)>,
    found: Validation,
}

impl Check<'_> {
    fn line(&mut self, line: usize, text: &str) {
        let object: Map<String, Value> = match serde_json::from_str(text) {
            Ok(object) => object,
            Err(error) => {
                return self.problem(line, None, "line", format!("not a JSON object: {}", without_place(&error)));
            }
        };
        let id = object.get("sample_id").and_then(Value::as_str).map(str::to_owned);
        for field in ["sample_id", "query", "image_path"] {
            match object.get(field) {
                None => self.problem(line, id.clone(), field, "it is required".into()),
                Some(Value::String(text)) if text.trim().is_empty() => {
                    self.problem(line, id.clone(), field, "it is empty".into());
                }
                Some(Value::String(_)) => {}
                Some(Value::Number(_)) if field == "sample_id" => {}
                Some(other) => self.problem(line, id.clone(), field, format!("it must be a text, not {other}")),
            }
        }
        let reader: Value = object.into();
        match serde_path_to_error::deserialize::<_, Sample>(reader) {
            Ok(sample) => self.sample(line, &sample),
            Err(error) => {
                let field = error.path().to_string();
                let reason = without_place(error.inner());
                if !self.found.problems.iter().any(|known| known.line == line) {
                    self.problem(line, id, field.trim_start_matches('.'), reason);
                }
            }
        }
    }

    fn sample(&mut self, line: usize, sample: &Sample) {
        let id = Some(sample.sample_id.clone());
        if let Some(first) = self.ids.get(&sample.sample_id) {
            let reason = format!("line {first} has the same: give each sample its own");
            self.problem(line, id.clone(), "sample_id", reason);
        } else if !sample.sample_id.is_empty() {
            self.ids.insert(sample.sample_id.clone(), line);
        }
        self.opinion(line, sample);
        self.answer(line, sample);
        self.found.with_reference += usize::from(sample.reference_path.is_some());
        *self.found.splits.entry(sample.split.clone().unwrap_or_else(|| "none".into())).or_default() += 1;
        self.scene(line, sample);
        let files = [("image_path", Some(&sample.image_path)), ("reference_path", sample.reference_path.as_ref())];
        for (field, name) in files {
            if !self.paths {
                break;
            }
            let Some(name) = name.filter(|name| !name.is_empty()) else { continue };
            if let Err(reason) = readable(&resolve(self.path, name)) {
                self.problem(line, id.clone(), field, reason);
            }
        }
    }

    fn opinion(&mut self, line: usize, sample: &Sample) {
        let id = || Some(sample.sample_id.clone());
        self.found.with_mos += usize::from(sample.mos.is_some());
        if let Some([low, high]) = sample.mos_range {
            if low.is_nan() || high.is_nan() || low >= high {
                return self.problem(
                    line,
                    id(),
                    "mos_range",
                    format!("[{low}, {high}] must be two numbers, the lower first"),
                );
            }
            if let Some(mos) = sample.mos.filter(|mos| !(low..=high).contains(mos)) {
                self.problem(line, id(), "mos", format!("{mos} is outside mos_range [{low}, {high}]"));
            }
        }
        if let Some(deviation) = sample.mos_std.filter(|deviation| *deviation < 0.0) {
            self.problem(line, id(), "mos_std", format!("{deviation} is below 0"));
        }
    }

    fn answer(&mut self, line: usize, sample: &Sample) {
        self.found.with_answer += usize::from(sample.answer.is_some());
        let (Some(answer), Some(options)) = (&sample.answer, &sample.options) else { return };
        let mut letters = answer.trim().chars();
        let letter = letters.next().filter(|_| letters.next().is_none()).map(|letter| letter.to_ascii_uppercase());
        let by_letter = letter.is_some_and(|letter| (letter as usize).wrapping_sub('A' as usize) < options.len());
        if !by_letter && !options.iter().any(|option| option.trim() == answer.trim()) {
            let reason = format!("{answer:?} is neither a letter nor the text of one of the {} options", options.len());
            self.problem(line, Some(sample.sample_id.clone()), "answer", reason);
        }
    }

    /// Images of one reference must not be in two splits: training would see the test data.
    fn scene(&mut self, line: usize, sample: &Sample) {
        let (Some(reference), Some(split)) = (&sample.reference_path, &sample.split) else { return };
        match self.scenes.get(reference) {
            None => {
                self.scenes.insert(reference.clone(), (split.clone(), line));
            }
            Some((other, first)) if other != split => {
                let reason = format!("{split:?}, but line {first} has the same reference in {other:?}");
                self.problem(line, Some(sample.sample_id.clone()), "split", reason);
            }
            Some(_) => {}
        }
    }

    fn problem(&mut self, line: usize, sample_id: Option<String>, field: &str, reason: String) {
        self.found.problems.push(Problem { line, sample_id, field: field.to_owned(), reason });
    }
}

fn readable(path: &Path) -> Result<(), String> {
    let name = path.display();
    match std::fs::metadata(path) {
        Err(error) => Err(format!("{name}: {error}")),
        Ok(found) if !found.is_file() => Err(format!("{name} is no file")),
        Ok(found) if found.len() == 0 => Err(format!("{name} is empty")),
        Ok(_) => Ok(()),
    }
}

//! A sample of a batch: a question about an image, with additional fields.

use std::path::PathBuf;

use agenticiqa_imaging::files::path_text;
use serde_json::{Map, Value};

use crate::path_rules::PathRules;
use agenticiqa_agent::state::RegionBox;
use agenticiqa_agent::{Input, Request};

/// One question about one image.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// The line number in the input, counted from 1.
    pub line: u64,
    /// The ID, unique within the input.
    pub sample_id: String,
    /// The question.
    pub query: String,
    /// The path of the image.
    pub image_path: PathBuf,
    /// The path of the reference image.
    pub reference_path: Option<PathBuf>,
    /// The options of a multiple-choice question.
    pub options: Vec<String>,
    /// The named regions of the image.
    pub regions: Vec<RegionBox>,
    /// All other fields, copied into the record.
    pub input: Map<String, Value>,
}

/// An invalid line: the reason, and its readable fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaw {
    /// The line number in the input, counted from 1.
    pub line: u64,
    /// What is wrong, and how to fix it.
    pub message: String,
    /// The sample ID, if present.
    pub sample_id: Option<String>,
    /// The question, if present.
    pub query: Option<String>,
    /// The image path, if present.
    pub image_path: Option<String>,
}

impl Flaw {
    /// Creates a flaw without any known fields.
    pub fn new(line: u64, message: impl Into<String>) -> Self {
        Self { line, message: message.into(), sample_id: None, query: None, image_path: None }
    }

    /// Creates a flaw for a sample that cannot be assessed.
    pub fn of(sample: &Sample, message: impl Into<String>) -> Self {
        Self {
            line: sample.line,
            message: message.into(),
            sample_id: Some(sample.sample_id.clone()),
            query: Some(sample.query.clone()),
            image_path: Some(path_text(&sample.image_path)),
        }
    }
}

impl Sample {
    /// Reads the fields of a line.
    pub fn read(line: u64, fields: Map<String, Value>, paths: &PathRules) -> Result<Self, Flaw> {
        let known = |name: &str| fields.get(name).and_then(plain);
        let partial = Flaw {
            sample_id: known("sample_id"),
            query: known("query"),
            image_path: known("image_path"),
            ..Flaw::new(line, "")
        };
        Self::take(line, fields, paths).map_err(|message| Flaw { message, ..partial })
    }

    fn take(line: u64, mut fields: Map<String, Value>, paths: &PathRules) -> Result<Self, String> {
        let required = |value: Option<Value>, name: &str| {
            let value = value.filter(|value| !value.is_null());
            let value = value.ok_or_else(|| format!("{name} is missing: add it to the line"))?;
            let text = plain(&value).ok_or_else(|| format!("{name} must be text, not {value}"))?;
            if text.is_empty() { Err(format!("{name} is empty: give it a value")) } else { Ok(text) }
        };
        let sample_id = required(fields.shift_remove("sample_id"), "sample_id")?;
        let query = required(fields.shift_remove("query"), "query")?;
        let image_path = required(fields.shift_remove("image_path"), "image_path")?;
        let reference = fields.shift_remove("reference_path").filter(|value| !value.is_null());
        let reference = reference.filter(|value| value.as_str() != Some(""));
        let reference = reference.map(|value| required(Some(value), "reference_path")).transpose()?;
        let options = fields.shift_remove("options").map_or(Ok(Vec::new()), options)?;
        let regions = fields.shift_remove("regions").map_or(Ok(Vec::new()), regions)?;
        Ok(Self {
            line,
            sample_id,
            query,
            image_path: paths.find(&image_path),
            reference_path: reference.map(|path| paths.find(&path)),
            options,
            regions,
            input: fields,
        })
    }

    /// Converts the sample to a request for the agent.
    pub fn request(self, tools: &[String]) -> Request {
        Request {
            sample_id: Some(self.sample_id),
            query: self.query,
            options: self.options,
            reference: self.reference_path.map(Input::Path),
            regions: self.regions,
            tools: tools.to_vec(),
            input: self.input,
            ..Request::new(Input::Path(self.image_path))
        }
    }
}

/// Returns a field as text. Sample IDs are often numbers.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Reads the options: a list, or an object with letters as keys.
fn options(value: Value) -> Result<Vec<String>, String> {
    const FORM: &str = "options must be a list of texts, such as [\"Blur\", \"Noise\"]";
    let texts = |values: Vec<Value>| values.iter().map(|value| plain(value).ok_or(FORM.to_owned())).collect();
    match value {
        Value::Null => Ok(Vec::new()),
        Value::String(text) if text.trim().is_empty() => Ok(Vec::new()),
        Value::Array(values) => texts(values),
        Value::Object(letters) => {
            let mut letters: Vec<(String, Value)> = letters.into_iter().collect();
            letters.sort_by(|first, second| first.0.cmp(&second.0));
            texts(letters.into_iter().map(|(_, text)| text).collect())
        }
        // In a table, a list is written as JSON or with bars between its entries.
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(list @ (Value::Array(_) | Value::Object(_))) => options(list),
            _ => Ok(text.split('|').map(|option| option.trim().to_owned()).collect()),
        },
        _ => Err(FORM.to_owned()),
    }
}

/// Reads the regions, in the format of records or of the command line.
fn regions(value: Value) -> Result<Vec<RegionBox>, String> {
    const FORM: &str = "regions must be a list such as [{\"name\": \"face\", \"x\": 120, \"y\": 40, \"width\": 200, \
                        \"height\": 200}] or [\"face=120,40,200,200\"]";
    match value {
        Value::Null => Ok(Vec::new()),
        Value::String(text) if text.trim().is_empty() => Ok(Vec::new()),
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(list @ Value::Array(_)) => regions(list),
            _ => text.split(';').map(str::parse).collect(),
        },
        Value::Array(values) => values.into_iter().map(region).collect(),
        _ => Err(FORM.to_owned()),
    }
}

fn region(value: Value) -> Result<RegionBox, String> {
    match value {
        Value::String(text) => text.parse(),
        other => serde_json::from_value(other).map_err(|error| format!("regions: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(line: Value) -> Result<Sample, Flaw> {
        let Value::Object(fields) = line else { panic!("not an object") };
        Sample::read(7, fields, &PathRules::new(None, None))
    }

    #[test]
    fn what_is_not_ours_travels_along() {
        let sample = read(json!({"sample_id": 17, "mos": 3.5, "query": " Rate it. ", "image_path": "a.png",
            "reference_path": null, "options": ["Good", "Bad"], "regions": ["face=1,2,3,4"], "metadata": {"level": 2}}));
        let sample = sample.unwrap();
        assert_eq!((sample.sample_id.as_str(), sample.query.as_str()), ("17", "Rate it."));
        assert_eq!((sample.options.len(), sample.regions[0].width, sample.reference_path), (2, 3, None));
        assert_eq!(Value::Object(sample.input), json!({"mos": 3.5, "metadata": {"level": 2}}));
    }

    #[test]
    fn a_flaw_names_the_field_and_keeps_what_is_known() {
        let flaw = read(json!({"sample_id": "a", "query": "Rate it."})).unwrap_err();
        assert_eq!(flaw.message, "image_path is missing: add it to the line");
        assert_eq!((flaw.line, flaw.sample_id.as_deref()), (7, Some("a")));
        let with = |field: &str, value: Value| {
            let mut line = json!({"sample_id": "a", "query": "Rate it.", "image_path": "a.png"});
            line[field] = value;
            read(line).unwrap_err().message
        };
        assert_eq!(with("query", json!(" ")), "query is empty: give it a value");
        assert_eq!(with("sample_id", json!([1])), "sample_id must be text, not [1]");
        assert!(with("options", json!(3)).starts_with("options must be a list"));
        assert!(with("regions", json!([{"name": "x", "x": -1}])).starts_with("regions: "));
        assert!(with("regions", json!(["face"])).contains("NAME=x,y,w,h"));
    }

    #[test]
    fn options_are_a_list_letters_or_a_cell_of_a_table() {
        let expected = vec!["Blur".to_owned(), "Noise".to_owned()];
        for form in [json!(["Blur", "Noise"]), json!({"B": "Noise", "A": "Blur"}), json!("Blur | Noise")] {
            assert_eq!(options(form).unwrap(), expected);
        }
        assert_eq!(options(json!("[\"Blur\", \"Noise\"]")).unwrap(), expected);
        assert_eq!(options(json!("")).unwrap(), Vec::<String>::new());
    }
}

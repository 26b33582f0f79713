//! The manifest: one sample per line.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::{Path, PathBuf};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::Error;
use agenticiqa_batch::path_rules::PathRules;
use agenticiqa_imaging::files::write_atomically;

/// An image, a question about it, and the opinion of people.
///
/// Manifests written by this crate have absolute paths. Relative paths are resolved by
/// [`PathRules`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// The ID of the sample, unique within the manifest. A number is read as text.
    #[serde(deserialize_with = "name")]
    pub sample_id: String,
    /// The image.
    pub image_path: String,
    /// The reference image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_path: Option<String>,
    /// The question.
    #[serde(default)]
    pub query: String,
    /// The options of a multiple-choice question. Options by letter are read in the order of the
    /// letters.
    #[serde(default, deserialize_with = "options", skip_serializing_if = "Option::is_none")]
    pub options: Option<Vec<String>>,
    /// The letter of the correct option.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// The mean opinion score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mos: Option<f64>,
    /// The standard deviation of the opinions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mos_std: Option<f64>,
    /// The ends of the opinion scale, the lower first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mos_range: Option<[f64; 2]>,
    /// Whether a higher opinion is better. Default: true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub higher_is_better: Option<bool>,
    /// The split: train, validation or test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<String>,
    /// The name of the dataset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dataset: Option<String>,
    /// Distortion, level and other properties.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    /// Other fields, kept unchanged.
    #[serde(flatten)]
    pub other: BTreeMap<String, Value>,
}

impl Sample {
    /// Returns the opinion mapped linearly to 1 (bad) to 5 (excellent).
    pub fn opinion(&self) -> Result<f64, String> {
        let mos = self.mos.ok_or("it has no mos")?;
        let [low, high] = self.mos_range.ok_or("it has no mos_range, the ends of the scale that mos is on")?;
        if !(low < high && (high - low).is_finite()) {
            return Err(format!("mos_range [{low}, {high}] must be two numbers, the lower first"));
        }
        let share = (mos - low) / (high - low);
        Ok(1.0 + 4.0 * if self.higher_is_better == Some(false) { 1.0 - share } else { share })
    }
}

fn name<'de, D: Deserializer<'de>>(reader: D) -> Result<String, D::Error> {
    match Value::deserialize(reader)? {
        Value::String(text) => Ok(text),
        Value::Number(number) => Ok(number.to_string()),
        other => Err(D::Error::custom(format!("it must be a text, not {other}"))),
    }
}

fn options<'de, D: Deserializer<'de>>(reader: D) -> Result<Option<Vec<String>>, D::Error> {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let texts: Option<Vec<String>> = match Value::deserialize(reader)? {
        Value::Null => return Ok(None),
        Value::Array(list) => list.iter().map(text).collect(),
        Value::Object(by_letter) => {
            let ordered: BTreeMap<&String, &Value> = by_letter.iter().collect();
            ordered.into_values().map(text).collect()
        }
        _ => None,
    };
    texts.map(Some).ok_or_else(|| D::Error::custom("options must be a list of texts, such as [\"Blur\", \"Noise\"]"))
}

/// The samples of a manifest with their line numbers.
#[derive(Debug, Clone)]
pub struct Manifest {
    /// The path of the manifest.
    pub path: PathBuf,
    /// Line number and sample.
    pub samples: Vec<(usize, Sample)>,
}

impl Manifest {
    /// Reads a manifest. The first invalid line is an error.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let mut samples = Vec::new();
        for line in lines(path)? {
            let (line, text) = line?;
            let sample: Sample =
                serde_json::from_str(&text).map_err(|error| Error::line(path, line, without_place(&error)))?;
            samples.push((line, sample));
        }
        if samples.is_empty() {
            return Err(Error::file(path, "there are no samples in it"));
        }
        Ok(Self { path: path.to_owned(), samples })
    }

    /// Resolves a path of a sample.
    pub fn resolve(&self, path: &str) -> PathBuf {
        resolve(&self.path, path)
    }

    /// Writes samples as a manifest, completely or not at all.
    pub fn write(path: &Path, samples: &[Sample]) -> Result<(), Error> {
        let mut text = Vec::new();
        for sample in samples {
            serde_json::to_writer(&mut text, sample).map_err(|error| Error::file(path, error))?;
            text.push(b'\n');
        }
        write_atomically(path, &text).map_err(|error| Error::file(path, format!("it cannot be written: {error}")))
    }
}

/// Resolves a path in a manifest: relative to the working folder or to the manifest.
pub(super) fn resolve(manifest: &Path, path: &str) -> PathBuf {
    PathRules::new(None, Some(manifest)).find(path)
}

/// Reads the non-blank lines of a file, numbered from 1.
pub(crate) fn lines(path: &Path) -> Result<impl Iterator<Item = Result<(usize, String), Error>>, Error> {
    let file = std::fs::File::open(path).map_err(|error| Error::file(path, error))?;
    let path = path.to_owned();
    let number = move |(index, line): (usize, std::io::Result<String>)| match line {
        Ok(text) if text.trim().is_empty() => None,
        Ok(text) => Some(Ok((index + 1, text.trim_start_matches('\u{feff}').to_owned()))),
        Err(error) => Some(Err(Error::line(&path, index + 1, error))),
    };
    Ok(std::io::BufReader::new(file).lines().enumerate().filter_map(number))
}

/// Returns a JSON error without its position, because the parser always sees line 1.
pub(crate) fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opinions_are_put_on_the_scale_from_1_to_5() {
        let sample = |mos, range, higher| Sample {
            mos: Some(mos),
            mos_range: Some(range),
            higher_is_better: higher,
            ..Sample::default()
        };
        assert_eq!(sample(9.0, [0.0, 9.0], None).opinion(), Ok(5.0));
        assert_eq!(sample(0.25, [0.0, 1.0], Some(false)).opinion(), Ok(4.0));
        assert!(sample(1.0, [1.0, 1.0], None).opinion().is_err());
        assert!(Sample::default().opinion().unwrap_err().contains("no mos"));
    }

    #[test]
    fn fields_that_are_not_ours_stay() {
        let line = r#"{"sample_id":"a","image_path":"a.png","query":"q","camera":{"iso":100}}"#;
        let sample: Sample = serde_json::from_str(line).unwrap();
        assert_eq!(serde_json::to_string(&sample).unwrap(), line);
    }

    #[test]
    fn names_may_be_numbers_and_options_may_have_letters() {
        let line = r#"{"sample_id": 7, "image_path": "a.png", "options": {"B": "Noise", "A": "Blur"}}"#;
        let sample: Sample = serde_json::from_str(line).unwrap();
        assert_eq!(
            (sample.sample_id.as_str(), sample.options.unwrap()),
            ("7", vec!["Blur".to_owned(), "Noise".to_owned()])
        );
        let wrong = serde_json::from_str::<Sample>(&line.replace(r#""Blur""#, "[]")).unwrap_err().to_string();
        assert!(wrong.starts_with("options must be a list of texts"), "{wrong}");
    }

    #[test]
    fn a_bad_line_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.jsonl");
        std::fs::write(&path, "{\"sample_id\":\"a\",\"image_path\":\"a.png\"}\n\n{\"sample_id\":[1]}\n").unwrap();
        let error = Manifest::read(&path).unwrap_err().to_string();
        assert!(error.ends_with("m.jsonl, line 3: it must be a text, not [1]"), "{error}");
    }
}

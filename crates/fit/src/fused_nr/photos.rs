//! Photos with opinions and labels, and what the built-in models say about them.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agenticiqa_imaging::Decoder;
use agenticiqa_vision::analysis;
use agenticiqa_vision::fused_nr::{self, Reading};
use agenticiqa_vision::perception::{self, Examination};
use rayon::prelude::*;
use serde::Deserialize;

use crate::error::Error;
use crate::samples::hash;

/// One photo in this many is kept for validation.
const VALIDATION: u64 = 5;

/// A photo with opinions.
pub struct Photo {
    pub name: String,
    pub path: PathBuf,
    /// Mean opinion, 1 to 5.
    pub opinion: f64,
    /// Subset of the dataset.
    pub subset: u64,
    pub label: Option<Label>,
    pub reading: Arc<Reading>,
    pub examination: Examination,
    /// The level of each category that perception alone finds.
    pub perceived: Vec<f64>,
}

/// What somebody saw in a photo.
#[derive(Deserialize, Clone)]
pub struct Label {
    pub sample_id: String,
    pub lighting: String,
    pub exposure: String,
    pub sharpness: String,
    pub noise: String,
    pub compression: String,
    pub contrast: String,
    pub haze: bool,
    #[serde(rename = "colour")]
    pub color: String,
    pub cast: String,
    pub sharpened: bool,
    pub main_problem: String,
}

/// A line of the manifest.
#[derive(Deserialize)]
pub struct Line {
    pub sample_id: String,
    pub image_path: PathBuf,
    mos: f64,
    mos_range: [f64; 2],
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Metadata {
    subset: u64,
}

impl Line {
    /// Returns the mean opinion, 1 to 5.
    pub fn opinion(&self) -> f64 {
        let [low, high] = self.mos_range;
        1.0 + 4.0 * (self.mos - low) / (high - low)
    }
}

/// Reads the manifest of a folder.
pub fn lines(folder: &Path) -> Result<Vec<Line>, Error> {
    Ok(text(&folder.join("manifest.jsonl"))?.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
}

fn text(path: &Path) -> Result<String, Error> {
    fs::read_to_string(path).map_err(|error| Error::file(path, error))
}

/// Reads the manifest and examines the photos that are kept for validation.
pub fn read(folder: &Path, labels: &Path) -> Result<Vec<Photo>, Error> {
    examine(folder, &read_labels(labels)?, |_| true)
}

/// Like [`read`], but only photos with a label that is wanted.
pub fn read_labeled(folder: &Path, labels: &Path, wanted: impl Fn(&Label) -> bool + Sync) -> Result<Vec<Photo>, Error> {
    examine(folder, &read_labels(labels)?, |label| label.is_some_and(&wanted))
}

fn read_labels(path: &Path) -> Result<HashMap<String, Label>, Error> {
    let labels: Vec<Label> = text(path)?.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    Ok(labels.into_iter().map(|label| (label.sample_id.clone(), label)).collect())
}

fn examine(
    folder: &Path,
    labels: &HashMap<String, Label>,
    wanted: impl Fn(Option<&Label>) -> bool + Sync,
) -> Result<Vec<Photo>, Error> {
    let kept = |line: &Line| validation(&line.sample_id) && wanted(labels.get(&line.sample_id));
    lines(folder)?
        .into_par_iter()
        .filter(kept)
        .map(|line| {
            let path = folder.join(&line.image_path);
            let image = Decoder::default().open(&path)?.image;
            Ok(Photo {
                opinion: line.opinion(),
                subset: line.metadata.subset,
                label: labels.get(&line.sample_id).cloned(),
                reading: fused_nr::read(&image)?,
                examination: analysis::examine(&image, None)?,
                perceived: perception::examine(&image, None)?.findings.iter().map(|finding| finding.level).collect(),
                name: line.sample_id,
                path,
            })
        })
        .collect()
}

/// Returns whether a photo is kept for validation, which depends only on its name.
pub fn validation(name: &str) -> bool {
    (hash(name) / 7).is_multiple_of(VALIDATION)
}

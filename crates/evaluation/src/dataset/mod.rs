//! Converts public datasets to manifests and validates manifests.
//!
//! A manifest is JSON Lines with one [`Sample`] per line: the input of `batch` plus the opinions of
//! people. Each dataset has one source file that describes where its images and scores are.

mod agenticiqa_eval;
mod agiqa3k;
mod bid;
mod csiq;
mod files;
mod kadid10k;
mod koniq10k;
mod live;
mod live_challenge;
mod llvisionqa;
mod manifest;
mod pipal;
mod spaq;
mod split;
mod table;
#[cfg(test)]
#[allow(clippy::unwrap_used)] // helpers outside `#[test]` functions are test code too
mod testing;
#[cfg(test)]
mod tests;
mod tid2013;
mod validate;

use agenticiqa_metrics::fold_name;
use std::path::{Path, PathBuf};

use serde_json::Value;

pub use manifest::{Manifest, Sample};
pub(crate) use manifest::{lines, without_place};
pub use split::Shares;
pub use validate::{Problem, Validation, validate};

use files::Files;

/// The question for every rated image. It asks for a score.
pub const QUERY: &str = "Rate the overall quality of this image.";

/// The reason why a dataset could not be prepared or a manifest could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be read or is invalid.
    #[error("{}: {reason}", path.display())]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// A line of a file is invalid.
    #[error("{}, line {line}: {reason}", path.display())]
    Line {
        /// The path of the file.
        path: PathBuf,
        /// The line number, from 1.
        line: usize,
        /// The reason.
        reason: String,
    },
    /// A file of the dataset is missing.
    #[error("{}: no {wanted} in it: {hint}", root.display())]
    Absent {
        /// The folder that was searched.
        root: PathBuf,
        /// The missing file.
        wanted: String,
        /// How to get it.
        hint: String,
    },
    /// Rated images are missing.
    #[error(
        "{}: {count} images with scores are not there, such as {}",
        root.display(), examples.join(", ")
    )]
    Pictures {
        /// The folder that was searched.
        root: PathBuf,
        /// The number of missing images.
        count: usize,
        /// The first missing images.
        examples: Vec<String>,
    },
    /// The dataset is unknown.
    #[error("no dataset is called {name:?}; there are {}", names().join(", "))]
    Unknown {
        /// The requested name.
        name: String,
    },
}

impl Error {
    pub(crate) fn file(path: &Path, reason: impl ToString) -> Self {
        Self::File { path: path.to_owned(), reason: reason.to_string() }
    }

    fn line(path: &Path, line: usize, reason: impl ToString) -> Self {
        Self::Line { path: path.to_owned(), line, reason: reason.to_string() }
    }
}

/// Information about a dataset.
#[derive(Debug, Clone, Copy)]
pub struct Info {
    /// The name as in papers.
    pub name: &'static str,
    /// A one-sentence description.
    pub summary: &'static str,
    /// The files that are read, as published.
    pub layout: &'static str,
}

/// A dataset with the function that reads its files.
struct Dataset {
    info: Info,
    read: fn(&Files) -> Result<Vec<Entry>, Error>,
}

/// All datasets, in the order of the documentation.
static DATASETS: &[Dataset] = &[
    tid2013::DATASET,
    kadid10k::DATASET,
    live::DATASET,
    csiq::DATASET,
    pipal::DATASET,
    live_challenge::DATASET,
    koniq10k::DATASET,
    bid::DATASET,
    spaq::DATASET,
    agiqa3k::DATASET,
    agenticiqa_eval::DATASET,
    llvisionqa::DATASET,
];

/// Returns the information about every dataset.
pub fn all() -> impl Iterator<Item = &'static Info> {
    DATASETS.iter().map(|dataset| &dataset.info)
}

fn names() -> Vec<&'static str> {
    all().map(|info| info.name).collect()
}

/// A sample before its files are located.
struct Entry {
    /// The image, as a path below some folder of the dataset.
    image: String,
    /// The reference image.
    reference: Option<String>,
    /// The scene. All images of a scene are in the same split.
    content: String,
    /// The other fields. The paths are filled in later.
    sample: Sample,
}

/// The scale of opinions.
#[derive(Clone, Copy)]
struct Scale {
    range: [f64; 2],
    higher_is_better: bool,
}

impl Scale {
    /// Widens the scale to whole numbers if opinions exceed it. Realigned scores and ratings have
    /// no fixed ends.
    fn around(self, opinions: impl Iterator<Item = f64> + Clone) -> Self {
        let [low, high] = self.range;
        let range = [opinions.clone().fold(low, f64::min).floor(), opinions.fold(high, f64::max).ceil()];
        Self { range, ..self }
    }
}

impl Entry {
    /// Creates a rated image. It is its own scene unless a reference is set.
    fn scored(prefix: &str, image: &str, mos: f64, scale: Scale) -> Self {
        let sample = Sample {
            sample_id: format!("{prefix}_{}", files::stem(image)),
            query: QUERY.to_owned(),
            mos: Some(mos),
            mos_range: Some(scale.range),
            higher_is_better: Some(scale.higher_is_better),
            ..Sample::default()
        };
        Self { image: image.to_owned(), reference: None, content: files::stem(image), sample }
    }

    /// Sets the reference, which also defines the scene.
    fn against(mut self, reference: &str) -> Self {
        self.content = files::stem(reference);
        self.reference = Some(reference.to_owned());
        self
    }

    /// Sets the standard deviation of the opinions.
    fn with_deviation(mut self, deviation: Option<f64>) -> Self {
        self.sample.mos_std = deviation;
        self
    }

    /// Sets the metadata.
    fn with_metadata(mut self, metadata: Value) -> Self {
        if let Value::Object(metadata) = metadata {
            self.sample.metadata = metadata;
        }
        self
    }
}

/// The options for preparing a manifest.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Leave out missing images.
    pub skip_missing: bool,
    /// The shares of the splits for datasets without official splits.
    pub shares: Shares,
}

/// A prepared manifest.
#[derive(Debug)]
pub struct Prepared {
    /// The dataset.
    pub info: &'static Info,
    /// The samples, in the order of the dataset.
    pub samples: Vec<Sample>,
    /// The missing images that were left out.
    pub missing: Vec<String>,
}

/// Reads a dataset below `root`. Dataset and file names ignore case; dataset names also ignore `-`,
/// `_` and blanks.
pub fn prepare(name: &str, root: &Path, options: &Options) -> Result<Prepared, Error> {
    let dataset = DATASETS
        .iter()
        .find(|dataset| fold_name(dataset.info.name) == fold_name(name))
        .ok_or_else(|| Error::Unknown { name: name.to_owned() })?;
    let files = Files::walk(root)?;
    let mut entries = (dataset.read)(&files)?;
    split::assign(dataset.info.name, &mut entries, &options.shares);
    let (mut samples, mut missing) = (Vec::new(), Vec::new());
    for entry in entries {
        let absent = |name: &String| files.find(name).is_none();
        let not_there: Vec<&String> = [Some(&entry.image), entry.reference.as_ref()].into_iter().flatten().collect();
        match not_there.into_iter().find(|name| absent(name)) {
            Some(name) => missing.push(name.clone()),
            None => samples.push(entry.place(&files, dataset.info.name)),
        }
    }
    if !missing.is_empty() && (!options.skip_missing || samples.is_empty()) {
        let examples = missing.iter().take(3).cloned().collect();
        return Err(Error::Pictures { root: root.to_owned(), count: missing.len(), examples });
    }
    Ok(Prepared { info: &dataset.info, samples, missing })
}

impl Entry {
    fn place(self, files: &Files, dataset: &str) -> Sample {
        let path = |name: &String| files.find(name).map(|path| path.display().to_string());
        Sample {
            image_path: path(&self.image).unwrap_or_default(),
            reference_path: self.reference.as_ref().and_then(path),
            dataset: Some(dataset.to_owned()),
            ..self.sample
        }
    }
}

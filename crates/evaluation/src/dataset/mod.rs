//! Public datasets: from the files as each is published to one manifest, and the check of any manifest.
//!
//! A manifest is JSON Lines, one [`Sample`] a line: what `batch` reads, with the opinion of people beside it. One file
//! a dataset says where its images and scores lie.

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
#[allow(clippy::unwrap_used)] // what lies outside `#[test]` functions is test code too
mod testing;
#[cfg(test)]
mod tests;
mod tid2013;
mod validate;

use std::path::{Path, PathBuf};

use serde_json::Value;

pub use manifest::{Manifest, Sample};
pub(crate) use manifest::{lines, without_place};
pub use split::Shares;
pub use validate::{Problem, Validation, validate};

use files::Files;

/// The question of every image that people scored; it asks for a score.
pub const QUERY: &str = "Rate the overall quality of this image.";

/// Why a dataset could not be prepared or a manifest not be read; messages name the file and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be read or makes no sense.
    #[error("{}: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A line of a file makes no sense.
    #[error("{}, line {line}: {reason}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// A file that the dataset comes with is not there.
    #[error("{}: no {wanted} in it: {hint}", root.display())]
    Absent {
        /// The folder that was searched.
        root: PathBuf,
        /// The file that was looked for.
        wanted: String,
        /// What to do.
        hint: String,
    },
    /// Images that have scores are not there.
    #[error(
        "{}: {count} images with scores are not there, such as {}",
        root.display(), examples.join(", ")
    )]
    Pictures {
        /// The folder that was searched.
        root: PathBuf,
        /// How many.
        count: usize,
        /// The first few.
        examples: Vec<String>,
    },
    /// There is no such dataset.
    #[error("no dataset is called {name:?}; there are {}", names().join(", "))]
    Unknown {
        /// The name that was asked for.
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

/// What is known of a dataset.
#[derive(Debug, Clone, Copy)]
pub struct Info {
    /// The name as papers spell it.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub summary: &'static str,
    /// The files that are read, as they are published.
    pub layout: &'static str,
}

/// A dataset: what is known of it, and how its files are read.
struct Dataset {
    info: Info,
    read: fn(&Files) -> Result<Vec<Entry>, Error>,
}

/// Every dataset, in the order of the documentation.
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

/// What is known of every dataset.
pub fn all() -> impl Iterator<Item = &'static Info> {
    DATASETS.iter().map(|dataset| &dataset.info)
}

fn names() -> Vec<&'static str> {
    all().map(|info| info.name).collect()
}

/// A sample before its files are found.
struct Entry {
    /// The image, by its path below some folder of the dataset.
    image: String,
    /// What it is compared with.
    reference: Option<String>,
    /// The scene: all images of one are in the same split.
    content: String,
    /// The rest; its paths are filled in later.
    sample: Sample,
}

/// The scale that people's opinions are on.
#[derive(Clone, Copy)]
struct Scale {
    range: [f64; 2],
    higher_is_better: bool,
}

impl Scale {
    /// The scale, widened to whole numbers where opinions go beyond it: realigned scores and ratings have no fixed ends.
    fn around(self, opinions: impl Iterator<Item = f64> + Clone) -> Self {
        let [low, high] = self.range;
        let range = [opinions.clone().fold(low, f64::min).floor(), opinions.fold(high, f64::max).ceil()];
        Self { range, ..self }
    }
}

impl Entry {
    /// An image that people scored; it is its own scene until one is named.
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

    /// The same, compared with a reference, whose scene it shows.
    fn against(mut self, reference: &str) -> Self {
        self.content = files::stem(reference);
        self.reference = Some(reference.to_owned());
        self
    }

    /// The same with the standard deviation of the opinions.
    fn with_deviation(mut self, deviation: Option<f64>) -> Self {
        self.sample.mos_std = deviation;
        self
    }

    /// The same with facts about it.
    fn with_metadata(mut self, metadata: Value) -> Self {
        if let Value::Object(metadata) = metadata {
            self.sample.metadata = metadata;
        }
        self
    }
}

/// How a manifest is made.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Leave out images that are not there.
    pub skip_missing: bool,
    /// How scenes are shared out where the dataset has no splits of its own.
    pub shares: Shares,
}

/// A manifest that was made.
#[derive(Debug)]
pub struct Prepared {
    /// The dataset.
    pub info: &'static Info,
    /// The samples, in the dataset's order.
    pub samples: Vec<Sample>,
    /// The images that were left out because they are not there.
    pub missing: Vec<String>,
}

/// Reads a dataset below `root`. Names match without regard to case, `-`, `_` and blanks; so do file names.
pub fn prepare(name: &str, root: &Path, options: &Options) -> Result<Prepared, Error> {
    let fold =
        |name: &str| -> String { name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect() };
    let dataset = DATASETS
        .iter()
        .find(|dataset| fold(dataset.info.name) == fold(name))
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

//! Reports of one or several runs: a self-contained HTML page, and the same facts as Markdown.
//!
//! A file of records is read once. Only a few numbers per record and its position are kept. Then
//! the cases to show are selected, and only their records are read again.

mod cases;
mod charts;
mod details;
mod document;
mod page;
mod pictures;
mod run;
mod sections;
mod stream;
mod tally;
#[cfg(test)]
mod tests;
mod words;

use std::path::{Path, PathBuf};

use agenticiqa_statistics::Bootstrap;

use crate::eval::Comparison;
use crate::eval::compare::{Judged, compare};
use crate::{dataset, eval};
use agenticiqa_imaging::files::write_atomically;

pub use cases::Kind;
pub use pictures::Studio;
pub use run::Run;
pub use stream::Broken;
pub use tally::{Quantiles, Tally, ToolUse};

/// The reason why there is no report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] dataset::Error),
    /// A file contains no records.
    #[error("{}: {reason}", path.display())]
    NoRecords {
        /// The path of the file.
        path: PathBuf,
        /// What the file contains instead.
        reason: String,
    },
    /// Scores cannot be compared with opinions.
    #[error(transparent)]
    Evaluation(#[from] eval::Error),
    /// The template cannot be rendered.
    #[error("the report cannot be laid out: {0}")]
    Layout(#[from] minijinja::Error),
    /// A report file cannot be written.
    #[error("{}: the report cannot be written: {error}", path.display())]
    Output {
        /// The path of the file.
        path: PathBuf,
        /// The cause.
        error: std::io::Error,
    },
}

/// The options of a report.
#[derive(Debug, Clone)]
pub struct Options<'a> {
    /// The title. Default: the names of the files.
    pub title: Option<String>,
    /// The number of cases of each kind.
    pub cases: usize,
    /// Fields to group by. Default: the distortion, if present.
    pub group_by: Vec<String>,
    /// How confidence intervals are computed. Its seed also selects random cases.
    pub bootstrap: Bootstrap,
    /// Where relative image paths start. Default: the working folder, or the folder of the file.
    pub root: Option<PathBuf>,
    /// Renders images and maps; without it, none are shown.
    pub studio: Option<Studio<'a>>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        let bootstrap = Bootstrap::default();
        Self { title: None, cases: 4, group_by: Vec::new(), bootstrap, root: None, studio: None }
    }
}

/// The progress of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// The number of bytes read, of all files.
    Read(u64),
    /// Computing statistics.
    Evaluating,
    /// The number of cases with images, and the total.
    Cases(usize, usize),
}

/// A report of one or several runs.
#[derive(Debug)]
pub struct Report {
    /// The title.
    pub title: String,
    /// The runs, one per file.
    pub runs: Vec<Run>,
    /// The comparisons of the first run with each of the others, if both have opinions.
    pub comparisons: Vec<Comparison>,
    seed: u64,
}

impl Report {
    /// Reads files of records, evaluates them and selects cases.
    pub fn of(inputs: &[PathBuf], options: &Options<'_>, told: &(dyn Fn(Progress) + Sync)) -> Result<Self, Error> {
        let mut runs: Vec<Run> = Vec::new();
        let mut read = 0;
        for path in inputs {
            let before = read;
            let run = Run::read(path, runs.len() + 1, options, &mut |bytes| told(Progress::Read(before + bytes)))?;
            read += run.bytes;
            runs.push(run);
        }
        told(Progress::Evaluating);
        for run in &mut runs {
            run.evaluate(options)?;
        }
        let chosen: usize = runs.iter().map(|run| run.chosen.len()).sum();
        let mut done = 0;
        for run in &mut runs {
            run.look_at_cases(options, &mut || {
                done += 1;
                told(Progress::Cases(done, chosen));
            })?;
        }
        let names: Vec<&str> = runs.iter().map(|run| run.name.as_str()).collect();
        let title = options.title.clone().unwrap_or_else(|| format!("Image quality: {}", names.join(", ")));
        let comparisons = comparisons(&runs, &options.bootstrap);
        Ok(Self { title, runs, comparisons, seed: options.bootstrap.seed })
    }

    /// Returns the report as one HTML page without external resources.
    pub fn html(&self) -> Result<String, Error> {
        page::html(self)
    }

    /// Returns the same facts as Markdown, without images.
    pub fn markdown(&self) -> Result<String, Error> {
        page::markdown(self)
    }

    /// Writes `report.html` and `report.md` into a folder, each completely or not at all.
    pub fn write(&self, folder: &Path) -> Result<[PathBuf; 2], Error> {
        let files = [folder.join("report.html"), folder.join("report.md")];
        for (path, text) in files.iter().zip([self.html()?, self.markdown()?]) {
            write_atomically(path, text.as_bytes()).map_err(|error| Error::Output { path: path.clone(), error })?;
        }
        Ok(files)
    }
}

/// Compares the first run with each of the others, on their common samples.
fn comparisons(runs: &[Run], bootstrap: &Bootstrap) -> Vec<Comparison> {
    let judged = |run: &Run| -> Option<(String, Judged)> {
        let evaluated = run.correlation.as_ref()?.evaluated.first()?;
        Some((run.name.clone(), evaluated.points.clone()))
    };
    let mut judged = runs.iter().filter_map(judged);
    let Some((name, points)) = judged.next() else { return Vec::new() };
    judged.map(|(other, others)| compare((&name, &points), (&other, &others), bootstrap)).collect()
}

//! A report of one or several runs: one page that opens without a network, and the same facts as Markdown.
//!
//! A file of records is read once from end to end; of each record stay a few numbers and its place in the file. When all are
//! known, the cases that are worth a look are chosen, and only their records are read again.

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

/// Why there is no report; messages say what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] dataset::Error),
    /// A file has no records.
    #[error("{}: {reason}", path.display())]
    NoRecords {
        /// The file.
        path: PathBuf,
        /// What it has instead, and what to do.
        reason: String,
    },
    /// Scores cannot be compared with opinions.
    #[error(transparent)]
    Evaluation(#[from] eval::Error),
    /// The page cannot be made of its template.
    #[error("the report cannot be laid out: {0}")]
    Layout(#[from] minijinja::Error),
    /// A file of the report cannot be written.
    #[error("{}: the report cannot be written: {error}", path.display())]
    Output {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
}

/// What a report is to have.
#[derive(Debug, Clone)]
pub struct Options<'a> {
    /// Its title; the names of the files by default.
    pub title: Option<String>,
    /// How many cases of each kind are shown.
    pub cases: usize,
    /// Fields to group by; the distortion by default, where samples name it.
    pub group_by: Vec<String>,
    /// How intervals are drawn; its seed also chooses among equals.
    pub bootstrap: Bootstrap,
    /// Where relative paths of images start; the working folder or the file's own by default.
    pub root: Option<PathBuf>,
    /// Who makes images and maps; none are shown without.
    pub studio: Option<Studio<'a>>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        let bootstrap = Bootstrap::default();
        Self { title: None, cases: 4, group_by: Vec::new(), bootstrap, root: None, studio: None }
    }
}

/// What goes on while a report is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// So many bytes of all files are read.
    Read(u64),
    /// Figures with intervals are worked out.
    Evaluating,
    /// So many cases of all have their images.
    Cases(usize, usize),
}

/// What is known of the runs.
#[derive(Debug)]
pub struct Report {
    /// The title.
    pub title: String,
    /// Each file by itself.
    pub runs: Vec<Run>,
    /// The first run against each of the others, where both have opinions.
    pub comparisons: Vec<Comparison>,
    seed: u64,
}

impl Report {
    /// Reads files of records, evaluates them and chooses cases.
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

    /// One page with everything in it.
    pub fn html(&self) -> Result<String, Error> {
        page::html(self)
    }

    /// The same facts as Markdown, without images.
    pub fn markdown(&self) -> Result<String, Error> {
        page::markdown(self)
    }

    /// Writes `report.html` and `report.md` into a folder, each whole or not at all.
    pub fn write(&self, folder: &Path) -> Result<[PathBuf; 2], Error> {
        let files = [folder.join("report.html"), folder.join("report.md")];
        for (path, text) in files.iter().zip([self.html()?, self.markdown()?]) {
            write_atomically(path, text.as_bytes()).map_err(|error| Error::Output { path: path.clone(), error })?;
        }
        Ok(files)
    }
}

/// The first run against each of the others, on the samples that both have.
fn comparisons(runs: &[Run], bootstrap: &Bootstrap) -> Vec<Comparison> {
    let judged = |run: &Run| -> Option<(String, Judged)> {
        let evaluated = run.correlation.as_ref()?.evaluated.first()?;
        Some((run.name.clone(), evaluated.points.clone()))
    };
    let mut judged = runs.iter().filter_map(judged);
    let Some((name, points)) = judged.next() else { return Vec::new() };
    judged.map(|(other, others)| compare((&name, &points), (&other, &others), bootstrap)).collect()
}

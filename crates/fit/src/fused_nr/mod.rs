//! `agenticiqa-fit fused-nr`: fits Fused-NR to opinions and to generated distortions, and reports
//! its accuracy on data that was left out.

mod heads;
mod report;
mod ridge;
mod samples;
mod train;

use std::path::PathBuf;

use clap::Args;

use crate::error::Error;
use samples::{Content, Photo};
use train::Parts;

/// Number of best-rated photos that count as free of distortions.
const GOOD: usize = 400;

/// Arguments of `fused-nr`.
#[derive(Args)]
pub struct Arguments {
    /// Folder with photos, opinions and a manifest.jsonl
    #[arg(long)]
    opinions: PathBuf,
    /// Folders of clean photos to distort as well
    #[arg(long, num_args = 0..)]
    photos: Vec<PathBuf>,
    /// Number of best-rated photos with opinions to distort
    #[arg(long, default_value_t = 40)]
    best: usize,
    /// Folder that caches features
    #[arg(long)]
    cache: PathBuf,
    /// Model file to write
    #[arg(long)]
    output: PathBuf,
    /// Report file to write [default: print the report]
    #[arg(long)]
    report: Option<PathBuf>,
}

/// Fits the model, writes it, and returns the report.
pub fn run(arguments: &Arguments) -> Result<String, Error> {
    std::fs::create_dir_all(&arguments.cache).map_err(|error| Error::file(&arguments.cache, error))?;
    let photos = samples::photos(&arguments.opinions, &arguments.cache)?;
    let mut ranked: Vec<_> = photos.iter().collect();
    ranked.sort_by(|a, b| b.opinion.total_cmp(&a.opinion).then_with(|| a.name.cmp(&b.name)));
    let mut paths: Vec<_> =
        ranked.iter().take(arguments.best).map(|photo| (photo.path.clone(), photo.name.clone())).collect();
    paths.extend(
        crate::corpus::collect(&arguments.photos, 0, 0)?.into_iter().map(|content| (content.path, content.name)),
    );
    let contents = samples::contents(&paths, &arguments.cache)?;
    let seen: Vec<&Photo> = photos.iter().filter(|photo| !photo.validation).collect();
    let damaged: Vec<&Content> = contents.iter().filter(|content| !content.validation).collect();
    if seen.is_empty() {
        return Err(Error::Nothing("there are no photos with opinions".to_owned()));
    }
    let empty = train::empty(&seen);
    let parts = Parts::new(&empty, &seen, &damaged);
    let model = parts.complete(empty)?;
    let bytes = model.write()?;
    std::fs::write(&arguments.output, &bytes).map_err(|error| Error::file(&arguments.output, error))?;
    let good: Vec<&Photo> = ranked.iter().take(GOOD).copied().collect();
    let text = format!(
        "Fitted to {} photos with opinions and {} photos that were damaged. The model has {} bytes.\n\n{}{}",
        seen.len(),
        damaged.len(),
        bytes.len(),
        report::report(&model, &parts, &photos, &contents)?,
        heads::compare(&model, &good, &contents)?,
    );
    match &arguments.report {
        Some(path) => std::fs::write(path, &text).map(|()| String::new()).map_err(|error| Error::file(path, error)),
        None => Ok(text),
    }
}

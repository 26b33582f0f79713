//! `agenticiqa-fit fused-nr`: reports how well Fused-NR, the attributes and the findings agree with
//! people, on photos that nothing was fitted to.
//!
//! The model itself is trained by `scripts/training`. This report uses the code that users run.

mod attributes;
mod damage;
mod findings;
pub mod photos;
mod reasons;
mod score;

use std::io::Write as _;
use std::path::PathBuf;

use clap::Args;

use crate::error::Error;

/// Arguments of `fused-nr`.
#[derive(Args)]
pub struct Arguments {
    /// Folder with photos, opinions and a manifest.jsonl
    #[arg(long)]
    opinions: PathBuf,
    /// File with the attributes of the photos, one JSON object per line
    #[arg(long)]
    labels: PathBuf,
    /// Folders of clean photos to distort
    #[arg(long, num_args = 0..)]
    photos: Vec<PathBuf>,
    /// File to write what the models say about each photo to, one JSON object per line
    #[arg(long)]
    outputs: Option<PathBuf>,
}

/// Returns the report.
pub fn run(arguments: &Arguments) -> Result<String, Error> {
    let photos = photos::read(&arguments.opinions, &arguments.labels)?;
    if let Some(path) = &arguments.outputs {
        let mut file = std::fs::File::create(path).map_err(|error| Error::file(path, error))?;
        for photo in &photos {
            let json = serde_json::json!({
                "name": photo.name, "outputs": photo.reading.outputs(),
                "unusual": photo.reading.judgment.unusual, "perceived": photo.perceived,
            });
            writeln!(file, "{json}").map_err(|error| Error::file(path, error))?;
        }
    }
    if photos.is_empty() {
        return Err(Error::Nothing("there are no photos for validation".to_owned()));
    }
    let validation: Vec<&photos::Photo> = photos.iter().collect();
    let mut report = score::report(&validation);
    report += &attributes::report(&validation);
    report += &findings::report(&validation);
    report += &reasons::report(&validation);
    report += &reasons::contradictions(validation.iter().map(|photo| &photo.examination));
    report += &damage::report(&damage::contents(&validation, &arguments.photos)?)?;
    Ok(report)
}

//! `agenticiqa-fit detector`: reports how many of the labeled subjects the detector finds, and how
//! much it finds that nobody labeled.

mod fit;
mod labels;
mod report;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use agenticiqa_imaging::Decoder;
use agenticiqa_vision::detector::{self, Candidate, Detection};
use clap::{Args, ValueEnum};
use rayon::prelude::*;

use crate::error::Error;
use crate::fused_nr::photos::validation;

/// Arguments of `detector`.
#[derive(Args)]
pub struct Arguments {
    /// File with the labels of the photos, one JSON object per line
    #[arg(long)]
    labels: PathBuf,
    /// Folder that the image paths in the labels start from
    #[arg(long)]
    images: PathBuf,
    /// The photos to use: the fifth kept for validation, or the others
    #[arg(long, value_enum, default_value = "validation")]
    part: Part,
    /// Use one photo in this many
    #[arg(long, default_value_t = 1)]
    step: usize,
    /// Print the weights that fit these photos best, instead of the report
    #[arg(long)]
    fit: bool,
    /// File to write the candidates of each photo to, one JSON object per line
    #[arg(long)]
    outputs: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    Validation,
    Fit,
}

/// A photo with its labels and what the detector finds.
pub struct Photo {
    labels: labels::Photo,
    width: f64,
    height: f64,
    found: Vec<Detection>,
    candidates: Vec<Candidate>,
}

/// Returns the report.
pub fn run(arguments: &Arguments) -> Result<String, Error> {
    let labeled = labels::read(&arguments.labels)?.into_iter();
    let wanted = labeled.filter(|photo| validation(&photo.sample_id) == (arguments.part == Part::Validation));
    let wanted: Vec<labels::Photo> = wanted.step_by(arguments.step.max(1)).collect();
    let photos: Vec<Photo> =
        wanted.into_par_iter().map(|labels| look(labels, &arguments.images)).collect::<Result<_, _>>()?;
    if photos.is_empty() {
        return Err(Error::Nothing("there are no photos".to_owned()));
    }
    if let Some(path) = &arguments.outputs {
        write(path, &photos).map_err(|error| Error::file(path, error))?;
    }
    Ok(if arguments.fit { fit::fit(&photos) } else { report::report(&photos) })
}

fn look(labels: labels::Photo, images: &Path) -> Result<Photo, Error> {
    let image = Decoder::default().open(images.join(&labels.image_path))?.image;
    let (found, candidates) = (detector::detect(&image)?, detector::candidates(&image)?);
    Ok(Photo { labels, width: image.width() as f64, height: image.height() as f64, found, candidates })
}

fn write(path: &Path, photos: &[Photo]) -> std::io::Result<()> {
    let mut file = std::io::BufWriter::new(std::fs::File::create(path)?);
    for photo in photos {
        let found: Vec<_> = photo
            .candidates
            .iter()
            .map(|one| {
                let (edges, measurements) = (&one.edges, &one.measurements);
                serde_json::json!({"name": one.name, "probability": one.probability, "edges": edges, "measurements": measurements, "shape": one.shape})
            })
            .collect();
        writeln!(file, "{}", serde_json::json!({"sample_id": photo.labels.sample_id, "found": found}))?;
    }
    file.flush()
}

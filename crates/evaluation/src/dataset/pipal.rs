//! PIPAL (Gu et al., ECCV 2020): restored images with references; Elo ratings.
//!
//! `Train_Label/A0001.txt` and so on have a line "name,rating" for each image; references are
//! `Train_Ref/A0001.bmp`. The distorted images come in several archives, whose folders need not be
//! merged. A validation set with labels becomes a split.

use serde_json::json;

use super::files::{Files, number, read_text, stem};
use super::{Dataset, Entry, Error, Info, Scale};

pub(super) const DATASET: Dataset = Dataset {
    info: Info {
        name: "PIPAL",
        summary: "23200 restored images of 200 references; ratings by Elo, about 900 to 1800",
        layout: "Train_Label/A0001.txt ..., Train_Ref/, Train_Dist/ or Distortion_1/ ... (also Val_Label/, Val_Ref/, Val_Dist/)",
    },
    read,
};

/// Ratings have no fixed ends. The range is widened to the data.
const SCALE: Scale = Scale { range: [900.0, 1800.0], higher_is_better: true };

/// The distortion groups by the first number of a name.
const GROUPS: [&str; 7] = [
    "traditional distortions",
    "super-resolution, interpolation",
    "super-resolution, dictionaries",
    "super-resolution, PSNR-oriented",
    "super-resolution, kernel mismatch",
    "super-resolution, GAN",
    "denoising",
];

fn read(files: &Files) -> Result<Vec<Entry>, Error> {
    let folder = |path: &std::path::Path| {
        path.parent().and_then(|folder| folder.file_name()).map(|name| name.to_string_lossy().to_lowercase())
    };
    let mut rated = Vec::new();
    for path in files.with_extension("txt") {
        let split = match folder(path).unwrap_or_default() {
            name if name.starts_with("train_label") => "train",
            name if name.starts_with("val_label") => "validation",
            _ => continue,
        };
        for (index, line) in read_text(path)?.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let wrong = |reason: String| Error::line(path, index + 1, reason);
            let (name, rating) =
                line.split_once(',').ok_or_else(|| wrong(format!("{line:?} is not \"name,rating\"")))?;
            rated.push((split, name.trim().to_owned(), number(rating).map_err(wrong)?));
        }
    }
    if rated.is_empty() {
        files.require(&["Train_Label/A0001.txt"], "unpack Train_Label.zip, Train_Ref.zip and the images there")?;
    }
    let scale = SCALE.around(rated.iter().map(|(.., rating)| *rating));
    Ok(rated.iter().map(|(split, name, rating)| entry(split, name, *rating, scale)).collect())
}

fn entry(split: &str, name: &str, rating: f64, scale: Scale) -> Entry {
    let stem = stem(name);
    let mut parts = stem.split('_');
    let reference = parts.next().unwrap_or_default();
    let group = parts.next().and_then(|group| group.parse::<usize>().ok());
    let metadata = json!({"distortion": group.and_then(|group| GROUPS.get(group)), "distortion_type": group});
    let mut entry =
        Entry::scored("pipal", name, rating, scale).against(&format!("{reference}.bmp")).with_metadata(metadata);
    entry.sample.split = (split != "train").then(|| split.to_owned());
    entry
}

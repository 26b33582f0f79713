//! LIVE In the Wild, also called LIVE Challenge (Ghadiyaram, Bovik, IEEE TIP 25(1), 2016): mobile
//! photos, no reference.
//!
//! `Data/AllImages_release.mat`, `AllMOS_release.mat` and `AllStdDev_release.mat` list 1169 images.
//! The first 7, `t1.bmp` to `t7.bmp`, were shown only for training and are left out.

use super::files::{Files, stem};
use super::table::{mat_names, mat_numbers};
use super::{Dataset, Entry, Error, Info, Scale};

pub(super) const DATASET: Dataset = Dataset {
    info: Info {
        name: "LIVE-Challenge",
        summary: "1162 photos of phones, no reference; MOS 0 to 100",
        layout: "Data/AllImages_release.mat, Data/AllMOS_release.mat, Data/AllStdDev_release.mat, Images/",
    },
    read,
};

const SCALE: Scale = Scale { range: [0.0, 100.0], higher_is_better: true };

fn read(files: &Files) -> Result<Vec<Entry>, Error> {
    let hint = "unpack ChallengeDB_release there";
    let path = files.require(&["AllMOS_release.mat"], hint)?;
    let scores = mat_numbers(path, "AllMOS_release")?;
    let names = mat_names(files.require(&["AllImages_release.mat"], hint)?, "AllImages_release")?;
    let deviations = match files.find("AllStdDev_release.mat") {
        Some(path) => mat_numbers(path, "AllStdDev_release")?,
        None => Vec::new(),
    };
    if names.len() != scores.len() {
        let counts = format!("{} scores for {} names", scores.len(), names.len());
        return Err(Error::file(path, format!("{counts}: are the .mat files of one release?")));
    }
    let entry = |(index, name): (usize, &String)| {
        let deviation = deviations.get(index).copied();
        (!is_training(name)).then(|| Entry::scored("livec", name, scores[index], SCALE).with_deviation(deviation))
    };
    Ok(names.iter().enumerate().filter_map(entry).collect())
}

/// Returns whether a name is one of `t1.bmp` to `t7.bmp`.
fn is_training(name: &str) -> bool {
    let stem = stem(name);
    stem.strip_prefix('t').is_some_and(|number| !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()))
}

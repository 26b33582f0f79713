//! LIVE, release 2 (Sheikh, Sabir, Bovik, IEEE TIP 15(11), 2006): 29 references, 5 distortions.
//!
//! `dmos_realigned.mat` (dmos_new, dmos_std, orgs) is preferred to `dmos.mat` (dmos, orgs), as its
//! authors ask; `refnames_all.mat` names the references. All of them list jp2k, jpeg, wn, gblur and
//! fastfading in this order. `orgs` marks references among them, which are left out. Difference
//! scores: lower is better.

use serde_json::json;

use super::files::Files;
use super::table::{mat_names, mat_numbers};
use super::{Dataset, Entry, Error, Info, Scale};

pub(super) const DATASET: Dataset = Dataset {
    info: Info {
        name: "LIVE",
        summary: "779 images of 29 references, 5 distortions; DMOS, lower is better",
        layout: "dmos_realigned.mat or dmos.mat, refnames_all.mat, refimgs/, jp2k/, jpeg/, wn/, gblur/, fastfading/",
    },
    read,
};

const SCALE: Scale = Scale { range: [0.0, 100.0], higher_is_better: false };

/// The folders in the order of the score files, with their distortions.
const FOLDERS: [(&str, &str); 5] = [
    ("jp2k", "JPEG2000 compression"),
    ("jpeg", "JPEG compression"),
    ("wn", "white noise"),
    ("gblur", "Gaussian blur"),
    ("fastfading", "fast fading"),
];
/// The number of images of each folder in the release.
const COUNTS: [usize; 5] = [227, 233, 174, 174, 174];

fn read(files: &Files) -> Result<Vec<Entry>, Error> {
    let hint = "unpack databaserelease2 there, with its .mat files";
    let path = files.require(&["dmos_realigned.mat", "dmos.mat"], hint)?;
    let realigned = path.ends_with("dmos_realigned.mat");
    let scores = mat_numbers(path, if realigned { "dmos_new" } else { "dmos" })?;
    let deviations = if realigned { mat_numbers(path, "dmos_std")? } else { Vec::new() };
    let originals = mat_numbers(path, "orgs")?;
    let names_path = files.require(&["refnames_all.mat"], hint)?;
    let references = mat_names(names_path, "refnames_all")?;
    if scores.len() != originals.len() || scores.len() != references.len() {
        let counts = format!("{} scores, {} marks and {} names", scores.len(), originals.len(), references.len());
        return Err(Error::file(path, format!("{counts} do not fit: are all .mat files of one release?")));
    }
    let counts = counts(files, scores.len());
    let pictures =
        FOLDERS.iter().zip(counts).flat_map(|(folder, count)| (1..=count).map(move |number| (folder, number)));
    let rated = scores.iter().zip(&originals).filter(|(_, original)| **original == 0.0).map(|(score, _)| *score);
    let scale = SCALE.around(rated);
    let mut entries = Vec::new();
    for (index, ((folder, distortion), number)) in pictures.enumerate() {
        let (Some(score), Some(reference)) = (scores.get(index), references.get(index)) else { break };
        if originals[index] != 0.0 {
            continue;
        }
        let mut entry = Entry::scored("live", &format!("{folder}/img{number}.bmp"), *score, scale)
            .against(&format!("refimgs/{reference}"))
            .with_deviation(deviations.get(index).copied())
            .with_metadata(json!({"distortion": distortion}));
        entry.sample.sample_id = format!("live_{folder}_img{number}");
        entries.push(entry);
    }
    Ok(entries)
}

/// Returns the number of images of each folder: from the release, or from the files if there are
/// fewer scores.
fn counts(files: &Files, scores: usize) -> [usize; 5] {
    if scores == COUNTS.iter().sum::<usize>() {
        return COUNTS;
    }
    let there =
        |folder: &str| (1..).take_while(|number| files.find(&format!("{folder}/img{number}.bmp")).is_some()).count();
    FOLDERS.map(|(folder, _)| there(folder))
}

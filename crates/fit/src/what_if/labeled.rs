//! What edits gain on photos in which somebody saw a problem, and on photos without one.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use agenticiqa_imaging::{Decoder, encode_png};
use agenticiqa_metrics::{Image, Samples};
use agenticiqa_vision::repair::{Effort, WhatIf, what_if};
use agenticiqa_vision::vocabulary::Problem;
use rayon::prelude::*;

use super::Arguments;
use crate::error::Error;
use crate::fused_nr::photos::{self, Label, Photo};
use crate::samples::hash;
use crate::statistics::mean;

/// A good photo needs no fixing: gains up to this count as none.
const NO_GAIN: f64 = 0.1;
/// The label of photos without a problem.
const CLEAN: &str = "none";
/// Labels of photos that an edit should improve, with the problems that say so.
const MENDABLE: [(&str, &[Problem]); 5] = [
    ("underexposure", &[Problem::Underexposure, Problem::Backlight]),
    ("overexposure", &[Problem::Overexposure]),
    ("backlight", &[Problem::Backlight, Problem::Underexposure]),
    ("colour cast", &[Problem::ColorCast]),
    ("noise", &[Problem::Noise]),
];

/// Returns the figures, and writes pairs of photos if a folder is given.
pub fn report(Arguments { opinions, labels, pairs, clean_step, .. }: &Arguments) -> Result<String, Error> {
    let is_mendable = |label: &Label| MENDABLE.iter().any(|(name, _)| *name == label.main_problem);
    let is_clean =
        |label: &Label| label.main_problem == CLEAN && (hash(&label.sample_id) / 64).is_multiple_of(*clean_step);
    let photos = photos::read_labeled(opinions, labels, |label| is_mendable(label) || is_clean(label))?;
    let mut text = "## What edits gain on labeled photos\n\n\
        | label | photos | an edit is tried | it raises the score | by 0.05 or more | mean gain | any edit raises the score |\n\
        | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n"
        .to_owned();
    for (label, problems) in MENDABLE {
        let all = tried(&photos, label)?;
        let own: Vec<(&Photo, &WhatIf)> = all
            .iter()
            .filter_map(|(photo, tried)| Some((*photo, tried.iter().find(|one| problems.contains(&one.problem))?)))
            .collect();
        let gains: Vec<f64> = own.iter().map(|(_, one)| one.gain()).collect();
        let above = |least: f64| gains.iter().filter(|gain| **gain > least).count();
        let any = all.iter().filter(|(_, tried)| tried.first().is_some_and(|one| one.gain() > 0.0)).count();
        let (photos, edits, mean) = (all.len(), own.len(), mean(&gains));
        let _ =
            writeln!(text, "| {label} | {photos} | {edits} | {} | {} | {mean:.2} | {any} |", above(0.0), above(0.05));
        if let Some(folder) = pairs {
            for (photo, one) in own {
                let name = format!("{}-{}-{:+.2}.png", label.replace(' ', "-"), photo.name, one.gain());
                write_pair(&photo.path, one, &folder.join(name))?;
            }
        }
    }
    let clean = tried(&photos, CLEAN)?;
    let still = clean.iter().filter(|(_, tried)| tried.iter().all(|one| one.gain() <= NO_GAIN)).count();
    let mut gained: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for one in clean.iter().flat_map(|(_, tried)| tried.iter().filter(|one| one.gain() > NO_GAIN)) {
        gained.entry(one.problem.name()).or_default().push(format!("{:.2}", one.gain()));
    }
    let _ = writeln!(
        text,
        "\nOf {} photos labeled without a problem, {:.0} % gain at most {NO_GAIN} by any edit. The others gain:\n",
        clean.len(),
        100.0 * still as f64 / clean.len().max(1) as f64
    );
    for (problem, gains) in gained {
        let _ = writeln!(text, "- {problem}: {}", gains.join(", "));
    }
    Ok(text)
}

/// Returns what was tried on each photo with a label.
fn tried<'a>(photos: &'a [Photo], label: &str) -> Result<Vec<(&'a Photo, Vec<WhatIf>)>, Error> {
    let labeled = photos.par_iter().filter(|photo| photo.label.as_ref().is_some_and(|one| one.main_problem == label));
    labeled
        .map(|photo| {
            let image = Decoder::default().open(&photo.path)?.image;
            Ok((photo, what_if(&image, &photo.examination, Effort::Full)?.tried))
        })
        .collect()
}

/// Writes a photo and, to the right of it, the same photo after an edit.
fn write_pair(photo: &Path, tried: &WhatIf, path: &Path) -> Result<(), Error> {
    let before = Decoder::default().open(photo)?.image;
    let after = tried.edit().apply(&before)?;
    let (width, height) = (before.width(), before.height());
    let mut planes = Vec::with_capacity(6 * width * height);
    for channel in 0..3 {
        let sides = [before.channel(channel), after.channel(channel)];
        for y in 0..height {
            sides.iter().for_each(|side| planes.extend(side.row(y).iter().map(|sample| *sample as u8)));
        }
    }
    let pair = Image::from_planar_rgb(2 * width, height, Samples::Eight(planes))?;
    std::fs::write(path, encode_png(&pair)?).map_err(|error| Error::file(path, error))
}

//! `agenticiqa-fit parts`: fits how people see the parts of a photo, and reports how often it is right.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use agenticiqa_imaging::Decoder;
use agenticiqa_metrics::Region;
use agenticiqa_vision::regions::{Look, look};
use clap::Args;
use rayon::prelude::*;
use serde::Deserialize;

use crate::error::Error;
use crate::fused_nr::photos::validation;
use crate::linear::{logistic, logistic_with_pairs};

/// Penalty on large weights.
const PENALTY: f64 = 1.0;
/// Parts with a smaller share of the width or of the height are not judged.
const SMALLEST: [f64; 2] = [0.08, 0.12];

/// Arguments of `parts`.
#[derive(Args)]
pub struct Arguments {
    /// Folder that the paths of the labels start from
    #[arg(long)]
    photos: PathBuf,
    /// File with attributes and subjects of the photos, one JSON object per line
    #[arg(long)]
    labels: PathBuf,
    /// Print the weights that fit the other photos best, instead of the report
    #[arg(long)]
    fit: bool,
    /// Use one photo in this many
    #[arg(long, default_value_t = 1)]
    step: usize,
    /// File to write what was measured to, one JSON object per line
    #[arg(long)]
    outputs: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Label {
    sample_id: String,
    image_path: PathBuf,
    subjects: Vec<Subject>,
}

#[derive(Deserialize)]
struct Subject {
    name: String,
    #[serde(rename = "box")]
    place: [f64; 4],
    sharp: bool,
    light: String,
}

/// A labeled part of a photo, and how it looks to the program.
struct Part {
    photo: String,
    subject: Subject,
    look: Look,
}

/// Returns the report, or the weights.
pub fn run(arguments: &Arguments) -> Result<String, Error> {
    let text = fs::read_to_string(&arguments.labels).map_err(|error| Error::file(&arguments.labels, error))?;
    let labels: Vec<Label> = text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let wanted = labels.into_iter().filter(|label| validation(&label.sample_id) != arguments.fit);
    let wanted: Vec<Label> = wanted.step_by(arguments.step.max(1)).collect();
    let parts: Vec<Vec<Part>> =
        wanted.into_par_iter().map(|label| parts_of(&arguments.photos, label)).collect::<Result<_, _>>()?;
    if let Some(path) = &arguments.outputs {
        fs::write(path, lines(&parts)).map_err(|error| Error::file(path, error))?;
    }
    Ok(if arguments.fit { weights(&parts) } else { report(&parts) })
}

fn parts_of(folder: &Path, label: Label) -> Result<Vec<Part>, Error> {
    let image = Decoder::default().open(folder.join(&label.image_path))?.image;
    let mut parts = Vec::new();
    for subject in label.subjects {
        let [x, y, width, height] = subject.place;
        let pixel = |share: f64, size: usize| (share.clamp(0.0, 1.0) * size as f64).round() as usize;
        let (left, top) = (pixel(x, image.width()), pixel(y, image.height()));
        let (right, bottom) = (pixel(x + width, image.width()), pixel(y + height, image.height()));
        let region = Region { x: left, y: top, width: right - left, height: bottom - top };
        if width <= SMALLEST[0] || height <= SMALLEST[1] {
            continue;
        }
        let look = look(&image, &region).map_err(|error| Error::Nothing(error.to_string()))?;
        parts.push(Part { photo: label.sample_id.clone(), subject, look });
    }
    Ok(parts)
}

fn weights(photos: &[Vec<Part>]) -> String {
    let parts: Vec<&Part> = photos.iter().flatten().collect();
    let sharpness: Vec<Vec<f64>> = parts.iter().map(|part| part.look.of_sharpness.to_vec()).collect();
    let light: Vec<Vec<f64>> = parts.iter().map(|part| part.look.of_light.to_vec()).collect();
    let mut text = format!("{} parts\n", parts.len());
    let targets = |is: fn(&Subject) -> bool| -> Vec<bool> { parts.iter().map(|part| is(&part.subject)).collect() };
    let mut add = |name: &str, fitted: Vec<f64>| {
        let each: Vec<String> = fitted.iter().map(|weight| format!("{weight:.3}")).collect();
        let _ = writeln!(text, "{name}: [{}]", each.join(", "));
    };
    let of = |part: &Part| part.look.of_sharpness.to_vec();
    let pairs: Vec<(Vec<f64>, Vec<f64>)> = photos
        .iter()
        .flat_map(|parts| parts.iter().flat_map(move |one| parts.iter().map(move |other| (one, other))))
        .filter(|(one, other)| one.subject.sharp && !other.subject.sharp)
        .map(|(one, other)| (of(one), of(other)))
        .collect();
    add("sharp", logistic_with_pairs(&sharpness, &targets(|subject| subject.sharp), &pairs, PENALTY));
    add("dark", logistic(&light, &targets(|subject| subject.light == "dark"), PENALTY));
    add("bright", logistic(&light, &targets(|subject| subject.light == "bright"), PENALTY));
    text
}

fn report(photos: &[Vec<Part>]) -> String {
    let parts: Vec<&Part> = photos.iter().flatten().collect();
    let share = |right: usize, of: usize| format!("{:.1} % of {of}", 100.0 * right as f64 / of.max(1) as f64);
    let counted = |is: &dyn Fn(&&&Part) -> bool, right: &dyn Fn(&&&Part) -> bool| {
        let of = parts.iter().filter(|part| is(part));
        share(of.clone().filter(right).count(), of.count())
    };
    let sharp = |part: &&&Part| part.look.sharp >= 0.5;
    let face = |part: &&&Part| part.subject.name == "face";
    let light = |look: &Look| match (look.dark, look.bright) {
        (dark, bright) if dark >= 0.5 && dark >= bright => "dark",
        (_, bright) if bright >= 0.5 => "bright",
        _ => "medium",
    };
    let agrees = |part: &&&Part| sharp(part) == part.subject.sharp;
    format!(
        "{} parts of {} photos\n\n| question | right |\n| --- | --- |\n\
         | is it sharp: all parts | {} |\n| parts that are sharp | {} |\n| parts that are not | {} |\n\
         | faces that are sharp | {} |\n| faces that are not | {} |\n| is it dark, medium or bright | {} |\n\
         | which part is blurriest | {} |\n| which part is darkest | {} |\n| which part is brightest | {} |\n",
        parts.len(),
        photos.len(),
        counted(&|_| true, &agrees),
        counted(&|part| part.subject.sharp, &sharp),
        counted(&|part| !part.subject.sharp, &agrees),
        counted(&|part| part.subject.sharp && face(part), &sharp),
        counted(&|part| !part.subject.sharp && face(part), &agrees),
        counted(&|_| true, &|part| light(&part.look) == part.subject.light),
        which(photos, |subject| f64::from(u8::from(!subject.sharp)), |look| -look.sharp),
        which(photos, |subject| -lightness(subject), |look| look.dark - look.bright),
        which(photos, lightness, |look| look.bright - look.dark),
    )
}

fn lightness(subject: &Subject) -> f64 {
    match subject.light.as_str() {
        "dark" => 0.0,
        "bright" => 2.0,
        _ => 1.0,
    }
}

/// How often the part that is most of something is found, where the labels tell which part that is.
fn which(photos: &[Vec<Part>], label: impl Fn(&Subject) -> f64, seen: impl Fn(&Look) -> f64) -> String {
    let (mut right, mut count) = (0, 0);
    for parts in photos.iter().filter(|parts| parts.len() > 1) {
        let most = parts.iter().map(|part| label(&part.subject)).fold(f64::NEG_INFINITY, f64::max);
        let Some(chosen) = parts.iter().max_by(|a, b| seen(&a.look).total_cmp(&seen(&b.look))) else { continue };
        if parts.iter().filter(|part| label(&part.subject) == most).count() == 1 {
            count += 1;
            right += usize::from(label(&chosen.subject) == most);
        }
    }
    format!("{:.1} % of {count}", 100.0 * f64::from(right as u32) / f64::from(count.max(1) as u32))
}

fn lines(photos: &[Vec<Part>]) -> String {
    let line = |part: &Part| {
        let Part { photo, subject: Subject { name, sharp, light, .. }, look } = part;
        let json = serde_json::json!({
            "sample_id": photo, "name": name, "sharp": sharp, "light": light,
            "of_sharpness": look.of_sharpness, "of_light": look.of_light,
        });
        format!("{json}\n")
    };
    photos.iter().flatten().map(line).collect()
}

//! `agenticiqa-fit regions`: reports how often the places of an image are found, and how often a
//! background that is blurred on purpose is called a fault, on labeled photos.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use agenticiqa_imaging::Decoder;
use agenticiqa_metrics::{Image, Region};
use agenticiqa_vision::vocabulary::{Distortion, RegionBox, Severity};
use agenticiqa_vision::{analysis, regions};
use clap::Args;
use rayon::prelude::*;
use serde::Deserialize;

use crate::error::Error;
use crate::fused_nr::photos::validation;

/// Names of subjects that are found indoors only, where no sky is.
const INDOORS: [&str; 18] = [
    "table", "bowl", "plate", "cup", "desk", "keyboard", "shelf", "sofa", "bed", "curtain", "mug", "spoon", "tray",
    "cake", "laptop", "blanket", "mat", "pot",
];

/// Arguments of `regions`.
#[derive(Args)]
pub struct Arguments {
    /// Folder that the paths of the labels start from
    #[arg(long)]
    photos: PathBuf,
    /// File with attributes and subjects of the photos, one JSON object per line
    #[arg(long)]
    labels: PathBuf,
    /// Use the photos that models were fitted to instead of the others
    #[arg(long)]
    fitted: bool,
}

/// What somebody saw in a photo.
#[derive(Deserialize)]
struct Label {
    sample_id: String,
    image_path: PathBuf,
    sharpness: String,
    bokeh: bool,
    subjects: Vec<Subject>,
}

#[derive(Deserialize)]
struct Subject {
    name: String,
    #[serde(rename = "box")]
    place: [f64; 4],
}

impl Subject {
    fn region(&self, image: (usize, usize)) -> Region {
        let [x, y, width, height] = self.place;
        let pixel = |share: f64, size: usize| (share.clamp(0.0, 1.0) * size as f64).round() as usize;
        let (left, top) = (pixel(x, image.0), pixel(y, image.1));
        let (right, bottom) = (pixel(x + width, image.0), pixel(y + height, image.1));
        Region { x: left, y: top, width: right - left, height: bottom - top }
    }
}

/// A photo, and what the program says about it.
struct Photo {
    label: Label,
    size: (usize, usize),
    subject: Option<Region>,
    sky: Option<Region>,
    blurred: bool,
}

/// Returns the report.
pub fn run(arguments: &Arguments) -> Result<String, Error> {
    let text = fs::read_to_string(&arguments.labels).map_err(|error| Error::file(&arguments.labels, error))?;
    let labels: Vec<Label> = text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let wanted = |label: &Label| validation(&label.sample_id) != arguments.fitted;
    let chosen: Vec<Label> = labels.into_iter().filter(wanted).collect();
    let photos: Vec<Photo> =
        chosen.into_par_iter().map(|label| look(&arguments.photos, label)).collect::<Result<_, _>>()?;
    let mut report = format!("{} photos\n\n", photos.len());
    report += &sharpness(&photos);
    report += &places(&photos);
    Ok(report)
}

fn look(folder: &Path, label: Label) -> Result<Photo, Error> {
    let image = Decoder::default().open(folder.join(&label.image_path))?.image;
    let size = (image.width(), image.height());
    let blurred = analysis::examine(&image, None)
        .map_err(|error| Error::Nothing(error.to_string()))?
        .finding(Distortion::Blurs)
        .severity
        > Severity::None;
    let [subject, sky] = ["subject", "sky"].map(|name| place(&image, name));
    Ok(Photo { label, size, subject: subject?, sky: sky?, blurred })
}

fn place(image: &Image, name: &str) -> Result<Option<Region>, Error> {
    let found = regions::resolve(image, &[name]).map_err(|error| Error::Nothing(error.to_string()))?;
    Ok(found.first().filter(|found| found.is_place()).map(RegionBox::region))
}

/// How often photos are called blurred.
fn sharpness(photos: &[Photo]) -> String {
    let mut table = String::from("| photos | number | called blurred |\n| --- | ---: | ---: |\n");
    let mut line = |name: &str, is: &dyn Fn(&Label) -> bool| {
        let of: Vec<&Photo> = photos.iter().filter(|photo| is(&photo.label)).collect();
        let blurred = of.iter().filter(|photo| photo.blurred).count();
        let _ = writeln!(table, "| {name} | {} | {:.1} % |", of.len(), share(blurred, of.len()));
    };
    line("blurred background on purpose", &|label| label.bokeh);
    line("the same, subject sharp", &|label| label.bokeh && label.sharpness == "sharp");
    line("sharp everywhere", &|label| !label.bokeh && label.sharpness == "sharp");
    line("slightly soft", &|label| label.sharpness == "slightly soft");
    line("blurry or very blurry", &|label| label.sharpness.ends_with("blurry"));
    table + "\n"
}

/// How often subject and sky are found.
fn places(photos: &[Photo]) -> String {
    let is_sky = |subject: &&Subject| subject.name.ends_with("sky");
    let with_sky: Vec<(&Photo, Region)> = photos
        .iter()
        .filter_map(|photo| Some((photo, photo.label.subjects.iter().find(is_sky)?.region(photo.size))))
        .collect();
    let found: Vec<(&Region, &Region)> =
        with_sky.iter().filter_map(|(photo, labeled)| Some((photo.sky.as_ref()?, labeled))).collect();
    let inside = found.iter().filter(|(sky, labeled)| common(sky, labeled) >= 0.9 * area(sky)).count();
    let indoors = |photo: &&Photo| {
        let names = || photo.label.subjects.iter().map(|subject| subject.name.as_str());
        names().any(|name| INDOORS.contains(&name)) && !names().any(|name| name.ends_with("sky"))
    };
    let inner: Vec<&Photo> = photos.iter().filter(indoors).collect();
    let wrong = inner.iter().filter(|photo| photo.sky.is_some()).count();
    let first = |photo: &Photo| photo.label.subjects.first().map(|subject| subject.region(photo.size));
    let subjects: Vec<(Region, Option<&Region>)> =
        photos.iter().filter_map(|photo| Some((first(photo)?, photo.subject.as_ref()))).collect();
    let known = subjects.iter().filter(|(_, found)| found.is_some()).count();
    let right = |least: f64| {
        subjects.iter().filter(|(labeled, found)| found.is_some_and(|found| overlap(labeled, found) >= least)).count()
    };
    format!(
        "Sky: found in {:.1} % of {} photos with a labeled sky; of these boxes {:.1} % lie in the labeled one to nine \
         tenths. Found in {:.1} % of {} photos of things indoors.\n\nSubject: a box in {:.1} % of {} photos; it covers the \
         first labeled subject with an IoU of at least 0.5 in {:.1} %, of at least 0.3 in {:.1} % of all.\n",
        share(found.len(), with_sky.len()),
        with_sky.len(),
        share(inside, found.len()),
        share(wrong, inner.len()),
        inner.len(),
        share(known, subjects.len()),
        subjects.len(),
        share(right(0.5), subjects.len()),
        share(right(0.3), subjects.len()),
    )
}

fn share(count: usize, of: usize) -> f64 {
    100.0 * count as f64 / of.max(1) as f64
}

fn area(region: &Region) -> f64 {
    (region.width * region.height) as f64
}

/// Returns the area that two boxes share.
fn common(a: &Region, b: &Region) -> f64 {
    let side = |a: usize, a_length: usize, b: usize, b_length: usize| {
        (a + a_length).min(b + b_length).saturating_sub(a.max(b)) as f64
    };
    side(a.x, a.width, b.x, b.width) * side(a.y, a.height, b.y, b.height)
}

/// Returns the intersection over the union of two boxes.
fn overlap(a: &Region, b: &Region) -> f64 {
    let shared = common(a, b);
    shared / (area(a) + area(b) - shared).max(1.0)
}

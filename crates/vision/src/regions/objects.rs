//! What the detector finds, as places with names.

use agenticiqa_metrics::{Image, Region};

use super::meaning::fold;
use crate::detector::{self, Detection, THRESHOLD, knows};

/// At most this many things of one class are listed.
const MOST: usize = 12;
/// A subject has at least this share of the image.
const SMALLEST_SUBJECT: f64 = 0.01;
/// Words for many people that have no plural ending.
const MANY: &str = "people|men|women|children|crowd|family|geese|人群|人们";

/// Returns what the detector is sure of, the most probable first.
pub fn sure(image: &Image) -> Result<Vec<Detection>, detector::Error> {
    let found = detector::detect(image)?;
    Ok(found.into_iter().filter(|found| found.probability >= THRESHOLD).collect())
}

/// Finds the thing that a name means: the most prominent one, or all of them for a plural.
pub fn named(image: &Image, name: &str) -> Result<Option<Detection>, detector::Error> {
    let folded = fold(name);
    // "car 2" is the second one of the list.
    if folded.ends_with(|last: char| last.is_ascii_digit()) {
        return Ok(listed(image)?.into_iter().find(|(name, _)| *name == folded).map(|(_, found)| found));
    }
    let Some(class) = knows(&folded) else { return Ok(None) };
    let of_class: Vec<Detection> = sure(image)?.into_iter().filter(|found| found.name == class).collect();
    let plural = class != folded && (folded.ends_with('s') || MANY.split('|').any(|many| many == folded));
    if plural {
        let around = |all: Detection, next: Detection| Detection {
            region: union(&all.region, &next.region),
            probability: all.probability.max(next.probability),
            ..all
        };
        return Ok(of_class.into_iter().reduce(around));
    }
    Ok(of_class.into_iter().max_by(|a, b| prominence(a, image).total_cmp(&prominence(b, image))))
}

/// Returns the subject: the most prominent person, animal or thing. A face is part of a person.
pub fn subject(image: &Image) -> Result<Option<Detection>, detector::Error> {
    Ok(most_prominent(&sure(image)?, image))
}

/// Like [`subject`], but without a closer look at small things.
pub fn seen_first(image: &Image) -> Result<Option<Detection>, detector::Error> {
    let mut found = detector::glance(image)?;
    found.retain(|found| found.probability >= THRESHOLD);
    Ok(most_prominent(&found, image))
}

fn most_prominent(found: &[Detection], image: &Image) -> Option<Detection> {
    let area = (image.width() * image.height()) as f64;
    let large = |found: &&Detection| (found.region.width * found.region.height) as f64 >= SMALLEST_SUBJECT * area;
    let best = found.iter().filter(large).max_by(|a, b| prominence(a, image).total_cmp(&prominence(b, image)));
    best.copied()
}

/// Returns everything that was found, with names that differ: "person", "person 2".
pub fn listed(image: &Image) -> Result<Vec<(String, Detection)>, detector::Error> {
    let mut listed: Vec<(String, Detection)> = Vec::new();
    for found in sure(image)? {
        let count = 1 + listed.iter().filter(|(_, earlier)| earlier.name == found.name).count();
        if count <= MOST {
            let name = if count == 1 { found.name.to_owned() } else { format!("{} {count}", found.name) };
            listed.push((name, found));
        }
    }
    Ok(listed)
}

/// Large, sure and central things are prominent; people and animals more than furniture behind them.
fn prominence(found: &Detection, image: &Image) -> f64 {
    let Region { x, y, width, height } = found.region;
    let (whole_width, whole_height) = (image.width() as f64, image.height() as f64);
    let share = (width * height) as f64 / (whole_width * whole_height);
    let off = |start: usize, length: usize, whole: f64| (start as f64 + length as f64 / 2.0) / whole - 0.5;
    let (across, down) = (off(x, width, whole_width), off(y, height, whole_height));
    let central = (-(across * across + down * down) / 0.25).exp();
    share.sqrt() * f64::from(found.probability) * central
}

fn union(a: &Region, b: &Region) -> Region {
    let (x, y) = (a.x.min(b.x), a.y.min(b.y));
    let right = (a.x + a.width).max(b.x + b.width);
    let bottom = (a.y + a.height).max(b.y + b.height);
    Region { x, y, width: right - x, height: bottom - y }
}

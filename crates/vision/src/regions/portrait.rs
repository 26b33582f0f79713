//! A portrait whose face is soft although the background is sharp: the focus was missed.

use agenticiqa_metrics::{Image, Region};

use super::focus::top;
use super::layout::Layout;
use crate::detector::{self, Detection};

/// A background with this much detail is in focus: gradient times curvature.
const SHARP: f64 = 24.0;
/// At least this share of the background has that detail.
const WIDE: f64 = 0.05;
/// The eyes have less than this part of the detail of the background.
const SOFT: f64 = 0.15;
/// A portrait is a photo with a face of at least this share of the image.
const LARGE: f64 = 0.01;
/// A face has to be this likely.
const SURE: f32 = detector::THRESHOLD;

/// A face that is out of focus.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MissedFocus {
    /// The face.
    pub face: Region,
    /// Detail around the eyes.
    pub eyes: f64,
    /// Detail of the sharpest parts of the background.
    pub background: f64,
}

/// Returns the main face of a portrait if it is much softer than the background next to it and above it.
/// What lies below a face is its person, and hands that are held to the camera may be sharp on purpose.
pub fn missed_focus(image: &Image) -> Result<Option<MissedFocus>, detector::Error> {
    let layout = Layout::of(image);
    let detail: Vec<f64> = layout.cells.iter().map(|cell| cell.edge * cell.acuity).collect();
    // Without anything sharp no background is in focus. The networks need not look then.
    let sharp = detail.iter().filter(|detail| **detail >= SHARP).count();
    if (sharp as f64) < WIDE / 3.0 * detail.len() as f64 {
        return Ok(None);
    }
    let area = (image.width() * image.height()) as f64;
    let large = |face: &&Detection| (face.region.width * face.region.height) as f64 >= LARGE * area;
    let faces = detector::faces(image)?;
    let faces: Vec<&Detection> = faces.iter().filter(|face| face.probability >= SURE).collect();
    // In a group, one soft face does not spoil the photo.
    let [face] = faces[..] else { return Ok(None) };
    let Some(eyes) = Some(face).filter(large).and_then(around_eyes) else { return Ok(None) };
    let of = |inside: &dyn Fn(usize) -> bool| -> Vec<f64> {
        detail.iter().enumerate().filter(|(index, _)| inside(*index)).map(|(_, detail)| *detail).collect()
    };
    let own = of(&|index| layout.is_within(index, &eyes));
    let person = widened(&face.region, image.width());
    let beside = Region { x: 0, y: 0, width: image.width(), height: face.region.y + face.region.height };
    let background = of(&|index| layout.is_within(index, &beside) && !layout.is_within(index, &person));
    let wide = background.iter().filter(|detail| **detail >= SHARP).count() as f64;
    if own.is_empty() || wide < WIDE * background.len().max(1) as f64 {
        return Ok(None);
    }
    let (eyes, background) = (top(own.into_iter()), top(background.into_iter()));
    Ok((eyes < SOFT * background).then_some(MissedFocus { face: face.region, eyes, background }))
}

/// Returns the band of both eyes: lashes and brows have the finest detail of a face.
fn around_eyes(face: &Detection) -> Option<Region> {
    let [one, other] = face.eyes?;
    let distance = (one.0 - other.0).hypot(one.1 - other.1).max(1.0);
    let (left, right) = (one.0.min(other.0) - 0.5 * distance, one.0.max(other.0) + 0.5 * distance);
    let (top, bottom) = (one.1.min(other.1) - 0.5 * distance, one.1.max(other.1) + 0.5 * distance);
    let pixel = |edge: f32| edge.max(0.0).round() as usize;
    let (x, y) = (pixel(left), pixel(top));
    Some(Region { x, y, width: pixel(right).saturating_sub(x).max(1), height: pixel(bottom).saturating_sub(y).max(1) })
}

/// Returns the box of a face with its hair.
fn widened(face: &Region, width: usize) -> Region {
    let x = face.x.saturating_sub(face.width / 2);
    let right = (face.x + face.width + face.width / 2).min(width);
    let y = face.y.saturating_sub(face.height / 2);
    Region { x, y, width: right - x, height: face.y + face.height - y }
}

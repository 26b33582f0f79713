//! Finds faces and 80 kinds of objects in an image.
//!
//! Two networks look at the image: MobileNetV3-CenterNet for the 80 classes of COCO, and BlazeFace
//! for faces. Both are built in. See `docs/models/detector.md` for their origin and accuracy.
//!
//! ```
//! use agenticiqa_metrics::Image;
//! use agenticiqa_vision::detector;
//!
//! let flat = Image::from_gray8(200, 100, vec![128; 200 * 100])?;
//! assert!(detector::detect(&flat)?.is_empty());
//! assert_eq!(detector::knows("women"), Some("person"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod boxes;
mod faces;
mod likelihood;
mod model;
mod names;
mod objects;
mod view;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use agenticiqa_metrics::{Image, Region};

use boxes::Found;
pub use model::{Model, Unusable};
pub use names::{CLASSES, FACE, knows, other_names};

/// Probability below which something counts as not found. It was fitted to labeled photos.
pub const THRESHOLD: f32 = 0.5;
/// Probability below which something is not returned.
const LOWEST: f32 = 0.2;

/// Something that was found in an image.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Detection {
    /// Class of COCO, or "face".
    pub name: &'static str,
    /// Where it is, in pixels of the image.
    pub region: Region,
    /// How likely it is that it is there.
    pub probability: f32,
}

/// Reasons why nothing can be detected.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The image has no pixels.
    #[error("the detector needs an image with pixels")]
    Empty,
    /// A part of the image cannot be cropped.
    #[error(transparent)]
    Region(#[from] agenticiqa_metrics::Error),
    /// The networks cannot be used.
    #[error(transparent)]
    Model(#[from] Unusable),
    /// A network cannot run.
    #[error(transparent)]
    Network(#[from] crate::network::Unusable),
}

/// Finds faces and objects, the most probable first. Those below [`THRESHOLD`] are guesses. The
/// result is cached in the image.
pub fn detect(image: &Image) -> Result<Vec<Detection>, Error> {
    let found = Arc::unwrap_or_clone(image.derived(|| detect_anew(image).map(Arc::new)))?;
    Ok(found.to_vec())
}

fn detect_anew(image: &Image) -> Result<Vec<Detection>, Error> {
    let model = Model::builtin()?;
    let mut found = Vec::new();
    let parts = view::parts(image.width(), image.height());
    for part in &parts {
        let whole = part.width == image.width() && part.height == image.height();
        let crop = if whole { image.clone() } else { image.crop(part)? };
        let objects = objects::find(model, &crop)?;
        let faces = faces::find(model, &crop, &objects)?;
        let area = (crop.width() * crop.height()) as f32;
        let objects = objects.into_iter().map(|found| likelihood::judged(found, area));
        found.extend(objects.chain(faces).map(|found| found.moved(part)));
    }
    let found = boxes::without_doubles(found);
    let detections = found.into_iter().filter(|found| found.probability >= LOWEST);
    Ok(detections.filter_map(|found| found.detection(image.width(), image.height())).collect())
}

impl Found {
    /// Returns the detection in whole pixels of an image; `None` if no pixel is inside.
    fn detection(&self, width: usize, height: usize) -> Option<Detection> {
        let round = |edge: f32, most: usize| (edge.round().max(0.0) as usize).min(most);
        let (left, right) = (round(self.left, width), round(self.right, width));
        let (top, bottom) = (round(self.top, height), round(self.bottom, height));
        let region = Region { x: left, y: top, width: right.checked_sub(left)?, height: bottom.checked_sub(top)? };
        let name = CLASSES.get(self.class).copied()?;
        (region.width > 0 && region.height > 0).then_some(Detection { name, region, probability: self.probability })
    }
}

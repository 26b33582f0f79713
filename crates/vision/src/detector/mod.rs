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
mod seen;
mod view;

#[cfg(test)]
mod tests;

use agenticiqa_metrics::{Image, Region};

pub use model::{Model, Unusable};
pub use names::{CLASSES, FACE, knows, other_names};
use seen::{Judged, Seen};

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
    /// Where the eyes of a face are, in pixels of the image.
    pub eyes: Option<[(f32, f32); 2]>,
}

/// Something that may be there, with what its probability is computed from. Models are fitted to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// Class of COCO, or "face".
    pub name: &'static str,
    /// Left, top, right and bottom, in pixels of the image.
    pub edges: [f32; 4],
    /// How likely it is that it is there.
    pub probability: f32,
    /// What the probability is computed from.
    pub measurements: Vec<f32>,
    /// Of a face: the edges that the network returns, and what those of the whole face are computed from.
    pub shape: Option<([f32; 4], Vec<f32>)>,
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

/// Finds faces and objects in an image, the most probable first. Those below [`THRESHOLD`] are guesses.
/// Large images, and persons without a face, are looked at again from close up. The result is cached
/// in the image.
pub fn detect(image: &Image) -> Result<Vec<Detection>, Error> {
    struct Detected(Result<Vec<Detection>, Error>);
    image.derived(|| Detected(judged(image, true).map(|all| detections(&all, image)))).0.clone()
}

/// Like [`detect`], but without the closer look: small things may be missed. The result is cached in
/// the image.
pub fn glance(image: &Image) -> Result<Vec<Detection>, Error> {
    struct Glanced(Result<Vec<Detection>, Error>);
    image.derived(|| Glanced(judged(image, false).map(|all| detections(&all, image)))).0.clone()
}

/// Finds faces only, in a tenth of the time: the network of objects does not look, so a face is not
/// checked against its person. The result is cached in the image.
pub fn faces(image: &Image) -> Result<Vec<Detection>, Error> {
    struct Faces(Result<Vec<Detection>, Error>);
    let find = || {
        let whole = Region { x: 0, y: 0, width: image.width(), height: image.height() };
        let seen = Seen::faces_of(Model::builtin()?, image)?;
        Ok(detections(&seen.judged(&whole), image))
    };
    image.derived(|| Faces(find())).0.clone()
}

/// Returns everything that may be in an image, one candidate for each thing, the most probable first.
/// [`detect`] returns those that are likely.
pub fn candidates(image: &Image) -> Result<Vec<Candidate>, Error> {
    let candidate = |Judged { found, measurements, face }: Judged| {
        let edges = |found: &boxes::Found| [found.left, found.top, found.right, found.bottom];
        let shape = face.map(|face| (edges(&face.inner), face.shape.to_vec()));
        let name = CLASSES.get(found.class).copied()?;
        Some(Candidate { name, edges: edges(&found), probability: found.probability, measurements, shape })
    };
    Ok(judged(image, true)?.into_iter().filter_map(candidate).collect())
}

/// Looks at an image. An image that is very long is seen in parts.
fn judged(image: &Image, closer: bool) -> Result<Vec<Judged>, Error> {
    let model = Model::builtin()?;
    let parts = view::parts(image.width(), image.height());
    if let [whole] = parts.as_slice() {
        struct First(Result<Seen, Error>);
        let mut seen = image.derived(|| First(Seen::of(model, image, whole))).0.clone()?;
        if closer {
            seen.look_closer(model, image)?;
        }
        return Ok(seen.judged(whole));
    }
    let mut all = Vec::new();
    for part in &parts {
        all.extend(Seen::of(model, image, part)?.judged(part));
    }
    Ok(boxes::without_doubles(all, |judged| &judged.found))
}

fn detections(all: &[Judged], image: &Image) -> Vec<Detection> {
    let likely = all.iter().filter(|judged| judged.found.probability >= LOWEST);
    likely.filter_map(|judged| judged.detection(image.width(), image.height())).collect()
}

impl Judged {
    /// Returns the detection in whole pixels of an image; `None` if no pixel is inside.
    fn detection(&self, width: usize, height: usize) -> Option<Detection> {
        let found = &self.found;
        let round = |edge: f32, most: usize| (edge.round().max(0.0) as usize).min(most);
        let (left, right) = (round(found.left, width), round(found.right, width));
        let (top, bottom) = (round(found.top, height), round(found.bottom, height));
        let region = Region { x: left, y: top, width: right.checked_sub(left)?, height: bottom.checked_sub(top)? };
        let name = CLASSES.get(found.class).copied()?;
        let eyes = self.face.map(|face| face.eyes);
        let found = Detection { name, region, probability: found.probability, eyes };
        (region.width > 0 && region.height > 0).then_some(found)
    }
}

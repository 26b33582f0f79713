//! Faces: what BlazeFace sees.
//!
//! The network returns two grids. Each cell has anchors with a logit, the center of a face relative
//! to the cell, its size, and six points: both eyes, nose, mouth and both ears.

use agenticiqa_metrics::Image;

use super::boxes::Found;
use super::{Error, FACE, Model, view};
use crate::network::activation::sigmoid;
use crate::network::{Planes, Unusable};

/// Longer side of the input.
pub(super) const SIDE: usize = 256;
/// Numbers of an anchor.
const NUMBERS: usize = 16;
/// Places of the points among the numbers.
const POINTS: usize = 4;
/// Samples of the input per cell of both grids.
const STRIDES: [f32; 2] = [16.0, 32.0];
/// Logits below this are noise.
const LOWEST: f32 = -1.5;
/// Overlap of two boxes that are the same face.
pub(super) const SAME: f32 = 0.3;

/// Number of measurements of the shape of a face.
pub const OF_SHAPE: usize = 8;
/// How far the box of a whole face extends from the center of the box of the network, in sizes of that box: weights
/// of the constant and of the measurements, for left, top, right and bottom. A linear regression on labeled faces:
/// `agenticiqa-fit detector --fit` prints them.
const OUTLINE: [[f32; OF_SHAPE + 1]; 4] = [
    [-0.627, 0.229, -0.295, 0.087, -0.046, -0.182, 0.168, -0.042, -0.058],
    [-0.631, -0.030, 0.191, -0.007, 0.052, 0.056, -0.031, 0.143, 0.055],
    [0.706, 0.027, 0.236, -0.014, -0.046, -0.075, -0.240, 0.000, -0.132],
    [0.790, 0.022, 0.178, -0.016, -0.124, -0.018, -0.232, 0.151, -0.057],
];

/// A face that the network sees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Face {
    /// The box of the network, from eyebrows to mouth.
    pub inner: Found,
    /// Both eyes, in pixels of the image.
    pub eyes: [(f32, f32); 2],
    /// Where eyes, nose, mouth and ears are, in sizes of the box from its center.
    pub shape: [f32; OF_SHAPE],
}

impl Face {
    /// Returns the box of the whole face.
    pub fn whole(&self) -> Found {
        let Found { left, top, right, bottom, .. } = self.inner;
        let (x, y) = ((left + right) / 2.0, (top + bottom) / 2.0);
        let size = (right - left).max(bottom - top);
        let reach = |weights: &[f32; OF_SHAPE + 1]| {
            size * self.shape.iter().zip(&weights[1..]).fold(weights[0], |sum, (value, weight)| sum + value * weight)
        };
        let [left, top, right, bottom] = OUTLINE.each_ref().map(reach);
        Found { left: x + left, top: y + top, right: x + right, bottom: y + bottom, ..self.inner }
    }

    fn scaled(self, (x, y): (f32, f32)) -> Self {
        let eyes = self.eyes.map(|(across, down)| (across * x, down * y));
        Self { inner: self.inner.scaled((x, y)), eyes, ..self }
    }

    /// Moves a face from a part of the image to the image.
    pub fn moved(self, part: &agenticiqa_metrics::Region) -> Self {
        let eyes = self.eyes.map(|(across, down)| (across + part.x as f32, down + part.y as f32));
        Self { inner: self.inner.moved(part), eyes, ..self }
    }
}

/// Finds faces in an image. Their probability is not known yet.
pub(super) fn find(model: &Model, image: &Image) -> Result<Vec<Face>, Error> {
    let view = view::of(image, SIDE, |sample| sample / 127.5 - 1.0).ok_or(Error::Empty)?;
    let scale = (image.width() as f32 / view.width() as f32, image.height() as f32 / view.height() as f32);
    let outputs = model.faces.run(view)?;
    let mut found = Vec::new();
    for (grid, stride) in outputs.chunks_exact(2).zip(STRIDES) {
        match grid {
            [logits, numbers] if numbers.channels() == NUMBERS * logits.channels() => {
                found.extend(read(logits, numbers, stride));
            }
            _ => return Err(Unusable("the network of faces has other outputs".to_owned()).into()),
        }
    }
    model.faces.give(outputs);
    Ok(merged(found).into_iter().map(|face| face.scaled(scale)).collect())
}

/// Returns the faces of one grid with their logits.
fn read(logits: &Planes, numbers: &Planes, stride: f32) -> Vec<Face> {
    let (width, area) = (logits.width(), logits.width() * logits.height());
    let mut found = Vec::new();
    for (anchor, plane) in logits.iter().enumerate() {
        for (place, logit) in plane.iter().enumerate().filter(|(_, logit)| **logit >= LOWEST) {
            let number = |index: usize| numbers.data()[(anchor * NUMBERS + index) * area + place];
            let cell = (((place % width) as f32 + 0.5) * stride, ((place / width) as f32 + 0.5) * stride);
            let (x, y) = (cell.0 + number(0), cell.1 + number(1));
            let (across, down) = (number(2) / 2.0, number(3) / 2.0);
            let (left, right, top, bottom) = (x - across, x + across, y - down, y + down);
            let peak = sigmoid(*logit);
            let inner = Found { class: FACE, left, top, right, bottom, peak, probability: 0.0 };
            let point = |index: usize| {
                let at = POINTS + 2 * index;
                (cell.0 + number(at), cell.1 + number(at + 1))
            };
            let [one, other, nose, mouth, ear, second_ear] = [0, 1, 2, 3, 4, 5].map(point);
            let size = (2.0 * across.max(down)).max(1.0);
            let off = |(px, py): (f32, f32)| ((px - x) / size, (py - y) / size);
            let eyes = off(((one.0 + other.0) / 2.0, (one.1 + other.1) / 2.0));
            let (nose, mouth, ears) = (off(nose), off(mouth), [off(ear), off(second_ear)]);
            let shape = [eyes.0, eyes.1, nose.0, nose.1, mouth.0, mouth.1, ears[0].0, ears[1].0];
            found.push(Face { inner, eyes: [one, other], shape });
        }
    }
    found
}

/// Keeps the most probable box of each face.
pub(super) fn merged(mut found: Vec<Face>) -> Vec<Face> {
    found.sort_by(|a, b| b.inner.peak.total_cmp(&a.inner.peak));
    let mut kept: Vec<Face> = Vec::new();
    for face in found {
        if !kept.iter().any(|known| known.inner.overlap(&face.inner) > SAME) {
            kept.push(face);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planes() -> (Planes, Planes) {
        let mut logits = vec![-9.0; 2 * 6];
        logits[6 + 4] = 3.0;
        let mut numbers = vec![0.0; 2 * NUMBERS * 6];
        for (index, number) in [2.0, -3.0, 20.0, 10.0, -3.0, -5.0, 7.0, -5.0].into_iter().enumerate() {
            numbers[(NUMBERS + index) * 6 + 4] = number;
        }
        (Planes::new(2, 3, 2, logits).unwrap(), Planes::new(32, 3, 2, numbers).unwrap())
    }

    #[test]
    fn an_anchor_becomes_a_box_with_eyes() {
        let (logits, numbers) = planes();
        let found = read(&logits, &numbers, 16.0);
        let [Face { inner, eyes, shape }] = found[..] else { panic!("{found:?}") };
        assert_eq!((inner.left, inner.right, inner.top, inner.bottom), (16.0, 36.0, 16.0, 26.0));
        assert!((inner.peak - sigmoid(3.0)).abs() < 1e-6);
        assert_eq!(eyes, [(21.0, 19.0), (31.0, 19.0)]);
        assert_eq!((shape[0], shape[1]), (0.0, -0.1));
    }

    #[test]
    fn the_whole_face_contains_eyes_and_mouth() {
        let (logits, numbers) = planes();
        let face = read(&logits, &numbers, 16.0)[0];
        let whole = face.whole();
        assert!(face.inner.shared(&whole) > 0.9 * face.inner.area(), "{whole:?}");
        assert!(whole.area() > face.inner.area(), "{whole:?}");
    }
}

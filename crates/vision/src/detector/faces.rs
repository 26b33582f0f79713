//! Faces: what BlazeFace sees, checked against the persons that were found.
//!
//! The network returns two grids. Each cell has anchors with a logit, the center of a face relative
//! to the cell, its size, and six points that are not used here.

use agenticiqa_metrics::Image;

use super::boxes::Found;
use super::{Error, FACE, Model, view};
use crate::network::activation::sigmoid;
use crate::network::{Planes, Unusable};

/// Longer side of the input.
pub(super) const SIDE: usize = 256;
/// Numbers of an anchor.
const NUMBERS: usize = 16;
/// Samples of the input per cell of both grids.
const STRIDES: [f32; 2] = [16.0, 32.0];
/// Logits below this are noise.
const LOWEST: f32 = -1.5;
/// Overlap of two boxes that are the same face.
const SAME: f32 = 0.3;
/// Share of a face that must be inside of a person to belong to it.
const INSIDE: f32 = 0.6;
/// The logit of a face is the logit of the network, plus this times the probability of the person,
/// plus a constant. Fitted to labeled photos, so that `THRESHOLD` fits faces too.
const PERSON: f32 = 2.0;
const BIAS: f32 = -1.2;
/// How far the box of a whole face extends beyond the box of the network, in its width and height:
/// left, top, right, bottom. Fitted to labeled photos.
const MARGINS: [f32; 4] = [0.04, 0.2, 0.05, 0.05];

/// Finds faces in an image. `objects` are those found in it.
pub(super) fn find(model: &Model, image: &Image, objects: &[Found]) -> Result<Vec<Found>, Error> {
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
    let (width, height) = (image.width() as f32, image.height() as f32);
    let faces = merged(found).into_iter().map(|(face, logit)| {
        let face = face.scaled(scale);
        let person = |object: &&Found| object.class == 0 && object.shared(&face) > INSIDE * face.area();
        let person = objects.iter().filter(person).map(|object| object.probability).fold(0.0, f32::max);
        Found { probability: sigmoid(logit + PERSON * person + BIAS), ..widened(face).within(width, height) }
    });
    Ok(faces.collect())
}

/// Returns the faces of one grid with their logits.
fn read(logits: &Planes, numbers: &Planes, stride: f32) -> Vec<(Found, f32)> {
    let (width, area) = (logits.width(), logits.width() * logits.height());
    let mut found = Vec::new();
    for (anchor, plane) in logits.iter().enumerate() {
        for (place, logit) in plane.iter().enumerate().filter(|(_, logit)| **logit >= LOWEST) {
            let number = |index: usize| numbers.data()[(anchor * NUMBERS + index) * area + place];
            let x = ((place % width) as f32 + 0.5) * stride + number(0);
            let y = ((place / width) as f32 + 0.5) * stride + number(1);
            let (across, down) = (number(2) / 2.0, number(3) / 2.0);
            let (left, right, top, bottom) = (x - across, x + across, y - down, y + down);
            found.push((Found { class: FACE, left, top, right, bottom, probability: 0.0 }, *logit));
        }
    }
    found
}

/// Keeps the most probable box of each face.
fn merged(mut found: Vec<(Found, f32)>) -> Vec<(Found, f32)> {
    found.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut kept: Vec<(Found, f32)> = Vec::new();
    for (face, logit) in found {
        if !kept.iter().any(|(known, _)| known.overlap(&face) > SAME) {
            kept.push((face, logit));
        }
    }
    kept
}

/// Widens a box from eyes and mouth to the whole face.
fn widened(face: Found) -> Found {
    let (width, height) = (face.right - face.left, face.bottom - face.top);
    let [left, top, right, bottom] = MARGINS;
    Found {
        left: face.left - left * width,
        top: face.top - top * height,
        right: face.right + right * width,
        bottom: face.bottom + bottom * height,
        ..face
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_anchor_becomes_a_box() {
        let mut logits = vec![-9.0; 2 * 6];
        logits[6 + 4] = 3.0;
        let mut numbers = vec![0.0; 2 * NUMBERS * 6];
        for (index, number) in [2.0, -3.0, 20.0, 10.0].into_iter().enumerate() {
            numbers[(NUMBERS + index) * 6 + 4] = number;
        }
        let found = read(&Planes::new(2, 3, 2, logits).unwrap(), &Planes::new(32, 3, 2, numbers).unwrap(), 16.0);
        let [(face, logit)] = found[..] else { panic!("{found:?}") };
        assert_eq!((face.left, face.right, face.top, face.bottom, logit), (16.0, 36.0, 16.0, 26.0, 3.0));
    }
}

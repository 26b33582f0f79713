//! How likely it is that something is there, given what the networks say.
//!
//! The networks were trained on photos full of small things. In a photo that somebody asks about, a
//! large thing is more likely to be real than a small one with the same peak, a person with a face
//! more likely than one without, and a thing that fills the image less likely. The weights are those
//! of a logistic regression on labeled photos: `agenticiqa-fit detector --fit` prints them. At most three
//! things of a photo are labeled, so the constants are higher than fitted: by 2.1 for objects, the least at
//! which 65% of the labeled objects and faces are found, and by 1.0 for faces, at which 1.6% of the photos
//! without people have a face, both of the photos that the weights were fitted to.

use super::boxes::Found;
use super::names;
use crate::network::activation::sigmoid;

/// Number of measurements of an object.
pub const OF_OBJECT: usize = 11;
/// Number of measurements of a face.
pub const OF_FACE: usize = 5;

/// Weights of the constant and of the measurements of an object.
const OBJECT: [f32; OF_OBJECT + 1] =
    [4.891, 2.047, 1.342, 1.045, -2.465, -0.163, -1.395, 3.293, -0.059, 0.436, -0.356, 0.172];
/// Weights of the constant and of the measurements of a face.
const FACE: [f32; OF_FACE + 1] = [-1.22, 2.536, 3.648, 0.961, -0.001, -0.488];

/// Shares of the image beyond which size does not matter.
const SHARES: (f32, f32) = (0.02, 0.4);
/// Share of the image beyond which something has no border that could be seen.
const WHOLE: f32 = 0.7;
/// Edges closer to the border than this share of the image touch it.
const TOUCHES: f32 = 0.01;
/// Overlap of two boxes of different classes that may be the same thing.
const RIVAL: f32 = 0.5;
/// Share of a face that must be inside of a person to belong to it.
const INSIDE: f32 = 0.6;

/// Returns the measurements of an object. `others` are all objects, `faces` all faces that the networks
/// see in an image of this size.
pub(super) fn of_object(found: &Found, others: &[Found], faces: &[Found], size: (f32, f32)) -> [f32; OF_OBJECT] {
    let share = found.area() / (size.0 * size.1);
    let touches = [
        found.left < TOUCHES * size.0,
        found.top < TOUCHES * size.1,
        found.right > (1.0 - TOUCHES) * size.0,
        found.bottom > (1.0 - TOUCHES) * size.1,
    ];
    let touches = touches.into_iter().filter(|touches| *touches).count() as f32;
    let person = found.class == names::PERSON;
    let rival = others.iter().filter(|other| other.class != found.class && other.overlap(found) > RIVAL);
    let rival = rival.map(|other| other.peak).fold(0.0, f32::max);
    let face = faces.iter().filter(|face| person && found.shared(face) > INSIDE * face.area());
    let face = face.map(|face| face.peak).fold(0.0, f32::max);
    let kind = names::kind(found.class);
    let of_kind = |one: names::Kind| f32::from(u8::from(kind == one));
    [
        logit(found.peak),
        share.clamp(SHARES.0, SHARES.1).ln(),
        f32::from(u8::from(person)),
        f32::from(u8::from(share > WHOLE)),
        touches,
        rival,
        face,
        of_kind(names::Kind::Animal),
        of_kind(names::Kind::Vehicle),
        of_kind(names::Kind::Food),
        of_kind(names::Kind::Furniture),
    ]
}

/// Returns the measurements of a face. `close` says whether it was seen only in a second, closer look.
pub(super) fn of_face(found: &Found, objects: &[Found], size: (f32, f32), close: bool) -> [f32; OF_FACE] {
    let person = objects.iter().filter(|object| object.class == names::PERSON);
    let person = person.filter(|object| object.shared(found) > INSIDE * found.area());
    let person = person.map(|object| object.peak).fold(0.0, f32::max);
    let (width, height) = (found.right - found.left, found.bottom - found.top);
    let side = (width.max(height) / size.0.max(size.1)).clamp(0.02, 0.5);
    let shape = (width.max(1e-3) / height.max(1e-3)).ln().abs();
    [logit(found.peak), person, side.ln(), shape, f32::from(u8::from(close))]
}

/// Returns the probability of an object with these measurements.
pub(super) fn object(measurements: &[f32; OF_OBJECT]) -> f32 {
    probability(&OBJECT, measurements)
}

/// Returns the probability of a face with these measurements.
pub(super) fn face(measurements: &[f32; OF_FACE]) -> f32 {
    probability(&FACE, measurements)
}

fn probability(weights: &[f32], measurements: &[f32]) -> f32 {
    let Some((constant, weights)) = weights.split_first() else { return 0.0 };
    sigmoid(weights.iter().zip(measurements).fold(*constant, |sum, (weight, value)| sum + weight * value))
}

fn logit(probability: f32) -> f32 {
    let probability = probability.clamp(1e-6, 1.0 - 1e-6);
    (probability / (1.0 - probability)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(class: usize, side: f32, peak: f32) -> Found {
        Found { class, left: 0.0, top: 0.0, right: side, bottom: side, peak, probability: 0.0 }
    }

    fn likely(found: &Found, faces: &[Found]) -> f32 {
        object(&of_object(found, &[], faces, (100.0, 100.0)))
    }

    #[test]
    fn peaks_sizes_and_faces_make_objects_likely() {
        assert!(likely(&found(39, 60.0, 0.3), &[]) > likely(&found(39, 20.0, 0.3), &[]));
        assert!(likely(&found(39, 20.0, 0.4), &[]) > likely(&found(39, 20.0, 0.3), &[]));
        assert!(likely(&found(39, 99.0, 0.3), &[]) < likely(&found(39, 80.0, 0.3), &[]));
        assert_eq!(likely(&found(39, 3.0, 0.3), &[]), likely(&found(39, 10.0, 0.3), &[]));
        for extreme in [found(39, 0.0, 0.0), found(0, 100.0, 1.0)] {
            assert!((0.0..=1.0).contains(&likely(&extreme, &[])));
        }
        let seen = [found(names::FACE, 10.0, 0.9)];
        assert!(likely(&found(0, 50.0, 0.3), &seen) > likely(&found(0, 50.0, 0.3), &[]));
        assert_eq!(likely(&found(39, 50.0, 0.3), &seen), likely(&found(39, 50.0, 0.3), &[]));
    }

    #[test]
    fn a_face_of_a_person_is_likelier() {
        let one = found(names::FACE, 20.0, 0.5);
        let with = |objects: &[Found]| face(&of_face(&one, objects, (100.0, 100.0), false));
        assert!(with(&[found(0, 60.0, 0.8)]) > with(&[found(39, 60.0, 0.8)]));
    }
}

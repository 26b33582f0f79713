//! Damage that an edit can mend, made on clean photos.

use agenticiqa_distort::{Kind, distort};
use agenticiqa_metrics::{Image, Pixels};
use agenticiqa_vision::repair::{Edit, Operation};

use crate::error::Error;

/// Kinds of distortion that an edit can mend.
const KINDS: [Kind; 9] = [
    Kind::Jpeg,
    Kind::WhiteNoise,
    Kind::ColorNoise,
    Kind::Brighten,
    Kind::Darken,
    Kind::Desaturation,
    Kind::Oversaturation,
    Kind::HighSharpen,
    Kind::ContrastChange,
];
/// Their levels.
const LEVELS: [u8; 3] = [2, 3, 4];
/// Exposures, in stops: as damage, an edit that is as plain as its repair.
const STOPS: [f64; 4] = [-2.6, -1.6, 0.9, 1.5];
/// Factors of red and blue of color casts.
const CASTS: [[f32; 2]; 3] = [[1.2, 0.7], [0.75, 1.15], [0.85, 0.75]];
/// Radii of slight blur.
const RADII: [f64; 2] = [0.8, 1.2];

/// Returns damaged forms of a clean photo.
pub fn forms(clean: &Image, seed: u64) -> Result<Vec<Image>, Error> {
    let mut forms = Vec::new();
    for kind in KINDS {
        for level in LEVELS {
            forms.push(distort(clean, kind, level, seed)?);
        }
    }
    for amount in STOPS {
        forms.push(Edit { operation: Operation::Exposure, amount }.apply(clean)?);
    }
    for amount in RADII {
        forms.push(Edit { operation: Operation::Soften, amount }.apply(clean)?);
    }
    for [red, blue] in CASTS {
        let [r, g, b] = Pixels::read(clean).planes;
        let cast = Pixels { planes: [r.map(|sample| sample * red), g, b.map(|sample| sample * blue)] };
        forms.push(cast.write(8)?);
    }
    Ok(forms)
}

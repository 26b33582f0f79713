//! The part that FSIM and VSI share: gradients, chroma and a local feature are compared, and the
//! stronger feature of the two images is the weight of each place.

use crate::ops::pool::Pool;
use crate::ops::{color, scharr, similarity, strips};
use crate::{Image, Plane};

/// The features of one image.
#[derive(Debug)]
pub struct Features {
    /// Luma with a border, for its gradient.
    pub luma: Plane,
    /// Both chroma components.
    pub chroma: [Plane; 2],
    /// The weight of each place: phase congruency or saliency.
    pub strength: Plane,
}

/// Returns luma and both chroma components of the downsampled image.
pub fn luma_and_chroma(image: &Image, matrix: [[f32; 3]; 3]) -> (Plane, [Plane; 2]) {
    let [luma, first, second] = matrix.map(|weights| color::mix(image.box_means(), weights));
    (luma, [first, second])
}

/// Returns the weighted mean similarity of two images and its map.
///
/// `compare(gradients, strengths, similarities, weights)` compares a row of squared gradients and
/// strengths. `chroma` holds the stability constant and the exponent for chroma, if chroma counts.
pub fn compare(
    [reference, distorted]: [&Features; 2],
    chroma: Option<(f32, f32)>,
    compare: impl Fn([&[f32]; 2], [&[f32]; 2], &mut [f32], &mut [f32]) + Sync,
) -> (f64, Plane) {
    let (width, height) = (reference.strength.width(), reference.strength.height());
    let mut map = Plane::new(width, height);
    let parts = strips::fill_by(&mut map, strips::SMALL, |rows, similarities| {
        let mut gradients = [vec![0.0; width], vec![0.0; width]];
        let mut weights = vec![0.0; width];
        let mut pool = Pool::default();
        for (y, row) in rows.zip(similarities.chunks_exact_mut(width)) {
            scharr::squared_magnitude(&reference.luma, y, &mut gradients[0]);
            scharr::squared_magnitude(&distorted.luma, y, &mut gradients[1]);
            let strengths = [reference.strength.row(y), distorted.strength.row(y)];
            compare([&gradients[0], &gradients[1]], strengths, row, &mut weights);
            if let Some(parameters) = chroma {
                let component = |index: usize| [reference.chroma[index].row(y), distorted.chroma[index].row(y)];
                similarity::multiply_chroma(parameters, component(0), component(1), row);
            }
            pool.add(row, &weights);
        }
        pool
    });
    (Pool::mean(&parts), map)
}

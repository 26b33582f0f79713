//! BRISQUE, blind/referenceless image spatial quality evaluator.
//!
//! **What it measures**: how far the statistics of normalized luminance differ from those of
//! undistorted photographs, weighted by a regression on human scores (LIVE: JPEG, JPEG2000, blur,
//! noise); ignores color.
//!
//! **Range and direction**: about 0 (best) to 100, beyond on images unlike the training set; lower
//! is better.
//!
//! **Reference**: Mittal, Moorthy, Bovik, IEEE TIP 21(12), 2012; the authors' LIVE release with
//! its own support vectors and feature ranges. The release passes features to libsvm as text; they
//! are rounded in the same way here.
//!
//! **Deviations**: on the calibration images, I04 (no flat areas) agrees to all printed digits;
//! I03 differs by -0.002 %, I06 by -0.4 %, I08 by +10 % (0.55 points) and I19 by +2.9 % (2.1
//! points). The cause is flat areas. Here, the coefficient of a flat pixel is exactly 0 and counts
//! on neither side of a distribution. In MATLAB, a rounding residue of the mean remains, whose
//! sign depends on the order of summation and on the last bits of the window, and every flat pixel
//! counts on that side. Those signs could be fitted to known images, but would not generalize to
//! others. A side of a distribution without any sample has the deviation 0 (in MATLAB NaN, and no
//! score).

use std::ops::Range;

use crate::metric::no_reference;
use crate::ops::convolve::Border;
use crate::ops::mscn::{self, Halved, Luma, Rows};
use crate::ops::nss::{self, Asymmetric, Moments, Neighborhood};
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
    summary: "How unnatural the statistics of local contrast are, weighted by human ratings of distortions.",
    paper: "A. Mittal, A. K. Moorthy, A. C. Bovik, No-reference image quality assessment in the spatial domain, IEEE TIP 21(12), 2012",
    has_map: false,
    minimum_side: 16,
};

/// Written by `scripts/convert_models.py`, which documents the layout.
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
        let image = pair.single_checked(&INFO)?;
        // Two strips at full size correspond to one strip at half size.
        let strips = strips::map_by(image.height(), 2 * strips::HEIGHT, |rows| {
            let luma = Luma::new(image, image.width(), image.height(), rows.clone());
            let half = rows.start / 2..rows.end.div_ceil(2);
            let middle = (rows.start + strips::HEIGHT).min(rows.end);
            let (upper, lower) = (rows.start..middle, middle..rows.end);
            rayon::join(|| [upper, lower].map(|rows| moments(&luma, rows)), || moments(&Halved(&luma), half))
        });
        let (mut fine, mut coarse) = ([Moments::default(); 5], [Moments::default(); 5]);
        for (strips, half) in &strips {
            strips.iter().for_each(|strip| add(&mut fine, strip));
            add(&mut coarse, half);
        }
        let mut features = [0.0; FEATURES];
        let (full, half) = features.split_at_mut(FEATURES / 2);
        scale_features(&fine, full);
        scale_features(&coarse, half);
        Ok(Measurement::new(regress(&features)))
    }
}

/// The moments of the coefficients in these rows, and of their products with their neighbors.
fn moments(source: &impl Rows, rows: Range<usize>) -> [Moments; 5] {
    let height = source.height();
    let mut last = Vec::new();
    let before = (rows.start + height - 1) % height;
    mscn::for_each_row(source, Border::Zero, before..before + 1, |_, row, _| last.extend_from_slice(row));
    let mut neighborhood = Neighborhood::new(&last);
    mscn::for_each_row(source, Border::Zero, rows, |_, row, _| neighborhood.add_row(row));
    neighborhood.finish()
}

fn add(totals: &mut [Moments; 5], part: &[Moments; 5]) {
    totals.iter_mut().zip(part).for_each(|(total, part)| total.add(part));
}

/// The 18 features of one scale.
fn scale_features(moments: &[Moments; 5], features: &mut [f64]) {
    features[0] = nss::fit_symmetric(&moments[0]).alpha;
    features[1] = moments[0].mean_square();
    for (features, moments) in features[2..].chunks_exact_mut(4).zip(&moments[1..]) {
        let fit = Asymmetric::fit(moments, 0.0);
        let mean = (fit.right - fit.left) * fit.shape.mean * fit.shape.scale;
        features.copy_from_slice(&[fit.shape.alpha, mean, fit.left * fit.left, fit.right * fit.right]);
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

/// Rounds a number as C's `%f` prints it.
fn decimals(value: f64) -> f64 {
    format!("{value:.6}").parse().unwrap_or(value)
}

/// Rounds a number as C's `%g` prints it.
fn significant(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_official, color_noise, gray_noise};
    use crate::{Error, Image};

    #[test]
    fn official_values() {
        let official = [94.6421, -0.107618, 0.992889, 5.35827, 72.2617];
        // The tolerance is larger for images with flat areas: see the deviations above.
        assert_official(&Brisque, official, [2e-3, 5e-6, 5e-3, 0.56, 2.2]);
    }

    #[test]
    fn scaled_features_of_the_release_give_its_score() {
        // Raw features and score of an image, as printed by the release (from the tests of
        // pybrisque 1.0).
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
        assert!(Brisque.score(&color_noise(17, 16, 1)).unwrap().is_finite());
        assert!(matches!(Brisque.score(&gray_noise(15, 100, 1)), Err(Error::TooSmall { .. })));
    }
}

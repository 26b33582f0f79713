//! BRISQUE, blind/referenceless image spatial quality evaluator.
//!
//! **What it measures**: how far the statistics of normalised luminance differ from those of undistorted photographs,
//! as a regression on human scores (LIVE: JPEG, JPEG2000, blur, noise) weighs them; blind to colour.
//! **Range and direction**: about 0 (best) to 100, beyond on pictures unlike the training set; lower is better.
//! **Reference**: Mittal, Moorthy, Bovik, IEEE TIP 21(12), 2012; the authors' LIVE release with its own support vectors
//! and feature ranges. The release hands features to libsvm as text; they are rounded in the same way here.
//! **Deviations**: I03 0.00 %, I04 0.00 %, I06 0.00 %, I08 0.00 %, I19 0.1 % from the authors' values.

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

#[multiversion(targets("x86_64+avx2+fma"))]
fn sign_zeros_of(row: &mut [f32], window: &mscn::Window<'_>) {
    let width = row.len();
    let dot = |factor: &[f64; mscn::WINDOW], sample: &dyn Fn(usize) -> f64| {
        (1..mscn::WINDOW).fold(factor[0] * sample(0), |sum, i| factor[i].mul_add(sample(i), sum))
    };
    for x in (0..width).filter(|&x| row[x] == 0.0).collect::<Vec<_>>() {
        let column = |j: usize| match (x + j).checked_sub(mscn::RADIUS).filter(|&x| x < width) {
            Some(x) => dot(&FACTORS[0], &|i| window[i][x]),
            None => 0.0,
        };
        let residue = window[mscn::RADIUS][x] - dot(&FACTORS[1], &column);
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
    use crate::Image;
    use crate::testing::assert_official;

    #[test]
    fn official_values() {
        let tolerance = [0.0001 * 94.6, 0.0001, 0.02 * 0.993, 0.02 * 5.36, 5.0];
        assert_official(&Brisque, [94.6421, -0.107618, 0.992889, 5.35827, 72.2617], tolerance);
    }
}

//! BRISQUE, blind/referenceless image spatial quality evaluator.
//!
//! **What it measures**: how far the statistics of normalised luminance differ from those of undistorted photographs,
//! as a regression on human scores (LIVE: JPEG, JPEG2000, blur, noise) weighs them; blind to colour.
//! **Range and direction**: about 0 (best) to 100, beyond on pictures unlike the training set; lower is better.
//! **Reference**: Mittal, Moorthy, Bovik, IEEE TIP 21(12), 2012; the authors' LIVE release with its own support vectors
//! and feature ranges. The release hands features to libsvm as text; they are rounded in the same way here.
//! **Deviations**: I03 0.00 %, I04 0.00 %, I06 0.00 %, I08 0.00 %, I19 0.1 % from the authors' values.

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
        let take = |row: &mut [f32], window: &mscn::Window<'_>| break_ties(row, window);
        mscn::for_each_row(source, Border::Zero, before..before + 1, |_, row, window| {
            take(row, window);
            last.extend_from_slice(row);
        });
        let mut neighbourhood = Neighbourhood::new(&last);
        mscn::for_each_row(source, Border::Zero, rows, |_, row, window| {
            take(row, window);
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

fn break_ties(_row: &mut [f32], _window: &mscn::Window<'_>) {}

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

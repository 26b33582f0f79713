//! SSIM, structural similarity.
//!
//! **What it measures**: local luminance, contrast and structure in a Gaussian window of 11x11.
//!
//! **Range and direction**: up to 1 (identical); higher is better.
//!
//! **Reference**: Wang, Bovik, Sheikh, Simoncelli, IEEE TIP 13(4), 2004; the authors' `ssim_index`
//! on rounded luma, window inside the image, no downsampling.
//!
//! **Deviations**: none above 5e-5 on the calibration pairs.

use super::structure::{self, Part, Stability, WINDOW};
use crate::metric::full_reference;
use crate::{Direction, Info, Kind, Measurement, Metric, Pair, Result};

/// SSIM with the authors' parameters.
#[derive(Debug, Clone, Copy)]
pub struct Ssim {
    /// Stabilizes the luminance term.
    pub k1: f64,
    /// Stabilizes the contrast and structure term.
    pub k2: f64,
}

static INFO: Info = Info {
    name: "SSIM",
    kind: Kind::FullReference,
    direction: Direction::HigherIsBetter,
    range: (-1.0, 1.0),
    unit: "",
    summary: "Similarity of local luminance, contrast and structure.",
    paper: "Z. Wang, A. C. Bovik, H. R. Sheikh, E. P. Simoncelli, Image quality assessment: from error visibility to structural similarity, IEEE TIP 13(4), 2004",
    has_map: true,
    minimum_side: WINDOW,
};

impl Ssim {
    /// The authors' parameters.
    pub const DEFAULT: Self = Self { k1: 0.01, k2: 0.03 };
}

impl Default for Ssim {
    fn default() -> Self {
        Self::DEFAULT
    }
}

full_reference!(Ssim);

impl Metric for Ssim {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn measure(&self, pair: &Pair<'_>) -> Result<Measurement> {
        let (reference, distorted) = pair.both(&INFO)?;
        let stability = Stability::new(self.k1, self.k2);
        let (score, map) = structure::similarity(reference, distorted, Part::All, stability, pair.wants_map());
        let measurement = Measurement::new(score);
        Ok(match map {
            Some(map) => measurement.with_map(map, 1.0, 0.0),
            None => measurement,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_official, calibration_pair, gray_noise};
    use crate::{Error, Image};

    #[test]
    fn official_values() {
        assert_official(&Ssim::DEFAULT, [0.6993, 0.9978, 0.9989, 0.9669, 0.6519], [5e-5; 5]);
    }

    /// The definition in double precision, window by window, for sizes around the limits of tiles
    /// and strips.
    #[test]
    fn equals_the_definition_at_any_size() {
        for (width, height) in [(11, 11), (12, 75), (250, 13), (251, 74), (497, 12)] {
            let (reference, distorted) = (gray_noise(width, height, 1), bright_noise(width, height));
            let pair = Pair::new(&reference, &distorted).unwrap().with_map();
            let measurement = Ssim::DEFAULT.measure(&pair).unwrap();
            let map = measurement.map.unwrap().plane;
            let mut total = 0.0;
            for y in 0..map.height() {
                for x in 0..map.width() {
                    let expected = window_similarity(&reference, &distorted, x, y);
                    assert!((f64::from(map.at(x, y)) - expected).abs() < 2e-6);
                    total += expected;
                }
            }
            let mean = total / (map.width() * map.height()) as f64;
            assert!((measurement.score - mean).abs() < 1e-7);
        }
    }

    /// Little structure on a bright background, the worst case for E[x^2] - E[x]^2.
    fn bright_noise(width: usize, height: usize) -> Image {
        let samples = gray_noise(width, height, 2).gray().map(|v| 250 + v as u8 / 51);
        Image::from_gray8(width, height, samples.into_vec()).unwrap()
    }

    fn window_similarity(reference: &Image, distorted: &Image, left: usize, top: usize) -> f64 {
        let weight = |i: usize, j: usize| (-((i as f64 - 5.0).powi(2) + (j as f64 - 5.0).powi(2)) / 4.5).exp();
        let places = || (0..WINDOW).flat_map(|j| (0..WINDOW).map(move |i| (i, j)));
        let total: f64 = places().map(|(i, j)| weight(i, j)).sum();
        let mean = |value: &dyn Fn(f64, f64) -> f64| {
            let sample = |image: &Image, i, j| f64::from(image.gray().at(left + i, top + j));
            places().map(|(i, j)| weight(i, j) * value(sample(reference, i, j), sample(distorted, i, j))).sum::<f64>()
                / total
        };
        let (mx, my) = (mean(&|x, _| x), mean(&|_, y| y));
        let (vx, vy) = (mean(&|x, _| x * x) - mx * mx, mean(&|_, y| y * y) - my * my);
        let covariance = mean(&|x, y| x * y) - mx * my;
        let (c1, c2) = (2.55f64.powi(2), 7.65f64.powi(2));
        (2.0 * mx * my + c1) * (2.0 * covariance + c2) / ((mx * mx + my * my + c1) * (vx + vy + c2))
    }

    #[test]
    fn identical_images_are_exactly_one() {
        let noise = gray_noise(300, 90, 4);
        let white = Image::from_gray8(64, 64, vec![255; 64 * 64]).unwrap();
        assert_eq!(Ssim::DEFAULT.score(&noise, &noise).unwrap(), 1.0);
        assert_eq!(Ssim::DEFAULT.score(&white, &white).unwrap(), 1.0);
    }

    #[test]
    fn flat_images_differ_by_luminance_alone() {
        let dark = Image::from_gray8(20, 20, vec![0; 400]).unwrap();
        let gray = Image::from_gray8(20, 20, vec![100; 400]).unwrap();
        let expected = 2.55f64.powi(2) / (100f64.powi(2) + 2.55f64.powi(2));
        assert!((Ssim::DEFAULT.score(&dark, &gray).unwrap() - expected).abs() < 1e-9);
    }

    #[test]
    fn the_score_is_symmetric_and_needs_no_map() {
        let (reference, distorted) = calibration_pair("I03");
        let pair = Pair::new(&reference, &distorted).unwrap();
        let score = Ssim::DEFAULT.measure(&pair).unwrap();
        assert_eq!(score.map, None);
        assert_eq!(score.score, Ssim::DEFAULT.measure(&pair.with_map()).unwrap().score);
        assert_eq!(score.score, Ssim::DEFAULT.score(&distorted, &reference).unwrap());
    }

    #[test]
    fn an_image_below_the_window_is_refused() {
        let image = gray_noise(10, 50, 1);
        assert!(matches!(Ssim::DEFAULT.score(&image, &image), Err(Error::TooSmall { minimum: 11, .. })));
    }
}

//! MS-SSIM, structural similarity over five scales.
//!
//! **What it measures**: contrast and structure from fine to coarse detail, luminance at the
//! coarsest scale.
//!
//! **Range and direction**: up to 1 (identical); higher is better.
//!
//! **Reference**: Wang, Simoncelli, Bovik, Asilomar Conference 2003; the authors' `msssim` on
//! rounded luma: means of 2x2 pixels, mirrored at odd borders, between the scales. The published
//! values of the calibration pairs are those of its weighted sum over the scales (`wtd_sum`),
//! which is the default here; [`Pooling::Product`] is the paper's product.
//!
//! **Deviations**: none above 5e-5 on the calibration pairs. In the product, a scale with a
//! negative mean counts as 0; the authors' code returns a complex number.

use super::structure::{self, Part, Source, Stability, WINDOW};
use crate::metric::full_reference;
use crate::ops::{resample, strips};
use crate::{Direction, Info, Kind, Measurement, Metric, Pair, Plane, Result};

/// How the five scales are combined into one score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pooling {
    /// The weighted sum of the scales.
    #[default]
    WeightedSum,
    /// The product of the scales, each raised to its weight.
    Product,
}

/// MS-SSIM with the authors' parameters.
#[derive(Debug, Clone, Copy)]
pub struct MsSsim {
    /// Stabilizes the luminance term.
    pub k1: f64,
    /// Stabilizes the contrast and structure term.
    pub k2: f64,
    /// How the scales are pooled.
    pub pooling: Pooling,
}

const SCALES: usize = 5;
/// Weight of each scale, finest first, determined by the authors with observers.
const WEIGHTS: [f64; SCALES] = [0.0448, 0.2856, 0.3001, 0.2363, 0.1333];

static INFO: Info = Info {
    name: "MS-SSIM",
    kind: Kind::FullReference,
    direction: Direction::HigherIsBetter,
    range: (-1.0, 1.0),
    unit: "",
    summary: "Similarity of contrast and structure over five scales, and of luminance at the coarsest.",
    paper: "Z. Wang, E. P. Simoncelli, A. C. Bovik, Multi-scale structural similarity for image quality assessment, Asilomar Conference on Signals, Systems and Computers, 2003",
    has_map: true,
    minimum_side: WINDOW << (SCALES - 1),
};

impl MsSsim {
    /// The authors' parameters.
    pub const DEFAULT: Self = Self { k1: 0.01, k2: 0.03, pooling: Pooling::WeightedSum };

    fn pool(&self, scales: &[f64]) -> f64 {
        let weighted = WEIGHTS.iter().zip(scales);
        match self.pooling {
            Pooling::WeightedSum => {
                weighted.map(|(weight, scale)| weight * scale).sum::<f64>() / WEIGHTS.iter().sum::<f64>()
            }
            Pooling::Product => weighted.map(|(&weight, scale)| scale.max(0.0).powf(weight)).product(),
        }
    }
}

impl Default for MsSsim {
    fn default() -> Self {
        Self::DEFAULT
    }
}

full_reference!(MsSsim);

impl Metric for MsSsim {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn measure(&self, pair: &Pair<'_>) -> Result<Measurement> {
        let (reference, distorted) = pair.both(&INFO)?;
        let stability = Stability::new(self.k1, self.k2);
        let compare = |reference: &dyn Source, distorted: &dyn Source, scale: usize| {
            let part = if scale + 1 == SCALES { Part::All } else { Part::ContrastStructure };
            structure::similarity(reference, distorted, part, stability, pair.wants_map())
        };
        let (finest, finest_map) = compare(reference, distorted, 0);
        let (mut scales, mut maps) = (vec![finest], vec![finest_map]);
        let mut planes = (halve(reference), halve(distorted));
        for scale in 1..SCALES {
            if scale > 1 {
                planes = (halve(&planes.0), halve(&planes.1));
            }
            let (mean, map) = compare(&planes.0, &planes.1, scale);
            scales.push(mean);
            maps.push(map);
        }
        let measurement = Measurement::new(self.pool(&scales));
        let maps: Option<Vec<Plane>> = maps.into_iter().collect();
        Ok(match maps {
            Some(maps) => measurement.with_map(combine(&maps, reference.width(), reference.height()), 1.0, 0.0),
            None => measurement,
        })
    }
}

/// Means of 2x2 samples. At an odd border, the last sample is repeated.
fn halve(source: &(impl Source + ?Sized)) -> Plane {
    let (width, height) = source.size();
    let mut half = Plane::new(width.div_ceil(2), height.div_ceil(2));
    let half_width = half.width();
    let buffers = || [vec![0.0; 2 * half_width], vec![0.0; 2 * half_width]];
    strips::fill_with(&mut half, buffers, |[upper, lower], rows, samples| {
        for (y, out) in rows.zip(samples.chunks_exact_mut(half_width)) {
            read_even(source, 2 * y, upper);
            read_even(source, (2 * y + 1).min(height - 1), lower);
            resample::mean_of_four(upper, lower, out);
        }
    });
    half
}

/// Reads row `y`. The last sample is repeated if `row` is one sample longer.
fn read_even(source: &(impl Source + ?Sized), y: usize, row: &mut [f32]) {
    let (width, _) = source.size();
    source.read(y, 0..width, &mut row[..width]);
    if let [.., last, beyond] = row
        && width % 2 == 1
    {
        *beyond = *last;
    }
}

/// The weighted sum of the scales' maps. Each map is enlarged to full size, with its windows at
/// their original places.
fn combine(maps: &[Plane], width: usize, height: usize) -> Plane {
    let mut combined: Plane = Plane::new(width, height);
    let total: f64 = WEIGHTS.iter().sum();
    strips::for_each_row(&mut combined, |y, out| {
        for (scale, (map, weight)) in maps.iter().zip(WEIGHTS).enumerate() {
            let step = 0.5f32.powi(scale as i32);
            let origin = 0.5 * step - 0.5 - (WINDOW / 2) as f32;
            resample::add_bilinear_row(map, origin, step, y, (weight / total) as f32, out);
        }
    });
    combined
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_official, calibration_pair, gray_noise};
    use crate::{Error, Image};

    #[test]
    fn official_values() {
        assert_official(&MsSsim::DEFAULT, [0.6733, 0.9996, 0.9998, 0.9566, 0.8462], [5e-5; 5]);
    }

    /// Values of the product, computed in double precision (Octave, `imfilter` and `filter2`).
    #[test]
    fn product_of_the_paper() {
        let product = MsSsim { pooling: Pooling::Product, ..MsSsim::DEFAULT };
        assert_official(&product, [0.669979, 0.999634, 0.999823, 0.956527, 0.841789], [2e-6; 5]);
    }

    #[test]
    fn identical_and_flat_images_are_perfect() {
        let noise = gray_noise(177, 191, 3);
        let flat = Image::from_gray8(176, 176, vec![0; 176 * 176]).unwrap();
        for pooling in [Pooling::WeightedSum, Pooling::Product] {
            let metric = MsSsim { pooling, ..MsSsim::DEFAULT };
            assert!((metric.score(&noise, &noise).unwrap() - 1.0).abs() < 1e-12);
            assert!((metric.score(&flat, &flat).unwrap() - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn negative_images_stay_finite_with_the_product() {
        let noise = gray_noise(200, 180, 5);
        let inverse = noise.gray().map(|v| 255 - v as u8).into_vec();
        let inverse = Image::from_gray8(200, 180, inverse).unwrap();
        let product = MsSsim { pooling: Pooling::Product, ..MsSsim::DEFAULT };
        assert_eq!(product.score(&noise, &inverse).unwrap(), 0.0);
        assert!(MsSsim::DEFAULT.score(&noise, &inverse).unwrap() < 0.0);
    }

    #[test]
    fn an_image_below_the_coarsest_window_is_refused() {
        let image = gray_noise(175, 300, 1);
        assert!(matches!(MsSsim::DEFAULT.score(&image, &image), Err(Error::TooSmall { minimum: 176, .. })));
    }

    #[test]
    fn odd_borders_are_mirrored() {
        let plane = Plane::from_fn(3, 3, |x, y| (x + 10 * y) as f32);
        assert_eq!(halve(&plane).data(), [5.5, 7.0, 20.5, 22.0]);
    }

    #[test]
    fn the_map_is_of_the_image_size_and_averages_near_the_score() {
        let (reference, distorted) = calibration_pair("I08");
        let pair = Pair::new(&reference, &distorted).unwrap();
        let without = MsSsim::DEFAULT.measure(&pair).unwrap();
        let with = MsSsim::DEFAULT.measure(&pair.with_map()).unwrap();
        let plane = with.map.unwrap().plane;
        assert_eq!(without.map, None);
        assert_eq!(with.score, without.score);
        assert_eq!((plane.width(), plane.height()), (reference.width(), reference.height()));
        let mean = plane.data().iter().map(|&v| f64::from(v)).sum::<f64>() / plane.data().len() as f64;
        assert!((mean - with.score).abs() < 0.01, "{mean} against {}", with.score);
    }
}

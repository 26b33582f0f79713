//! Contrast: the spread of luma, as root mean square and as a range without the extremes.
//!
//! **What it measures**: Contrast is the standard deviation of luma over the whole image;
//! Contrast-Range is the distance from the 1st to the 99th percentile, which a few dead or blown
//! pixels do not change.
//!
//! **Range and direction**: Contrast 0 (flat) to 0.5 (half black, half white), on luma of 0 to 1,
//! neither end better; Contrast-Range 0 to 255 levels, higher is better (a washed-out image uses
//! little of the range).
//!
//! **Reference**: E. Peli, Contrast in complex images, JOSA A 7(10), 1990; percentiles without
//! interpolation (NumPy's `inverted_cdf`).
//!
//! **Deviations**: none.

use crate::metric::no_reference;
use crate::ops::histogram::Histogram;
use crate::ops::{strips, sum};
use crate::{Direction, Info, Kind, Measurement, Metric, Pair, Result};

const PEAK: f64 = 255.0;
const LOW_SHARE: f64 = 0.01;
const HIGH_SHARE: f64 = 0.99;

/// RMS contrast of luma.
#[derive(Debug, Clone, Copy, Default)]
pub struct Contrast;

/// Range from the 1st to the 99th percentile of luma.
#[derive(Debug, Clone, Copy, Default)]
pub struct ContrastRange;

static CONTRAST: Info = Info {
    name: "Contrast",
    kind: Kind::NoReference,
    direction: Direction::Neutral,
    range: (0.0, 0.5),
    unit: "share of range",
    summary: "RMS contrast: standard deviation of luma.",
    paper: "E. Peli, Contrast in complex images, JOSA A 7(10), 1990",
    has_map: false,
    minimum_side: 1,
};

static RANGE: Info = Info {
    name: "Contrast-Range",
    direction: Direction::HigherIsBetter,
    range: (0.0, PEAK),
    unit: "level",
    summary: "Luma range from the 1st to the 99th percentile, in 8-bit levels.",
    ..CONTRAST
};

impl Contrast {
    /// The default: standard deviation of luma.
    pub const DEFAULT: Self = Self;
}

impl ContrastRange {
    /// The default: 1st to 99th percentile.
    pub const DEFAULT: Self = Self;
}

no_reference!(Contrast);
no_reference!(ContrastRange);

impl Metric for Contrast {
    fn info(&self) -> &'static Info {
        &CONTRAST
    }

    fn measure(&self, pair: &Pair<'_>) -> Result<Measurement> {
        let gray = pair.single_checked(&CONTRAST)?.gray();
        let sums = strips::map(gray.height(), |rows| {
            rows.map(|y| sum::sum_and_squares(gray.row(y))).fold((0.0, 0.0), |(a, b), (c, d)| (a + c, b + d))
        });
        let (total, squares) = sums.iter().fold((0.0, 0.0), |(a, b), (c, d)| (a + c, b + d));
        let count = gray.data().len() as f64;
        let mean = total / count;
        Ok(Measurement::new((squares / count - mean * mean).max(0.0).sqrt() / PEAK))
    }
}

impl Metric for ContrastRange {
    fn info(&self) -> &'static Info {
        &RANGE
    }

    fn measure(&self, pair: &Pair<'_>) -> Result<Measurement> {
        let histogram = Histogram::of_luma(pair.single_checked(&RANGE)?);
        Ok(Measurement::new(histogram.quantile(HIGH_SHARE) - histogram.quantile(LOW_SHARE)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Image;

    #[test]
    fn half_black_half_white_has_the_greatest_contrast() {
        let image = Image::from_gray8(2, 2, vec![0, 255, 255, 0]).unwrap();
        assert_eq!(Contrast.score(&image).unwrap(), 0.5);
        assert_eq!(ContrastRange.score(&image).unwrap(), 255.0);
    }

    #[test]
    fn a_flat_picture_has_none() {
        let image = Image::from_gray16(7, 5, vec![12345; 35]).unwrap();
        assert!(Contrast.score(&image).unwrap() < 1e-7);
        assert_eq!(ContrastRange.score(&image).unwrap(), 0.0);
    }

    #[test]
    fn a_ramp_gives_the_values_of_numpy() {
        // v = (numpy.arange(400) * 7 % 200 + 20); v.std() / 255; numpy.percentile(v, [1, 99], method="inverted_cdf")
        let image = Image::from_gray8(20, 20, (0..400).map(|i| (i * 7 % 200 + 20) as u8).collect()).unwrap();
        assert!((Contrast.score(&image).unwrap() - 0.226_409_040_104_374_43).abs() < 1e-12);
        assert_eq!(ContrastRange.score(&image).unwrap(), 217.0 - 21.0);
    }

    #[test]
    fn a_few_extreme_pixels_do_not_change_the_range() {
        let mut samples: Vec<u8> = (0..1000).map(|i| 100 + (i % 50) as u8).collect();
        let range =
            |samples: &[u8]| ContrastRange.score(&Image::from_gray8(100, 10, samples.to_vec()).unwrap()).unwrap();
        let plain = range(&samples);
        samples[..4].copy_from_slice(&[0, 255, 0, 255]);
        assert_eq!(range(&samples), plain);
    }
}

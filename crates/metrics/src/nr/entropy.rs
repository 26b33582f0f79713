//! ENTROPY, Shannon entropy of the luma histogram.
//!
//! **What it measures**: how evenly the 256 grey levels are used; flat or badly exposed pictures have little.
//! **Range and direction**: 0 (one grey level) to 8 bits; higher is better.
//! **Reference**: MATLAB's `entropy(rgb2gray(image))`: 256 bins, rounded luma.
//! **Deviations**: none above half a unit of the last printed digit on the calibration pairs.

use crate::metric::no_reference;
use crate::ops::strips;
use crate::{Direction, Info, Kind, Measurement, Metric, Pair, Result};

/// Shannon entropy of the luma histogram.
#[derive(Debug, Clone, Copy, Default)]
pub struct Entropy;

static INFO: Info = Info {
    name: "ENTROPY",
    kind: Kind::NoReference,
    direction: Direction::HigherIsBetter,
    range: (0.0, 8.0),
    unit: "bit",
    summary: "How evenly the grey levels are used: entropy of the luma histogram.",
    paper: "C. E. Shannon, A mathematical theory of communication, Bell System Technical Journal 27, 1948",
    has_map: false,
    minimum_side: 1,
};

impl Entropy {
    /// 256 bins of rounded luma.
    pub const DEFAULT: Self = Self;
}

no_reference!(Entropy);

impl Metric for Entropy {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn measure(&self, pair: &Pair<'_>) -> Result<Measurement> {
        let gray = pair.single_checked(&INFO)?.gray();
        let histograms = strips::map(gray.height(), |rows| {
            let mut histogram = [0u64; 256];
            for value in rows.flat_map(|y| gray.row(y)) {
                histogram[value.round() as usize & 255] += 1;
            }
            histogram
        });
        let count = (gray.width() * gray.height()) as f64;
        let entropy = (0..256)
            .map(|level| histograms.iter().map(|histogram| histogram[level]).sum::<u64>())
            .filter(|&pixels| pixels > 0)
            .map(|pixels| pixels as f64 / count)
            .map(|share| -share * share.log2())
            .sum::<f64>();
        Ok(Measurement::new(entropy.max(0.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Image;
    use crate::testing::assert_official;

    #[test]
    fn official_values() {
        assert_official(&Entropy, [6.9511, 6.9661, 7.5309, 7.5566, 5.7629], [5e-5; 5]);
    }

    #[test]
    fn flat_is_zero_and_all_levels_are_eight_bits() {
        let flat = Image::from_gray8(9, 9, vec![7; 81]).unwrap();
        let ramp = Image::from_gray8(16, 16, (0..=255).collect()).unwrap();
        assert_eq!(Entropy.score(&flat).unwrap(), 0.0);
        assert_eq!(Entropy.score(&ramp).unwrap(), 8.0);
    }
}

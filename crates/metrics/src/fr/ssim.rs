//! SSIM, structural similarity.
//!
//! **What it measures**: local luminance, contrast and structure in a Gaussian window of 11x11.
//! **Range and direction**: up to 1 (identical); higher is better.
//! **Reference**: Wang, Bovik, Sheikh, Simoncelli, IEEE TIP 13(4), 2004; the authors' `ssim_index` on rounded luma,
//! window inside the image, no downsampling.
//! **Deviations**: none above 5e-5 on the calibration pairs.

use crate::metric::full_reference;
use crate::ops::{convolve, sum};
use crate::{Direction, Info, Kind, Measurement, Metric, Pair, Plane, Result};

/// SSIM with the authors' parameters.
#[derive(Debug, Clone, Copy)]
pub struct Ssim {
    /// Stabilises the luminance term.
    pub k1: f64,
    /// Stabilises the contrast and structure term.
    pub k2: f64,
}

const WINDOW: usize = 11;
const SIGMA: f64 = 1.5;

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
        let (x, y) = (reference.gray(), distorted.gray());
        let (c1, c2) = ((self.k1 * 255.0).powi(2) as f32, (self.k2 * 255.0).powi(2) as f32);
        let kernel = convolve::gaussian(WINDOW, SIGMA);
        let blur = |plane: &Plane| convolve::separable_valid(plane, &kernel, &kernel);
        let product = |a: &Plane, b: &Plane| Plane::from_fn(a.width(), a.height(), |i, j| a.at(i, j) * b.at(i, j));
        let (mx, my) = (blur(x), blur(y));
        let (xx, yy, xy) = (blur(&product(x, x)), blur(&product(y, y)), blur(&product(x, y)));
        let map = Plane::from_fn(mx.width(), mx.height(), |i, j| {
            let (a, b) = (mx.at(i, j), my.at(i, j));
            let (va, vb, cov) = (xx.at(i, j) - a * a, yy.at(i, j) - b * b, xy.at(i, j) - a * b);
            ((2.0 * a * b + c1) * (2.0 * cov + c2)) / ((a * a + b * b + c1) * (va + vb + c2))
        });
        let score = sum::sum(map.data()) / map.data().len() as f64;
        Ok(Measurement::new(score).with_map(map, 1.0, 0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_official;

    #[test]
    fn official_values() {
        assert_official(&Ssim::DEFAULT, [0.6993, 0.9978, 0.9989, 0.9669, 0.6519], [5e-5; 5]);
    }
}

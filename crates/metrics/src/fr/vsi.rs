//! VSI, visual saliency-induced index.
//!
//! **What it measures**: whether saliency, edges and colors survive, weighted by saliency.
//!
//! **Range and direction**: 0 to 1 (identical); higher is better.
//!
//! **Reference**: Zhang, Shen, Li, IEEE TIP 23(10), 2014; the authors' `VSI.m` with its SDSP
//! saliency: saliency at 256x256 through antialiased `imresize`, box average and decimation to
//! about 256 rows with zeros beyond the border.
//!
//! **Deviations**: none above 2e-6 from the steps of `VSI.m` rewritten in GNU Octave in double
//! precision, with `imresize` by MATLAB's definition (calibration pairs: 0.9244, 0.9497, 0.9876,
//! 0.9539, 0.9272). The authors' file itself was not run in MATLAB. The values that IQA-PyTorch
//! lists as official (0.9139, 0.9620, 0.9922, 0.9571, 0.9262; up to 1.3 % away) are not the
//! authors'. They come from a Python port (IQA-optimization, see IQA-PyTorch's pull request 9),
//! which computes saliency at full size, multiplies XYZ by a D65 white instead of dividing by D50,
//! and averages boxes without `conv2`'s offset. Doing the same reproduces these values to 1e-4.
//! Flat images, for which the authors' code divides 0 by 0, have no saliency; all their locations
//! have the same weight.

use multiversion::multiversion;

use crate::metric::full_reference;
use crate::ops::saliency::Saliency;
use crate::ops::weighted_similarity::{self, Features};
use crate::ops::{color, downsample, elementary, scharr};
use crate::{Direction, Image, Info, Kind, Measurement, Metric, Pair, Result};

/// VSI with the authors' parameters.
#[derive(Debug, Clone, Copy)]
pub struct Vsi {
    /// Stabilizes the similarity of saliency (C1).
    pub saliency_stability: f32,
    /// Stabilizes the similarity of gradients (C2).
    pub gradient_stability: f32,
    /// Stabilizes the similarity of both chroma components (C3).
    pub chroma_stability: f32,
    /// The exponent of the gradient similarity (alpha).
    pub gradient_exponent: f32,
    /// The exponent of the chroma similarity (beta).
    pub chroma_exponent: f32,
}

static INFO: Info = Info {
    name: "VSI",
    kind: Kind::FullReference,
    direction: Direction::HigherIsBetter,
    range: (0.0, 1.0),
    unit: "",
    summary: "Similarity of saliency, gradients and chroma, weighted by saliency.",
    paper: "L. Zhang, Y. Shen, H. Li, VSI: a visual saliency-induced index for perceptual image quality assessment, IEEE TIP 23(10), 2014",
    has_map: true,
    minimum_side: 2,
};

/// The local similarity at which the map shows full damage.
const WORST_SIMILARITY: f32 = 0.5;

impl Vsi {
    /// The authors' parameters.
    pub const DEFAULT: Self = Self {
        saliency_stability: 1.27,
        gradient_stability: 386.0,
        chroma_stability: 130.0,
        gradient_exponent: 0.40,
        chroma_exponent: 0.020,
    };
}

impl Default for Vsi {
    fn default() -> Self {
        Self::DEFAULT
    }
}

full_reference!(Vsi);

fn features(image: &Image, saliency: &Saliency) -> Features {
    let (luma, chroma) = weighted_similarity::luma_and_chroma(image, color::LMN);
    let factor = downsample::factor(image.width(), image.height());
    Features { luma: scharr::padded(&luma), chroma, strength: saliency.box_means(image, factor) }
}

impl Metric for Vsi {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn measure(&self, pair: &Pair<'_>) -> Result<Measurement> {
        let (reference, distorted) = pair.both(&INFO)?;
        let saliency = Saliency::new();
        let (reference, distorted) = rayon::join(|| features(reference, &saliency), || features(distorted, &saliency));
        let chroma = Some((self.chroma_stability, self.chroma_exponent));
        let compare = |gradients: [&[f32]; 2], salient: [&[f32]; 2], row: &mut [f32], weights: &mut [f32]| {
            compare_luma(self, gradients, salient, row, weights);
        };
        let (score, map) = weighted_similarity::compare([&reference, &distorted], chroma, compare);
        let measurement = Measurement::new(score);
        Ok(if pair.wants_map() { measurement.with_map(map, 1.0, WORST_SIMILARITY) } else { measurement })
    }
}

/// The similarity of saliency and of gradients (passed squared), and the weight of each location.
#[multiversion(targets("x86_64+avx2"))]
fn compare_luma(vsi: &Vsi, gradients: [&[f32]; 2], salient: [&[f32]; 2], similarity: &mut [f32], weights: &mut [f32]) {
    let (c1, c2, exponent) = (vsi.saliency_stability, vsi.gradient_stability, vsi.gradient_exponent);
    let pairs = gradients[0].iter().zip(gradients[1]).zip(salient[0].iter().zip(salient[1]));
    for (((&g, &h), (&s, &t)), (out, weight)) in pairs.zip(similarity.iter_mut().zip(weights)) {
        let gradient = (2.0 * (g * h).sqrt() + c2) / (g + h + c2);
        let salience = (2.0 * s * t + c1) / (s * s + t * t + c1);
        *out = elementary::pow(gradient, exponent) * salience;
        *weight = if s > t { s } else { t };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_official, color_noise, gray_noise};

    /// The steps of the authors' file, rewritten in GNU Octave in double precision.
    #[test]
    fn values_of_the_definition() {
        assert_official(&Vsi::DEFAULT, [0.9244242, 0.9496915, 0.9876058, 0.9538621, 0.9272026], [2e-6; 5]);
    }

    #[test]
    fn identical_images_are_perfect() {
        for image in [color_noise(63, 50, 3), gray_noise(300, 401, 4)] {
            let measurement = Vsi::DEFAULT.measure(&Pair::new(&image, &image).unwrap().with_map()).unwrap();
            assert_eq!(measurement.score, 1.0);
            assert!(measurement.map.unwrap().plane.data().iter().all(|&similarity| similarity == 1.0));
        }
    }

    #[test]
    fn flat_and_tiny_images_are_finite_or_refused() {
        let flat = |level: u8, side: usize| Image::from_rgb8(side, side, vec![level; side * side * 3]).unwrap();
        for side in [2, 3, 17, 600] {
            let score = Vsi::DEFAULT.score(&flat(0, side), &flat(200, side)).unwrap();
            assert!((0.0..=1.0).contains(&score), "{side}: {score}");
            assert_eq!(Vsi::DEFAULT.score(&flat(90, side), &flat(90, side)).unwrap(), 1.0);
        }
        assert!(Vsi::DEFAULT.score(&flat(1, 1), &flat(1, 1)).is_err());
    }

    #[test]
    fn swapping_the_images_changes_nothing() {
        let (a, b) = (color_noise(90, 71, 1), color_noise(90, 71, 2));
        assert_eq!(Vsi::DEFAULT.score(&a, &b).unwrap(), Vsi::DEFAULT.score(&b, &a).unwrap());
    }
}

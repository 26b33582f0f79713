//! FSIM, feature similarity; the default is FSIMc, which includes chroma.
//!
//! **What it measures**: whether features (phase congruency) and their contrast (gradient)
//! survive, weighted by the strength of the features at each location; FSIMc also compares chroma.
//!
//! **Range and direction**: 0 to 1 (identical); higher is better.
//!
//! **Reference**: Zhang, Zhang, Mou, Zhang, IEEE TIP 20(8), 2011; the authors' `FeatureSIM.m`:
//! unrounded YIQ, box average and decimation to about 256 rows with zeros beyond the border,
//! Kovesi's `phasecong2`.
//!
//! **Deviations**: none above half a unit of the last printed digit on the calibration pairs.
//! Where neither image has any feature (flat images, for which the authors' code divides 0 by 0),
//! all locations have the same weight.

use multiversion::multiversion;

use crate::metric::full_reference;
use crate::ops::phase_congruency::PhaseCongruency;
use crate::ops::weighted_similarity::{self, Features};
use crate::ops::{color, scharr};
use crate::{Direction, Image, Info, Kind, Measurement, Metric, Pair, Result};

/// FSIM with the authors' parameters.
#[derive(Debug, Clone, Copy)]
pub struct Fsim {
    /// Whether chroma counts: FSIMc if true, FSIM if false.
    pub chromatic: bool,
    /// Stabilizes the similarity of phase congruency (T1).
    pub congruency_stability: f32,
    /// Stabilizes the similarity of gradients (T2).
    pub gradient_stability: f32,
    /// Stabilizes the similarity of I and of Q (T3, T4).
    pub chroma_stability: f32,
    /// The exponent of the chroma similarity (lambda).
    pub chroma_exponent: f32,
}

static INFO: Info = Info {
    name: "FSIM",
    kind: Kind::FullReference,
    direction: Direction::HigherIsBetter,
    range: (0.0, 1.0),
    unit: "",
    summary: "Similarity of features (phase congruency), gradients and chroma, weighted by the features.",
    paper: "L. Zhang, L. Zhang, X. Mou, D. Zhang, FSIM: a feature similarity index for image quality assessment, IEEE TIP 20(8), 2011",
    has_map: true,
    minimum_side: 2,
};

/// The local similarity at which the map shows full damage.
const WORST_SIMILARITY: f32 = 0.5;

impl Fsim {
    /// The authors' parameters, with chroma.
    pub const DEFAULT: Self = Self {
        chromatic: true,
        congruency_stability: 0.85,
        gradient_stability: 160.0,
        chroma_stability: 200.0,
        chroma_exponent: 0.03,
    };

    /// The authors' parameters, for luma alone.
    pub const LUMA: Self = Self { chromatic: false, ..Self::DEFAULT };
}

impl Default for Fsim {
    fn default() -> Self {
        Self::DEFAULT
    }
}

full_reference!(Fsim);

fn features([reference, distorted]: [&Image; 2]) -> [Features; 2] {
    let planes = |image| move || weighted_similarity::luma_and_chroma(image, color::YIQ);
    let ((luma, chroma), (distorted_luma, distorted_chroma)) = rayon::join(planes(reference), planes(distorted));
    let maps = PhaseCongruency::new(luma.width(), luma.height()).maps([&luma, &distorted_luma]);
    let [congruency, distorted_congruency] = maps;
    [
        Features { luma: scharr::padded(&luma), chroma, strength: congruency },
        Features { luma: scharr::padded(&distorted_luma), chroma: distorted_chroma, strength: distorted_congruency },
    ]
}

impl Metric for Fsim {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn measure(&self, pair: &Pair<'_>) -> Result<Measurement> {
        let (reference, distorted) = pair.both(&INFO)?;
        let [reference, distorted] = features([reference, distorted]);
        let chroma = self.chromatic.then_some((self.chroma_stability, self.chroma_exponent));
        let compare = |gradients: [&[f32]; 2], congruency: [&[f32]; 2], row: &mut [f32], weights: &mut [f32]| {
            compare_luma(self, gradients, congruency, row, weights);
        };
        let (score, map) = weighted_similarity::compare([&reference, &distorted], chroma, compare);
        let measurement = Measurement::new(score);
        Ok(if pair.wants_map() { measurement.with_map(map, 1.0, WORST_SIMILARITY) } else { measurement })
    }
}

/// The similarity of features and of gradients (passed squared), and the weight of each location.
#[multiversion(targets("x86_64+avx2"))]
fn compare_luma(
    fsim: &Fsim,
    gradients: [&[f32]; 2],
    congruency: [&[f32]; 2],
    similarity: &mut [f32],
    weights: &mut [f32],
) {
    let (t1, t2) = (fsim.congruency_stability, fsim.gradient_stability);
    let pairs = gradients[0].iter().zip(gradients[1]).zip(congruency[0].iter().zip(congruency[1]));
    for (((&g, &h), (&p, &q)), (out, weight)) in pairs.zip(similarity.iter_mut().zip(weights)) {
        let gradient = (2.0 * (g * h).sqrt() + t2) / (g + h + t2);
        let feature = (2.0 * p * q + t1) / (p * p + q * q + t1);
        *out = gradient * feature;
        *weight = if p > q { p } else { q };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_official, color_noise, gray_noise};

    #[test]
    fn official_values() {
        assert_official(&Fsim::DEFAULT, [0.6890, 0.9702, 0.9927, 0.9575, 0.8220], [5e-5; 5]);
    }

    #[test]
    fn identical_images_are_perfect() {
        for image in [color_noise(63, 50, 3), gray_noise(300, 401, 4)] {
            let measurement = Fsim::DEFAULT.measure(&Pair::new(&image, &image).unwrap().with_map()).unwrap();
            assert_eq!(measurement.score, 1.0);
            assert!(measurement.map.unwrap().plane.data().iter().all(|&similarity| similarity == 1.0));
        }
    }

    #[test]
    fn flat_and_tiny_images_are_finite_or_refused() {
        let flat = |level: u8, side: usize| Image::from_rgb8(side, side, vec![level; side * side * 3]).unwrap();
        for side in [2, 3, 17, 600] {
            let score = Fsim::DEFAULT.score(&flat(0, side), &flat(200, side)).unwrap();
            assert!((0.0..=1.0).contains(&score), "{side}: {score}");
            assert_eq!(Fsim::DEFAULT.score(&flat(90, side), &flat(90, side)).unwrap(), 1.0);
        }
        assert!(Fsim::DEFAULT.score(&flat(1, 1), &flat(1, 1)).is_err());
    }

    #[test]
    fn swapping_the_images_changes_nothing_and_luma_alone_ignores_chroma() {
        let (a, b) = (color_noise(90, 71, 1), color_noise(90, 71, 2));
        assert_eq!(Fsim::DEFAULT.score(&a, &b).unwrap(), Fsim::DEFAULT.score(&b, &a).unwrap());
        assert!(Fsim::LUMA.score(&a, &b).unwrap() > Fsim::DEFAULT.score(&a, &b).unwrap());
    }
}

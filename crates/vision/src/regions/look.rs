//! What people see in a part of an image: is it sharp, is it dark?
//!
//! A part is judged next to the rest. Skin that fills a crop looks soft to a network that sees only the
//! crop; next to the background, the same face is clearly in focus. The weights are those of logistic
//! regressions on the subjects of labeled photos, and for sharpness also on pairs of subjects of a photo of
//! which only one is sharp: `agenticiqa-fit parts --fit` prints them.

use agenticiqa_metrics::{Image, Region};

use super::focus::top;
use super::layout::{Cell, Layout};
use crate::fused_nr::{self, Head, Reading};
use crate::perception;

/// Number of measurements of sharpness.
pub const OF_SHARPNESS: usize = 11;
/// Number of measurements of light.
pub const OF_LIGHT: usize = 6;

/// Cells with less than this part of the detail of the sharpest cells of the image are soft.
const SOFT: f64 = 0.25;

/// Weights of the constant and of the measurements.
const SHARP: [f64; OF_SHARPNESS + 1] =
    [2.959, -4.055, -3.685, -0.474, 0.833, 0.134, 0.286, -1.309, 1.462, 0.803, -0.742, -0.445];
const DARK: [f64; OF_LIGHT + 1] = [1.543, -4.844, -2.279, -3.339, -2.064, 1.012, 1.288];
const BRIGHT: [f64; OF_LIGHT + 1] = [-5.006, 3.261, 3.660, 0.721, 3.686, -2.195, -0.791];

/// How a part of an image looks next to the rest.
#[derive(Debug, Clone, PartialEq)]
pub struct Look {
    /// The probability that people call it sharp.
    pub sharp: f64,
    /// The probability that people call it dark.
    pub dark: f64,
    /// The probability that people call it bright.
    pub bright: f64,
    /// What the probability of sharpness is computed from.
    pub of_sharpness: [f64; OF_SHARPNESS],
    /// What the probabilities of light are computed from.
    pub of_light: [f64; OF_LIGHT],
}

impl Look {
    /// Returns how soft the part is, from 0 to 4, if it looks this soft alone.
    pub fn softness(&self, alone: f64) -> f64 {
        let doubt = 2.0 * (0.5 - self.sharp);
        if doubt <= 0.0 {
            let most = 0.9 * (1.0 + doubt);
            0.5 * (alone.min(most) + most)
        } else {
            alone.clamp(0.9 + 1.8 * doubt, 1.2 + 2.4 * doubt)
        }
    }
}

/// Looks at a part of an image.
pub fn look(image: &Image, region: &Region) -> Result<Look, fused_nr::Error> {
    let crop = image.crop(region)?;
    let layout = Layout::of(image);
    let own: Vec<&Cell> = layout.within(region).collect();
    let all: Vec<&Cell> = layout.cells.iter().collect();
    // A region between two centers of cells has none of its own.
    let inside = Layout::of(&crop);
    let own = if own.is_empty() { inside.cells.iter().collect() } else { own };
    let of_sharpness = sharpness(image, &crop, &own, &all)?;
    let of_light = light(&inside, &all);
    Ok(Look {
        sharp: probability(&SHARP, &of_sharpness),
        dark: probability(&DARK, &of_light),
        bright: probability(&BRIGHT, &of_light),
        of_sharpness,
        of_light,
    })
}

fn sharpness(
    image: &Image,
    crop: &Image,
    own: &[&Cell],
    all: &[&Cell],
) -> Result<[f64; OF_SHARPNESS], fused_nr::Error> {
    let detail = |cells: &[&Cell]| -> Vec<f64> { cells.iter().map(|cell| cell.edge * cell.acuity).collect() };
    let log = |detail: f64| (1.0 + detail).ln();
    let mut inside = detail(own);
    let (sharpest, best) = (top(inside.iter().copied()), top(detail(all).into_iter()));
    inside.sort_unstable_by(f64::total_cmp);
    let soft = inside.iter().filter(|detail| **detail < SOFT * best).count() as f64 / inside.len().max(1) as f64;
    let edges: Vec<f64> = own.iter().map(|cell| cell.acuity).filter(|acuity| *acuity > 0.0).collect();
    let acuity = edges.iter().sum::<f64>() / edges.len().max(1) as f64;
    let width = perception::measure(crop)?.get("edge_width");
    let share = (crop.width() * crop.height()) as f64 / (image.width() * image.height()) as f64;
    Ok([
        softness(&*fused_nr::read(image)?),
        softness(&*fused_nr::read(crop)?),
        log(sharpest),
        log(sharpest) - log(best),
        log(quantile(&inside, 0.5)),
        log(quantile(&inside, 0.75)),
        soft,
        acuity,
        top(own.iter().map(|cell| cell.acuity)),
        log(width),
        share.max(1e-4).ln(),
    ])
}

/// Returns a quantile of sorted values, between two of them if necessary.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * sorted.len().saturating_sub(1) as f64;
    let at = |place: f64| sorted.get(place as usize).copied().unwrap_or(0.0);
    at(place) + (place - place.floor()) * (at(place.ceil()) - at(place))
}

/// How soft the network finds an image, from 0 to 1.
fn softness(reading: &Reading) -> f64 {
    let steps = [0.0, 0.33, 0.67, 1.0];
    reading.probabilities(Head::Sharpness).iter().zip(steps).map(|(share, step)| share * step).sum()
}

fn light(inside: &Layout, all: &[&Cell]) -> [f64; OF_LIGHT] {
    let sorted = |mut cells: Vec<f64>| {
        cells.sort_unstable_by(f64::total_cmp);
        cells
    };
    let own = sorted(inside.cells.iter().map(|cell| cell.luma / 255.0).collect());
    let whole = sorted(all.iter().map(|cell| cell.luma / 255.0).collect());
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    [mean(&own), mean(&own) * mean(&own), quantile(&own, 0.1), quantile(&own, 0.9), mean(&whole), quantile(&whole, 0.9)]
}

fn probability(weights: &[f64], measurements: &[f64]) -> f64 {
    let Some((constant, weights)) = weights.split_first() else { return 0.5 };
    let margin = weights.iter().zip(measurements).fold(*constant, |sum, (weight, value)| sum + weight * value);
    1.0 / (1.0 + (-margin).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(sharp: f64) -> Look {
        Look { sharp, dark: 0.0, bright: 0.0, of_sharpness: [0.0; OF_SHARPNESS], of_light: [0.0; OF_LIGHT] }
    }

    #[test]
    fn what_is_sharp_next_to_the_rest_is_not_soft() {
        for alone in [0.0, 1.0, 2.5, 4.0] {
            let softness: Vec<f64> = [1.0, 0.9, 0.51, 0.49, 0.2, 0.0].map(|sharp| seen(sharp).softness(alone)).to_vec();
            assert!(softness.windows(2).all(|pair| pair[0] <= pair[1]), "{softness:?}");
            assert!(softness[2] < 0.9 && softness[3] > 0.9, "{softness:?}");
            assert!(softness.iter().all(|one| (0.0..=4.0).contains(one)), "{softness:?}");
        }
    }

    #[test]
    fn every_part_can_be_looked_at() {
        let image = Image::from_gray8(300, 200, (0..60_000).map(|at: usize| (at * 31 % 200) as u8).collect()).unwrap();
        for (x, y, width, height) in [(0, 0, 300, 200), (260, 160, 40, 40), (7, 3, 64, 64), (0, 0, 300, 33)] {
            let look = look(&image, &Region { x, y, width, height }).unwrap();
            for probability in [look.sharp, look.dark, look.bright] {
                assert!((0.0..=1.0).contains(&probability), "{look:?}");
            }
        }
    }
}

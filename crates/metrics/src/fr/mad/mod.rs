//! MAD, most apparent distortion.
//!
//! **What it measures**: visible errors in images that are nearly flawless (errors masked by
//! luminance, contrast and contrast sensitivity), and changes of appearance in images that are not
//! (statistics of log-Gabor responses). The two are blended by how visible the errors are.
//! Computed on R, G and B, and averaged.
//!
//! **Range and direction**: 0 (identical) upwards, a few hundred for severe damage; lower is
//! better.
//!
//! **Reference**: Larson, Chandler, Journal of Electronic Imaging 19(1), 2010. The published table
//! of values is that of the Python port in IQA-PyTorch. Its definition is kept where it departs
//! from the paper (the authors' own release was not available for comparison):
//!
//! - three color channels, and errors on the scale 0..=255;
//! - weights by orientation and not by scale;
//! - a contrast sensitivity function that is shuffled on images that are not square;
//! - one misplaced sample next to zero frequency;
//! - statistics of the three channels that are interleaved block by block and then read as if they
//!   were not. They are pooled over three parts of the image from top to bottom, so masks are
//!   applied to the errors of other locations. The map is correct: it shows every location at its
//!   place.
//!
//! **Deviations**: none from the table on the calibration pairs beyond its rounding (5e-5) and
//! 1e-6 of the value.
//!
//! Memory: besides the images, two half spectra and one complex plane, 16 bytes per pixel, and
//! maps of a sixteenth of the size: about 1.5 GB in total for a pair of 50 megapixels.

mod engine;
mod filters;

use self::engine::Engine;
use crate::metric::full_reference;
use crate::ops::{moments, strips, sum};
use crate::{Direction, Info, Kind, Measurement, Metric, Pair, Plane, Result};

/// MAD with the parameters of the published table.
#[derive(Debug, Clone, Copy)]
pub struct Mad {
    /// The visibility of errors at which appearance starts to count.
    pub threshold: f64,
    /// How gradually appearance replaces visible errors.
    pub slope: f64,
}

/// Mean lightness below which errors are not visible.
const DARK: f32 = 0.5;
/// Logarithm of the contrast from which a location masks errors, and from which an error is
/// visible.
const CONTRAST_THRESHOLD: f32 = -5.0;
const ERROR_GAIN: f64 = 200.0;
const STABILITY: f32 = 1e-12;
/// Gray images count as three equal channels.
const CHANNELS: usize = 3;
/// Local value at which the map shows full damage.
const WORST: f32 = 300.0;

static INFO: Info = Info {
    name: "MAD",
    kind: Kind::FullReference,
    direction: Direction::LowerIsBetter,
    range: (0.0, f64::INFINITY),
    unit: "",
    summary: "Visible errors in good images, changed appearance in bad images, on R, G and B.",
    paper: "E. C. Larson, D. M. Chandler, Most apparent distortion: full-reference image quality assessment and the role of strategy, Journal of Electronic Imaging 19(1), 2010",
    has_map: true,
    minimum_side: moments::SIDE,
};

impl Mad {
    /// The parameters of the published table.
    pub const DEFAULT: Self = Self { threshold: 2.55, slope: 3.35 };
}

impl Default for Mad {
    fn default() -> Self {
        Self::DEFAULT
    }
}

full_reference!(Mad);

impl Metric for Mad {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn measure(&self, pair: &Pair<'_>) -> Result<Measurement> {
        let (reference, distorted) = pair.both(&INFO)?;
        let engine = Engine::new(reference, distorted);
        let channels = reference.channels().max(distorted.channels());
        let maps: Vec<ChannelMaps> = (0..channels).map(|channel| engine.channel_maps(channel)).collect();
        let parts = pooled_parts(&maps);
        let score = parts.iter().map(|part| self.blend(part.visible, part.changed)).sum::<f64>() / parts.len() as f64;
        let measurement = Measurement::new(score);
        if !pair.wants_map() {
            return Ok(measurement);
        }
        Ok(measurement.with_map(self.local(&maps), 0.0, WORST))
    }
}

impl Mad {
    /// Blends visible errors and changed appearance. The more visible the errors, the less they
    /// count.
    fn blend(&self, visible: f64, changed: f64) -> f64 {
        let share = self.share_of_errors(visible);
        changed.powf(1.0 - share) * visible.powf(share)
    }

    /// The weight of visible errors relative to appearance; 1 if there are none.
    fn share_of_errors(&self, visible: f64) -> f64 {
        let exponent = 1.0 / (std::f64::consts::LN_10 * self.slope);
        1.0 / (1.0 + (-self.threshold / self.slope).exp() * visible.powf(exponent))
    }

    /// The map: both local values, blended with the weights of the whole image and averaged over
    /// channels.
    fn local(&self, maps: &[ChannelMaps]) -> Plane {
        let scale = 1.0 / maps.len() as f32;
        let mut local = Plane::new(maps[0].mean.width(), maps[0].mean.height());
        for map in maps {
            let errors = masked_errors(&map.mean, &map.deviation, &map.error, &map.squared);
            let share = self.share_of_errors(ERROR_GAIN * root_mean_square(&errors)) as f32;
            let places = errors.data().iter().zip(map.appearance.data());
            for (out, (&error, &changed)) in local.data_mut().iter_mut().zip(places) {
                *out += scale * changed.powf(1.0 - share) * (ERROR_GAIN as f32 * error).powf(share);
            }
        }
        local
    }
}

/// The block statistics of one channel.
struct ChannelMaps {
    /// Mean and standard deviation of the reference, filtered by contrast sensitivity.
    mean: Plane,
    deviation: Plane,
    /// Standard deviation of the difference, filtered by contrast sensitivity.
    error: Plane,
    /// Mean squared difference of the samples.
    squared: Plane,
    /// Difference of the statistics of all log-Gabor responses.
    appearance: Plane,
}

/// Visible errors and changed appearance of a part of the image.
struct Part {
    visible: f64,
    changed: f64,
}

/// Pools three parts. Blocks are ordered from left to right and top to bottom, each with its three
/// channels, and every part has a third of them. Only the squared errors are those of one channel
/// over the whole image.
fn pooled_parts(maps: &[ChannelMaps]) -> [Part; CHANNELS] {
    let of = |channel: usize| &maps[channel.min(maps.len() - 1)];
    std::array::from_fn(|part| {
        let interleaved = |plane: &dyn Fn(&ChannelMaps) -> &Plane| {
            let planes: [&Plane; CHANNELS] = std::array::from_fn(|channel| plane(of(channel)));
            let (width, height) = (planes[0].width(), planes[0].height());
            let first = part * width * height;
            Plane::from_fn(width, height, |x, y| {
                let place = first + y * width + x;
                planes[place % CHANNELS].data()[place / CHANNELS]
            })
        };
        let (mean, deviation, error) =
            (interleaved(&|map| &map.mean), interleaved(&|map| &map.deviation), interleaved(&|map| &map.error));
        let errors = masked_errors(&mean, &deviation, &error, &of(part).squared);
        let appearance = interleaved(&|map| &map.appearance);
        Part { visible: ERROR_GAIN * root_mean_square(&errors), changed: root_mean_square(&appearance) }
    })
}

/// The amount by which errors exceed the local threshold, times the local squared error.
fn masked_errors(mean: &Plane, deviation: &Plane, error: &Plane, squared: &Plane) -> Plane {
    let mut errors = Plane::new(mean.width(), mean.height());
    strips::for_each_row(&mut errors, |y, out| {
        for (x, out) in out.iter_mut().enumerate() {
            // The contrast is half the minimum of the block and its neighbors to the left and
            // above.
            let near = |y: usize| deviation.at(x, y).min(deviation.at(x.saturating_sub(1), y));
            let contrast = 0.5 * near(y).min(near(y.saturating_sub(1)));
            *out = visibility(contrast, error.at(x, y), mean.at(x, y)) * squared.at(x, y);
        }
    });
    errors
}

fn root_mean_square(plane: &Plane) -> f64 {
    (sum::sum_and_squares(plane.data()).1 / plane.data().len() as f64).sqrt()
}

/// The amount by which an error with this deviation exceeds the local threshold; 0 below it.
fn visibility(contrast: f32, error: f32, mean: f32) -> f32 {
    if mean < DARK {
        return 0.0;
    }
    let relative = |deviation: f32| ((deviation + STABILITY) / (mean + STABILITY)).abs().ln();
    let (contrast, error) = (relative(contrast), relative(error));
    // Below the threshold a location does not mask. Above it, the error must exceed the contrast.
    (error - contrast.max(CONTRAST_THRESHOLD)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_official, calibration_pair, color_noise, gray_noise};
    use crate::{Error, Image};

    #[test]
    fn official_values() {
        let expected = [195.2796, 80.8379, 30.3918, 84.3542, 202.2371];
        assert_official(&Mad::DEFAULT, expected, expected.map(|value| 1e-6 * value + 5e-5));
    }

    #[test]
    fn identical_images_give_zero_and_a_map_of_zeros() {
        for image in [gray_noise(33, 41, 1), color_noise(40, 32, 2)] {
            let measurement = Mad::DEFAULT.measure(&Pair::new(&image, &image).unwrap().with_map()).unwrap();
            assert_eq!(measurement.score, 0.0);
            assert!(measurement.map.unwrap().plane.data().iter().all(|&value| value == 0.0));
        }
    }

    #[test]
    fn flat_images_give_finite_scores() {
        let flat = |value: u8| Image::from_gray8(48, 32, vec![value; 48 * 32]).unwrap();
        assert_eq!(Mad::DEFAULT.score(&flat(90), &flat(90)).unwrap(), 0.0);
        for (reference, distorted) in [(0, 255), (255, 0), (128, 129), (0, 1)] {
            assert!(Mad::DEFAULT.score(&flat(reference), &flat(distorted)).unwrap().is_finite());
        }
        assert!(Mad::DEFAULT.score(&flat(90), &gray_noise(48, 32, 5)).unwrap() > 1.0);
        assert!(Mad::DEFAULT.score(&gray_noise(48, 32, 5), &flat(90)).unwrap() > 1.0);
    }

    #[test]
    fn sizes_below_a_block_are_refused_and_odd_ones_measured() {
        let small = gray_noise(15, 40, 2);
        assert!(matches!(Mad::DEFAULT.score(&small, &small), Err(Error::TooSmall { .. })));
        for (width, height) in [(16, 16), (17, 19), (35, 16), (16, 47), (67, 53)] {
            let (reference, distorted) = (gray_noise(width, height, 2), gray_noise(width, height, 3));
            let score = Mad::DEFAULT.score(&reference, &distorted).unwrap();
            assert!(score.is_finite() && score >= 0.0, "{width}x{height}: {score}");
        }
    }

    #[test]
    fn a_gray_image_scores_as_its_color_copy() {
        let (gray, other) = (gray_noise(40, 36, 2), gray_noise(40, 36, 3));
        let colored = |image: &Image| {
            let samples = image.channel(0).data().iter().flat_map(|&v| [v as u8; 3]).collect();
            Image::from_rgb8(40, 36, samples).unwrap()
        };
        let expected = Mad::DEFAULT.score(&gray, &other).unwrap();
        let score = Mad::DEFAULT.score(&colored(&gray), &colored(&other)).unwrap();
        assert!((score - expected).abs() < 1e-9 * expected);
    }

    #[test]
    fn the_map_is_hot_where_the_damage_is() {
        let (reference, _) = calibration_pair("I08");
        let channels = [0, 1, 2].map(|channel| reference.channel(channel));
        let damaged = |i: usize, value: u8| if i % 512 < 128 { value ^ 24 } else { value };
        let samples = (0..384 * 512).flat_map(|i| channels.each_ref().map(|c| damaged(i, c.data()[i] as u8))).collect();
        let distorted = Image::from_rgb8(512, 384, samples).unwrap();
        let map = Mad::DEFAULT.measure(&Pair::new(&reference, &distorted).unwrap().with_map()).unwrap().map.unwrap();
        assert_eq!((map.plane.width(), map.plane.height()), (125, 93));
        assert!(map.plane.at(10, 50) > 1.0);
        assert_eq!(map.plane.at(100, 50), 0.0);
    }
}

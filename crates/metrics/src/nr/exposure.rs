//! Exposure: mean brightness, and the share of pixels that are clipped to black or white.
//!
//! **What it measures**: whether the image is too dark or too bright, and where detail is
//! irrecoverably lost. A pixel is clipped in the shadows if all its channels are within 3 levels
//! of black, and in the highlights if all are within 3 levels of white (sensors and codecs rarely
//! leave exactly 0 or 255).
//!
//! **Range and direction**: Brightness is the mean of rounded BT.601 luma, 0 to 255, neither end
//! better; the clipped shares are percentages, lower is better.
//!
//! **Reference**: plain definitions; E. Reinhard et al., High Dynamic Range Imaging, 2010, chapter
//! 2.
//!
//! **Deviations**: none. The maps are 1 where a pixel is clipped and 0 elsewhere.

use multiversion::multiversion;

use crate::metric::no_reference;
use crate::ops::{strips, sum};
use crate::{Direction, Image, Info, Kind, Measurement, Metric, Pair, Plane, Result};

/// Maximum distance of a clipped channel from black or white, in 8-bit levels.
const MARGIN: f32 = 3.0;

/// Mean luma.
#[derive(Debug, Clone, Copy, Default)]
pub struct Brightness;

/// Share of pixels clipped to black.
#[derive(Debug, Clone, Copy, Default)]
pub struct ClippedShadows;

/// Share of pixels clipped to white.
#[derive(Debug, Clone, Copy, Default)]
pub struct ClippedHighlights;

static BRIGHTNESS: Info = Info {
    name: "Brightness",
    kind: Kind::NoReference,
    direction: Direction::Neutral,
    range: (0.0, 255.0),
    unit: "level",
    summary: "Mean luma of the image, in 8-bit levels.",
    paper: "Plain definition: mean of BT.601 luma (ITU-R BT.601)",
    has_map: false,
    minimum_side: 1,
};

static SHADOWS: Info = Info {
    name: "Clipped-Shadows",
    kind: Kind::NoReference,
    direction: Direction::LowerIsBetter,
    range: (0.0, 100.0),
    unit: "%",
    summary: "Share of pixels that are black in every channel, where shadow detail is lost.",
    paper: "Plain definition; E. Reinhard et al., High Dynamic Range Imaging, 2nd edition, 2010",
    has_map: true,
    minimum_side: 1,
};

static HIGHLIGHTS: Info = Info {
    name: "Clipped-Highlights",
    summary: "Share of pixels that are white in every channel, where highlight detail is lost.",
    ..SHADOWS
};

impl Brightness {
    /// The default: mean of rounded luma.
    pub const DEFAULT: Self = Self;
}

impl ClippedShadows {
    /// The default: within 3 levels of black.
    pub const DEFAULT: Self = Self;
}

impl ClippedHighlights {
    /// The default: within 3 levels of white.
    pub const DEFAULT: Self = Self;
}

no_reference!(Brightness);
no_reference!(ClippedShadows);
no_reference!(ClippedHighlights);

impl Metric for Brightness {
    fn info(&self) -> &'static Info {
        &BRIGHTNESS
    }

    fn measure(&self, pair: &Pair<'_>) -> Result<Measurement> {
        let gray = pair.single_checked(&BRIGHTNESS)?.gray();
        let totals = strips::map(gray.height(), |rows| rows.map(|y| sum::sum(gray.row(y))).sum::<f64>());
        Ok(Measurement::new(totals.iter().sum::<f64>() / gray.data().len() as f64))
    }
}

impl Metric for ClippedShadows {
    fn info(&self) -> &'static Info {
        &SHADOWS
    }

    fn measure(&self, pair: &Pair<'_>) -> Result<Measurement> {
        Ok(clipped(pair.single_checked(&SHADOWS)?, pair.wants_map(), mark_shadows))
    }
}

impl Metric for ClippedHighlights {
    fn info(&self) -> &'static Info {
        &HIGHLIGHTS
    }

    fn measure(&self, pair: &Pair<'_>) -> Result<Measurement> {
        Ok(clipped(pair.single_checked(&HIGHLIGHTS)?, pair.wants_map(), mark_highlights))
    }
}

/// The percentage of pixels that `mark` leaves at 1 after it was called for every channel.
fn clipped(image: &Image, wants_map: bool, mark: fn(&[f32], &mut [f32])) -> Measurement {
    let (width, height) = (image.width(), image.height());
    let mark_row = |y: usize, samples: &mut [f32], marks: &mut [f32]| {
        marks.fill(1.0);
        for channel in 0..image.channels() {
            image.read_row(channel, y, samples);
            mark(samples, marks);
        }
        sum::sum(marks)
    };
    let mut map = wants_map.then(|| Plane::new(width, height));
    let totals: Vec<f64> = match &mut map {
        Some(map) => strips::fill(map, |rows, marks| {
            let mut samples = vec![0.0; width];
            rows.zip(marks.chunks_exact_mut(width)).map(|(y, marks)| mark_row(y, &mut samples, marks)).sum()
        }),
        None => strips::map(height, |rows| {
            let (mut samples, mut marks) = (vec![0.0; width], vec![0.0; width]);
            rows.map(|y| mark_row(y, &mut samples, &mut marks)).sum()
        }),
    };
    let measurement = Measurement::new(100.0 * totals.iter().sum::<f64>() / (width * height) as f64);
    match map {
        Some(map) => measurement.with_map(map, 0.0, 1.0),
        None => measurement,
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn mark_shadows(samples: &[f32], marks: &mut [f32]) {
    for (mark, &sample) in marks.iter_mut().zip(samples) {
        *mark *= if sample <= MARGIN { 1.0 } else { 0.0 };
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn mark_highlights(samples: &[f32], marks: &mut [f32]) {
    for (mark, &sample) in marks.iter_mut().zip(samples) {
        *mark *= if sample >= 255.0 - MARGIN { 1.0 } else { 0.0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brightness_is_the_mean_of_rounded_luma() {
        // rgb2gray: 76 (red), 150 (green), 29 (blue), 255 (white)
        let image = Image::from_rgb8(2, 2, vec![255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255]).unwrap();
        assert_eq!(Brightness.score(&image).unwrap(), (76.0 + 150.0 + 29.0 + 255.0) / 4.0);
    }

    #[test]
    fn only_pixels_clipped_in_every_channel_count() {
        let pixels = vec![0, 0, 0, 3, 3, 3, 4, 0, 0, 0, 0, 255, 252, 252, 252, 255, 255, 251, 255, 255, 255, 9, 9, 9];
        let image = Image::from_rgb8(4, 2, pixels).unwrap();
        let shadows = ClippedShadows.measure(&Pair::single(&image).with_map()).unwrap();
        let highlights = ClippedHighlights.measure(&Pair::single(&image).with_map()).unwrap();
        assert_eq!((shadows.score, highlights.score), (25.0, 25.0));
        assert_eq!(shadows.map.unwrap().plane.data(), [1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(highlights.map.unwrap().plane.data(), [0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0]);
        assert_eq!(ClippedHighlights.score(&image).unwrap(), 25.0);
    }

    #[test]
    fn sixteen_bits_are_measured_on_the_same_scale() {
        let image = Image::from_gray16(3, 1, vec![3 * 257, 3 * 257 + 1, 252 * 257]).unwrap();
        assert!((ClippedShadows.score(&image).unwrap() - 100.0 / 3.0).abs() < 1e-12);
        assert!((ClippedHighlights.score(&image).unwrap() - 100.0 / 3.0).abs() < 1e-12);
        assert!((Brightness.score(&image).unwrap() - (6.0 + 1.0 / 257.0 + 252.0) / 3.0).abs() < 1e-4);
    }
}

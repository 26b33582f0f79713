//! ENTROPY, Shannon entropy of the luma histogram.
//!
//! **What it measures**: how evenly the 256 gray levels are used; flat or badly exposed images
//! have little entropy.
//!
//! **Range and direction**: 0 (one gray level) to 8 bits; higher is better.
//!
//! **Reference**: MATLAB's `entropy(rgb2gray(image))`: 256 bins, rounded luma.
//!
//! **Deviations**: none above half a unit of the last printed digit on the calibration pairs. The
//! map is MATLAB's `entropyfilt`: the entropy of the 9x9 pixels around each pixel, mirrored at the
//! border.

use crate::metric::no_reference;
use crate::ops::convolve::Border;
use crate::ops::histogram::{Histogram, nearest_levels};
use crate::ops::strips;
use crate::{Direction, Info, Kind, Measurement, Metric, Pair, Plane, Result};

const LEVELS: usize = 256;
/// Side and number of pixels of the map's window.
const WINDOW: usize = 9;
const WINDOW_PIXELS: usize = WINDOW * WINDOW;
/// Highest local entropy: 81 different levels in a window.
const BEST: f32 = 6.34;
/// Terms of the local entropy are multiples of this fraction of a bit, so that a sliding sum stays
/// exact.
const FRACTION: f64 = 1.0 / 65536.0;

/// Shannon entropy of the luma histogram.
#[derive(Debug, Clone, Copy, Default)]
pub struct Entropy;

static INFO: Info = Info {
    name: "ENTROPY",
    kind: Kind::NoReference,
    direction: Direction::HigherIsBetter,
    range: (0.0, 8.0),
    unit: "bit",
    summary: "How evenly the gray levels are used: entropy of the luma histogram.",
    paper: "C. E. Shannon, A mathematical theory of communication, Bell System Technical Journal 27, 1948",
    has_map: true,
    minimum_side: 1,
};

impl Entropy {
    /// The default: 256 bins of rounded luma.
    pub const DEFAULT: Self = Self;
}

no_reference!(Entropy);

impl Metric for Entropy {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn measure(&self, pair: &Pair<'_>) -> Result<Measurement> {
        let gray = pair.single_checked(&INFO)?.gray();
        let histogram = Histogram::count(gray, LEVELS);
        let count = histogram.total() as f64;
        let entropy = histogram
            .counts()
            .iter()
            .filter(|&&pixels| pixels > 0)
            .map(|&pixels| pixels as f64 / count)
            .map(|share| -share * share.log2())
            .sum::<f64>();
        let measurement = Measurement::new(entropy.max(0.0));
        Ok(if pair.wants_map() { measurement.with_map(local_entropy(gray), BEST, 0.0) } else { measurement })
    }
}

/// Entropy of the window around each pixel.
fn local_entropy(gray: &Plane) -> Plane {
    let (width, height) = (gray.width(), gray.height());
    let margin = WINDOW / 2;
    let terms = terms();
    let mut map = Plane::new(width, height);
    strips::fill(&mut map, |rows, out| {
        let padded: Vec<Vec<u8>> = (rows.start..rows.end + 2 * margin)
            .map(|y| Border::Symmetric.index(y as isize - margin as isize, height).unwrap_or(0))
            .map(|y| padded_levels(gray.row(y), margin))
            .collect();
        for (out, window) in out.chunks_exact_mut(width).zip(padded.windows(WINDOW)) {
            slide(window, &terms, out);
        }
    });
    map
}

/// `n log2 n` for each number of equal pixels, in units of [`FRACTION`].
fn terms() -> [i64; WINDOW_PIXELS + 1] {
    std::array::from_fn(|count| {
        let count = count.max(1) as f64;
        (count * count.log2() / FRACTION).round() as i64
    })
}

/// The levels of a row, mirrored beyond its ends.
fn padded_levels(row: &[f32], margin: usize) -> Vec<u8> {
    let mut levels = vec![0u16; row.len()];
    nearest_levels(row, (LEVELS - 1) as f32, &mut levels);
    (0..row.len() + 2 * margin)
        .map(|x| Border::Symmetric.index(x as isize - margin as isize, row.len()).unwrap_or(0))
        .map(|x| levels[x] as u8)
        .collect()
}

/// Moves the window along one row; `rows` are the padded levels of its nine rows.
fn slide(rows: &[Vec<u8>], terms: &[i64; WINDOW_PIXELS + 1], out: &mut [f32]) {
    let mut counts = [0u8; LEVELS];
    let mut total = 0;
    let mut change = |x: usize, enter: bool| {
        for row in rows {
            let count = &mut counts[usize::from(row[x])];
            total -= terms[usize::from(*count)];
            *count = if enter { *count + 1 } else { *count - 1 };
            total += terms[usize::from(*count)];
        }
        total
    };
    (0..WINDOW - 1).for_each(|x| {
        change(x, true);
    });
    for (x, out) in out.iter_mut().enumerate() {
        let total = change(x + WINDOW - 1, true);
        *out = ((terms[WINDOW_PIXELS] - total) as f64 * FRACTION / WINDOW_PIXELS as f64) as f32;
        change(x, false);
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
        let map = Entropy.measure(&Pair::single(&flat).with_map()).unwrap().map.unwrap();
        assert!(map.plane.data().iter().all(|&entropy| entropy == 0.0));
    }

    #[test]
    fn the_map_is_that_of_entropyfilt() {
        // Octave 7, image package: entropyfilt(uint8(mod(floor((0:19)' .^ 2 / 7) + (0:22) * 13, 31) * 8))
        let sample = |x: usize, y: usize| ((y * y / 7 + x * 13) % 31 * 8) as u8;
        let samples = (0..20).flat_map(|y| (0..23).map(move |x| sample(x, y))).collect();
        let image = Image::from_gray8(23, 20, samples).unwrap();
        let map = Entropy.measure(&Pair::single(&image).with_map()).unwrap().map.unwrap().plane;
        for (x, y, expected) in [(0, 0, 3.505_431), (12, 10, 4.811_288), (22, 19, 3.723_204), (8, 3, 4.567_047)] {
            assert!((map.at(x, y) - expected).abs() < 1e-4, "({x}, {y}): {}", map.at(x, y));
        }
    }
}

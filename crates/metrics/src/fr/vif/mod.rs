//! VIF, visual information fidelity.
//!
//! **What it measures**: the share of the information in the reference that a viewer can still
//! extract from the distorted image. It responds to blur, noise and contrast changes; ignores
//! color.
//!
//! **Range and direction**: 0 to 1 (identical), above 1 for enhanced contrast; higher is better.
//!
//! **Reference**: Sheikh, Bovik, IEEE TIP 15(2), 2006, in the wavelet domain: the authors'
//! `vifvec` (not the pixel domain variant), on luma rounded as by `rgb2gray`. Vertical and
//! horizontal bands of the `sp5` pyramid, four scales, Gaussian scale mixture over 3x3
//! neighborhoods.
//!
//! **Deviations**: none above 5e-5 on the calibration pairs. A reference without any information
//! (flat) scores 1 with itself and 0 with everything else, where the definition has 0/0.
//!
//! Memory: two planes of luma, two of the current level and two of one band, 1.5 GB in total for a
//! pair of 50 megapixels.

mod windows;

use multiversion::multiversion;

use self::windows::Windows;
use crate::metric::full_reference;
use crate::ops::neighbors::{self, COUNT, SIDE};
use crate::ops::steerable::{self, Orientation};
use crate::ops::{jacobi, strips};
use crate::{Direction, Info, Kind, Measurement, Metric, Pair, Plane, Result};

/// VIF with the authors' parameters.
#[derive(Debug, Clone, Copy)]
pub struct Vif {
    /// Variance of the internal noise of human vision.
    pub visual_noise: f64,
}

/// Scales of the pyramid.
const LEVELS: usize = 4;
/// Smaller variances count as zero.
const TOLERANCE: f64 = 1e-12;
/// Eigenvalues below this share of the largest are left out of the inverse.
const RANK_TOLERANCE: f64 = 1e-14;
/// Rows of blocks per strip.
const STRIP: usize = 12;

static INFO: Info = Info {
    name: "VIF",
    kind: Kind::FullReference,
    direction: Direction::HigherIsBetter,
    range: (0.0, f64::INFINITY),
    unit: "",
    summary: "Share of the reference's visual information that the image still carries.",
    paper: "H. R. Sheikh, A. C. Bovik, Image information and visual quality, IEEE TIP 15(2), 2006",
    has_map: true,
    // In smaller images, the coarsest scale has no complete window.
    minimum_side: 65,
};

impl Vif {
    /// The authors' parameters.
    pub const DEFAULT: Self = Self { visual_noise: 0.4 };
}

impl Default for Vif {
    fn default() -> Self {
        Self::DEFAULT
    }
}

full_reference!(Vif);

impl Metric for Vif {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn measure(&self, pair: &Pair<'_>) -> Result<Measurement> {
        let (reference, distorted) = pair.both(&INFO)?;
        let grays = [reference.gray(), distorted.gray()];
        let mut map = pair.wants_map().then(|| InformationMap::new(reference.width(), reference.height()));
        let mut total = Information::default();
        let mut levels = grays.map(steerable::initial_low_pass);
        let mut bands = [Plane::default(), Plane::default()];
        for level in 0..LEVELS {
            for orientation in [Orientation::Across, Orientation::Down] {
                bands.iter_mut().zip(&levels).for_each(|(band, level)| steerable::write_band(level, orientation, band));
                let subband = Subband::new(&bands, LEVELS - level, self.visual_noise);
                total.add(subband.information());
                if let Some(map) = &mut map {
                    map.add(&subband, level);
                }
            }
            if level + 1 < LEVELS {
                levels = [0, 1].map(|i| steerable::halve(&levels[i]));
            }
        }
        let score = match total.reference > 0.0 {
            true => total.distorted / total.reference,
            false => f64::from(grays[0] == grays[1]),
        };
        let measurement = Measurement::new(score);
        Ok(match map {
            Some(map) => measurement.with_map(map.ratio(), 1.0, 0.0),
            None => measurement,
        })
    }
}

/// Information in bits that a viewer extracts from the reference and from the distorted image.
#[derive(Debug, Clone, Copy, Default)]
struct Information {
    reference: f64,
    distorted: f64,
}

impl Information {
    fn add(&mut self, other: Self) {
        self.reference += other.reference;
        self.distorted += other.distorted;
    }
}

/// One band of both images in 3x3 blocks, with the statistics of the reference's neighborhoods.
struct Subband<'a> {
    bands: &'a [Plane; 2],
    /// Number of blocks per row and per column.
    blocks: (usize, usize),
    /// The window has sides of `2 * reach + 1 = 2^scale + 1` samples.
    scale: usize,
    /// Blocks at each side that are ignored, because their window would leave the band.
    offset: usize,
    eigenvalues: [f64; COUNT],
    /// Maps a neighborhood to uncorrelated components of variance 1 (0 where there is none),
    /// `[sample][part]`.
    whitening: [[f64; COUNT]; COUNT],
    visual_noise: f64,
}

/// Signal-to-noise ratios of one row of blocks, before the multiplication with each eigenvalue.
#[derive(Default)]
struct Ratios {
    reference: Vec<f64>,
    distorted: Vec<f64>,
}

impl<'a> Subband<'a> {
    fn new(bands: &'a [Plane; 2], scale: usize, visual_noise: f64) -> Self {
        let blocks = (bands[0].width() / SIDE, bands[0].height() / SIDE);
        let (eigenvalues, vectors) = jacobi::eigen(neighbors::covariance(&bands[0], blocks.0 * SIDE, blocks.1 * SIDE));
        let eigenvalues = eigenvalues.map(|value| value.max(0.0));
        let smallest = RANK_TOLERANCE * eigenvalues.iter().fold(0.0, |largest: f64, &value| largest.max(value));
        let scales = eigenvalues.map(|value| if value > smallest { 1.0 / value.sqrt() } else { 0.0 });
        let whitening = std::array::from_fn(|sample| std::array::from_fn(|part| scales[part] * vectors[part][sample]));
        let offset = (1usize << (scale - 1)).div_ceil(SIDE);
        Self { bands, blocks, scale, offset, eigenvalues, whitening, visual_noise }
    }

    /// Number of blocks that count, per row and per column.
    fn inner(&self) -> (usize, usize) {
        (self.blocks.0.saturating_sub(2 * self.offset), self.blocks.1.saturating_sub(2 * self.offset))
    }

    fn information(&self) -> Information {
        let parts = self.rows(|ratios| Information {
            reference: log2_sum(&ratios.reference, &self.eigenvalues),
            distorted: log2_sum(&ratios.distorted, &self.eigenvalues),
        });
        let mut total = Information::default();
        parts.into_iter().flatten().for_each(|part| total.add(part));
        total
    }

    /// Calls `work` with the ratios of each row of blocks that counts. Returns the results strip
    /// by strip.
    fn rows<T: Send>(&self, work: impl Fn(&Ratios) -> T + Sync) -> Vec<Vec<T>> {
        let (columns, rows) = self.inner();
        if columns == 0 {
            return Vec::new();
        }
        strips::map_by(rows, STRIP, |strip| {
            let mut windows = Windows::new(self.bands, self.scale);
            let mut ratios = Ratios { reference: vec![0.0; columns], distorted: vec![0.0; columns] };
            strip
                .map(|row| {
                    windows.move_to(row + self.offset);
                    measure_channel(self, &windows, row + self.offset, &mut ratios);
                    work(&ratios)
                })
                .collect()
        })
    }
}

/// The distortion channel of every block of block row `row`: gain and noise from the window around
/// it, and the variance of the reference's field.
#[multiversion(targets("x86_64+avx2"))]
fn measure_channel(subband: &Subband<'_>, windows: &Windows<'_>, row: usize, ratios: &mut Ratios) {
    let samples: [&[f32]; SIDE] = std::array::from_fn(|j| subband.bands[0].row(SIDE * row + j));
    let reach = 1usize << (subband.scale - 1);
    let size = ((2 * reach + 1) * (2 * reach + 1)) as f64;
    let pairs = ratios.reference.iter_mut().zip(ratios.distorted.iter_mut());
    for (column, (reference, distorted)) in pairs.enumerate() {
        let left = SIDE * (column + subband.offset);
        let (gain, noise) = gain_and_noise(windows.at(left + 1 - reach), size);
        let neighborhood: [f64; COUNT] = std::array::from_fn(|n| f64::from(samples[n / SIDE][left + n % SIDE]));
        let variance = squared_norm(&subband.whitening, &neighborhood) / COUNT as f64;
        *reference = variance / subband.visual_noise;
        *distorted = gain * gain * variance / (noise + subband.visual_noise);
    }
}

/// Gain and noise variance of the channel that maps the reference's window to the distorted
/// window.
#[inline(always)]
fn gain_and_noise([x, y, xx, yy, xy]: [f64; 5], size: f64) -> (f64, f64) {
    let covariance = xy - x * y / size;
    let reference = (xx - x * x / size).max(0.0);
    let distorted = (yy - y * y / size).max(0.0);
    if distorted < TOLERANCE {
        return (0.0, TOLERANCE);
    }
    let gain = covariance / (reference + TOLERANCE);
    // The authors use the sum of squares, not the variance, where nothing of the reference is
    // left.
    if reference < TOLERANCE || gain < 0.0 {
        return (0.0, distorted.max(TOLERANCE));
    }
    (gain, ((distorted - gain * covariance) / size).max(TOLERANCE))
}

#[inline(always)]
fn squared_norm(matrix: &[[f64; COUNT]; COUNT], vector: &[f64; COUNT]) -> f64 {
    let mut parts = [0.0; COUNT];
    for (weights, &sample) in matrix.iter().zip(vector) {
        for (part, &weight) in parts.iter_mut().zip(weights) {
            *part += weight * sample;
        }
    }
    parts.iter().map(|part| part * part).sum()
}

/// The sum over all `ratios` and `eigenvalues` of log2(1 + ratio * eigenvalue).
///
/// Factors are multiplied instead of adding their logarithms. Exponents are extracted from the
/// products before they overflow.
#[multiversion(targets("x86_64+avx2"))]
fn log2_sum(ratios: &[f64], eigenvalues: &[f64; COUNT]) -> f64 {
    const LANES: usize = 8;
    const MANTISSA: u64 = (1 << 52) - 1;
    let mut products = [1.0f64; LANES];
    let mut exponents = [0u64; LANES];
    let mut count = 0u64;
    for chunk in ratios.chunks(LANES) {
        let mut padded = [0.0; LANES];
        padded[..chunk.len()].copy_from_slice(chunk);
        for &eigenvalue in eigenvalues {
            for lane in 0..LANES {
                products[lane] *= 1.0 + padded[lane] * eigenvalue;
            }
        }
        for lane in 0..LANES {
            let bits = products[lane].to_bits();
            exponents[lane] += bits >> 52;
            products[lane] = f64::from_bits(bits & MANTISSA | 1.0f64.to_bits());
        }
        count += 1023;
    }
    exponents.iter().zip(&products).map(|(&exponent, &product)| (exponent - count) as f64 + product.log2()).sum()
}

/// Information on the grid of the finest blocks. Coarser bands are spread over the area of their
/// blocks.
struct InformationMap {
    reference: Plane,
    distorted: Plane,
}

impl InformationMap {
    fn new(width: usize, height: usize) -> Self {
        let plane = Plane::new(width / SIDE, height / SIDE);
        Self { reference: plane.clone(), distorted: plane }
    }

    fn add(&mut self, subband: &Subband<'_>, level: usize) {
        let bits = |ratios: &[f64]| -> Vec<f32> {
            let area = f64::from(1u32 << (2 * level));
            ratios.iter().map(|&ratio| (log2_sum(&[ratio], &subband.eigenvalues) / area) as f32).collect()
        };
        let rows = subband.rows(|ratios| (bits(&ratios.reference), bits(&ratios.distorted)));
        let rows: Vec<_> = rows.into_iter().flatten().collect();
        // Blocks at the border have no value; the nearest value is used.
        let nearest = |fine: usize, count: usize| (fine >> level).saturating_sub(subband.offset).min(count - 1);
        let (columns, count) = subband.inner();
        for y in 0..self.reference.height() {
            let Some((reference, distorted)) = count.checked_sub(1).map(|_| &rows[nearest(y, count)]) else { return };
            let pairs = self.reference.row_mut(y).iter_mut().zip(self.distorted.row_mut(y));
            for (x, (total_reference, total_distorted)) in pairs.enumerate() {
                let x = nearest(x, columns);
                *total_reference += reference[x];
                *total_distorted += distorted[x];
            }
        }
    }

    /// The share of the information that is left at each location; 1 where the reference has none.
    fn ratio(self) -> Plane {
        let mut ratio = self.distorted;
        for (ratio, &reference) in ratio.data_mut().iter_mut().zip(self.reference.data()) {
            *ratio = if reference > 0.0 { *ratio / reference } else { 1.0 };
        }
        ratio
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use crate::testing::{assert_official, calibration_pair, gray_noise};

    #[test]
    fn official_values() {
        assert_official(&Vif::DEFAULT, [0.0172, 0.9891, 0.9924, 0.9103, 0.1745], [5e-5; 5]);
    }

    #[test]
    fn identical_images_keep_all_information() {
        let image = gray_noise(97, 71, 1);
        let measurement = Vif::DEFAULT.measure(&Pair::new(&image, &image).unwrap().with_map()).unwrap();
        assert!((measurement.score - 1.0).abs() < 1e-9);
        assert!(measurement.map.unwrap().plane.data().iter().all(|&share| (share - 1.0).abs() < 1e-6));
    }

    #[test]
    fn flat_images_give_finite_scores() {
        let flat = crate::Image::from_gray8(80, 80, vec![90; 6400]).unwrap();
        let other = crate::Image::from_gray8(80, 80, vec![91; 6400]).unwrap();
        let noise = gray_noise(80, 80, 3);
        assert_eq!(Vif::DEFAULT.score(&flat, &flat).unwrap(), 1.0);
        assert_eq!(Vif::DEFAULT.score(&flat, &other).unwrap(), 0.0);
        assert_eq!(Vif::DEFAULT.score(&flat, &noise).unwrap(), 0.0);
        assert_eq!(Vif::DEFAULT.score(&noise, &flat).unwrap(), 0.0);
    }

    #[test]
    fn sizes_below_the_minimum_are_refused_and_from_there_on_measured() {
        for (width, height) in [(64, 200), (200, 64), (1, 1)] {
            let image = gray_noise(width, height, 2);
            assert!(matches!(Vif::DEFAULT.score(&image, &image), Err(Error::TooSmall { .. })));
        }
        for (width, height) in [(65, 65), (66, 131), (129, 67)] {
            let (reference, distorted) = (gray_noise(width, height, 2), gray_noise(width, height, 3));
            let score = Vif::DEFAULT.score(&reference, &distorted).unwrap();
            assert!(score > 0.0 && score < 0.5, "{score}");
        }
    }

    #[test]
    fn the_map_shows_where_information_was_lost() {
        let (reference, distorted) = calibration_pair("I19");
        let map = Vif::DEFAULT.measure(&Pair::new(&reference, &distorted).unwrap().with_map()).unwrap().map.unwrap();
        assert_eq!((map.plane.width(), map.plane.height()), (512 / 3, 384 / 3));
        let mean = map.plane.data().iter().map(|&share| f64::from(share)).sum::<f64>() / map.plane.data().len() as f64;
        assert!(mean > 0.05 && mean < 0.5, "{mean}");
        assert!(map.plane.data().iter().all(|share| share.is_finite() && *share >= 0.0));
    }
}

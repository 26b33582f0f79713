//! CW-SSIM, structural similarity of complex wavelet coefficients.
//!
//! **What it measures**: agreement of local phase patterns at a coarse scale. Small shifts,
//! scalings and rotations hardly change these patterns, and neither do changes of luminance and
//! contrast.
//!
//! **Range and direction**: 0 to 1 (identical); higher is better.
//!
//! **Reference**: Sampat, Wang, Gupta, Bovik, Markey, IEEE TIP 18(11), 2009; the authors'
//! `cwssim_index` with 4 levels, 8 orientations, no guard band and K = 0, on rounded luma; only
//! the coarsest level enters the score.
//!
//! **Deviations**: none above 5e-5 on the calibration pairs. Filters are evaluated, not
//! interpolated from tables (below 1e-5). Where neither image has energy, the authors' code
//! divides 0 by 0; such a location counts as equal here.

use rayon::prelude::*;
use rustfft::num_complex::Complex;

use super::coarse_bands::CoarseBands;
use crate::metric::full_reference;
use crate::ops::convolve::Border;
use crate::ops::strips;
use crate::{Direction, Info, Kind, Measurement, Metric, Pair, Plane, Result};

/// CW-SSIM with the authors' parameters.
#[derive(Debug, Clone, Copy)]
pub struct CwSsim {
    /// K of the paper: makes locations with little energy count as similar.
    pub stability: f64,
}

const LEVEL: usize = 4;
const ORIENTATIONS: usize = 8;
/// Side of the window in which coefficients are compared.
const WINDOW: usize = 7;
/// Energy in a window, in squared gray levels, below which there are only rounding errors.
const NO_ENERGY: f64 = 1e-18;

static INFO: Info = Info {
    name: "CW-SSIM",
    kind: Kind::FullReference,
    direction: Direction::HigherIsBetter,
    range: (0.0, 1.0),
    unit: "",
    summary: "Similarity of coarse complex wavelet coefficients, tolerant of small shifts and rotations.",
    paper: "M. P. Sampat, Z. Wang, S. Gupta, A. C. Bovik, M. K. Markey, Complex wavelet structural similarity: a new image similarity index, IEEE TIP 18(11), 2009",
    has_map: true,
    minimum_side: 1 << (LEVEL + 2),
};

impl CwSsim {
    /// The authors' parameters.
    pub const DEFAULT: Self = Self { stability: 0.0 };
}

impl Default for CwSsim {
    fn default() -> Self {
        Self::DEFAULT
    }
}

full_reference!(CwSsim);

impl Metric for CwSsim {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn measure(&self, pair: &Pair<'_>) -> Result<Measurement> {
        let (reference, distorted) = pair.both(&INFO)?;
        let bands = CoarseBands::new([reference, distorted], LEVEL, ORIENTATIONS);
        let similarities: Vec<Plane> = (0..ORIENTATIONS)
            .into_par_iter()
            .map(|orientation| similarity(&bands.orientation(orientation), bands.width(), self.stability))
            .collect();
        let sigma = bands.height() as f64 / 4.0;
        let score = similarities.iter().map(|plane| centered_mean(plane, sigma)).sum::<f64>() / ORIENTATIONS as f64;
        let measurement = Measurement::new(score);
        Ok(match pair.wants_map() {
            true => measurement.with_map(mean_map(&similarities), 1.0, 0.0),
            false => measurement,
        })
    }
}

/// Similarity of two bands with rows of `width` samples, for every window inside.
fn similarity([reference, distorted]: &[Vec<Complex<f64>>; 2], width: usize, stability: f64) -> Plane {
    let height = reference.len() / width;
    let mut similarity = Plane::new(width + 1 - WINDOW, height + 1 - WINDOW);
    let inside = similarity.width();
    // Sums over the rows of the window: real and imaginary part of the correlation, energy.
    let mut columns = [vec![0.0; width], vec![0.0; width], vec![0.0; width]];
    for (y, out) in similarity.data_mut().chunks_exact_mut(inside).enumerate() {
        columns.iter_mut().for_each(|column| column.fill(0.0));
        for row in y..y + WINDOW {
            let span = row * width..(row + 1) * width;
            add_products(&reference[span.clone()], &distorted[span], &mut columns);
        }
        for (x, out) in out.iter_mut().enumerate() {
            let [real, imaginary, energy] = [0, 1, 2].map(|i| columns[i][x..x + WINDOW].iter().sum::<f64>());
            *out = ratio(real.hypot(imaginary), energy, stability) as f32;
        }
    }
    similarity
}

/// Adds the correlation and the energy of one row of both bands.
fn add_products(reference: &[Complex<f64>], distorted: &[Complex<f64>], columns: &mut [Vec<f64>; 3]) {
    let [real, imaginary, energy] = columns;
    let sums = real.iter_mut().zip(imaginary).zip(energy);
    for ((a, b), ((real, imaginary), energy)) in reference.iter().zip(distorted).zip(sums) {
        let product = a * b.conj();
        *real += product.re;
        *imaginary += product.im;
        *energy += a.norm_sqr() + b.norm_sqr();
    }
}

/// Similarity of a window, computed from its sums.
fn ratio(correlation: f64, energy: f64, stability: f64) -> f64 {
    if energy < NO_ENERGY {
        return 1.0;
    }
    let stability = stability * (WINDOW * WINDOW) as f64;
    (2.0 * correlation + stability) / (energy + stability)
}

/// The mean with Gaussian weights about the center.
fn centered_mean(plane: &Plane, sigma: f64) -> f64 {
    let weights = |size: usize| -> Vec<f64> {
        let offset = |i: usize| i as f64 - (size as f64 - 1.0) / 2.0;
        (0..size).map(|i| (-offset(i).powi(2) / (2.0 * sigma * sigma)).exp()).collect()
    };
    let (across, down) = (weights(plane.width()), weights(plane.height()));
    let rows = plane.data().chunks_exact(plane.width()).zip(&down);
    let total: f64 =
        rows.map(|(row, weight)| weight * row.iter().zip(&across).map(|(&v, w)| f64::from(v) * w).sum::<f64>()).sum();
    total / (across.iter().sum::<f64>() * down.iter().sum::<f64>())
}

/// The mean of all orientations at the size of the bands. Windows at the border are repeated
/// outwards.
fn mean_map(similarities: &[Plane]) -> Plane {
    let Some(first) = similarities.first() else { return Plane::new(0, 0) };
    let (width, height) = (first.width(), first.height());
    let mut map = Plane::new(width + WINDOW - 1, height + WINDOW - 1);
    let inside = |i: usize, size: usize| Border::Replicate.index(i as isize - (WINDOW / 2) as isize, size).unwrap_or(0);
    strips::for_each_row(&mut map, |y, row| {
        for (x, out) in row.iter_mut().enumerate() {
            let (x, y) = (inside(x, width), inside(y, height));
            *out = similarities.iter().map(|plane| plane.at(x, y)).sum::<f32>() / similarities.len() as f32;
        }
    });
    map
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_official, color_noise, gray_noise};
    use crate::{Error, Image};

    #[test]
    fn official_values() {
        assert_official(&CwSsim::DEFAULT, [0.2763, 0.9996, 1.0000, 0.9068, 0.8658], [5e-5; 5]);
    }

    #[test]
    fn identical_images_are_perfect_and_so_are_flat_ones() {
        let noise = color_noise(91, 64, 3);
        assert!((CwSsim::DEFAULT.score(&noise, &noise).unwrap() - 1.0).abs() < 1e-6);
        let [dark, light] = [3, 200].map(|level| Image::from_gray8(65, 70, vec![level; 65 * 70]).unwrap());
        assert_eq!(CwSsim::DEFAULT.score(&dark, &light).unwrap(), 1.0);
        let noise = gray_noise(65, 70, 1);
        assert!(CwSsim::DEFAULT.score(&dark, &noise).unwrap() < 1e-6);
    }

    #[test]
    fn a_shift_by_one_pixel_costs_little_and_the_order_does_not_matter() {
        let texture = |shift: usize| {
            let wave = |x: usize, y: usize| 128.0 + 90.0 * ((x + shift) as f32 * 0.3).sin() * (y as f32 * 0.21).cos();
            let plane = Plane::from_fn(160, 120, |x, y| wave(x, y) as u8);
            Image::from_gray8(160, 120, plane.into_vec()).unwrap()
        };
        let (still, moved) = (texture(0), texture(1));
        let score = CwSsim::DEFAULT.score(&still, &moved).unwrap();
        assert!(score > 0.9 && score < 1.0, "{score}");
        assert!((score - CwSsim::DEFAULT.score(&moved, &still).unwrap()).abs() < 1e-9);
    }

    #[test]
    fn the_map_is_of_the_bands_size_and_comes_only_if_wanted() {
        let (reference, distorted) = (gray_noise(160, 100, 1), gray_noise(160, 100, 2));
        let pair = Pair::new(&reference, &distorted).unwrap();
        assert_eq!(CwSsim::DEFAULT.measure(&pair).unwrap().map, None);
        let map = CwSsim::DEFAULT.measure(&pair.with_map()).unwrap().map.unwrap().plane;
        assert_eq!((map.width(), map.height()), (20, 13));
        assert!(map.data().iter().all(|&v| (0.0..=1.0).contains(&v)));
        assert_eq!(map.at(0, 0), map.at(3, 3));
    }

    #[test]
    fn an_image_too_small_for_four_levels_is_refused() {
        let image = gray_noise(63, 200, 1);
        assert!(matches!(CwSsim::DEFAULT.score(&image, &image), Err(Error::TooSmall { minimum: 64, .. })));
    }
}

//! The Laplacian pyramid of Burt and Adelson, as built by MATLAB code since the release by Mertens
//! (2007).
//!
//! Reducing uses five taps with mirrored borders; enlarging puts zeros between the samples and
//! replicates the borders.

use multiversion::multiversion;

use crate::ops::convolve::{Border, extend_row};
use crate::ops::rolling::Rolling;
use crate::ops::strips;
use crate::{Image, Plane};

/// Weights of the low-pass filter: center, first neighbors, second neighbors.
const CENTER: f32 = 0.4;
const NEAR: f32 = 0.25;
const FAR: f32 = 0.05;

/// A pyramid level to be reduced: luma, which is read row by row, or an already reduced image.
#[derive(Debug, Clone, Copy)]
pub enum Level<'a> {
    /// The luma of an image, as in [`Image::gray`].
    Luma(&'a Image),
    /// An already reduced image.
    Reduced(&'a Plane),
}

impl Level<'_> {
    /// Width in samples.
    pub fn width(&self) -> usize {
        match self {
            Self::Luma(image) => image.width(),
            Self::Reduced(plane) => plane.width(),
        }
    }

    /// Height in samples.
    pub fn height(&self) -> usize {
        match self {
            Self::Luma(image) => image.height(),
            Self::Reduced(plane) => plane.height(),
        }
    }

    /// Creates a ring buffer for the last `count` loaded rows. It is empty if the rows are in
    /// memory already.
    pub fn ring(&self, count: usize) -> Rolling<f32> {
        match self {
            Self::Luma(image) => Rolling::new(image.width(), count),
            Self::Reduced(_) => Rolling::new(0, count),
        }
    }

    /// Loads row `y`, so that [`row`](Self::row) can return it.
    pub fn load(&self, y: usize, ring: &mut Rolling<f32>) {
        if let Self::Luma(image) = self {
            image.read_gray(y, 0..image.width(), ring.row_mut(y as isize));
        }
    }

    /// Returns row `y`, which must be loaded.
    pub fn row<'a>(&'a self, y: usize, ring: &'a Rolling<f32>) -> &'a [f32] {
        match self {
            Self::Luma(_) => ring.row(y as isize),
            Self::Reduced(plane) => plane.row(y),
        }
    }
}

/// Returns the low-pass image at half the size, rounded up.
pub fn reduce(source: Level<'_>) -> Plane {
    let (width, height) = (source.width(), source.height());
    let half = width.div_ceil(2);
    let mut reduced = Plane::new(half, height.div_ceil(2));
    strips::fill(&mut reduced, |rows, out| {
        let mut ring = source.ring(5);
        let mut unread = (2 * rows.start).saturating_sub(2);
        let mut column = vec![0.0; width + 4];
        let mut phases = [vec![0.0; half + 2], vec![0.0; half + 1]];
        for (y, out) in rows.zip(out.chunks_exact_mut(half)) {
            let end = (2 * y + 3).min(height);
            (unread..end).for_each(|y| source.load(y, &mut ring));
            unread = end;
            let rows = [-2, -1, 0, 1, 2].map(|offset| {
                let index = Border::Symmetric.index(2 * y as isize + offset, height);
                source.row(index.unwrap_or(0), &ring)
            });
            low_pass(rows, &mut column[2..width + 2]);
            extend_row(&mut column, 2, width, Border::Symmetric);
            split_phases(&column, &mut phases);
            decimate(&phases[0], &phases[1], out);
        }
    });
    reduced
}

/// Writes row `y` of the band: the image row minus the prediction from `reduced`. `column` is
/// scratch space.
pub fn band_row(row: &[f32], reduced: &Plane, y: usize, column: &mut Vec<f32>, band: &mut [f32]) {
    predict_column(reduced, y, column);
    subtract_prediction(column, row, band);
}

/// Enlarges `coarse` to the size of `fine` by the same interpolation and adds it to `fine`.
pub fn add_enlarged(coarse: &Plane, fine: &mut Plane) {
    let width = fine.width();
    strips::fill(fine, |rows, samples| {
        let mut column = Vec::new();
        let mut difference = vec![0.0; width];
        for (y, row) in rows.zip(samples.chunks_exact_mut(width)) {
            predict_column(coarse, y, &mut column);
            row.iter_mut().for_each(|v| *v = -*v);
            subtract_prediction(&column, row, &mut difference);
            row.iter_mut().zip(&difference).for_each(|(v, difference)| *v = -difference);
        }
    });
}

/// The vertical half of the interpolation for row `y`, with one replicated sample at each end.
fn predict_column(reduced: &Plane, y: usize, column: &mut Vec<f32>) {
    let (width, last) = (reduced.width(), reduced.height() - 1);
    column.resize(width + 2, 0.0);
    let center = (y / 2).min(last);
    let [above, below] = [center.saturating_sub(1), (center + 1).min(last)];
    let inside = &mut column[1..=width];
    if y.is_multiple_of(2) {
        interpolate_even([above, center, below].map(|y| reduced.row(y)), inside);
    } else {
        interpolate_odd([center, below].map(|y| reduced.row(y)), inside);
    }
    column[0] = column[1];
    column[width + 1] = column[width];
}

#[multiversion(targets("x86_64+avx2"))]
fn low_pass(rows: [&[f32]; 5], out: &mut [f32]) {
    let [a, b, c, d, e] = rows;
    for (((((out, a), b), c), d), e) in out.iter_mut().zip(a).zip(b).zip(c).zip(d).zip(e) {
        *out = CENTER * c + NEAR * (b + d) + FAR * (a + e);
    }
}

/// Separates even and odd samples, so that the next step reads neighbors instead of every second
/// sample.
#[multiversion(targets("x86_64+avx2"))]
fn split_phases(column: &[f32], phases: &mut [Vec<f32>; 2]) {
    let [even, odd] = phases;
    for ((even, odd), pair) in even.iter_mut().zip(odd.iter_mut()).zip(column.chunks_exact(2)) {
        *even = pair[0];
        *odd = pair[1];
    }
    if let (Some(even), Some(&last)) = (even.get_mut(odd.len()), column.get(2 * odd.len())) {
        *even = last;
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn decimate(even: &[f32], odd: &[f32], out: &mut [f32]) {
    for ((out, even), odd) in out.iter_mut().zip(even.windows(3)).zip(odd.windows(2)) {
        *out = CENTER * even[1] + NEAR * (odd[0] + odd[1]) + FAR * (even[0] + even[2]);
    }
}

/// Twice the filter at the positions of the source samples.
#[multiversion(targets("x86_64+avx2"))]
fn interpolate_even(rows: [&[f32]; 3], out: &mut [f32]) {
    for (((out, above), center), below) in out.iter_mut().zip(rows[0]).zip(rows[1]).zip(rows[2]) {
        *out = 2.0 * CENTER * center + 2.0 * FAR * (above + below);
    }
}

/// Twice the filter halfway between the source samples.
#[multiversion(targets("x86_64+avx2"))]
fn interpolate_odd(rows: [&[f32]; 2], out: &mut [f32]) {
    for ((out, above), below) in out.iter_mut().zip(rows[0]).zip(rows[1]) {
        *out = 2.0 * NEAR * (above + below);
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn subtract_prediction(column: &[f32], row: &[f32], band: &mut [f32]) {
    for ((band, row), c) in band.chunks_exact_mut(2).zip(row.chunks_exact(2)).zip(column.windows(3)) {
        band[0] = row[0] - (2.0 * CENTER * c[1] + 2.0 * FAR * (c[0] + c[2]));
        band[1] = row[1] - 2.0 * NEAR * (c[1] + c[2]);
    }
    let pairs = row.len() / 2;
    if let (1, Some(band), Some(row), [a, b, c]) = (row.len() % 2, band.last_mut(), row.last(), &column[pairs..]) {
        *band = row - (2.0 * CENTER * b + 2.0 * FAR * (a + c));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texture(width: usize, height: usize) -> Plane {
        Plane::from_fn(width, height, |x, y| ((x * 7 + y * 13 + x * y) % 29) as f32)
    }

    #[test]
    fn reduce_is_the_filtered_image_at_every_second_pixel() {
        for (width, height) in [(9, 6), (8, 7), (1, 3), (2, 1)] {
            let source = texture(width, height);
            let reduced = reduce(Level::Reduced(&source));
            assert_eq!((reduced.width(), reduced.height()), (width.div_ceil(2), height.div_ceil(2)));
            let taps = [FAR, NEAR, CENTER, NEAR, FAR];
            for (x, y) in (0..reduced.width()).flat_map(|x| (0..reduced.height()).map(move |y| (x, y))) {
                let mut expected = 0.0;
                for (j, i) in (0..5).flat_map(|j| (0..5).map(move |i| (j, i))) {
                    let column = Border::Symmetric.index((2 * x + i) as isize - 2, width).unwrap();
                    let row = Border::Symmetric.index((2 * y + j) as isize - 2, height).unwrap();
                    expected += taps[i] * taps[j] * source.at(column, row);
                }
                assert!((reduced.at(x, y) - expected).abs() < 1e-4, "{x},{y} of {width}x{height}");
            }
        }
    }

    #[test]
    fn band_and_enlargement_add_up_to_the_image() {
        for (width, height) in [(9, 6), (8, 7), (1, 1)] {
            let source = texture(width, height);
            let reduced = reduce(Level::Reduced(&source));
            let mut band = Plane::new(width, height);
            let mut column = Vec::new();
            for y in 0..height {
                band_row(source.row(y), &reduced, y, &mut column, band.row_mut(y));
            }
            add_enlarged(&reduced, &mut band);
            for (sum, original) in band.data().iter().zip(source.data()) {
                assert!((sum - original).abs() < 1e-4);
            }
        }
    }

    #[test]
    fn a_flat_image_has_no_band() {
        let flat = Plane::from_fn(7, 5, |_, _| 64.0);
        let mut band = vec![1.0; 7];
        band_row(flat.row(4), &reduce(Level::Reduced(&flat)), 4, &mut Vec::new(), &mut band);
        assert!(band.iter().all(|v| v.abs() < 1e-4));
    }

    #[test]
    fn luma_read_row_by_row_is_reduced_as_its_plane() {
        for (width, height) in [(40, 300), (7, 5), (3, 1), (1, 2)] {
            let image = crate::testing::color_noise(width, height, 3);
            let streamed = reduce(Level::Luma(&image));
            assert_eq!(streamed, reduce(Level::Reduced(image.gray())));
        }
    }
}

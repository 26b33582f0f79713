//! Mean-subtracted, contrast-normalized (MSCN) coefficients, and halving by MATLAB's
//! `imresize(., 0.5)`.
//!
//! A coefficient is `(x - mean) / (deviation + 1)` in a 7x7 Gaussian window. Both operations work
//! row by row, so no plane of a large photo is kept. Means and variances use double precision,
//! because the variance is a small difference of large numbers. A sample that equals its local
//! mean up to rounding, as in every flat window, has the coefficient 0 exactly.

use std::ops::Range;

use multiversion::multiversion;

use crate::ops::convolve::Border;
use crate::{Image, Plane};

/// Distance in samples from the center of the window to its edge.
pub const RADIUS: usize = 3;
/// Side of the window.
pub const WINDOW: usize = 2 * RADIUS + 1;
const SIGMA: f64 = WINDOW as f64 / 6.0;
/// Smaller differences from the mean are rounding errors: samples are multiples of 2^-18, or
/// differ by more.
const ROUNDING: f64 = 1e-10;

/// Rows of samples, computed on demand.
pub trait Rows {
    /// Samples per row.
    fn width(&self) -> usize;
    /// Number of rows.
    fn height(&self) -> usize;
    /// Writes row `y` to `row`. `scratch` is a buffer that may be used and grown.
    fn read(&self, y: usize, row: &mut [f64], scratch: &mut Vec<f64>);
}

/// The rows of the window around a row. Rows above or below the image follow the border rule.
pub type Window<'a> = [&'a [f64]; WINDOW];

/// Calls `each` for every row of `range`, from top to bottom, with its coefficients and the rows
/// around it.
pub fn for_each_row(
    source: &impl Rows,
    border: Border,
    range: Range<usize>,
    mut each: impl FnMut(usize, &mut [f32], &Window<'_>),
) {
    let (width, height) = (source.width(), source.height());
    let weights = weights();
    let outside = vec![0.0; width];
    let mut ring = vec![vec![0.0; width]; WINDOW];
    let mut held = [None; WINDOW];
    let mut columns = [vec![0.0; width + 2 * RADIUS], vec![0.0; width + 2 * RADIUS]];
    let mut coefficients = vec![0.0; width];
    let mut scratch = Vec::new();
    for y in range {
        let wanted: [Option<usize>; WINDOW] =
            std::array::from_fn(|j| border.index((y + j) as isize - RADIUS as isize, height));
        for row in wanted.into_iter().flatten() {
            let slot = row % WINDOW;
            if held[slot] != Some(row) {
                source.read(row, &mut ring[slot], &mut scratch);
                held[slot] = Some(row);
            }
        }
        let window: Window<'_> = wanted.map(|row| row.map_or(outside.as_slice(), |row| ring[row % WINDOW].as_slice()));
        let [means, squares] = &mut columns;
        filter_columns(&weights, &window, &mut means[RADIUS..], &mut squares[RADIUS..]);
        extend(means, width, border);
        extend(squares, width, border);
        normalize(&weights, window[RADIUS], means, squares, &mut coefficients);
        each(y, &mut coefficients, &window);
    }
}

/// The weights of the Gaussian, from the center outwards.
fn weights() -> [f64; RADIUS + 1] {
    let raw: [f64; RADIUS + 1] = std::array::from_fn(|i| (-((i * i) as f64) / (2.0 * SIGMA * SIGMA)).exp());
    let sum = raw[0] + 2.0 * raw[1..].iter().sum::<f64>();
    raw.map(|weight| weight / sum)
}

fn extend(padded: &mut [f64], width: usize, border: Border) {
    for x in (0..RADIUS).chain(RADIUS + width..padded.len()) {
        let inside = border.index(x as isize - RADIUS as isize, width);
        padded[x] = inside.map_or(0.0, |inside| padded[RADIUS + inside]);
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn filter_columns(weights: &[f64; RADIUS + 1], window: &Window<'_>, means: &mut [f64], squares: &mut [f64]) {
    let width = window[0].len();
    let [a, b, c, d, e, f, g] = window.map(|row| &row[..width]);
    let (means, squares) = (&mut means[..width], &mut squares[..width]);
    for x in 0..width {
        let near = (c[x] + e[x], c[x] * c[x] + e[x] * e[x]);
        let middle = (b[x] + f[x], b[x] * b[x] + f[x] * f[x]);
        let far = (a[x] + g[x], a[x] * a[x] + g[x] * g[x]);
        means[x] = weights[0] * d[x] + weights[1] * near.0 + weights[2] * middle.0 + weights[3] * far.0;
        squares[x] = weights[0] * (d[x] * d[x]) + weights[1] * near.1 + weights[2] * middle.1 + weights[3] * far.1;
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn normalize(weights: &[f64; RADIUS + 1], row: &[f64], means: &[f64], squares: &[f64], out: &mut [f32]) {
    let width = out.len();
    let row = &row[..width];
    let (means, squares) = (&means[..width + 2 * RADIUS], &squares[..width + 2 * RADIUS]);
    for x in 0..width {
        let mean = taps(weights, means, x);
        let variance = (taps(weights, squares, x) - mean * mean).abs() as f32;
        let difference = row[x] - mean;
        let difference = if difference.abs() < ROUNDING { 0.0 } else { difference as f32 };
        out[x] = difference / (variance.sqrt() + 1.0);
    }
}

#[inline(always)]
fn taps(weights: &[f64; RADIUS + 1], padded: &[f64], x: usize) -> f64 {
    weights[0] * padded[x + 3]
        + weights[1] * (padded[x + 2] + padded[x + 4])
        + weights[2] * (padded[x + 1] + padded[x + 5])
        + weights[3] * (padded[x] + padded[x + 6])
}

/// Rows at half the size: `imresize(., 0.5)`, bicubic and antialiased. Sizes are rounded up.
#[derive(Debug, Clone, Copy)]
pub struct Halved<R>(pub R);

/// The antialiased bicubic kernel at half size, from the center outwards. The weights and their
/// sums over 8-bit samples are exact, so a flat area stays flat.
const HALVING: [f64; 4] = [222.0 / 512.0, 58.0 / 512.0, -18.0 / 512.0, -6.0 / 512.0];
const TAPS: usize = 2 * HALVING.len();
/// Taps before the first of the two samples around an output sample.
const BEFORE: usize = HALVING.len() - 1;

impl<R: Rows> Rows for Halved<R> {
    fn width(&self) -> usize {
        self.0.width().div_ceil(2)
    }

    fn height(&self) -> usize {
        self.0.height().div_ceil(2)
    }

    fn read(&self, y: usize, row: &mut [f64], scratch: &mut Vec<f64>) {
        let (width, height) = (self.0.width(), self.0.height());
        // An even number of samples, plus the taps beyond both ends.
        let padded = 2 * row.len() + TAPS;
        let mut rows = std::mem::take(scratch);
        rows.resize(TAPS * width + padded, 0.0);
        let (taps, column) = rows.split_at_mut(TAPS * width);
        for (j, tap) in taps.chunks_exact_mut(width).enumerate() {
            let source = Border::Symmetric.index((2 * y + j) as isize - BEFORE as isize, height).unwrap_or(0);
            self.0.read(source, tap, scratch);
        }
        halve_columns(taps, &mut column[BEFORE..BEFORE + width]);
        for x in (0..BEFORE).chain(BEFORE + width..padded) {
            let inside = Border::Symmetric.index(x as isize - BEFORE as isize, width);
            column[x] = inside.map_or(0.0, |inside| column[BEFORE + inside]);
        }
        halve_row(column, row);
        *scratch = rows;
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn halve_columns(taps: &[f64], column: &mut [f64]) {
    let width = column.len();
    let tap = |j: usize| &taps[j * width..(j + 1) * width];
    let [a, b, c, d] = [tap(0), tap(1), tap(2), tap(3)];
    let [e, f, g, h] = [tap(4), tap(5), tap(6), tap(7)];
    for x in 0..width {
        column[x] = HALVING[0] * (d[x] + e[x])
            + HALVING[1] * (c[x] + f[x])
            + HALVING[2] * (b[x] + g[x])
            + HALVING[3] * (a[x] + h[x]);
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn halve_row(column: &[f64], row: &mut [f64]) {
    for (out, taps) in row.iter_mut().zip(column.windows(TAPS).step_by(2)) {
        *out = HALVING[0] * (taps[3] + taps[4])
            + HALVING[1] * (taps[2] + taps[5])
            + HALVING[2] * (taps[1] + taps[6])
            + HALVING[3] * (taps[0] + taps[7]);
    }
}

/// Rows of luma above and below a strip that the coefficients of either scale need, including
/// those of the row before.
const REACH: usize = 2 * (RADIUS + 1) + BEFORE;

/// The luma of the upper left part of an image.
///
/// The rows of one strip are computed once and kept. Other rows are computed each time: a whole
/// plane would cost more in memory allocation than it saves.
#[derive(Debug)]
pub struct Luma<'a> {
    image: &'a Image,
    width: usize,
    height: usize,
    /// Index of the first stored row.
    first: usize,
    held: Vec<f32>,
}

impl<'a> Luma<'a> {
    /// Covers the first `height` rows and `width` columns (at most the image size), for work on
    /// the rows of `strip`.
    pub fn new(image: &'a Image, width: usize, height: usize, strip: Range<usize>) -> Self {
        let (width, height) = (width.min(image.width()), height.min(image.height()));
        let rows = strip.start.saturating_sub(REACH)..(strip.end + REACH).min(height);
        let mut held = vec![0.0; width * rows.len()];
        for (y, row) in rows.clone().zip(held.chunks_exact_mut(width.max(1))) {
            image.read_gray(y, 0..width, row);
        }
        Self { image, width, height, first: rows.start, held }
    }
}

impl Rows for Luma<'_> {
    fn width(&self) -> usize {
        self.width
    }

    fn height(&self) -> usize {
        self.height
    }

    fn read(&self, y: usize, row: &mut [f64], _scratch: &mut Vec<f64>) {
        let held = y.checked_sub(self.first).and_then(|y| self.held.chunks_exact(self.width.max(1)).nth(y));
        match held {
            Some(held) => widen(held, row),
            None => {
                let mut gray = vec![0.0; self.width];
                self.image.read_gray(y, 0..self.width, &mut gray);
                widen(&gray, row);
            }
        }
    }
}

impl Rows for Plane {
    fn width(&self) -> usize {
        Plane::width(self)
    }

    fn height(&self) -> usize {
        Plane::height(self)
    }

    fn read(&self, y: usize, row: &mut [f64], _scratch: &mut Vec<f64>) {
        widen(self.row(y), row);
    }
}

impl<R: Rows> Rows for &R {
    fn width(&self) -> usize {
        R::width(self)
    }

    fn height(&self) -> usize {
        R::height(self)
    }

    fn read(&self, y: usize, row: &mut [f64], scratch: &mut Vec<f64>) {
        R::read(self, y, row, scratch);
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn widen(samples: &[f32], row: &mut [f64]) {
    row.iter_mut().zip(samples).for_each(|(out, &sample)| *out = f64::from(sample));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::resize;

    fn pattern(width: usize, height: usize) -> Plane {
        Plane::from_fn(width, height, |x, y| ((x * x * 7 + y * 13 + x * y) % 251) as f32)
    }

    fn image(plane: &Plane) -> Image {
        let samples = plane.data().iter().map(|&sample| sample as u8).collect();
        Image::from_gray8(plane.width(), plane.height(), samples).unwrap()
    }

    /// The luma of whole images, with one strip stored.
    fn luma(image: &Image, strip: Range<usize>) -> Luma<'_> {
        Luma::new(image, image.width(), image.height(), strip)
    }

    #[test]
    fn coefficients_equal_the_definition_at_borders_and_inside() {
        let plane = pattern(21, 17);
        let image = image(&plane);
        let sample = |x: isize, y: isize, border: Border| {
            let inside = border.index(x, 21).zip(border.index(y, 17));
            inside.map_or(0.0, |(x, y)| f64::from(plane.at(x, y)))
        };
        for border in [Border::Zero, Border::Replicate] {
            for_each_row(&luma(&image, 3..4), border, 0..17, |y, row, _| {
                for (x, &coefficient) in row.iter().enumerate() {
                    let (mut mean, mut square, mut sum) = (0.0, 0.0, 0.0);
                    for (dx, dy) in (-3..=3).flat_map(|dy| (-3..=3).map(move |dx| (dx, dy))) {
                        let weight = (-((dx * dx + dy * dy) as f64) / (2.0 * SIGMA * SIGMA)).exp();
                        let value = sample(x as isize + dx, y as isize + dy, border);
                        sum += weight;
                        mean += weight * value;
                        square += weight * value * value;
                    }
                    let (mean, square) = (mean / sum, square / sum);
                    let expected = (f64::from(plane.at(x, y)) - mean) / ((square - mean * mean).abs().sqrt() + 1.0);
                    assert!((f64::from(coefficient) - expected).abs() < 1e-6, "{x},{y}");
                }
            });
        }
    }

    #[test]
    fn a_flat_window_gives_exactly_zero() {
        let plane = Plane::from_fn(20, 20, |x, _| if x < 10 { 77.0 } else { 201.0 });
        for_each_row(&luma(&image(&plane), 0..20), Border::Replicate, 0..20, |_, row, _| {
            let flat = |x: usize| !(7..13).contains(&x);
            assert!(row.iter().enumerate().all(|(x, &value)| (value == 0.0) == flat(x)));
        });
    }

    #[test]
    fn halving_is_imresize_for_even_odd_and_tiny_sizes() {
        let mut scratch = Vec::new();
        for (width, height) in [(32, 18), (33, 17), (5, 4), (2, 1), (1, 1)] {
            let plane = pattern(width, height);
            let expected = resize::by_scale(&plane.map(f64::from), 0.5, resize::Kernel::Bicubic);
            let image = image(&plane);
            let halved = Halved(luma(&image, 0..height / 2));
            assert_eq!((halved.width(), halved.height()), (expected.width(), expected.height()));
            let mut row = vec![0.0; halved.width()];
            for y in 0..halved.height() {
                halved.read(y, &mut row, &mut scratch);
                let close = row.iter().zip(expected.row(y)).all(|(a, b)| (a - b).abs() < 1e-10);
                assert!(close, "{width}x{height} row {y}: {row:?} {:?}", expected.row(y));
            }
        }
    }
}

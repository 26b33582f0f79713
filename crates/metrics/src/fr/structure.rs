//! Local structural similarity of two planes, the core of SSIM and of every scale of MS-SSIM.
//!
//! With s = x + y and d = x - y the two factors of SSIM become
//!
//! ```text
//! luminance          = (E[s]^2 - E[d]^2 + 2 C1) / (E[s]^2 + E[d]^2 + 2 C1)
//! contrast-structure = (Var s - Var d + 2 C2) / (Var s + Var d + 2 C2)
//! ```
//!
//! This needs four Gaussian windows (of s, d, s^2, d^2) instead of five, and is exactly 1 where
//! the planes are equal. The planes are processed in tiles that stay in the first-level cache.
//! Nothing is stored at full size, except a requested map. The mean level of each tile is
//! subtracted first, because Var = E[s^2] - E[s]^2 loses digits on bright flat areas.

use std::ops::Range;

use multiversion::multiversion;

use crate::ops::{convolve, strips, sum};
use crate::{Image, Plane};

/// Side of the Gaussian window.
pub(crate) const WINDOW: usize = 11;
const SIGMA: f64 = 1.5;
const RADIUS: usize = WINDOW / 2;
/// Samples that are computed together: two vector registers per quantity.
const BLOCK: usize = 16;
/// Results of a row that are computed together. Loops of this length are not unrolled before they are vectorized.
const WIDE: usize = 40;
/// Columns of results per tile.
const TILE: usize = 240;
/// Columns of input per tile, rounded up to whole blocks.
const STRIDE: usize = (TILE + WINDOW - 1).next_multiple_of(BLOCK);
/// Rows of input per strip.
const TALL: usize = strips::HEIGHT + WINDOW - 1;

/// The terms of SSIM to compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// Luminance, contrast and structure.
    All,
    /// Contrast and structure alone.
    ContrastStructure,
}

/// The constants that stabilize the ratios in flat and dark areas.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stability {
    c1: f32,
    c2: f32,
}

impl Stability {
    /// Creates the constants from the paper's K1 and K2, for the range 0..=255.
    pub(crate) fn new(k1: f64, k2: f64) -> Self {
        Self { c1: (k1 * 255.0).powi(2) as f32, c2: (k2 * 255.0).powi(2) as f32 }
    }
}

/// A source of samples: the luma of an image, or a plane.
pub(crate) trait Source: Sync {
    /// Width and height in samples.
    fn size(&self) -> (usize, usize);

    /// Writes the given columns of row `y` to `row`.
    fn read(&self, y: usize, columns: Range<usize>, row: &mut [f32]);
}

impl Source for Image {
    fn size(&self) -> (usize, usize) {
        (self.width(), self.height())
    }

    fn read(&self, y: usize, columns: Range<usize>, row: &mut [f32]) {
        self.read_gray(y, columns, row);
    }
}

impl Source for Plane {
    fn size(&self) -> (usize, usize) {
        (self.width(), self.height())
    }

    fn read(&self, y: usize, columns: Range<usize>, row: &mut [f32]) {
        row.copy_from_slice(&self.row(y)[columns]);
    }
}

/// Returns the mean similarity over all windows inside the sources, and the map of all windows if
/// requested. Both sources have the same size, at least [`WINDOW`] wide and high.
pub(crate) fn similarity(
    reference: &dyn Source,
    distorted: &dyn Source,
    part: Part,
    stability: Stability,
    wants_map: bool,
) -> (f64, Option<Plane>) {
    let (width, height) = reference.size();
    let (width, height) = (width + 1 - WINDOW, height + 1 - WINDOW);
    let strip = Strip { reference, distorted, part, stability, weights: half_window(), width };
    let mut map = wants_map.then(|| Plane::new(width, height));
    let totals = match &mut map {
        Some(map) => strips::fill_with(map, Tile::new, |tile, rows, samples| strip.measure(tile, rows, Some(samples))),
        None => strips::map_with(height, Tile::new, |tile, rows| strip.measure(tile, rows, None)),
    };
    (totals.iter().sum::<f64>() / (width * height) as f64, map)
}

/// The Gaussian window from its center outwards.
fn half_window() -> [f32; RADIUS + 1] {
    let window = convolve::gaussian(WINDOW, SIGMA);
    std::array::from_fn(|distance| window[RADIUS + distance])
}

/// The parameters of the work on one strip.
struct Strip<'a> {
    reference: &'a dyn Source,
    distorted: &'a dyn Source,
    part: Part,
    stability: Stability,
    weights: [f32; RADIUS + 1],
    width: usize,
}

impl Strip<'_> {
    /// Returns the sum of the similarities of these rows of windows, and writes them to `map`.
    fn measure(&self, tile: &mut Tile, rows: Range<usize>, mut map: Option<&mut [f32]>) -> f64 {
        let mut total = 0.0;
        for left in (0..self.width).step_by(TILE) {
            let columns = left..(left + TILE).min(self.width);
            let level = tile.load(self, &rows, &columns);
            for row in 0..rows.len() {
                tile.blur_vertically(row, &self.weights);
                let constants = Constants { level, c1: 2.0 * self.stability.c1, c2: 2.0 * self.stability.c2 };
                match self.part {
                    Part::All => combine::<true>(&tile.columns, &self.weights, constants, &mut tile.similarity),
                    Part::ContrastStructure => {
                        combine::<false>(&tile.columns, &self.weights, constants, &mut tile.similarity);
                    }
                }
                let similarity = &tile.similarity[..columns.len()];
                total += sum::sum(similarity);
                if let Some(map) = map.as_deref_mut() {
                    let start = row * self.width + left;
                    map[start..start + columns.len()].copy_from_slice(similarity);
                }
            }
        }
        total
    }
}

/// One tile: sums and differences of the planes, and one row of intermediate results.
struct Tile {
    sums: Vec<[f32; STRIDE]>,
    differences: Vec<[f32; STRIDE]>,
    columns: Columns,
    similarity: [f32; TILE],
}

/// A row after the vertical window, for s, d, s^2 and d^2.
struct Columns {
    sum: [f32; STRIDE],
    difference: [f32; STRIDE],
    sum_squared: [f32; STRIDE],
    difference_squared: [f32; STRIDE],
}

#[derive(Clone, Copy)]
struct Constants {
    /// The level that was subtracted from s before squaring.
    level: f32,
    c1: f32,
    c2: f32,
}

impl Tile {
    fn new() -> Self {
        let row = [0.0; STRIDE];
        let columns = Columns { sum: row, difference: row, sum_squared: row, difference_squared: row };
        Self { sums: vec![row; TALL], differences: vec![row; TALL], columns, similarity: [0.0; TILE] }
    }

    /// Loads the samples that the windows of these rows and columns cover. Returns the level that
    /// was subtracted from the sums.
    fn load(&mut self, strip: &Strip<'_>, rows: &Range<usize>, columns: &Range<usize>) -> f32 {
        let span = columns.start..columns.end + WINDOW - 1;
        let covered = rows.start..rows.end + WINDOW - 1;
        let count = covered.len();
        for (y, (sums, differences)) in covered.zip(self.sums.iter_mut().zip(&mut self.differences)) {
            strip.reference.read(y, span.clone(), &mut sums[..span.len()]);
            strip.distorted.read(y, span.clone(), &mut differences[..span.len()]);
        }
        let lines = self.sums.iter_mut().zip(&mut self.differences).take(count);
        let level = mean_level(lines, span.len());
        let lines = self.sums.iter_mut().zip(&mut self.differences).take(count);
        for (sums, differences) in lines {
            sums_and_differences(level, sums, differences);
        }
        level
    }

    fn blur_vertically(&mut self, row: usize, weights: &[f32]) {
        let window = row..row + WINDOW;
        let lines = (self.sums.get(window.clone()), self.differences.get(window));
        if let (Some(sums), Some(differences)) = lines {
            blur_columns(sums, differences, weights, &mut self.columns);
        }
    }
}

/// The mean of x + y over every eighth sample of every eighth row, rounded so that integers stay
/// integers.
fn mean_level<'a>(rows: impl Iterator<Item = (&'a mut [f32; STRIDE], &'a mut [f32; STRIDE])>, width: usize) -> f32 {
    const STEP: usize = 8;
    let (mut total, mut count) = (0.0, 0.0);
    for (x, y) in rows.step_by(STEP) {
        for (&mut x, &mut y) in x.iter_mut().zip(y).take(width).step_by(STEP) {
            total += x + y;
            count += 1.0;
        }
    }
    (total / count).round()
}

/// Replaces x by s - level and y by d.
#[multiversion(targets("x86_64+avx2"))]
fn sums_and_differences(level: f32, x: &mut [f32; STRIDE], y: &mut [f32; STRIDE]) {
    for (x, y) in x.iter_mut().zip(y) {
        (*x, *y) = ((*x - level) + *y, *x - *y);
    }
}

/// The vertical window over the rows of a tile. (Half windows are slices: with a known length the
/// compiler would unroll the loops and share overlapping loads, which costs many shuffles.)
#[multiversion(targets("x86_64+avx2"))]
fn blur_columns(sums: &[[f32; STRIDE]], differences: &[[f32; STRIDE]], weights: &[f32], columns: &mut Columns) {
    for start in (0..STRIDE).step_by(BLOCK) {
        let (sum, sum_squared) = blur_block(sums, weights, start);
        let (difference, difference_squared) = blur_block(differences, weights, start);
        columns.sum[start..start + BLOCK].copy_from_slice(&sum);
        columns.sum_squared[start..start + BLOCK].copy_from_slice(&sum_squared);
        columns.difference[start..start + BLOCK].copy_from_slice(&difference);
        columns.difference_squared[start..start + BLOCK].copy_from_slice(&difference_squared);
    }
}

/// The window over the rows around the middle one, for one block of columns: of the samples and of
/// their squares.
#[inline(always)]
fn blur_block(rows: &[[f32; STRIDE]], weights: &[f32], start: usize) -> ([f32; BLOCK], [f32; BLOCK]) {
    let (mut mean, mut square) = ([0.0; BLOCK], [0.0; BLOCK]);
    let (above, below) = rows.split_at(rows.len() / 2);
    let pairs = above.iter().rev().zip(below.iter().skip(1));
    if let (Some(center), Some(&weight)) = (below.first(), weights.first()) {
        let center = &center[start..start + BLOCK];
        for i in 0..BLOCK {
            mean[i] = weight * center[i];
            square[i] = weight * (center[i] * center[i]);
        }
    }
    for (&weight, (above, below)) in weights.iter().skip(1).zip(pairs) {
        let (above, below) = (&above[start..start + BLOCK], &below[start..start + BLOCK]);
        for i in 0..BLOCK {
            mean[i] += weight * (above[i] + below[i]);
            square[i] += weight * (above[i] * above[i] + below[i] * below[i]);
        }
    }
    (mean, square)
}

/// The horizontal window over the columns, and the similarity computed from it.
#[multiversion(targets("x86_64+avx2"))]
fn combine<const LUMINANCE: bool>(
    columns: &Columns,
    weights: &[f32],
    constants: Constants,
    similarity: &mut [f32; TILE],
) {
    for start in (0..TILE).step_by(WIDE) {
        let sum = window_block(&columns.sum, weights, start);
        let difference = window_block(&columns.difference, weights, start);
        let sum_squared = window_block(&columns.sum_squared, weights, start);
        let difference_squared = window_block(&columns.difference_squared, weights, start);
        let mut values = [0.0; WIDE];
        for i in 0..WIDE {
            let variance_of_sum = sum_squared[i] - sum[i] * sum[i];
            let variance_of_difference = difference_squared[i] - difference[i] * difference[i];
            let mut numerator = variance_of_sum - variance_of_difference + constants.c2;
            let mut denominator = variance_of_sum + variance_of_difference + constants.c2;
            if LUMINANCE {
                let level = sum[i] + constants.level;
                let (levels, shifts) = (level * level, difference[i] * difference[i]);
                numerator *= levels - shifts + constants.c1;
                denominator *= levels + shifts + constants.c1;
            }
            values[i] = numerator / denominator;
        }
        similarity[start..start + WIDE].copy_from_slice(&values);
    }
}

#[inline(always)]
fn window_block(row: &[f32; STRIDE], weights: &[f32], start: usize) -> [f32; WIDE] {
    let covered = &row[start..start + WIDE + WINDOW - 1];
    let center = &covered[RADIUS..RADIUS + WIDE];
    let weight = weights.first().copied().unwrap_or(0.0);
    let mut mean = [0.0; WIDE];
    for i in 0..WIDE {
        mean[i] = weight * center[i];
    }
    for (distance, &weight) in weights.iter().enumerate().take(RADIUS + 1).skip(1) {
        let left = &covered[RADIUS - distance..][..WIDE];
        let right = &covered[RADIUS + distance..][..WIDE];
        for i in 0..WIDE {
            mean[i] += weight * (left[i] + right[i]);
        }
    }
    mean
}

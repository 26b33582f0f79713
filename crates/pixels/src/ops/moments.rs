//! Mean and central moments of overlapping blocks of 16x16 samples, one every 4 samples.
//!
//! Cells of 4x4 samples are measured once and combined four at a time along each axis. Combining
//! central moments (Chan, Golub, LeVeque 1983; Pébay 2008) avoids the cancellation of raw power
//! sums, so single precision is enough.

use multiversion::multiversion;

/// Distance in samples between neighboring blocks; also the side of a cell.
pub const STEP: usize = 4;
/// Side of a block.
pub const SIDE: usize = 16;
/// Cells along the side of a block.
const CELLS: usize = SIDE / STEP;

/// The mean and the second to fourth central moments, each as a row of values.
#[derive(Debug, Clone, Copy)]
pub struct Moments<'a> {
    /// Means.
    pub mean: &'a [f32],
    /// Mean squared deviations.
    pub second: &'a [f32],
    /// Mean cubed deviations.
    pub third: &'a [f32],
    /// Mean fourth powers of deviations.
    pub fourth: &'a [f32],
}

/// Number of blocks along an axis of `size` samples.
pub fn block_count(size: usize) -> usize {
    (size / STEP).saturating_sub(CELLS - 1)
}

/// Moments of all strips that are one cell high and one block wide: one row of values for every 4
/// rows of samples.
#[derive(Debug, Clone, Default)]
pub struct StripMoments {
    columns: usize,
    data: Vec<f32>,
}

/// Buffers for one row of cells.
#[derive(Default)]
pub struct Cells {
    phases: Vec<f32>,
    cells: Vec<f32>,
}

impl StripMoments {
    /// Allocates space for the moments of an image of this size.
    pub fn new(width: usize, height: usize) -> Self {
        let columns = block_count(width);
        Self { columns, data: vec![0.0; 4 * columns * (height / STEP)] }
    }

    /// Number of values in one row of cells, as passed to [`measure_strip`].
    pub fn row_length(&self) -> usize {
        4 * self.columns
    }

    /// All values, one row of cells after another, mutable.
    pub fn data_mut(&mut self) -> &mut [f32] {
        &mut self.data
    }

    /// Writes the moments of block row `row` to `out`, which has [`Self::row_length`] values.
    pub fn block_row(&self, row: usize, out: &mut [f32]) {
        let length = self.row_length();
        let rows: [&[f32]; CELLS] = std::array::from_fn(|i| &self.data[(row + i) * length..(row + i + 1) * length]);
        combine(rows.map(split), out);
    }
}

/// Splits a row of values into its moments.
pub fn split(row: &[f32]) -> Moments<'_> {
    let (mean, rest) = row.split_at(row.len() / 4);
    let (second, rest) = rest.split_at(mean.len());
    let (third, fourth) = rest.split_at(mean.len());
    Moments { mean, second, third, fourth }
}

/// Computes the moments of one strip: `samples` is 4 rows, `out` is one row of [`StripMoments`].
pub fn measure_strip(samples: &[f32], space: &mut Cells, out: &mut [f32]) {
    let width = samples.len() / STEP;
    let count = width / STEP;
    space.phases.resize(STEP * STEP * count, 0.0);
    space.cells.resize(4 * count, 0.0);
    for (row, phases) in samples.chunks_exact(width).zip(space.phases.chunks_exact_mut(STEP * count)) {
        split_phases(row, phases);
    }
    measure_cells(&space.phases, &mut space.cells);
    let cells = split(&space.cells);
    let columns = out.len() / 4;
    let shifted = |shift: usize| Moments {
        mean: &cells.mean[shift..shift + columns],
        second: &cells.second[shift..shift + columns],
        third: &cells.third[shift..shift + columns],
        fourth: &cells.fourth[shift..shift + columns],
    };
    combine(std::array::from_fn(shifted), out);
}

/// Writes every fourth sample to one of four lines, so that the samples of a cell are aligned.
#[multiversion(targets("x86_64+avx2"))]
fn split_phases(row: &[f32], phases: &mut [f32]) {
    let count = phases.len() / STEP;
    let (a, rest) = phases.split_at_mut(count);
    let (b, rest) = rest.split_at_mut(count);
    let (c, d) = rest.split_at_mut(count);
    for ((((cell, a), b), c), d) in row.chunks_exact(STEP).zip(a).zip(b).zip(c).zip(d) {
        *a = cell[0];
        *b = cell[1];
        *c = cell[2];
        *d = cell[3];
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn measure_cells(phases: &[f32], cells: &mut [f32]) {
    const COUNT: usize = STEP * STEP;
    let count = phases.len() / COUNT;
    let lines: [&[f32]; COUNT] = std::array::from_fn(|i| &phases[i * count..(i + 1) * count]);
    let (mean, rest) = cells.split_at_mut(count);
    let (second, rest) = rest.split_at_mut(count);
    let (third, fourth) = rest.split_at_mut(count);
    let fourth = &mut fourth[..count];
    let third = &mut third[..count];
    let scale = 1.0 / COUNT as f32;
    for x in 0..count {
        let mut sum = 0.0;
        for line in &lines {
            sum += line[x];
        }
        let center = sum * scale;
        let mut sums = [0.0f32; 3];
        for line in &lines {
            let deviation = line[x] - center;
            let square = deviation * deviation;
            sums[0] += square;
            sums[1] += square * deviation;
            sums[2] += square * square;
        }
        mean[x] = center;
        second[x] = sums[0] * scale;
        third[x] = sums[1] * scale;
        fourth[x] = sums[2] * scale;
    }
}

/// Combines the moments of four parts of equal size.
#[multiversion(targets("x86_64+avx2"))]
fn combine(parts: [Moments<'_>; CELLS], out: &mut [f32]) {
    let count = out.len() / 4;
    let parts: [[&[f32]; 4]; CELLS] =
        parts.map(|part| [&part.mean[..count], &part.second[..count], &part.third[..count], &part.fourth[..count]]);
    let (mean, rest) = out.split_at_mut(count);
    let (second, rest) = rest.split_at_mut(count);
    let (third, fourth) = rest.split_at_mut(count);
    let fourth = &mut fourth[..count];
    for x in 0..count {
        let center = 0.25 * ((parts[0][0][x] + parts[1][0][x]) + (parts[2][0][x] + parts[3][0][x]));
        let mut sums = [0.0f32; 3];
        for part in &parts {
            let (shift, c2, c3, c4) = (part[0][x] - center, part[1][x], part[2][x], part[3][x]);
            let square = shift * shift;
            sums[0] += c2 + square;
            sums[1] += c3 + shift * (3.0 * c2 + square);
            sums[2] += c4 + 4.0 * shift * c3 + square * (6.0 * c2 + square);
        }
        mean[x] = center;
        second[x] = 0.25 * sums[0];
        third[x] = 0.25 * sums[1];
        fourth[x] = 0.25 * sums[2];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_equal_the_definition_in_double_precision() {
        let (width, height) = (45, 30);
        let sample = |x: usize, y: usize| 1000.0 + ((x * 5 + y * y * 3 + x * y) % 23) as f32;
        let image: Vec<f32> = (0..width * height).map(|i| sample(i % width, i / width)).collect();
        let mut strips = StripMoments::new(width, height);
        let length = strips.row_length();
        for (rows, out) in image.chunks_exact(width * STEP).zip(strips.data_mut().chunks_exact_mut(length)) {
            measure_strip(rows, &mut Cells::default(), out);
        }
        assert_eq!((block_count(width), block_count(height)), (8, 4));
        for row in 0..block_count(height) {
            let mut values = vec![0.0; length];
            strips.block_row(row, &mut values);
            let found = split(&values);
            for column in 0..block_count(width) {
                let block = || (0..SIDE * SIDE).map(|i| f64::from(sample(4 * column + i % SIDE, 4 * row + i / SIDE)));
                let mean = block().sum::<f64>() / 256.0;
                let moment = |power: i32| block().map(|value| (value - mean).powi(power)).sum::<f64>() / 256.0;
                let close = |value: f32, expected: f64, scale: f64| (f64::from(value) - expected).abs() < 1e-5 * scale;
                let deviation = moment(2).sqrt();
                assert!(close(found.mean[column], mean, mean));
                assert!(close(found.second[column], moment(2), deviation.powi(2)));
                assert!(close(found.third[column], moment(3), deviation.powi(3)));
                assert!(close(found.fourth[column], moment(4), deviation.powi(4)));
            }
        }
    }
}

//! The parts of the spatial steerable pyramid with six orientations (`sp5`) that metrics use: the
//! initial low-pass, the low-pass that halves, and the two orientations along the axes. Borders
//! are mirrored about the border sample (`reflect1`).
//!
//! The coefficients are those of `sp5Filters` in matlabPyrTools (E. P. Simoncelli, Center for
//! Neural Science, New York University, and the Massachusetts Institute of Technology, MIT
//! license), designed by A. Karasaridis and E. P. Simoncelli, *A filter design technique for
//! steerable pyramid image transforms*, ICASSP 1996.
//!
//! Every filter is even or odd along each axis, so only a quarter of it is stored. Samples that
//! share a coefficient are first added or subtracted. The bands of a flat area are therefore
//! exactly zero.

use std::array;

use multiversion::multiversion;

use crate::Plane;
use crate::ops::convolve::{Border, extend_row};
use crate::ops::strips;

/// Coefficients from the center outwards, `[distance in rows][distance in columns]`.
type Quarter<const N: usize> = [[f32; N]; N];

/// `lo0filt`, 5x5.
const INITIAL: Quarter<3> = [
    [0.403_041_48, 0.159_255_7, -0.038_482_15],
    [0.159_255_7, 0.055_869_82, -0.015_512_46],
    [-0.038_482_15, -0.015_512_46, 0.003_416_14],
];

/// `lofilt`, 9x9.
const HALVING: Quarter<5> = [
    [0.201_930_8, 0.163_392_36, 0.079_627_86, 0.020_059_76, -0.019_241_08],
    [0.163_392_36, 0.128_526_66, 0.065_540_76, 0.008_212, -0.018_888_64],
    [0.079_627_86, 0.065_540_76, 0.027_934_92, -0.013_222_34, -0.007_756_24],
    [0.020_059_76, 0.008_212, -0.013_222_34, -0.010_465_62, -0.004_898_34],
    [-0.019_241_08, -0.018_888_64, -0.007_756_24, -0.004_898_34, 0.001_708_08],
];

/// The first of `bfilts`, 7x7: odd along the row, even along the column.
const ACROSS: Quarter<4> = [
    [0.0, 0.117_322_97, -0.027_551_55, -0.014_553_99],
    [0.0, 0.082_264_45, -0.011_898_59, -0.010_266_99],
    [0.0, 0.030_753_56, 0.008_930_64, -0.004_961_94],
    [0.0, 0.010_218_52, 0.009_869_04, -0.002_776_43],
];

/// The symmetry of a filter along one axis.
const EVEN: bool = false;
const ODD: bool = true;

/// The two orientations along the axes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Orientation {
    /// Horizontal changes (the first of the six).
    Across,
    /// Vertical changes (the fourth of the six).
    Down,
}

/// Removes the residual high frequencies before the first level.
pub fn initial_low_pass(source: &Plane) -> Plane {
    let mut filtered = Plane::default();
    filter(source, &INITIAL, fold_rows::<EVEN, 3>, combine_initial, &mut filtered);
    filtered
}

/// Writes one oriented band of a level, of the same size, to `band`. The memory of `band` is
/// reused.
pub fn write_band(level: &Plane, orientation: Orientation, band: &mut Plane) {
    match orientation {
        Orientation::Across => filter(level, &ACROSS, fold_rows::<EVEN, 4>, combine_across, band),
        // The same filter, rotated, with the sign of `bfilts`: falling edges are positive.
        Orientation::Down => {
            let down: Quarter<4> = array::from_fn(|j| array::from_fn(|i| -ACROSS[i][j]));
            filter(level, &down, fold_rows::<ODD, 4>, combine_down, band);
        }
    }
}

/// Returns the next level: low-pass, then every second sample of both axes, starting with the
/// first.
pub fn halve(level: &Plane) -> Plane {
    const REACH: usize = 4;
    let width = level.width();
    let mut halved = Plane::new(width.div_ceil(2), level.height().div_ceil(2));
    let half_width = halved.width();
    strips::fill_by(&mut halved, strips::SMALL, |rows, out| {
        let mut folded = vec![0.0; width + 2 * REACH];
        // One sample more than the outermost sample that is read, in either phase.
        let mut phases: [[Vec<f32>; 2]; 5] = array::from_fn(|_| array::from_fn(|_| vec![0.0; half_width + REACH]));
        for (y, out) in rows.zip(out.chunks_exact_mut(half_width)) {
            for (distance, phases) in phases.iter_mut().enumerate() {
                fold_rows::<EVEN, 5>(level, 2 * y, distance, &mut folded[REACH..REACH + width]);
                extend_row(&mut folded, REACH, width, Border::Reflect);
                split_phases(&folded, phases);
            }
            combine_halving(&HALVING, &phases, out);
        }
    });
    halved
}

/// Applies a folded filter to a plane. `fold` returns the sum or difference of the two rows at a
/// distance; `combine` computes the outputs from these padded rows.
fn filter<const N: usize>(
    source: &Plane,
    quarter: &Quarter<N>,
    fold: impl Fn(&Plane, usize, usize, &mut [f32]) + Sync,
    combine: impl Fn(&[f32], &[Vec<f32>], &mut [f32]) + Sync,
    filtered: &mut Plane,
) {
    let (width, reach) = (source.width(), N - 1);
    filtered.resize(width, source.height());
    strips::fill_by(filtered, strips::SMALL, |rows, out| {
        let mut folded: [Vec<f32>; N] = array::from_fn(|_| vec![0.0; width + 2 * reach]);
        for (y, out) in rows.zip(out.chunks_exact_mut(width)) {
            for (distance, folded) in folded.iter_mut().enumerate() {
                fold(source, y, distance, &mut folded[reach..reach + width]);
                extend_row(folded, reach, width, Border::Reflect);
            }
            combine(quarter.as_flattened(), &folded, out);
        }
    });
}

/// Row `y + distance` plus (even) or minus (odd) row `y - distance`. At distance 0, an even filter
/// uses row `y` itself.
fn fold_rows<const PARITY: bool, const N: usize>(source: &Plane, y: usize, distance: usize, out: &mut [f32]) {
    let row = |index: isize| source.row(Border::Reflect.index(index, source.height()).unwrap_or(0));
    let (below, above) = (row((y + distance) as isize), row(y as isize - distance as isize));
    match (distance, PARITY) {
        (0, ODD) => out.fill(0.0),
        (0, _) => out.copy_from_slice(below),
        (_, ODD) => subtract(below, above, out),
        (_, _) => add(below, above, out),
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn add(a: &[f32], b: &[f32], out: &mut [f32]) {
    for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
        *out = a + b;
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn subtract(a: &[f32], b: &[f32], out: &mut [f32]) {
    for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
        *out = a - b;
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn split_phases(row: &[f32], phases: &mut [Vec<f32>; 2]) {
    let [even, odd] = phases;
    for ((pair, even), odd) in row.chunks_exact(2).zip(even.iter_mut()).zip(odd.iter_mut()) {
        *even = pair[0];
        *odd = pair[1];
    }
    if row.len() % 2 == 1
        && let (Some(last), Some(even)) = (row.last(), even.get_mut(row.len() / 2))
    {
        *even = *last;
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn combine_initial(quarter: &[f32], rows: &[Vec<f32>], out: &mut [f32]) {
    combine::<EVEN>(quarter, rows, 0, out);
}

#[multiversion(targets("x86_64+avx2"))]
fn combine_across(quarter: &[f32], rows: &[Vec<f32>], out: &mut [f32]) {
    combine::<ODD>(quarter, rows, 0, out);
}

#[multiversion(targets("x86_64+avx2"))]
fn combine_down(quarter: &[f32], rows: &[Vec<f32>], out: &mut [f32]) {
    combine::<EVEN>(quarter, rows, 1, out);
}

/// Outputs that are computed together. Loops of this length are not unrolled before they are vectorized.
const BLOCK: usize = 40;

/// The horizontal half of a filter over folded rows that are padded by one less than their number.
/// Distances below `first` have no coefficients. (Coefficients are slices: with a known length the
/// compiler would unroll the loops and share overlapping loads, which costs many shuffles.)
#[inline(always)]
fn combine<const PARITY: bool>(quarter: &[f32], rows: &[Vec<f32>], first: usize, out: &mut [f32]) {
    let reach = rows.len() - 1;
    let Some(last) = out.len().checked_sub(BLOCK) else {
        return combine_narrow::<PARITY>(quarter, rows, first, out);
    };
    // The last block overlaps the one before it, so that no remainder is left.
    for start in (0..out.len()).step_by(BLOCK).map(|start| start.min(last)) {
        let mut total = [0.0f32; BLOCK];
        for (coefficients, row) in quarter.chunks_exact(rows.len()).zip(rows).skip(first) {
            let span = &row[start..start + BLOCK + 2 * reach];
            if let (EVEN, Some(&weight)) = (PARITY, coefficients.first()) {
                let center = &span[reach..][..BLOCK];
                for lane in 0..BLOCK {
                    total[lane] += weight * center[lane];
                }
            }
            for (distance, &weight) in coefficients.iter().enumerate().skip(1) {
                let (right, left) = (&span[reach + distance..][..BLOCK], &span[reach - distance..][..BLOCK]);
                for lane in 0..BLOCK {
                    total[lane] += weight * fold_pair::<PARITY>(right[lane], left[lane]);
                }
            }
        }
        out[start..start + BLOCK].copy_from_slice(&total);
    }
}

/// [`combine`] for rows that are shorter than a block.
fn combine_narrow<const PARITY: bool>(quarter: &[f32], rows: &[Vec<f32>], first: usize, out: &mut [f32]) {
    for (column, out) in out.iter_mut().enumerate() {
        let center = column + rows.len() - 1;
        let mut total = 0.0;
        for (coefficients, row) in quarter.chunks_exact(rows.len()).zip(rows).skip(first) {
            if let (EVEN, Some(&weight)) = (PARITY, coefficients.first()) {
                total += weight * row[center];
            }
            for (distance, &weight) in coefficients.iter().enumerate().skip(1) {
                total += weight * fold_pair::<PARITY>(row[center + distance], row[center - distance]);
            }
        }
        *out = total;
    }
}

#[inline(always)]
fn fold_pair<const PARITY: bool>(right: f32, left: f32) -> f32 {
    match PARITY {
        ODD => right - left,
        EVEN => right + left,
    }
}

/// Like [`combine`] for every second sample of rows that were split into even and odd samples
/// (padded by 4).
#[multiversion(targets("x86_64+avx2"))]
fn combine_halving(quarter: &Quarter<5>, rows: &[[Vec<f32>; 2]; 5], out: &mut [f32]) {
    let width = out.len();
    out.fill(0.0);
    for (coefficients, [even, odd]) in quarter.iter().zip(rows) {
        let (even, odd): ([&[f32]; 5], [&[f32]; 4]) =
            (array::from_fn(|shift| &even[shift..][..width]), array::from_fn(|shift| &odd[shift..][..width]));
        for (x, out) in out.iter_mut().enumerate() {
            *out += coefficients[0] * even[2][x]
                + coefficients[1] * (odd[1][x] + odd[2][x])
                + coefficients[2] * (even[1][x] + even[3][x])
                + coefficients[3] * (odd[0][x] + odd[3][x])
                + coefficients[4] * (even[0][x] + even[4][x]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn band(level: &Plane, orientation: Orientation) -> Plane {
        let mut band = Plane::default();
        write_band(level, orientation, &mut band);
        band
    }

    fn scene(width: usize, height: usize) -> Plane {
        Plane::from_fn(width, height, |x, y| ((x * 37 + y * y * 11 + x * y) % 101) as f32)
    }

    /// The plain sum in double precision. `odd` is the symmetry along rows and columns.
    fn written_out<const N: usize>(source: &Plane, quarter: &Quarter<N>, odd: [bool; 2], x: usize, y: usize) -> f64 {
        let reach = N as isize - 1;
        let mut total = 0.0;
        for j in -reach..=reach {
            for i in -reach..=reach {
                let mut weight = f64::from(quarter[j.unsigned_abs()][i.unsigned_abs()]);
                if (odd[0] && i < 0) ^ (odd[1] && j < 0) {
                    weight = -weight;
                }
                let column = Border::Reflect.index(x as isize + i, source.width()).unwrap();
                let row = Border::Reflect.index(y as isize + j, source.height()).unwrap();
                total += weight * f64::from(source.at(column, row));
            }
        }
        total
    }

    #[test]
    fn filters_equal_the_sums_written_out() {
        for (width, height) in [(45, 33), (16, 9), (5, 7)] {
            let source = scene(width, height);
            let low = initial_low_pass(&source);
            let across = band(&source, Orientation::Across);
            let down = band(&source, Orientation::Down);
            let half = halve(&source);
            assert_eq!((half.width(), half.height()), (width.div_ceil(2), height.div_ceil(2)));
            let turned: Quarter<4> = array::from_fn(|j| array::from_fn(|i| -ACROSS[i][j]));
            for y in 0..height {
                for x in 0..width {
                    let close = |value: f32, expected: f64| (f64::from(value) - expected).abs() < 1e-4;
                    assert!(close(low.at(x, y), written_out(&source, &INITIAL, [false, false], x, y)));
                    assert!(close(across.at(x, y), written_out(&source, &ACROSS, [true, false], x, y)));
                    assert!(close(down.at(x, y), written_out(&source, &turned, [false, true], x, y)));
                    if x % 2 == 0 && y % 2 == 0 {
                        let expected = written_out(&source, &HALVING, [false, false], x, y);
                        assert!(close(half.at(x / 2, y / 2), expected));
                    }
                }
            }
        }
    }

    #[test]
    fn flat_areas_have_bands_of_exactly_zero() {
        let flat = Plane::from_fn(40, 30, |_, _| 77.3);
        assert!(band(&flat, Orientation::Across).data().iter().all(|&value| value == 0.0));
        assert!(band(&flat, Orientation::Down).data().iter().all(|&value| value == 0.0));
    }
}

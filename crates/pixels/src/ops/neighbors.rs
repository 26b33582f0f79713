//! Second-order statistics of the 3x3 neighborhoods of a plane.
//!
//! The samples of neighborhood (x, y) are numbered row by row: sample `3 * j + i` is at
//! `(x + i, y + j)`.

use multiversion::multiversion;

use crate::Plane;
use crate::ops::strips;

/// Samples per side of a neighborhood.
pub const SIDE: usize = 3;
/// Samples per neighborhood.
pub const COUNT: usize = SIDE * SIDE;
/// Number of horizontal distances between two samples of a neighborhood: -2..=2.
const SHIFTS: usize = 2 * SIDE - 1;

/// Sums over one row: the samples, and their products with the row itself and the two rows below
/// at every shift.
struct RowSums {
    samples: f64,
    products: [[f64; SHIFTS]; SIDE],
}

#[derive(Clone)]
struct Moments {
    sums: [f64; COUNT],
    products: [[f64; COUNT]; COUNT],
}

/// The covariance of all overlapping neighborhoods inside the upper left `width` x `height`
/// samples, divided by their number.
///
/// All pairs of samples at the same distance share a product, so 13 sums per sample are enough for
/// the 45 elements. The sums use double precision, because the matrix is inverted.
pub fn covariance(plane: &Plane, width: usize, height: usize) -> [[f64; COUNT]; COUNT] {
    if width < SIDE || height < SIDE {
        return [[0.0; COUNT]; COUNT];
    }
    let parts = strips::map_by(height, strips::SMALL, |strip| {
        let mut moments = Moments { sums: [0.0; COUNT], products: [[0.0; COUNT]; COUNT] };
        // Rows in double precision: each is used once as the row itself and twice as a row below.
        let mut rows: [Vec<f64>; SIDE] = std::array::from_fn(|_| vec![0.0; width]);
        for below in 0..SIDE - 1 {
            widen(plane.row((strip.start + below).min(height - 1)), &mut rows[below + 1]);
        }
        for y in strip {
            rows.rotate_left(1);
            widen(plane.row((y + SIDE - 1).min(height - 1)), &mut rows[SIDE - 1]);
            add_row(&rows, height, y, &mut moments);
        }
        moments
    });
    let count = ((width - SIDE + 1) * (height - SIDE + 1)) as f64;
    let mean = |a: usize| parts.iter().map(|part| part.sums[a]).sum::<f64>() / count;
    let means: [f64; COUNT] = std::array::from_fn(mean);
    let product = |a: usize, b: usize| parts.iter().map(|part| part.products[a][b]).sum::<f64>() / count;
    std::array::from_fn(|a| std::array::from_fn(|b| product(a.min(b), a.max(b)) - means[a] * means[b]))
}

/// Adds the contribution of row `y`, the first of `rows`, as the row of the upper sample of each
/// pair.
fn add_row(rows: &[Vec<f64>; SIDE], height: usize, y: usize, moments: &mut Moments) {
    let width = rows[0].len();
    let core =
        if width > 2 * SIDE { row_sums(rows) } else { RowSums { samples: 0.0, products: [[0.0; SHIFTS]; SIDE] } };
    // The core sums leave out some columns of the first sample: here are those from `i` to
    // `i + width - SIDE`.
    let inner = if width > 2 * SIDE { SIDE - 1..width - SIDE + 1 } else { width..width };
    for a in 0..COUNT {
        let (row_a, column_a) = (a / SIDE, a % SIDE);
        if y < row_a || y > row_a + height - SIDE {
            continue;
        }
        let columns = column_a..column_a + width - SIDE + 1;
        let outer =
            || columns.clone().take_while(|x| *x < inner.start).chain(columns.clone().skip_while(|x| *x < inner.end));
        moments.sums[a] += core.samples + outer().map(|x| rows[0][x]).sum::<f64>();
        for b in a..COUNT {
            let (below, column_b) = (b / SIDE - row_a, b % SIDE);
            let edge: f64 = outer().map(|x| rows[0][x] * rows[below][x + column_b - column_a]).sum();
            moments.products[a][b] += core.products[below][column_b + SIDE - 1 - column_a] + edge;
        }
    }
}

/// Sums over the columns `SIDE - 1 .. width - SIDE + 1`, which stay inside at every shift.
#[multiversion(targets("x86_64+avx2"))]
fn row_sums(rows: &[Vec<f64>; SIDE]) -> RowSums {
    let reach = SIDE - 1;
    let center = &rows[0][reach..rows[0].len() - reach];
    let mut sums = RowSums { samples: sum(center), products: [[0.0; SHIFTS]; SIDE] };
    for (below, (row, products)) in rows.iter().zip(&mut sums.products).enumerate() {
        // Within a row, shifts to the left equal shifts to the right of the other sample.
        match below {
            0 => add_shifted::<2>(center, row, products),
            _ => add_shifted::<0>(center, row, products),
        }
    }
    sums
}

/// Samples that are multiplied together.
const LANES: usize = 8;

#[inline(always)]
fn sum(samples: &[f64]) -> f64 {
    let (chunks, rest) = samples.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for chunk in chunks {
        lanes.iter_mut().zip(chunk).for_each(|(lane, sample)| *lane += sample);
    }
    lanes.iter().sum::<f64>() + rest.iter().sum::<f64>()
}

/// Adds the products of `center` with `row`, which starts `SIDE - 1` samples earlier, at the
/// shifts from `FIRST` on.
#[inline(always)]
fn add_shifted<const FIRST: usize>(center: &[f64], row: &[f64], products: &mut [f64; SHIFTS]) {
    let (chunks, rest) = center.as_chunks::<LANES>();
    let mut lanes = [[0.0f64; LANES]; SHIFTS];
    for (samples, start) in chunks.iter().zip((0..).step_by(LANES)) {
        let Some(others) = row[start..].first_chunk::<{ LANES + SHIFTS - 1 }>() else { break };
        for shift in FIRST..SHIFTS {
            for lane in 0..LANES {
                lanes[shift][lane] += samples[lane] * others[lane + shift];
            }
        }
    }
    let others = &row[chunks.len() * LANES..];
    for shift in FIRST..SHIFTS {
        let rest: f64 = rest.iter().zip(&others[shift..]).map(|(sample, other)| sample * other).sum();
        products[shift] += lanes[shift].iter().sum::<f64>() + rest;
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn widen(row: &[f32], out: &mut [f64]) {
    out.iter_mut().zip(row).for_each(|(out, &sample)| *out = f64::from(sample));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn covariance_equals_the_sum_written_out() {
        let plane = Plane::from_fn(50, 41, |x, y| ((x * x * 7 + y * 13 + x * y * 3) % 29) as f32 - 11.0);
        for (width, height) in [(48, 39), (50, 41), (5, 4), (6, 6), (7, 3), (3, 3)] {
            let found = covariance(&plane, width, height);
            let count = ((width - 2) * (height - 2)) as f64;
            let over = |value: &dyn Fn(usize, usize) -> f64| {
                (0..height - 2).flat_map(|y| (0..width - 2).map(move |x| (x, y))).map(|(x, y)| value(x, y)).sum::<f64>()
            };
            let sample = |a: usize, x: usize, y: usize| f64::from(plane.at(x + a % 3, y + a / 3));
            for (a, row) in found.iter().enumerate() {
                for (b, &element) in row.iter().enumerate() {
                    let product = over(&|x, y| sample(a, x, y) * sample(b, x, y)) / count;
                    let means = over(&|x, y| sample(a, x, y)) * over(&|x, y| sample(b, x, y)) / count / count;
                    assert!((element - (product - means)).abs() < 1e-9, "{a} {b} of {width}x{height}");
                }
            }
        }
    }
}

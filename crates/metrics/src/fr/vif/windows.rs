//! Sums over square windows that move in steps of one block.

use multiversion::multiversion;

use crate::Plane;
use crate::ops::neighbors::SIDE;

/// Sums over the windows around the blocks of one block row: of both bands, their squares and
/// their product.
pub struct Windows<'a> {
    bands: &'a [Plane; 2],
    scale: usize,
    /// Sums over the three rows of each block row in the window, indexed by block row modulo their
    /// count.
    triples: Vec<(usize, Columns)>,
    columns: Columns,
    spare: Vec<f32>,
}

/// Sums down the columns of x, y, x squared, y squared and x * y.
type Columns = [Vec<f32>; 5];

impl<'a> Windows<'a> {
    /// Creates sums for windows with sides of `2^scale + 1` samples.
    pub fn new(bands: &'a [Plane; 2], scale: usize) -> Self {
        let width = bands[0].width();
        let columns = || std::array::from_fn(|_| vec![0.0; width]);
        // A window of 2 * reach + 1 rows around a block's center covers 1 + 2 * ((reach - 1) / 3)
        // whole block rows, and one extra row above and below if the division has a remainder.
        let whole = 1 + 2 * (((1 << (scale - 1)) - 1) / SIDE);
        let triples = (0..whole).map(|_| (usize::MAX, columns())).collect();
        Self { bands, scale, triples, columns: columns(), spare: vec![0.0; width] }
    }

    /// Computes the sums for block row `row`, whose windows must be inside the bands.
    pub fn move_to(&mut self, row: usize) {
        let reach = 1usize << (self.scale - 1);
        let side = self.triples.len() / 2;
        let whole = self.triples.len();
        for needed in row - side..=row + side {
            let (number, sums) = &mut self.triples[needed % whole];
            if *number != needed {
                *number = needed;
                sums.iter_mut().for_each(|column| column.fill(0.0));
                (SIDE * needed..SIDE * needed + SIDE)
                    .for_each(|y| add_products(self.bands[0].row(y), self.bands[1].row(y), sums));
            }
        }
        for (quantity, column) in self.columns.iter_mut().enumerate() {
            column.fill(0.0);
            for needed in row - side..=row + side {
                add(&self.triples[needed % whole].1[quantity], column);
            }
        }
        if !(reach - 1).is_multiple_of(SIDE) {
            for y in [SIDE * row + 1 - reach, SIDE * row + 1 + reach] {
                add_products(self.bands[0].row(y), self.bands[1].row(y), &mut self.columns);
            }
        }
        for column in &mut self.columns {
            sum_along(column, self.scale, &mut self.spare);
        }
    }

    /// The sums over the window whose left column is `left`.
    #[inline(always)]
    pub fn at(&self, left: usize) -> [f64; 5] {
        std::array::from_fn(|quantity| f64::from(self.columns[quantity][left]))
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn add(row: &[f32], sums: &mut [f32]) {
    for (sum, &sample) in sums.iter_mut().zip(row) {
        *sum += sample;
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn add_products(reference: &[f32], distorted: &[f32], [x, y, xx, yy, xy]: &mut Columns) {
    let sums = x.iter_mut().zip(y).zip(xx).zip(yy).zip(xy);
    for ((((((x, y), xx), yy), xy), &r), &d) in sums.zip(reference).zip(distorted) {
        *x += r;
        *y += d;
        *xx += r * r;
        *yy += d * d;
        *xy += r * d;
    }
}

/// Replaces each sample of `row` by the sum of the `2^scale + 1` samples from there to the right,
/// by doubling.
#[multiversion(targets("x86_64+avx2"))]
fn sum_along(row: &mut Vec<f32>, scale: usize, spare: &mut Vec<f32>) {
    let width = row.len();
    let last = 1 << scale;
    if width <= last {
        return;
    }
    let original = row.clone();
    for distance in (0..scale).map(|power| 1 << power) {
        for ((out, &a), &b) in spare.iter_mut().zip(row.iter()).zip(&row[distance..]) {
            *out = a + b;
        }
        std::mem::swap(row, spare);
    }
    for (sum, &sample) in row.iter_mut().zip(&original[last..]) {
        *sum += sample;
    }
}

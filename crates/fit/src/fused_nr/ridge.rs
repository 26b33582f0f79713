//! Ridge regression from sums over rows. Sums of parts of the data can be added, so leaving a part
//! out needs no second pass.

use agenticiqa_vision::fused_fr::Triangle;
use agenticiqa_vision::fused_nr::Linear;
use rayon::prelude::*;

use crate::error::Error;

/// Rows of standardized features with their targets.
#[derive(Debug, Clone, Default)]
pub struct Rows {
    /// Standardized features.
    pub standard: Vec<Vec<f32>>,
    /// Targets.
    pub targets: Vec<f64>,
    /// Whether a bias is fitted; not for rows that are differences of images.
    pub biased: bool,
}

/// Sums of products of all columns (the last one is 1 if there is a bias) and of columns and
/// targets.
#[derive(Debug, Clone)]
pub struct Sums {
    products: Vec<f64>,
    targets: Vec<f64>,
}

impl Sums {
    /// Creates sums of zero rows.
    pub fn nothing(columns: usize) -> Self {
        let size = columns + 1;
        Self { products: vec![0.0; Triangle::count(size)], targets: vec![0.0; size] }
    }

    /// Sums rows. Each sum is computed in a fixed order by one thread, so the result does not
    /// depend on the number of threads.
    pub fn of(rows: &Rows, columns: usize) -> Self {
        if rows.standard.is_empty() {
            return Self::nothing(columns);
        }
        let by_column = columns_of(rows, columns);
        let products: Vec<Vec<f64>> = (0..=columns)
            .into_par_iter()
            .map(|i| by_column[..=i].iter().map(|column| dot(column, &by_column[i])).collect())
            .collect();
        let targets = by_column
            .par_iter()
            .map(|column| column.iter().zip(&rows.targets).map(|(number, target)| f64::from(*number) * target).sum())
            .collect();
        Self { products: products.concat(), targets }
    }

    /// Adds sums of other rows with a weight.
    pub fn add(&mut self, other: &Self, weight: f64) {
        let add = |sums: &mut [f64], other: &[f64]| {
            sums.iter_mut().zip(other).for_each(|(sum, other)| *sum += weight * other)
        };
        add(&mut self.products, &other.products);
        add(&mut self.targets, &other.targets);
    }

    /// Returns the weights of the best fit. `penalty` applies to the squared weights, but not to
    /// the bias.
    pub fn solve(&self, penalty: f64) -> Result<Linear, Error> {
        let size = self.targets.len();
        let mut products = self.products.clone();
        for (column, place) in (0..size).map(|column| (column, Triangle::count(column + 1) - 1)) {
            products[place] += if column + 1 == size { 1e-6 } else { penalty };
        }
        let factor = Triangle::from_rows(size, products)
            .and_then(Triangle::cholesky)
            .ok_or_else(|| Error::Nothing("the sums have no solution".to_owned()))?;
        let mut solution = self.targets.clone();
        factor.solve(&mut solution);
        factor.solve_transposed(&mut solution);
        let bias = solution.pop().unwrap_or_default();
        Ok(Linear { weights: solution.into_iter().map(|weight| weight as f32).collect(), bias })
    }
}

fn columns_of(rows: &Rows, columns: usize) -> Vec<Vec<f32>> {
    let one = if rows.biased { 1.0 } else { 0.0 };
    let mut by_column: Vec<Vec<f32>> =
        (0..columns).into_par_iter().map(|column| rows.standard.iter().map(|row| row[column]).collect()).collect();
    by_column.push(vec![one; rows.standard.len()]);
    by_column
}

/// Dot product: short sums in single precision, which the compiler vectorizes, and their totals in
/// double.
fn dot(a: &[f32], b: &[f32]) -> f64 {
    const LANES: usize = 16;
    a.chunks(16 * LANES)
        .zip(b.chunks(16 * LANES))
        .map(|(a, b)| {
            let mut sums = [0.0f32; LANES];
            let ((a, rest_a), (b, rest_b)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
            for (a, b) in a.iter().zip(b) {
                for lane in 0..LANES {
                    sums[lane] += a[lane] * b[lane];
                }
            }
            let rest: f32 = rest_a.iter().zip(rest_b).map(|(a, b)| a * b).sum();
            f64::from(sums.iter().sum::<f32>() + rest)
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_again_and_a_penalty_flattens_it() {
        let standard: Vec<Vec<f32>> = (0..50).map(|i| vec![i as f32 / 10.0, (i * 7 % 13) as f32]).collect();
        let targets = standard.iter().map(|row| 3.0 + 2.0 * f64::from(row[0]) - 0.5 * f64::from(row[1])).collect();
        let sums = Sums::of(&Rows { standard, targets, biased: true }, 2);
        let line = sums.solve(1e-9).unwrap();
        assert!((line.weights[0] - 2.0).abs() < 1e-4 && (line.weights[1] + 0.5).abs() < 1e-4, "{line:?}");
        assert!((line.bias - 3.0).abs() < 1e-4);
        assert!(sums.solve(1e6).unwrap().weights[0].abs() < 0.01);
    }

    #[test]
    fn parts_add_up_to_the_whole() {
        let row = |i: usize| vec![(i * 31 % 17) as f32, (i * 7 % 5) as f32];
        let part = |range: std::ops::Range<usize>| Rows {
            targets: range.clone().map(|i| i as f64).collect(),
            standard: range.map(row).collect(),
            biased: true,
        };
        let mut sums = Sums::of(&part(0..20), 2);
        sums.add(&Sums::of(&part(20..50), 2), 1.0);
        let (parts, whole) = (sums.solve(0.5).unwrap(), Sums::of(&part(0..50), 2).solve(0.5).unwrap());
        assert!((parts.bias - whole.bias).abs() < 1e-9);
    }
}

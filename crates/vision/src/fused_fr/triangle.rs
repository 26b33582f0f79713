//! Linear algebra of the Gaussian process: lower triangular matrices.

/// A lower triangular matrix, stored row by row.
#[derive(Debug, Clone, PartialEq)]
pub struct Triangle {
    size: usize,
    rows: Vec<f64>,
}

fn start(row: usize) -> usize {
    row * (row + 1) / 2
}

impl Triangle {
    /// Returns the number of elements of a triangle with that many rows.
    pub const fn count(size: usize) -> usize {
        size * (size + 1) / 2
    }

    /// Creates a triangle from its elements, row by row; `None` if their number does not match.
    pub fn from_rows(size: usize, rows: Vec<f64>) -> Option<Self> {
        (rows.len() == Self::count(size)).then_some(Self { size, rows })
    }

    /// Returns the elements, row by row.
    pub fn rows(&self) -> &[f64] {
        &self.rows
    }

    /// Returns the number of rows, which is also the number of columns.
    pub fn size(&self) -> usize {
        self.size
    }

    fn row(&self, row: usize) -> &[f64] {
        &self.rows[start(row)..start(row + 1)]
    }

    /// Returns the Cholesky factor of the symmetric matrix with this lower triangle; `None` if the
    /// matrix is not positive definite.
    pub fn cholesky(mut self) -> Option<Self> {
        for i in 0..self.size {
            let (done, rest) = self.rows.split_at_mut(start(i));
            let row = &mut rest[..=i];
            for j in 0..i {
                let above = &done[start(j)..start(j + 1)];
                let sum: f64 = row[..j].iter().zip(above).map(|(a, b)| a * b).sum();
                row[j] = (row[j] - sum) / above[j];
            }
            let sum: f64 = row[..i].iter().map(|a| a * a).sum();
            let pivot = row[i] - sum;
            if !(pivot > 0.0 && pivot.is_finite()) {
                return None;
            }
            row[i] = pivot.sqrt();
        }
        Some(self)
    }

    /// Solves `L x = b` in place.
    pub fn solve(&self, values: &mut [f64]) {
        for i in 0..self.size.min(values.len()) {
            let row = self.row(i);
            let sum: f64 = row[..i].iter().zip(values.iter()).map(|(a, b)| a * b).sum();
            values[i] = (values[i] - sum) / row[i];
        }
    }

    /// Solves `L' x = b` in place.
    pub fn solve_transposed(&self, values: &mut [f64]) {
        for i in (0..self.size.min(values.len())).rev() {
            let row = self.row(i);
            values[i] /= row[i];
            let value = values[i];
            values[..i].iter_mut().zip(row).for_each(|(rest, factor)| *rest -= factor * value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cholesky_and_both_solutions_undo_a_product() {
        let matrix = [[4.0, 2.0, 0.6], [2.0, 5.0, 1.5], [0.6, 1.5, 3.0]];
        let rows = (0..3).flat_map(|i| matrix[i][..=i].to_vec()).collect();
        let factor = Triangle::from_rows(3, rows).unwrap().cholesky().unwrap();
        let wanted = [1.0, -2.0, 0.5];
        let mut values: Vec<f64> = matrix.iter().map(|row| row.iter().zip(wanted).map(|(a, b)| a * b).sum()).collect();
        factor.solve(&mut values);
        factor.solve_transposed(&mut values);
        values.iter().zip(wanted).for_each(|(value, wanted)| assert!((value - wanted).abs() < 1e-12));
    }

    #[test]
    fn what_is_not_positive_definite_or_of_another_size_is_refused() {
        assert_eq!(Triangle::from_rows(2, vec![1.0, 2.0, 1.0]).unwrap().cholesky(), None);
        assert_eq!(Triangle::from_rows(1, vec![f64::NAN]).unwrap().cholesky(), None);
        assert_eq!(Triangle::from_rows(2, vec![1.0]), None);
    }
}

//! Linear algebra for feature models: means, covariances, pseudo-inverses, distances.

/// A dense matrix of doubles, stored row by row.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    rows: usize,
    columns: usize,
    data: Vec<f64>,
}

/// The rotations stop when the off-diagonal share is below this value.
const CONVERGED: f64 = 1e-30;
const SWEEPS: usize = 60;

impl Matrix {
    /// Creates a matrix of zeros.
    pub fn new(rows: usize, columns: usize) -> Self {
        Self { rows, columns, data: vec![0.0; rows * columns] }
    }

    /// Creates a matrix from numbers, row by row. Missing numbers are 0, surplus numbers are
    /// dropped.
    pub fn from_vec(rows: usize, columns: usize, mut data: Vec<f64>) -> Self {
        data.resize(rows * columns, 0.0);
        Self { rows, columns, data }
    }

    /// Row `row`.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.data[row * self.columns..(row + 1) * self.columns]
    }

    fn at(&self, row: usize, column: usize) -> f64 {
        self.data[row * self.columns + column]
    }

    fn at_mut(&mut self, row: usize, column: usize) -> &mut f64 {
        &mut self.data[row * self.columns + column]
    }

    /// Returns the mean of two matrices of the same size.
    pub fn mean_with(&self, other: &Self) -> Self {
        let data = self.data.iter().zip(&other.data).map(|(a, b)| (a + b) / 2.0).collect();
        Self { data, ..*self }
    }

    /// MATLAB's `pinv` of a symmetric matrix. Eigenvalues at the level of rounding errors count as
    /// 0.
    pub fn pseudo_inverse(&self) -> Self {
        let size = self.rows;
        let (values, vectors) = self.eigen();
        let largest = values.iter().fold(0.0f64, |largest, value| largest.max(value.abs()));
        let tolerance = size as f64 * largest * f64::EPSILON;
        let mut inverse = Self::new(size, size);
        for (value, vector) in values.iter().zip(vectors.data.chunks_exact(size)) {
            if value.abs() <= tolerance {
                continue;
            }
            for (row, &a) in inverse.data.chunks_exact_mut(size).zip(vector) {
                row.iter_mut().zip(vector).for_each(|(out, &b)| *out += a * b / value);
            }
        }
        inverse
    }

    /// Returns the eigenvalues of a symmetric matrix and its eigenvectors as rows, by Jacobi
    /// rotations.
    fn eigen(&self) -> (Vec<f64>, Self) {
        let size = self.rows;
        let mut matrix = self.clone();
        let mut vectors = Self::new(size, size);
        (0..size).for_each(|i| *vectors.at_mut(i, i) = 1.0);
        let whole: f64 = self.data.iter().map(|value| value * value).sum();
        for _ in 0..SWEEPS {
            let pairs = (0..size).flat_map(|p| (p + 1..size).map(move |q| (p, q)));
            let left: f64 = pairs.clone().map(|(p, q)| matrix.at(p, q).powi(2)).sum();
            if left.is_nan() || left <= CONVERGED * whole {
                break;
            }
            pairs.for_each(|(p, q)| matrix.rotate(p, q, &mut vectors));
        }
        ((0..size).map(|i| matrix.at(i, i)).collect(), vectors)
    }

    /// Zeroes the elements (p, q) and (q, p) by a rotation, which is also applied to the rows of
    /// `vectors`.
    fn rotate(&mut self, p: usize, q: usize, vectors: &mut Self) {
        let off = self.at(p, q);
        if off == 0.0 {
            return;
        }
        let theta = (self.at(q, q) - self.at(p, p)) / (2.0 * off);
        let tangent = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
        let cosine = 1.0 / (tangent * tangent + 1.0).sqrt();
        let sine = tangent * cosine;
        for k in 0..self.rows {
            let (a, b) = (self.at(k, p), self.at(k, q));
            *self.at_mut(k, p) = cosine * a - sine * b;
            *self.at_mut(k, q) = sine * a + cosine * b;
        }
        for matrix in [self, vectors] {
            for k in 0..matrix.columns {
                let (a, b) = (matrix.at(p, k), matrix.at(q, k));
                *matrix.at_mut(p, k) = cosine * a - sine * b;
                *matrix.at_mut(q, k) = sine * a + cosine * b;
            }
        }
    }

    /// Returns the Cholesky factor: the lower triangle whose product with its transpose is this
    /// symmetric matrix. Returns `None` unless the matrix is positive definite.
    pub fn cholesky(&self) -> Option<Triangle> {
        let size = self.rows;
        let mut lower = Self::new(size, size);
        for i in 0..size {
            let (above, current) = lower.data.split_at_mut(i * size);
            for j in 0..i {
                let row = &above[j * size..(j + 1) * size];
                current[j] = (self.at(i, j) - dot(&current[..j], &row[..j])) / row[j];
            }
            let rest = self.at(i, i) - dot(&current[..i], &current[..i]);
            if rest.is_nan() || rest <= 0.0 {
                return None;
            }
            current[i] = rest.sqrt();
        }
        Some(Triangle(lower))
    }

    /// `sqrt((a - b) * matrix * (a - b)')`, where this matrix is the inverse covariance.
    pub fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
        let difference: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
        let rows = difference.iter().zip(self.data.chunks_exact(self.columns));
        rows.map(|(&d, row)| d * dot(row, &difference)).sum::<f64>().max(0.0).sqrt()
    }
}

/// A lower triangular matrix: the Cholesky factor of a covariance.
#[derive(Debug, Clone, PartialEq)]
pub struct Triangle(Matrix);

impl Triangle {
    /// The Mahalanobis distance of `a` and `b`: `sqrt((a - b) * inverse * (a - b)')`.
    pub fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
        let mut solved: Vec<f64> = Vec::with_capacity(self.0.rows);
        for (i, (a, b)) in a.iter().zip(b).take(self.0.rows).enumerate() {
            let row = self.0.row(i);
            solved.push((a - b - dot(&row[..i], &solved)) / row[i]);
        }
        dot(&solved, &solved).sqrt()
    }
}

/// The dot product, summed in a fixed order that vectorizes well.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 8;
    let mut lanes = [0.0; LANES];
    let (left, right) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f64 = left.remainder().iter().zip(right.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in left.zip(right) {
        for lane in 0..LANES {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    lanes.iter().sum::<f64>() + rest
}

/// The mean of each feature over the samples in which it is defined (MATLAB's `nanmean`).
pub fn mean(samples: &[Vec<f64>], features: usize) -> Vec<f64> {
    let feature = |i: usize| {
        let defined = samples.iter().filter_map(|sample| sample.get(i)).filter(|value| !value.is_nan());
        let (sum, count) = defined.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
        sum / count
    };
    (0..features).map(feature).collect()
}

/// The sample covariance over the samples in which every feature is defined (MATLAB's `nancov`).
/// It is zero for a single sample; without samples the result is `None`.
pub fn covariance(samples: &[Vec<f64>], features: usize) -> Option<Matrix> {
    let defined: Vec<Vec<f64>> =
        samples.iter().filter(|sample| !sample.iter().any(|value| value.is_nan())).cloned().collect();
    if defined.is_empty() {
        return None;
    }
    let mean = mean(&defined, features);
    let mut covariance = Matrix::new(features, features);
    let weight = 1.0 / (defined.len() as f64 - 1.0).max(1.0);
    for sample in &defined {
        let centered: Vec<f64> = sample.iter().zip(&mean).map(|(value, mean)| value - mean).collect();
        for (row, &a) in covariance.data.chunks_exact_mut(features).zip(&centered) {
            row.iter_mut().zip(&centered).for_each(|(out, &b)| *out += weight * a * b);
        }
    }
    Some(covariance)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product(a: &Matrix, b: &Matrix) -> Matrix {
        let mut product = Matrix::new(a.rows, b.columns);
        for (i, j) in (0..a.rows).flat_map(|i| (0..b.columns).map(move |j| (i, j))) {
            *product.at_mut(i, j) = (0..a.columns).map(|k| a.at(i, k) * b.at(k, j)).sum();
        }
        product
    }

    #[test]
    fn the_pseudo_inverse_fulfils_its_definition_for_full_and_deficient_rank() {
        let samples: Vec<Vec<f64>> =
            (0..4).map(|i| (0..6).map(|j| ((i * 17 + j * j * 5 + i * j * 3) % 11) as f64).collect()).collect();
        let deficient = covariance(&samples, 6).unwrap();
        let mut full = deficient.clone();
        (0..6).for_each(|i| *full.at_mut(i, i) += 1.0 + i as f64);
        for matrix in [deficient, full] {
            let inverse = matrix.pseudo_inverse();
            let again = product(&product(&matrix, &inverse), &matrix);
            let error = again.data.iter().zip(&matrix.data).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(error < 1e-9, "{error}");
        }
    }

    #[test]
    fn distances_by_factor_and_by_inverse_agree() {
        let size = 21;
        let data = (0..size * size).map(|i| ((i / size) * (i % size) % 7) as f64 * 0.1);
        let mut matrix = Matrix::from_vec(size, size, data.collect());
        (0..size).for_each(|i| *matrix.at_mut(i, i) += 10.0);
        let a: Vec<f64> = (0..size).map(|i| (i * i % 13) as f64).collect();
        let b = vec![1.5; size];
        let expected = matrix.pseudo_inverse().distance(&a, &b);
        assert!((matrix.cholesky().unwrap().distance(&a, &b) - expected).abs() < 1e-12);
        *matrix.at_mut(3, 3) = -1.0;
        assert!(matrix.cholesky().is_none());
    }

    #[test]
    fn undefined_values_are_left_out_as_matlab_does() {
        let samples = vec![vec![1.0, 2.0], vec![3.0, 6.0], vec![f64::NAN, 10.0]];
        assert_eq!(mean(&samples, 2), [2.0, 6.0]);
        assert_eq!(covariance(&samples, 2).unwrap().data, [2.0, 4.0, 4.0, 8.0]);
        assert!(covariance(&samples[2..], 2).is_none());
        assert_eq!(covariance(&samples[..1], 2).unwrap(), Matrix::new(2, 2));
    }
}

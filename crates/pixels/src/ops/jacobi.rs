//! Eigenvalues and eigenvectors of small symmetric matrices.

/// Returns the eigenvalues of a symmetric `matrix` and its unit eigenvectors in the same order, by
/// cyclic Jacobi rotations.
pub fn eigen<const N: usize>(mut matrix: [[f64; N]; N]) -> ([f64; N], [[f64; N]; N]) {
    /// More than ever needed: convergence is quadratic and usually takes 5 to 8 sweeps.
    const MAXIMUM_SWEEPS: usize = 40;
    let mut vectors = [[0.0; N]; N];
    for (i, row) in vectors.iter_mut().enumerate() {
        row[i] = 1.0;
    }
    for _ in 0..MAXIMUM_SWEEPS {
        let mut rotated = false;
        for p in 0..N {
            for q in p + 1..N {
                rotated |= rotate(&mut matrix, &mut vectors, p, q);
            }
        }
        if !rotated {
            break;
        }
    }
    (std::array::from_fn(|i| matrix[i][i]), vectors)
}

/// Zeroes element (`p`, `q`) by a rotation. Returns `false` if the element is negligible already.
fn rotate<const N: usize>(matrix: &mut [[f64; N]; N], vectors: &mut [[f64; N]; N], p: usize, q: usize) -> bool {
    let (diagonal_p, diagonal_q, element) = (matrix[p][p], matrix[q][q], matrix[p][q]);
    if element.abs() <= f64::EPSILON * 1e-3 * (diagonal_p * diagonal_q).abs().sqrt() || element == 0.0 {
        return false;
    }
    let ratio = (diagonal_q - diagonal_p) / (2.0 * element);
    let tangent = ratio.signum() / (ratio.abs() + (ratio * ratio + 1.0).sqrt());
    let cosine = 1.0 / (tangent * tangent + 1.0).sqrt();
    let sine = tangent * cosine;
    for row in matrix.iter_mut() {
        (row[p], row[q]) = (cosine * row[p] - sine * row[q], sine * row[p] + cosine * row[q]);
    }
    for i in 0..N {
        (matrix[p][i], matrix[q][i]) =
            (cosine * matrix[p][i] - sine * matrix[q][i], sine * matrix[p][i] + cosine * matrix[q][i]);
        (vectors[p][i], vectors[q][i]) =
            (cosine * vectors[p][i] - sine * vectors[q][i], sine * vectors[p][i] + cosine * vectors[q][i]);
    }
    matrix[p][q] = 0.0;
    matrix[q][p] = 0.0;
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_and_values_rebuild_the_matrix() {
        let element = |i: usize, j: usize| {
            let (low, high) = (i.min(j) as f64, i.max(j) as f64);
            (low * 3.0 + high).sin() * 7.0 + if i == j { 3.0 } else { 0.0 }
        };
        let matrix: [[f64; 5]; 5] = std::array::from_fn(|i| std::array::from_fn(|j| element(i, j)));
        let (values, vectors) = eigen(matrix);
        for i in 0..5 {
            for j in 0..5 {
                let rebuilt: f64 = (0..5).map(|k| values[k] * vectors[k][i] * vectors[k][j]).sum();
                let product: f64 = (0..5).map(|k| vectors[i][k] * vectors[j][k]).sum();
                assert!((rebuilt - element(i, j)).abs() < 1e-12);
                assert!((product - if i == j { 1.0 } else { 0.0 }).abs() < 1e-13);
            }
        }
    }

    #[test]
    fn a_matrix_of_zeros_has_eigenvalues_of_zero() {
        assert_eq!(eigen([[0.0; 3]; 3]).0, [0.0; 3]);
    }
}

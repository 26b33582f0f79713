//! Linear and logistic regression with a penalty on large weights.

/// Iterations of Newton's method; it converges in about ten.
const STEPS: usize = 30;

/// Returns the constant and the weights that fit the targets best by least squares.
pub fn least_squares(rows: &[Vec<f64>], targets: &[f64], penalty: f64) -> Vec<f64> {
    let count = rows.first().map_or(0, Vec::len) + 1;
    let (mut matrix, mut right) = (ridge(count, penalty), vec![0.0; count]);
    for (row, target) in rows.iter().zip(targets) {
        add(&mut matrix, &mut right, &[&[1.0], row.as_slice()].concat(), 1.0, *target);
    }
    solve(matrix, right)
}

/// Returns the constant and the weights of the logistic regression of `targets` on the rows.
pub fn logistic(rows: &[Vec<f64>], targets: &[bool], penalty: f64) -> Vec<f64> {
    logistic_with_pairs(rows, targets, &[], penalty)
}

/// Like [`logistic`], but the margin of the first row of each pair should also be above that of the second.
pub fn logistic_with_pairs(
    rows: &[Vec<f64>],
    targets: &[bool],
    pairs: &[(Vec<f64>, Vec<f64>)],
    penalty: f64,
) -> Vec<f64> {
    let with_constant = rows.iter().zip(targets).map(|(row, target)| ([&[1.0], row.as_slice()].concat(), *target));
    let both = pairs.iter().flat_map(|(above, below)| {
        let step = |sign: f64| -> Vec<f64> {
            let differences = above.iter().zip(below).map(|(above, below)| sign * (above - below));
            std::iter::once(0.0).chain(differences).collect()
        };
        [(step(1.0), true), (step(-1.0), false)]
    });
    let examples: Vec<(Vec<f64>, bool)> = with_constant.chain(both).collect();
    let count = examples.first().map_or(0, |(row, _)| row.len());
    let mut weights = vec![0.0; count];
    for _ in 0..STEPS {
        let (mut matrix, mut right) = (ridge(count, penalty), vec![0.0; count]);
        for (row, target) in &examples {
            let margin: f64 = row.iter().zip(&weights).map(|(value, weight)| value * weight).sum();
            let margin = margin.clamp(-30.0, 30.0);
            let probability = 1.0 / (1.0 + (-margin).exp());
            let curvature = (probability * (1.0 - probability)).max(1e-9);
            let error = f64::from(u8::from(*target)) - probability;
            add(&mut matrix, &mut right, row, curvature, margin + error / curvature);
        }
        weights = solve(matrix, right);
    }
    weights
}

/// The constant is not penalized.
fn ridge(count: usize, penalty: f64) -> Vec<Vec<f64>> {
    let entry = |row: usize, column: usize| if row == column && row > 0 { penalty } else { 0.0 };
    (0..count).map(|row| (0..count).map(|column| entry(row, column)).collect()).collect()
}

fn add(matrix: &mut [Vec<f64>], right: &mut [f64], row: &[f64], weight: f64, target: f64) {
    for (place, line) in matrix.iter_mut().enumerate() {
        line.iter_mut().zip(row).for_each(|(entry, value)| *entry += weight * row[place] * value);
        right[place] += weight * row[place] * target;
    }
}

/// Solves a system of linear equations by elimination. Columns that nothing determines get zero.
fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let count = right.len();
    for place in 0..count {
        let size = |row: &usize| matrix[*row][place].abs();
        let pivot = (place..count).max_by(|a, b| size(a).total_cmp(&size(b))).unwrap_or(place);
        matrix.swap(place, pivot);
        right.swap(place, pivot);
        if matrix[place][place].abs() < 1e-12 {
            continue;
        }
        for row in 0..count {
            let factor = matrix[row][place] / matrix[place][place];
            if row != place && factor != 0.0 {
                let above = matrix[place].clone();
                matrix[row].iter_mut().zip(above).for_each(|(entry, above)| *entry -= factor * above);
                right[row] -= factor * right[place];
            }
        }
    }
    (0..count)
        .map(|place| if matrix[place][place].abs() < 1e-12 { 0.0 } else { right[place] / matrix[place][place] })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Vec<f64>> {
        (0..200).map(|index| vec![f64::from(index % 20) / 10.0, f64::from(index % 7)]).collect()
    }

    #[test]
    fn a_line_is_found() {
        let targets: Vec<f64> = rows().iter().map(|row| 3.0 - 2.0 * row[0] + 0.5 * row[1]).collect();
        let found = least_squares(&rows(), &targets, 1e-9);
        for (found, expected) in found.iter().zip([3.0, -2.0, 0.5]) {
            assert!((found - expected).abs() < 1e-6, "{found}");
        }
    }

    /// At the best weights, the errors do not depend on the values.
    #[test]
    fn the_gradient_of_a_logistic_regression_is_zero() {
        let targets: Vec<bool> = rows().iter().enumerate().map(|(at, row)| row[0] > 1.0 || at % 3 == 0).collect();
        let found = logistic(&rows(), &targets, 1e-9);
        for place in 0..3 {
            let error = |(row, target): (&Vec<f64>, &bool)| {
                let margin = found[0] + found[1] * row[0] + found[2] * row[1];
                let probability = 1.0 / (1.0 + (-margin).exp());
                let value = if place == 0 { 1.0 } else { row[place - 1] };
                (f64::from(u8::from(*target)) - probability) * value
            };
            assert!(rows().iter().zip(&targets).map(error).sum::<f64>().abs() < 1e-6);
        }
        assert!(found[1] > 1.0 && found[2].abs() < 0.5, "{found:?}");
    }

    #[test]
    fn pairs_move_the_weights() {
        let (rows, targets) = ([vec![1.0], vec![2.0]], [true, true]);
        let fitted = |pairs: &[(Vec<f64>, Vec<f64>)]| logistic_with_pairs(&rows, &targets, pairs, 1.0)[1];
        let (above, below) = (vec![3.0], vec![1.0]);
        let alone = fitted(&[]);
        assert!(fitted(&[(above.clone(), below.clone())]) > alone && fitted(&[(below, above)]) < alone);
    }

    #[test]
    fn what_nothing_determines_is_zero() {
        assert_eq!(least_squares(&[vec![0.0], vec![0.0]], &[2.0, 4.0], 0.0), [3.0, 0.0]);
    }
}

//! Least squares: small linear systems, and the Levenberg-Marquardt method for curves.

/// Solves a symmetric positive definite system. Returns `None` if it is singular.
pub(crate) fn solve<const P: usize>(matrix: &[[f64; P]; P], right: &[f64; P]) -> Option<[f64; P]> {
    let mut factor = [[0.0; P]; P];
    for row in 0..P {
        for column in 0..=row {
            let rest: f64 = (0..column).map(|k| factor[row][k] * factor[column][k]).sum();
            let value = matrix[row][column] - rest;
            if row != column {
                factor[row][column] = value / factor[column][column];
            } else if value > 1e-14 * matrix[row][row].abs() && value.is_finite() {
                factor[row][row] = value.sqrt();
            } else {
                return None;
            }
        }
    }
    let mut solution = *right;
    for row in 0..P {
        let rest: f64 = (0..row).map(|k| factor[row][k] * solution[k]).sum();
        solution[row] = (solution[row] - rest) / factor[row][row];
    }
    for row in (0..P).rev() {
        let rest: f64 = (row + 1..P).map(|k| factor[k][row] * solution[k]).sum();
        solution[row] = (solution[row] - rest) / factor[row][row];
    }
    solution.iter().all(|value| value.is_finite()).then_some(solution)
}

/// Returns the weights of columns whose weighted sum is closest to `target`. `columns(row)`
/// returns one row of them.
pub(crate) fn linear<const P: usize>(target: &[f64], columns: impl Fn(usize) -> [f64; P]) -> Option<[f64; P]> {
    let (mut matrix, mut right) = ([[0.0; P]; P], [0.0; P]);
    for (row, value) in target.iter().enumerate() {
        accumulate(&mut matrix, &mut right, &columns(row), *value);
    }
    mirror(&mut matrix);
    solve(&matrix, &right)
}

fn accumulate<const P: usize>(matrix: &mut [[f64; P]; P], right: &mut [f64; P], row: &[f64; P], value: f64) {
    for i in 0..P {
        right[i] += row[i] * value;
        for j in 0..=i {
            matrix[i][j] += row[i] * row[j];
        }
    }
}

fn mirror<const P: usize>(matrix: &mut [[f64; P]; P]) {
    for i in 0..P {
        for j in 0..i {
            matrix[j][i] = matrix[i][j];
        }
    }
}

/// The result of a parameter search.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Minimum<const P: usize> {
    pub parameters: [f64; P],
    /// The sum of squared differences.
    pub cost: f64,
}

/// A curve with parameters, the last of which may be linear.
pub(crate) trait Model<const P: usize> {
    /// Returns the value at `x` and its derivative by each parameter.
    fn value(&self, parameters: &[f64; P], x: f64) -> (f64, [f64; P]);

    /// Returns the parameters with the best linear ones for the given others; unchanged if none
    /// are linear.
    fn settle(&self, parameters: [f64; P]) -> [f64; P] {
        parameters
    }

    /// Whether a parameter is linear, so that its steps need no damping.
    fn is_linear(&self, _parameter: usize) -> bool {
        false
    }
}

/// Runs the Levenberg-Marquardt search from `start`. Linear parameters are solved for after each
/// step (Kaufman's variable projection), which follows long flat valleys quickly, where a damped
/// search of all parameters is slow.
pub(crate) fn levenberg_marquardt<const P: usize>(
    x: &[f64],
    y: &[f64],
    start: [f64; P],
    iterations: usize,
    model: &impl Model<P>,
) -> Minimum<P> {
    let minimum = |parameters: [f64; P]| {
        let cost = x.iter().zip(y).map(|(x, y)| (y - model.value(&parameters, *x).0).powi(2)).sum();
        Minimum { parameters, cost }
    };
    let mut best = minimum(start);
    let (mut damping, mut still) = (1e-3, 0);
    for _ in 0..iterations {
        let (mut matrix, mut right) = ([[0.0; P]; P], [0.0; P]);
        for (x, y) in x.iter().zip(y) {
            let (value, gradient) = model.value(&best.parameters, *x);
            accumulate(&mut matrix, &mut right, &gradient, y - value);
        }
        mirror(&mut matrix);
        let step = |damping: f64| {
            let step = solve(&damped(&matrix, damping, model), &right)?;
            Some(minimum(model.settle(std::array::from_fn(|i| best.parameters[i] + step[i]))))
        };
        let Some(next) = descend(best.cost, &mut damping, step) else { break };
        still = if best.cost - next.cost <= 1e-12 * best.cost { still + 1 } else { 0 };
        best = next;
        if still == 3 || best.cost == 0.0 {
            break;
        }
    }
    best
}

fn damped<const P: usize>(matrix: &[[f64; P]; P], damping: f64, model: &impl Model<P>) -> [[f64; P]; P] {
    let mut damped = *matrix;
    for (i, row) in damped.iter_mut().enumerate() {
        // A direction without any effect must not make the system singular.
        let share = if model.is_linear(i) { 1e-12 } else { damping };
        row[i] += share * matrix[i][i].max(1e-12);
    }
    damped
}

/// Returns a step that lowers the cost, with as much damping as needed, or `None` if there is
/// none.
fn descend<const P: usize>(
    cost: f64,
    damping: &mut f64,
    step: impl Fn(f64) -> Option<Minimum<P>>,
) -> Option<Minimum<P>> {
    while *damping < 1e12 {
        if let Some(next) = step(*damping).filter(|next| next.cost < cost) {
            *damping = (*damping * 0.3).max(1e-12);
            return Some(next);
        }
        *damping *= 4.0;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_systems_are_solved_and_singular_ones_refused() {
        let solution = solve(&[[4.0, 2.0], [2.0, 3.0]], &[10.0, 8.0]).unwrap();
        assert!((solution[0] - 1.75).abs() < 1e-14 && (solution[1] - 1.5).abs() < 1e-14);
        assert_eq!(solve(&[[1.0, 1.0], [1.0, 1.0]], &[1.0, 1.0]), None);
    }

    #[test]
    fn a_curve_without_noise_is_found() {
        let x: Vec<f64> = (0..50).map(f64::from).collect();
        let y: Vec<f64> = x.iter().map(|x| 3.0 * (-0.1 * x).exp() + 1.0).collect();
        struct Decay;
        impl Model<3> for Decay {
            fn value(&self, p: &[f64; 3], x: f64) -> (f64, [f64; 3]) {
                let decay = (-p[1] * x).exp();
                (p[0] * decay + p[2], [decay, -p[0] * x * decay, 1.0])
            }
        }
        let found = levenberg_marquardt(&x, &y, [1.0, 0.5, 0.0], 200, &Decay);
        for (found, wanted) in found.parameters.into_iter().zip([3.0, 0.1, 1.0]) {
            assert!((found - wanted).abs() < 1e-8, "{found} {wanted}");
        }
    }
}

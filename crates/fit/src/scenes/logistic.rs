//! Logistic regression with weights that are never negative.

/// One example.
#[derive(Clone)]
pub struct Example {
    /// The inputs; more of each makes 1 likelier.
    pub inputs: Vec<f64>,
    /// The probability of 1.
    pub label: f64,
    /// How much the example counts.
    pub weight: f64,
}

/// Number of steps, which is far more than enough for five weights.
const STEPS: usize = 800;
/// Keeps weights finite where a few inputs separate everything.
const RIDGE: f64 = 1e-3;

/// Returns the weights and the constant term, which is 0 without `bias`.
pub fn fit(examples: &[Example], bias: bool) -> (Vec<f64>, f64) {
    let count = examples.first().map_or(0, |example| example.inputs.len());
    let total: f64 = examples.iter().map(|example| example.weight).sum();
    // Inputs have different scales; each is divided by its root mean square.
    let scale: Vec<f64> = (0..count)
        .map(|at| {
            let square = |example: &Example| example.weight * example.inputs[at].powi(2);
            (examples.iter().map(square).sum::<f64>() / total).sqrt().max(1e-9)
        })
        .collect();
    let (mut weights, mut constant) = (vec![0.5; count], 0.0);
    for step in 0..STEPS {
        let (mut slope, mut slope_constant) = (vec![0.0; count], 0.0);
        for example in examples {
            let scaled = example.inputs.iter().zip(&scale).map(|(input, scale)| input / scale);
            let sum: f64 = weights.iter().zip(scaled).map(|(weight, input)| weight * input).sum();
            let off = example.weight / total * (1.0 / (1.0 + (-(constant + sum)).exp()) - example.label);
            slope
                .iter_mut()
                .zip(&example.inputs)
                .zip(&scale)
                .for_each(|((slope, input), scale)| *slope += off * input / scale);
            slope_constant += off;
        }
        let rate = 8.0 / (1.0 + step as f64 / 200.0);
        for (weight, slope) in weights.iter_mut().zip(slope) {
            *weight = f64::max(*weight - rate * (slope + RIDGE * *weight), 0.0);
        }
        if bias {
            constant -= rate * slope_constant;
        }
    }
    (weights.iter().zip(&scale).map(|(weight, scale)| weight / scale).collect(), constant)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_model_is_found_and_a_useless_input_counts_little() {
        let truth = |x: f64| 1.0 / (1.0 + (-(2.0 * x - 1.0)).exp());
        let example = |at: usize| {
            let x = at as f64 / 100.0 - 2.0;
            Example { inputs: vec![x, ((at * 7919) % 101) as f64 / 50.0 - 1.0], label: truth(x), weight: 1.0 }
        };
        let (weights, bias) = fit(&(0..500).map(example).collect::<Vec<_>>(), true);
        assert!((weights[0] - 2.0).abs() < 0.2 && weights[1] < 0.1 && (bias + 1.0).abs() < 0.2, "{weights:?} {bias}");
    }
}

//! Maximum-likelihood fit of the Weibull distribution (MATLAB's `wblfit`).

use multiversion::multiversion;

/// Samples that are summed in parallel, so that the result does not depend on the instruction set.
const LANES: usize = 8;
/// The search ends when the shape changes by less than this share. The remaining error is about
/// its square.
const CONVERGED: f64 = 1e-6;
const STEPS: usize = 100;

/// Returns scale and shape of the Weibull distribution, fitted to the logarithms of samples. The
/// shape is infinite if all samples are equal, and NaN if there are none.
pub fn fit(logarithms: &[f64]) -> (f64, f64) {
    let count = logarithms.len() as f64;
    let mean = logarithms.iter().sum::<f64>() / count;
    let greatest = logarithms.iter().fold(f64::NEG_INFINITY, |greatest, &value| greatest.max(value));
    let variance = logarithms.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    if variance == 0.0 || variance.is_nan() {
        return (mean.exp(), if variance == 0.0 { f64::INFINITY } else { f64::NAN });
    }
    // The shape of a Weibull distribution whose logarithms have this variance.
    let mut shape = std::f64::consts::PI / (6.0 * variance).sqrt();
    for _ in 0..STEPS {
        let [sum, first, second] = weighted(logarithms, greatest, shape);
        let (first, second) = (first / sum, second / sum);
        let slope = first - (mean - greatest) - 1.0 / shape;
        let curvature = second - first * first + 1.0 / (shape * shape);
        let step = slope / curvature;
        let next = if step < shape { shape - step } else { shape / 2.0 };
        let done = (next - shape).abs() <= CONVERGED * shape;
        shape = next;
        if done {
            break;
        }
    }
    let [sum, ..] = weighted(logarithms, greatest, shape);
    ((greatest + (sum / count).ln() / shape).exp(), shape)
}

/// The sums of `w`, `w * d` and `w * d * d`, where `d = logarithm - greatest` and
/// `w = exp(shape * d)`.
#[multiversion(targets("x86_64+avx2"))]
fn weighted(logarithms: &[f64], greatest: f64, shape: f64) -> [f64; 3] {
    let mut lanes = [[0.0; LANES]; 3];
    let chunks = logarithms.chunks_exact(LANES);
    let rest = chunks.remainder();
    for chunk in chunks {
        for lane in 0..LANES {
            let distance = chunk[lane] - greatest;
            let weight = exp(shape * distance);
            lanes[0][lane] += weight;
            lanes[1][lane] += weight * distance;
            lanes[2][lane] += weight * distance * distance;
        }
    }
    for (lane, value) in rest.iter().enumerate() {
        let distance = value - greatest;
        let weight = exp(shape * distance);
        lanes[0][lane] += weight;
        lanes[1][lane] += weight * distance;
        lanes[2][lane] += weight * distance * distance;
    }
    lanes.map(|lanes| lanes.iter().sum())
}

/// `exp(x)` for `x` <= 0 without a branch or a call, so that loops over it vectorize. It is 2^n
/// times the series of the remainder.
#[inline(always)]
fn exp(x: f64) -> f64 {
    /// Adding this leaves the nearest integer in the lowest bits.
    const ROUNDER: f64 = 6_755_399_441_055_744.0;
    const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
    const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    let x = x.max(-700.0);
    let shifted = x * std::f64::consts::LOG2_E + ROUNDER;
    let whole = shifted - ROUNDER;
    let rest = (x - whole * LN_2_HIGH) - whole * LN_2_LOW;
    let mut series = 1.0 / 479_001_600.0;
    for factorial in [39_916_800.0, 3_628_800.0, 362_880.0, 40_320.0, 5_040.0, 720.0, 120.0, 24.0, 6.0, 2.0, 1.0, 1.0] {
        series = series * rest + 1.0 / factorial;
    }
    series * f64::from_bits((shifted.to_bits() << 52).wrapping_add(1.0f64.to_bits()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponential_is_that_of_the_library() {
        for i in 0..7000 {
            let x = -f64::from(i) * 0.0993;
            assert!((exp(x) - x.exp()).abs() <= 1e-14 * x.exp(), "{x}");
        }
        assert!(exp(-1e9) < 1e-300);
    }

    #[test]
    fn quantiles_of_a_distribution_give_it_back() {
        for (scale, shape) in [(1.0, 1.0), (3.0, 0.7), (0.02, 4.0)] {
            let count = 20_001;
            let quantile = |i: usize| -(1.0 - (i as f64 + 0.5) / count as f64).ln();
            let logarithms: Vec<f64> = (0..count).map(|i| f64::ln(scale) + quantile(i).ln() / shape).collect();
            let (fitted_scale, fitted_shape) = fit(&logarithms);
            assert!((fitted_scale / scale - 1.0).abs() < 1e-3, "{fitted_scale} for {scale}");
            assert!((fitted_shape / shape - 1.0).abs() < 1e-3, "{fitted_shape} for {shape}");
        }
    }

    #[test]
    fn equal_samples_have_an_infinite_shape() {
        assert_eq!(fit(&[0.0; 9]), (1.0, f64::INFINITY));
        assert!(fit(&[]).1.is_nan());
    }
}

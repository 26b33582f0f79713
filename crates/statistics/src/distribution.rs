//! The distributions for tests and intervals: Student's t and the normal quantile.

/// Returns the two-sided p-value of Student's t with `freedom` degrees of freedom.
pub fn student_two_sided(t: f64, freedom: f64) -> f64 {
    if t.is_infinite() {
        return 0.0;
    }
    incomplete_beta(freedom / (freedom + t * t), freedom / 2.0, 0.5)
}

/// Returns the quantile of the standard normal distribution, by Newton's method on the
/// complementary error function.
pub fn normal_quantile(probability: f64) -> f64 {
    if !(0.0..=1.0).contains(&probability) {
        return f64::NAN;
    }
    if probability == 0.5 {
        return 0.0;
    }
    if probability > 0.5 {
        return -normal_quantile(1.0 - probability);
    }
    if probability == 0.0 {
        return f64::NEG_INFINITY;
    }
    // Starts from the leading term of the tail, then uses Newton's method; the function is smooth
    // and concave there.
    let mut x = -(-2.0 * probability.ln()).sqrt().max(0.1);
    for _ in 0..60 {
        let (tail, density) = (normal_tail(-x), (-x * x / 2.0).exp() / std::f64::consts::TAU.sqrt());
        // Newton's method on the logarithm also converges far out in the tail.
        let step = (tail.ln() - probability.ln()) * tail / density;
        x -= step;
        if step.abs() < 1e-15 * x.abs().max(1.0) {
            break;
        }
    }
    x
}

/// The probability that a normal variable exceeds `x`, for `x >= 0`: half the incomplete gamma
/// function of 1/2.
fn normal_tail(x: f64) -> f64 {
    if x < 0.0 {
        return 1.0 - normal_tail(-x);
    }
    let half_square = x * x / 2.0;
    if half_square < 1.5 {
        // The power series of the distribution function around 0.
        let (mut term, mut sum) = (x, x);
        let mut odd = 1.0;
        while term > sum * 1e-17 {
            odd += 2.0;
            term *= x * x / odd;
            sum += term;
        }
        return 0.5 - sum * (-half_square).exp() / std::f64::consts::TAU.sqrt();
    }
    // Laplace's continued fraction of Mills' ratio, evaluated from the innermost term.
    let fraction = (1..=200).rev().fold(x, |below, k| x + f64::from(k) / below);
    (-half_square).exp() / std::f64::consts::TAU.sqrt() / fraction
}

/// The regularized incomplete beta function.
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let front = (log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * x.ln() + b * (-x).ln_1p()).exp();
    // The fraction converges quickly on one side of the mean; the other side follows by symmetry.
    if x < (a + 1.0) / (a + b + 2.0) {
        front * beta_fraction(x, a, b) / a
    } else {
        1.0 - front * beta_fraction(1.0 - x, b, a) / b
    }
}

/// The continued fraction of the incomplete beta function, by Lentz's method.
fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let keep = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / keep(1.0 - (a + b) * x / (a + 1.0));
    let mut result = d;
    for step in 1..=1000 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for numerator in [even, odd] {
            d = 1.0 / keep(1.0 + numerator * d);
            c = keep(1.0 + numerator / c);
            change = d * c;
            result *= change;
        }
        if (change - 1.0).abs() < 1e-16 {
            break;
        }
    }
    result
}

/// The logarithm of the gamma function: Stirling's series, after a shift to arguments where it is
/// exact to the last digits.
fn log_gamma(mut x: f64) -> f64 {
    let mut shift = 0.0;
    while x < 15.0 {
        shift += x.ln();
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    let terms = [1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0, -1.0 / 1680.0, 1.0 / 1188.0, -691.0 / 360_360.0, 1.0 / 156.0];
    let series = terms.iter().rev().fold(0.0, |sum, term| sum * square + term) / x;
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series - shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gamma_of_whole_and_half_numbers() {
        assert!((log_gamma(5.0) - 24f64.ln()).abs() < 1e-14);
        assert!((log_gamma(0.5) - std::f64::consts::PI.sqrt().ln()).abs() < 1e-14);
    }

    #[test]
    fn quantiles_undo_the_tail() {
        for probability in [1e-12, 1e-3, 0.025, 0.3, 0.49, 0.5, 0.8, 0.975] {
            let x = normal_quantile(probability);
            assert!((normal_tail(-x) / probability - 1.0).abs() < 1e-12, "{probability}: {x}");
        }
        assert_eq!(normal_quantile(0.0), f64::NEG_INFINITY);
        assert!(normal_quantile(1.5).is_nan());
    }

    #[test]
    fn students_t_at_its_ends() {
        assert_eq!(student_two_sided(0.0, 7.0), 1.0);
        assert_eq!(student_two_sided(f64::INFINITY, 7.0), 0.0);
    }
}

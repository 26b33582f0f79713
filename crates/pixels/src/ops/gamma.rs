//! The logarithm of the gamma function, which the standard library lacks.

use std::f64::consts::PI;

/// Lanczos' coefficients for g = 7 and 9 terms (relative error below 1e-15).
const LANCZOS: [f64; 9] = [
    0.999_999_999_999_809_9,
    676.520_368_121_885_1,
    -1_259.139_216_722_402_8,
    771.323_428_777_653_1,
    -176.615_029_162_140_6,
    12.507_343_278_686_905,
    -0.138_571_095_265_720_12,
    9.984_369_578_019_572e-6,
    1.505_632_735_149_311_6e-7,
];

/// `ln(gamma(x))` for `x` > 0.
pub fn ln_gamma(x: f64) -> f64 {
    if x < 0.5 {
        return (PI / (PI * x).sin()).ln() - ln_gamma(1.0 - x);
    }
    let x = x - 1.0;
    let base = x + 7.5;
    let terms = LANCZOS.iter().enumerate().skip(1);
    let series = terms.fold(LANCZOS[0], |sum, (i, coefficient)| sum + coefficient / (x + i as f64));
    0.5 * (2.0 * PI).ln() + (x + 0.5) * base.ln() - base + series.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_factorials_and_the_half_integers() {
        let mut factorial = 1.0f64;
        for n in 1..15 {
            assert!((ln_gamma(f64::from(n)) - factorial.ln()).abs() < 1e-12, "{n}");
            factorial *= f64::from(n);
        }
        assert!((ln_gamma(0.5) - PI.sqrt().ln()).abs() < 1e-14);
        assert!((ln_gamma(0.1) - 9.513_507_698_668_732f64.ln()).abs() < 1e-13);
    }
}

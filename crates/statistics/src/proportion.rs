//! Confidence intervals of proportions.

use crate::bootstrap::Interval;
use crate::distribution::normal_quantile;

/// Returns Wilson's score interval of `successes` out of `count`, or 0 to 1 if `count` is 0.
pub fn wilson(successes: u64, count: u64, confidence: f64) -> Interval {
    if count == 0 {
        return Interval { low: 0.0, high: 1.0 };
    }
    let z = normal_quantile(0.5 + confidence / 2.0);
    let (n, share) = (count as f64, successes as f64 / count as f64);
    let center = share + z * z / (2.0 * n);
    let spread = z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z * z / n;
    // Exact at the ends, without rounding errors.
    let low = if successes == 0 { 0.0 } else { ((center - spread) / scale).max(0.0) };
    let high = if successes == count { 1.0 } else { ((center + spread) / scale).min(1.0) };
    Interval { low, high }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_are_exact_and_nothing_says_nothing() {
        assert_eq!(wilson(0, 5, 0.95).low, 0.0);
        assert_eq!(wilson(5, 5, 0.95).high, 1.0);
        assert_eq!(wilson(0, 0, 0.95), Interval { low: 0.0, high: 1.0 });
    }
}

//! Prediction errors.

/// Returns the root mean square difference.
pub fn root_mean_square(predicted: &[f64], observed: &[f64]) -> f64 {
    let squares: f64 = predicted.iter().zip(observed).map(|(a, b)| (a - b) * (a - b)).sum();
    (squares / predicted.len() as f64).sqrt()
}

/// Returns the share of predictions whose error exceeds the `limit` of their row (VQEG: twice the
/// standard deviation of the observers' scores).
pub fn outlier_ratio(predicted: &[f64], observed: &[f64], limit: impl Fn(usize) -> f64) -> f64 {
    let off = predicted.iter().zip(observed).enumerate().filter(|(row, (a, b))| (*a - *b).abs() > limit(*row)).count();
    off as f64 / predicted.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_and_outliers_are_counted() {
        let (predicted, observed) = ([1.0, 2.0, 3.0, 8.0], [1.0, 2.5, 3.0, 4.0]);
        assert!((root_mean_square(&predicted, &observed) - (16.25f64 / 4.0).sqrt()).abs() < 1e-15);
        assert_eq!(outlier_ratio(&predicted, &observed, |_| 1.0), 0.25);
        assert_eq!(outlier_ratio(&predicted, &observed, |row| if row == 1 { 0.4 } else { 9.0 }), 0.25);
    }
}

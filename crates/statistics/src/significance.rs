//! Tests whether one of two metrics agrees better with human opinions, on the same images.

use serde::{Deserialize, Serialize};

use crate::bootstrap::{Bootstrap, Interval};
use crate::distribution::student_two_sided;
use crate::pairs::Pairs;

/// The result of Williams' test of two correlations that share a variable (Williams 1959,
/// recommended by Steiger 1980).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Williams {
    /// Student's t.
    pub t: f64,
    /// Degrees of freedom: the number of rows minus 3.
    pub degrees_of_freedom: f64,
    /// The two-sided probability of a difference of this size by chance.
    pub p_value: f64,
}

/// Tests whether the correlations `first` and `second` with the same observations differ.
/// `between` is the correlation between the two predictions. Returns `None` for fewer than 4 rows.
pub fn williams(first: f64, second: f64, between: f64, count: usize) -> Option<Williams> {
    if count < 4 {
        return None;
    }
    let n = count as f64;
    let degrees_of_freedom = n - 3.0;
    if first == second {
        return Some(Williams { t: 0.0, degrees_of_freedom, p_value: 1.0 });
    }
    let determinant = 1.0 - first * first - second * second - between * between + 2.0 * first * second * between;
    let mean = (first + second) / 2.0;
    let below = 2.0 * (n - 1.0) / (n - 3.0) * determinant + mean * mean * (1.0 - between).powi(3);
    let t = (first - second) * ((n - 1.0) * (1.0 + between) / below).sqrt();
    (!t.is_nan()).then(|| Williams { t, degrees_of_freedom, p_value: student_two_sided(t, degrees_of_freedom) })
}

/// The difference of two rank correlations over resamples that draw the same rows for both.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PairedBootstrap {
    /// The first correlation minus the second.
    pub difference: f64,
    /// The interval of the difference.
    pub interval: Interval,
    /// Twice the share of resamples on the other side of 0 (including the observed sample), at
    /// most 1.
    pub p_value: f64,
}

/// Compares the rank correlations of two predictions of the same observations. The rows of both
/// must belong to the same images.
pub fn paired_bootstrap(first: &Pairs, second: &Pairs, bootstrap: &Bootstrap) -> Option<PairedBootstrap> {
    if first.len() != second.len() {
        return None;
    }
    let difference = first.spearman()? - second.spearman()?;
    let draws = bootstrap.draws(first.len(), |rows| Some(first.spearman_of(rows)? - second.spearman_of(rows)?));
    let defined: Vec<f64> = draws.into_iter().flatten().collect();
    let (above, below) =
        (defined.iter().filter(|draw| **draw >= 0.0).count(), defined.iter().filter(|draw| **draw <= 0.0).count());
    let p_value = (2.0 * (above.min(below) + 1) as f64 / (defined.len() + 1) as f64).min(1.0);
    Some(PairedBootstrap { difference, interval: bootstrap.middle(defined)?, p_value })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Observations, and predictions of them with noise of the given strengths.
    fn example(count: usize, strengths: [f64; 2]) -> [Pairs; 2] {
        let mut random = Random::new(11);
        let mut unit = || random.next_bits() as f64 / u64::MAX as f64 - 0.5;
        let observed: Vec<f64> = (0..count).map(|_| unit()).collect();
        strengths.map(|strength| {
            let predicted = observed.iter().map(|value| value + strength * unit()).collect();
            Pairs::new(predicted, observed.clone()).unwrap()
        })
    }

    #[test]
    fn a_better_prediction_is_told_from_a_worse_one() {
        let [good, bad] = example(300, [0.2, 1.5]);
        let found = paired_bootstrap(&good, &bad, &Bootstrap::default()).unwrap();
        assert!(found.difference > 0.2 && found.interval.low > 0.0 && found.p_value < 0.01, "{found:?}");
        let [one, two] = example(300, [0.5, 0.5]);
        let found = paired_bootstrap(&one, &two, &Bootstrap::default()).unwrap();
        assert!(found.interval.low < 0.0 && found.interval.high > 0.0 && found.p_value > 0.05, "{found:?}");
    }

    #[test]
    fn a_prediction_does_not_differ_from_itself() {
        let [one, _] = example(50, [0.5, 0.5]);
        let found = paired_bootstrap(&one, &one, &Bootstrap::default()).unwrap();
        assert_eq!((found.difference, found.p_value), (0.0, 1.0));
        assert_eq!(williams(0.8, 0.8, 1.0, 50).unwrap().p_value, 1.0);
        assert_eq!(williams(0.8, 0.7, 0.9, 3), None);
    }
}

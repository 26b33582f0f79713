//! Pairs of predicted and observed scores, and their correlations.

use crate::kendall;
use crate::ranks::Dense;

/// Why scores cannot be compared.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The two lists differ in length.
    #[error("{predicted} predicted scores, but {observed} observed scores")]
    Lengths {
        /// Number of predicted scores.
        predicted: usize,
        /// Number of observed scores.
        observed: usize,
    },
    /// A value is infinite or not a number.
    #[error("row {row} has a value that is not a finite number")]
    NotFinite {
        /// The row, counted from 0.
        row: usize,
    },
}

/// Predicted and observed scores, all finite.
#[derive(Debug, Clone)]
pub struct Pairs {
    predicted: Vec<f64>,
    observed: Vec<f64>,
    predicted_levels: Dense,
    observed_levels: Dense,
}

impl Pairs {
    /// Creates pairs from two lists of the same length.
    pub fn new(predicted: Vec<f64>, observed: Vec<f64>) -> Result<Self, Error> {
        if predicted.len() != observed.len() {
            return Err(Error::Lengths { predicted: predicted.len(), observed: observed.len() });
        }
        let finite = |(a, b): (&f64, &f64)| a.is_finite() && b.is_finite();
        if let Some(row) = predicted.iter().zip(&observed).position(|pair| !finite(pair)) {
            return Err(Error::NotFinite { row });
        }
        let (predicted_levels, observed_levels) = (Dense::new(&predicted), Dense::new(&observed));
        Ok(Self { predicted, observed, predicted_levels, observed_levels })
    }

    /// Number of pairs.
    pub fn len(&self) -> usize {
        self.predicted.len()
    }

    /// Whether there are no pairs.
    pub fn is_empty(&self) -> bool {
        self.predicted.is_empty()
    }

    /// The predicted scores.
    pub fn predicted(&self) -> &[f64] {
        &self.predicted
    }

    /// The observed scores.
    pub fn observed(&self) -> &[f64] {
        &self.observed
    }

    /// Number of rows that share their predicted score with another row.
    pub fn predicted_ties(&self) -> usize {
        ties(&self.predicted_levels)
    }

    /// Number of rows that share their observed score with another row.
    pub fn observed_ties(&self) -> usize {
        ties(&self.observed_levels)
    }

    /// Returns Pearson's linear correlation, or `None` if one side is constant.
    pub fn pearson(&self) -> Option<f64> {
        pearson(&self.predicted, &self.observed)
    }

    /// Returns Spearman's rank correlation, or `None` if one side is constant. Equal values share
    /// their mean rank.
    pub fn spearman(&self) -> Option<f64> {
        self.spearman_of(&self.rows())
    }

    /// Returns Kendall's tau-b, or `None` if one side is constant.
    pub fn kendall(&self) -> Option<f64> {
        self.kendall_of(&self.rows())
    }

    /// Returns Pearson's correlation of these rows. Rows may repeat.
    pub fn pearson_of(&self, rows: &[u32]) -> Option<f64> {
        let (predicted, observed) = self.take(rows);
        pearson(&predicted, &observed)
    }

    /// Returns Spearman's correlation of these rows. Rows may repeat.
    pub fn spearman_of(&self, rows: &[u32]) -> Option<f64> {
        pearson(&self.predicted_levels.ranks_of(rows), &self.observed_levels.ranks_of(rows))
    }

    /// Returns Kendall's tau-b of these rows. Rows may repeat.
    pub fn kendall_of(&self, rows: &[u32]) -> Option<f64> {
        let level = |levels: &Dense, row: u32| levels.levels[row as usize];
        let pairs = rows.iter().map(|&row| (level(&self.predicted_levels, row), level(&self.observed_levels, row)));
        kendall::tau_b(pairs.collect())
    }

    /// Returns the predicted and observed scores of these rows.
    pub fn take(&self, rows: &[u32]) -> (Vec<f64>, Vec<f64>) {
        rows.iter().map(|&row| (self.predicted[row as usize], self.observed[row as usize])).unzip()
    }

    fn rows(&self) -> Vec<u32> {
        (0..self.len() as u32).collect()
    }
}

fn ties(levels: &Dense) -> usize {
    let mut counts = vec![0usize; levels.count];
    levels.levels.iter().for_each(|&level| counts[level as usize] += 1);
    counts.into_iter().filter(|&count| count > 1).sum()
}

/// Returns Pearson's correlation, or `None` if one side is constant.
pub(crate) fn pearson(first: &[f64], second: &[f64]) -> Option<f64> {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (mean_first, mean_second) = (mean(first), mean(second));
    let (mut both, mut one, mut two) = (0.0, 0.0, 0.0);
    for (&a, &b) in first.iter().zip(second) {
        let (a, b) = (a - mean_first, b - mean_second);
        both += a * b;
        one += a * a;
        two += b * b;
    }
    // Rounding leaves a small variance if all values are equal; it does not count.
    let varies = |values: &[f64]| values.iter().any(|value| *value != values[0]);
    if first.is_empty() || !varies(first) || !varies(second) {
        return None;
    }
    let correlation = both / (one.sqrt() * two.sqrt());
    correlation.is_finite().then(|| correlation.clamp(-1.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_does_not_vary_has_no_correlation() {
        let flat = Pairs::new(vec![0.1, 0.1, 0.1], vec![1.0, 2.0, 3.0]).unwrap();
        assert_eq!((flat.pearson(), flat.spearman(), flat.kendall()), (None, None, None));
        assert_eq!((flat.predicted_ties(), flat.observed_ties()), (3, 0));
        let empty = Pairs::new(vec![], vec![]).unwrap();
        assert_eq!((empty.pearson(), empty.spearman(), empty.kendall()), (None, None, None));
    }

    #[test]
    fn bad_numbers_are_named() {
        assert_eq!(Pairs::new(vec![1.0, f64::NAN], vec![1.0, 2.0]).unwrap_err(), Error::NotFinite { row: 1 });
        let lengths = Pairs::new(vec![1.0], vec![]).unwrap_err();
        assert_eq!(lengths.to_string(), "1 predicted scores, but 0 observed scores");
    }

    proptest! {
        #[test]
        fn ranks_do_not_see_a_monotone_map(values in prop::collection::vec((-50i32..50, -50i32..50), 3..60)) {
            let column = |pick: fn(&(i32, i32)) -> i32| values.iter().map(|pair| f64::from(pick(pair))).collect::<Vec<_>>();
            let (x, y) = (column(|pair| pair.0), column(|pair| pair.1));
            let plain = Pairs::new(x.clone(), y.clone()).unwrap();
            let bent = Pairs::new(x.iter().map(|x| (x / 20.0).exp()).collect(), y).unwrap();
            prop_assert_eq!(plain.spearman(), bent.spearman());
            prop_assert_eq!(plain.kendall(), bent.kendall());
            if let (Some(rho), Some(tau)) = (plain.spearman(), plain.kendall()) {
                prop_assert!(rho.abs() <= 1.0 && tau.abs() <= 1.0);
            }
        }
    }
}

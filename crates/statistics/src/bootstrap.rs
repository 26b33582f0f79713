//! Bootstrap intervals: seeded, parallel, and identical on every machine and for any number of
//! threads.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::random::Random;

/// An interval between a lower and an upper limit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The lower limit.
    pub low: f64,
    /// The upper limit.
    pub high: f64,
}

/// A percentile bootstrap: rows are drawn with replacement, and the interval covers the middle of
/// the results.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Bootstrap {
    /// Number of resamples.
    pub resamples: usize,
    /// The share of the results inside the interval.
    pub confidence: f64,
    /// The seed of the random draws.
    pub seed: u64,
}

impl Default for Bootstrap {
    fn default() -> Self {
        Self { resamples: 1000, confidence: 0.95, seed: 0 }
    }
}

impl Bootstrap {
    /// Returns the interval of a statistic of `count` rows, or `None` if it is undefined for most
    /// resamples.
    pub fn interval(&self, count: usize, statistic: impl Fn(&[u32]) -> Option<f64> + Sync) -> Option<Interval> {
        let [interval] = self.intervals(count, |rows| [statistic(rows)]);
        interval
    }

    /// Returns the intervals of several statistics, computed on the same resamples.
    pub fn intervals<const K: usize>(
        &self,
        count: usize,
        statistics: impl Fn(&[u32]) -> [Option<f64>; K] + Sync,
    ) -> [Option<Interval>; K] {
        let draws = self.draws(count, statistics);
        std::array::from_fn(|which| self.middle(draws.iter().filter_map(|draw| draw[which]).collect()))
    }

    /// Returns the value of `statistics` for each resample, in order.
    pub fn draws<T: Send>(&self, count: usize, statistics: impl Fn(&[u32]) -> T + Sync) -> Vec<T> {
        let bound = u32::try_from(count).unwrap_or(u32::MAX);
        let draw = |number: usize| {
            let mut random = Random::stream(self.seed, number as u64);
            let rows: Vec<u32> = (0..bound).map(|_| random.below(bound)).collect();
            statistics(&rows)
        };
        // Few long tasks, so that the caller's pool distributes them evenly.
        (0..self.resamples).into_par_iter().with_max_len(8).map(draw).collect()
    }

    /// The middle of the values, or `None` if fewer than half of the resamples have a value.
    pub(crate) fn middle(&self, mut values: Vec<f64>) -> Option<Interval> {
        if values.is_empty() || 2 * values.len() < self.resamples {
            return None;
        }
        values.sort_unstable_by(f64::total_cmp);
        let tail = (1.0 - self.confidence) / 2.0;
        Some(Interval { low: quantile(&values, tail), high: quantile(&values, 1.0 - tail) })
    }
}

/// The quantile of sorted values, interpolated linearly (NumPy's default).
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share.clamp(0.0, 1.0) * (sorted.len() - 1) as f64;
    let (below, part) = (place.floor() as usize, place.fract());
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (sorted[above] - sorted[below]) * part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_numpys() {
        let values = [1.0, 2.0, 4.0, 8.0];
        assert_eq!([0.0, 0.5, 0.9, 1.0].map(|share| quantile(&values, share)), [1.0, 3.0, 6.800_000_000_000_001, 8.0]);
    }

    #[test]
    fn the_interval_of_a_mean_is_near_the_known_one() {
        let values: Vec<f64> = (0..400).map(|i| f64::from(i % 20)).collect();
        let mean = |rows: &[u32]| Some(rows.iter().map(|&row| values[row as usize]).sum::<f64>() / rows.len() as f64);
        let interval = Bootstrap { resamples: 4000, ..Bootstrap::default() }.interval(400, mean).unwrap();
        // Mean 9.5, standard deviation 5.766: half the width of the interval is 1.96 * 5.766 / 20.
        assert!((interval.low - (9.5 - 0.565)).abs() < 0.04, "{interval:?}");
        assert!((interval.high - (9.5 + 0.565)).abs() < 0.04, "{interval:?}");
    }

    #[test]
    fn threads_do_not_change_it_and_seeds_do() {
        let statistic = |rows: &[u32]| Some(rows.iter().map(|&row| f64::from(row * row % 17)).sum::<f64>());
        let with = |threads: usize, seed: u64| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| Bootstrap { seed, ..Bootstrap::default() }.interval(50, statistic).unwrap())
        };
        assert_eq!(with(1, 5), with(3, 5));
        assert_ne!(with(1, 5), with(1, 6));
    }

    #[test]
    fn a_statistic_that_is_mostly_undefined_has_no_interval() {
        assert_eq!(Bootstrap::default().interval(9, |rows| (rows[0] == 0).then_some(1.0)), None);
        assert_eq!(Bootstrap::default().interval(0, |_| None), None);
    }
}

//! The weighted mean of local similarities.

use multiversion::multiversion;

const LANES: usize = 8;

/// The sums behind a weighted mean, accumulated row by row.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pool {
    weighted: f64,
    weights: f64,
    plain: f64,
    count: usize,
}

impl Pool {
    /// Adds a row of values and their weights.
    pub fn add(&mut self, values: &[f32], weights: &[f32]) {
        let [weighted, total, plain] = sums(values, weights);
        self.weighted += weighted;
        self.weights += total;
        self.plain += plain;
        self.count += values.len();
    }

    /// Returns the weighted mean of all `parts`, or the plain mean if all weights are zero.
    pub fn mean(parts: &[Self]) -> f64 {
        let sum = |of: fn(&Self) -> f64| parts.iter().map(of).sum::<f64>();
        let weights = sum(|part| part.weights);
        if weights > 0.0 {
            return sum(|part| part.weighted) / weights;
        }
        sum(|part| part.plain) / parts.iter().map(|part| part.count).sum::<usize>().max(1) as f64
    }
}

/// The sums of `value * weight`, of the weights and of the values.
#[multiversion(targets("x86_64+avx2"))]
fn sums(values: &[f32], weights: &[f32]) -> [f64; 3] {
    let mut lanes = [[0.0f64; LANES]; 3];
    for (values, weights) in values.chunks(LANES).zip(weights.chunks(LANES)) {
        for (lane, (&value, &weight)) in values.iter().zip(weights).enumerate() {
            let (value, weight) = (f64::from(value), f64::from(weight));
            lanes[0][lane] += value * weight;
            lanes[1][lane] += weight;
            lanes[2][lane] += value;
        }
    }
    lanes.map(|lanes| lanes.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_count_unless_all_are_zero() {
        let mut pool = Pool::default();
        pool.add(&[1.0, 2.0, 4.0], &[1.0, 0.0, 3.0]);
        let mut other = Pool::default();
        other.add(&[10.0], &[1.0]);
        assert_eq!(Pool::mean(&[pool, other]), 23.0 / 5.0);
        let mut flat = Pool::default();
        flat.add(&[1.0, 2.0], &[0.0, 0.0]);
        assert_eq!(Pool::mean(&[flat]), 1.5);
    }
}

//! Agreement between two series of numbers.

/// Returns Spearman's rank correlation; equal numbers share their mean rank.
pub fn rank_correlation(a: &[f64], b: &[f64]) -> f64 {
    correlation(&ranks(a), &ranks(b))
}

/// Returns Pearson's correlation.
pub fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let (mean_a, mean_b) = (mean(a), mean(b));
    let (mut ab, mut aa, mut bb) = (0.0, 0.0, 0.0);
    for (x, y) in a.iter().zip(b) {
        let (x, y) = (x - mean_a, y - mean_b);
        (ab, aa, bb) = (ab + x * y, aa + x * x, bb + y * y);
    }
    ab / (aa * bb).sqrt()
}

/// Returns the root mean squared difference.
pub fn rmse(a: &[f64], b: &[f64]) -> f64 {
    mean(&a.iter().zip(b).map(|(x, y)| (x - y).powi(2)).collect::<Vec<_>>()).sqrt()
}

/// Returns the mean.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    for equal in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let below = order.partition_point(|&other| values[other] < values[equal[0]]);
        let rank = below as f64 + (equal.len() - 1) as f64 / 2.0;
        equal.iter().for_each(|&place| ranks[place] = rank);
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_scipy() {
        let (a, b) = ([1.0, 2.0, 2.0, 4.0, 7.0], [0.3, 0.1, 0.9, 0.9, 1.5]);
        assert!((rank_correlation(&a, &b) - 0.763157894736842).abs() < 1e-12);
        assert!((correlation(&a, &b) - 0.86038348441828).abs() < 1e-12);
        assert!((rmse(&[1.0, 2.0], &[2.0, 4.0]) - 2.5f64.sqrt()).abs() < 1e-12);
    }
}

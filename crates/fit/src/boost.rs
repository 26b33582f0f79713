//! Gradient boosting of small complete trees with histograms. The same input produces the same
//! trees, bit for bit.

use agenticiqa_vision::perception::{Forest, Tree};
use rayon::prelude::*;

/// Parameters of a forest.
#[derive(Debug, Clone, Copy)]
pub struct Growth {
    /// Number of trees.
    pub trees: usize,
    /// Number of branches from root to leaf.
    pub depth: usize,
    /// Learning rate.
    pub rate: f64,
    /// Regularization that pulls leaves toward zero.
    pub damping: f64,
    /// Minimum sum of second derivatives in a leaf.
    pub least: f64,
    /// Share of the features that each tree may use.
    pub columns: f64,
    /// Share of the samples that each tree sees.
    pub rows: f64,
}

/// The loss function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// Logistic loss of targets 0 and 1, in log-odds.
    Logistic,
    /// Squared error.
    Squared,
}

/// Maximum number of bins of a feature.
const BINS: usize = 64;

/// Samples whose features are sorted into bins.
pub struct Binned {
    /// Upper bounds of the bins of each feature, ascending.
    bounds: Vec<Vec<f32>>,
    /// Bin of each sample, by feature.
    bins: Vec<Vec<u8>>,
    count: usize,
}

impl Binned {
    /// Sorts samples into bins with about equal counts.
    pub fn new(samples: &[&[f64]]) -> Self {
        let width = samples.first().map_or(0, |sample| sample.len());
        let columns: Vec<(Vec<f32>, Vec<u8>)> = (0..width)
            .into_par_iter()
            .map(|feature| {
                let values: Vec<f32> = samples.iter().map(|sample| sample[feature] as f32).collect();
                let bounds = bounds(&values);
                let bins = values.iter().map(|value| bounds.partition_point(|bound| bound < value) as u8).collect();
                (bounds, bins)
            })
            .collect();
        let (bounds, bins) = columns.into_iter().unzip();
        Self { bounds, bins, count: samples.len() }
    }
}

fn bounds(values: &[f32]) -> Vec<f32> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f32::total_cmp);
    let mut bounds: Vec<f32> = (1..BINS).map(|bin| sorted[bin * (sorted.len() - 1) / BINS]).collect();
    bounds.dedup();
    // A bound at the highest value would leave an empty bin above it.
    bounds.retain(|bound| Some(bound) != sorted.last());
    bounds
}

/// Grows a forest and returns its start value and its trees.
pub fn grow(data: &Binned, targets: &[f64], weights: &[f64], loss: Loss, growth: &Growth) -> (f64, Forest) {
    let total: f64 = weights.iter().sum();
    let mean = targets.iter().zip(weights).map(|(target, weight)| target * weight).sum::<f64>() / total.max(1e-9);
    let start = match loss {
        Loss::Logistic => {
            let mean = mean.clamp(1e-3, 1.0 - 1e-3);
            (mean / (1.0 - mean)).ln()
        }
        Loss::Squared => mean,
    };
    let mut predictions = vec![start; data.count];
    let mut forest = Forest { depth: growth.depth, trees: Vec::with_capacity(growth.trees) };
    let mut random = 0x243f_6a88_85a3_08d3u64;
    for _ in 0..growth.trees {
        let features: Vec<usize> = (0..data.bins.len()).filter(|_| chance(&mut random) < growth.columns).collect();
        let derivatives: Vec<(f64, f64)> = (0..data.count)
            .map(|i| {
                let weight = if chance(&mut random) < growth.rows { weights[i] } else { 0.0 };
                let (first, second) = derivatives(loss, targets[i], predictions[i]);
                (weight * first, weight * second)
            })
            .collect();
        let (tree, leaves) = tree(data, &features, &derivatives, growth);
        for (prediction, leaf) in predictions.iter_mut().zip(leaves) {
            *prediction += f64::from(tree.leaves[usize::from(leaf)]);
        }
        forest.trees.push(tree);
    }
    (start, forest)
}

fn chance(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 11) as f64 / (1u64 << 53) as f64
}

fn derivatives(loss: Loss, target: f64, prediction: f64) -> (f64, f64) {
    match loss {
        Loss::Logistic => {
            let share = 1.0 / (1.0 + (-prediction).exp());
            (share - target, (share * (1.0 - share)).max(1e-6))
        }
        Loss::Squared => (prediction - target, 1.0),
    }
}

/// A split of a node, and its gain.
#[derive(Debug, Clone, Copy)]
struct Cut {
    feature: usize,
    bin: usize,
    gain: f64,
}

/// Grows one complete tree and returns it with the leaf of each sample.
fn tree(data: &Binned, features: &[usize], derivatives: &[(f64, f64)], growth: &Growth) -> (Tree, Vec<u16>) {
    let mut places = vec![0u16; data.count];
    let mut tree = Tree::default();
    for depth in 0..growth.depth {
        let nodes = 1usize << depth;
        let cuts = best_cuts(data, features, derivatives, &places, nodes, growth);
        for cut in &cuts {
            let (feature, threshold) =
                cut.map_or((0, f32::MAX), |cut| (cut.feature, data.bounds[cut.feature][cut.bin]));
            tree.features.push(feature as u8);
            tree.thresholds.push(threshold);
        }
        for (i, place) in places.iter_mut().enumerate() {
            let right = cuts[usize::from(*place)].is_some_and(|cut| usize::from(data.bins[cut.feature][i]) > cut.bin);
            *place = 2 * *place + u16::from(right);
        }
    }
    let mut sums = vec![(0.0, 0.0); 1 << growth.depth];
    for (place, (first, second)) in places.iter().zip(derivatives) {
        let sum = &mut sums[usize::from(*place)];
        sum.0 += first;
        sum.1 += second;
    }
    tree.leaves =
        sums.iter().map(|(first, second)| (-growth.rate * first / (second + growth.damping)) as f32).collect();
    (tree, places)
}

/// Returns the best split of each node of one depth.
fn best_cuts(
    data: &Binned,
    features: &[usize],
    derivatives: &[(f64, f64)],
    places: &[u16],
    nodes: usize,
    growth: &Growth,
) -> Vec<Option<Cut>> {
    let candidates: Vec<Vec<Option<Cut>>> = features
        .par_iter()
        .map(|&feature| {
            let mut histogram = vec![(0.0f64, 0.0f64); nodes * BINS];
            for ((&bin, &place), derivative) in data.bins[feature].iter().zip(places).zip(derivatives) {
                let cell = &mut histogram[usize::from(place) * BINS + usize::from(bin)];
                cell.0 += derivative.0;
                cell.1 += derivative.1;
            }
            let bounds = data.bounds[feature].len();
            histogram.chunks_exact(BINS).map(|node| best_cut(node, feature, bounds, growth)).collect()
        })
        .collect();
    let better = |best: Option<Cut>, cut: Option<Cut>| match (best, cut) {
        (Some(best), Some(cut)) if cut.gain > best.gain => Some(cut),
        (None, cut) => cut,
        (best, _) => best,
    };
    (0..nodes).map(|node| candidates.iter().map(|cuts| cuts[node]).fold(None, better)).collect()
}

fn best_cut(node: &[(f64, f64)], feature: usize, bounds: usize, growth: &Growth) -> Option<Cut> {
    let total = node.iter().fold((0.0, 0.0), |sum, cell| (sum.0 + cell.0, sum.1 + cell.1));
    let worth = |(first, second): (f64, f64)| first * first / (second + growth.damping);
    let mut left = (0.0, 0.0);
    let mut best: Option<Cut> = None;
    for (bin, cell) in node.iter().take(bounds).enumerate() {
        left = (left.0 + cell.0, left.1 + cell.1);
        let right = (total.0 - left.0, total.1 - left.1);
        if left.1 < growth.least || right.1 < growth.least {
            continue;
        }
        let gain = worth(left) + worth(right) - worth(total);
        if gain > best.map_or(1e-9, |best| best.gain) {
            best = Some(Cut { feature, bin, gain });
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn learns_a_rule_of_two_features_and_is_the_same_each_time() {
        let samples: Vec<Vec<f64>> =
            (0..900).map(|i| vec![(i % 30) as f64, (i / 30) as f64, ((i * 7) % 11) as f64]).collect();
        let rows: Vec<&[f64]> = samples.iter().map(Vec::as_slice).collect();
        let targets: Vec<f64> =
            samples.iter().map(|sample| f64::from(u8::from((sample[0] > 14.0) != (sample[1] > 9.0)))).collect();
        let growth = Growth { trees: 40, depth: 3, rate: 0.3, damping: 1.0, least: 1.0, columns: 0.9, rows: 0.9 };
        let data = Binned::new(&rows);
        let weights = vec![1.0; rows.len()];
        let (start, forest) = grow(&data, &targets, &weights, Loss::Logistic, &growth);
        let right =
            rows.iter().zip(&targets).filter(|(row, target)| (start + forest.value(row) > 0.0) == (**target > 0.5));
        assert!(right.count() >= 880);
        assert_eq!(grow(&data, &targets, &weights, Loss::Logistic, &growth), (start, forest));
    }
}

//! The median of many numbers, without sorting them.

use multiversion::multiversion;

use crate::ops::lanes::{LANES, Lanes};

/// Every `STEP`-th vector contributes one number to the sample that estimates the median.
const STEP: usize = 7;
/// Half the share of the numbers that lie between the estimated bounds.
const MARGIN: f64 = 0.03;

/// MATLAB's `median` of finite numbers that are at least 0, where `extra` zeros do not count.
///
/// For an even count it is the mean of the middle two, and for none it is 0. A sample estimates
/// two bounds around the median, and only the numbers between them are sorted. If the sample
/// misleads, all numbers are sorted.
pub fn median_with_zeros(values: &[Lanes], extra: usize) -> f64 {
    let all = values.len() * LANES;
    let count = all.saturating_sub(extra);
    if count == 0 {
        return 0.0;
    }
    // The zeros that do not count come first.
    let (low, high) = (extra + (count - 1) / 2, extra + count / 2);
    let bounds = guess(values, (low as f64 + 0.5) / all as f64);
    let (below, mut middle) = between(values, bounds)
        .filter(|(below, middle)| (*below..below + middle.len()).contains(&low) && high < below + middle.len())
        .unwrap_or_else(|| (0, values.iter().flat_map(|lanes| lanes.0).collect()));
    let (smaller, &mut high_value, _) = middle.select_nth_unstable_by(high - below, f32::total_cmp);
    let low_value = if low == high { high_value } else { smaller.iter().copied().fold(0.0, f32::max) };
    (f64::from(low_value) + f64::from(high_value)) / 2.0
}

/// Estimates bounds for the number that has `share` of all numbers below it.
fn guess(values: &[Lanes], share: f64) -> (f32, f32) {
    let mut sample: Vec<f32> =
        values.iter().step_by(STEP).enumerate().map(|(index, lanes)| lanes.0[index % LANES]).collect();
    let last = sample.len().saturating_sub(1) as f64;
    let rank = |share: f64| (last * share.clamp(0.0, 1.0)) as usize;
    let (lower, upper) = (rank(share - MARGIN), rank(share + MARGIN));
    let (smaller, &mut high, _) = sample.select_nth_unstable_by(upper, f32::total_cmp);
    let low = if lower < upper { *smaller.select_nth_unstable_by(lower, f32::total_cmp).1 } else { high };
    (low, high)
}

/// Returns how many numbers lie below the bounds, and the numbers between them. Returns `None` if
/// there are far more of those than expected.
#[multiversion(targets("x86_64+avx2"))]
fn between(values: &[Lanes], (least, greatest): (f32, f32)) -> Option<(usize, Vec<f32>)> {
    let mut counts = [0u32; LANES];
    let mut found = 0;
    // Every number is stored, and the next one overwrites it unless it lies between the bounds.
    // This avoids a branch that is hard to predict.
    let mut middle = vec![0.0; (values.len() as f64 * LANES as f64 * 4.0 * MARGIN) as usize + LANES];
    for lanes in values {
        for (count, &value) in counts.iter_mut().zip(&lanes.0) {
            *count += u32::from(value < least);
        }
        for &value in &lanes.0 {
            if let Some(slot) = middle.get_mut(found) {
                *slot = value;
            }
            found += usize::from(least <= value && value <= greatest);
        }
    }
    let complete = found <= middle.len();
    middle.truncate(found);
    complete.then(|| (counts.iter().map(|&count| count as usize).sum(), middle))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lanes(values: &[f32]) -> (Vec<Lanes>, usize) {
        let vectors: Vec<Lanes> = (values.chunks(LANES))
            .map(|chunk| Lanes(std::array::from_fn(|lane| chunk.get(lane).copied().unwrap_or(0.0))))
            .collect();
        let extra = vectors.len() * LANES - values.len();
        (vectors, extra)
    }

    fn assert_median(values: &[f32]) {
        let mut sorted = values.to_vec();
        sorted.sort_by(f32::total_cmp);
        let count = values.len();
        let expected = (f64::from(sorted[(count - 1) / 2]) + f64::from(sorted[count / 2])) / 2.0;
        let (vectors, extra) = lanes(values);
        assert_eq!(median_with_zeros(&vectors, extra), expected, "{count} values");
    }

    #[test]
    fn equals_the_sorted_middle() {
        for count in 1..200usize {
            assert_median(&(0..count).map(|i| ((i * 7919 + count) % 211) as f32 * 0.37).collect::<Vec<_>>());
        }
        assert_median(&(0..100_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 8) as f32).collect::<Vec<_>>());
        // Every vector in the sample is an outlier.
        assert_median(
            &(0..10_001usize)
                .map(|i| if (i / LANES).is_multiple_of(STEP) { 1e9 } else { i as f32 })
                .collect::<Vec<_>>(),
        );
        assert_median(&[0.0; 7]);
        assert_median(&[1e-30, 1e30]);
        assert_eq!(median_with_zeros(&[], 0), 0.0);
    }
}

//! The median of many numbers without sorting them.

use multiversion::multiversion;

/// One in so many numbers is looked at to guess where the median lies.
const STEP: usize = 61;
/// Half the share of the numbers that the guess leaves over.
const MARGIN: f64 = 0.05;

/// MATLAB's `median`: the mean of the middle two if their count is even; 0 of none. The numbers are finite.
///
/// A sample says between which two numbers the median should be; only those between them are ordered. Should the
/// sample mislead, all are.
pub fn median(values: &[f32]) -> f64 {
    let count = values.len();
    if count == 0 {
        return 0.0;
    }
    let (low, high) = ((count - 1) / 2, count / 2);
    let bounds = guess(values);
    let mut below = count_below(values, bounds.0);
    let mut middle: Vec<f32> = values.iter().copied().filter(|&value| bounds.0 <= value && value <= bounds.1).collect();
    if low < below || high >= below + middle.len() {
        (below, middle) = (0, values.to_vec());
    }
    let mut nth = |rank: usize| f64::from(*middle.select_nth_unstable_by(rank - below, f32::total_cmp).1);
    if low == high { nth(low) } else { (nth(low) + nth(high)) / 2.0 }
}

/// Numbers between which the median probably lies.
fn guess(values: &[f32]) -> (f32, f32) {
    let mut sample: Vec<f32> = values.iter().copied().step_by(STEP).collect();
    let last = sample.len().saturating_sub(1);
    let mut at = |share: f64| *sample.select_nth_unstable_by((last as f64 * share) as usize, f32::total_cmp).1;
    (at(0.5 - MARGIN), at(0.5 + MARGIN))
}

#[multiversion(targets("x86_64+avx2"))]
fn count_below(values: &[f32], bound: f32) -> usize {
    values
        .chunks(1 << 16)
        .map(|values| values.iter().map(|&value| u32::from(value < bound)).sum::<u32>() as usize)
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equals_the_sorted_middle() {
        for count in 1..200usize {
            let values: Vec<f32> = (0..count).map(|i| ((i * 7919 + count) % 211) as f32 * 0.37).collect();
            let mut sorted = values.clone();
            sorted.sort_by(f32::total_cmp);
            let expected = (f64::from(sorted[(count - 1) / 2]) + f64::from(sorted[count / 2])) / 2.0;
            assert_eq!(median(&values), expected, "{count} values");
        }
        let many: Vec<f32> = (0..100_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 8) as f32).collect();
        let mut sorted = many.clone();
        sorted.sort_by(f32::total_cmp);
        assert_eq!(median(&many), (f64::from(sorted[49_999]) + f64::from(sorted[50_000])) / 2.0);
        // Every number that the sample sees is an outlier.
        let misleading: Vec<f32> = (0..10_001).map(|i| if i % STEP == 0 { 1e9 } else { i as f32 }).collect();
        let mut sorted = misleading.clone();
        sorted.sort_by(f32::total_cmp);
        assert_eq!(median(&misleading), f64::from(sorted[5_000]));
        assert_eq!(median(&[0.0; 7]), 0.0);
        assert_eq!(median(&[]), 0.0);
        assert_eq!(median(&[1e-30, 1e30]), (f64::from(1e-30f32) + f64::from(1e30f32)) / 2.0);
    }
}

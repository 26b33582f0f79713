//! The median of many numbers without sorting them.

/// Bits of a positive float that choose its bin: sign, exponent and four bits of the mantissa.
const SHIFT: u32 = 19;
const BINS: usize = 1 << (31 - SHIFT);

/// MATLAB's `median` of numbers that are not negative: the mean of the middle two if their count is even; 0 of none.
///
/// A histogram over the leading bits finds the bin of the middle; only what falls into that bin is ordered.
pub fn median(values: &[f32]) -> f64 {
    let count = values.len();
    if count == 0 {
        return 0.0;
    }
    let bin = |value: f32| (value.to_bits() >> SHIFT) as usize & (BINS - 1);
    // Neighbouring values often share a bin: two histograms keep the increments from waiting on each other.
    let mut histograms = [vec![0u32; BINS], vec![0u32; BINS]];
    let (even, odd) = histograms.split_at_mut(1);
    for pair in values.chunks(2) {
        even[0][bin(pair[0])] += 1;
        if let Some(&value) = pair.get(1) {
            odd[0][bin(value)] += 1;
        }
    }
    let (low, high) = ((count - 1) / 2, count / 2);
    let (mut below, mut first, mut last) = (0, None, BINS - 1);
    let mut total = 0;
    for (index, (even, odd)) in histograms[0].iter().zip(&histograms[1]).enumerate() {
        let here = (even + odd) as usize;
        if first.is_none() && total + here > low {
            (first, below) = (Some(index), total);
        }
        total += here;
        if total > high {
            last = index;
            break;
        }
    }
    let range = first.unwrap_or(0)..=last;
    let mut middle: Vec<f32> = values.iter().copied().filter(|&value| range.contains(&bin(value))).collect();
    let mut nth = |rank: usize| f64::from(*middle.select_nth_unstable_by(rank - below, f32::total_cmp).1);
    if low == high { nth(low) } else { (nth(low) + nth(high)) / 2.0 }
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
        assert_eq!(median(&[0.0; 7]), 0.0);
        assert_eq!(median(&[]), 0.0);
        assert_eq!(median(&[1e-30, 1e30]), (f64::from(1e-30f32) + f64::from(1e30f32)) / 2.0);
    }
}

//! Kendall's tau-b in O(n log n): sort by one value, then count the exchanges that sort the other
//! (Knight, 1966).

/// Returns tau-b of pairs of levels, or `None` if one side has a single level.
pub(crate) fn tau_b(mut pairs: Vec<(u32, u32)>) -> Option<f64> {
    pairs.sort_unstable();
    let tied_first = tied(pairs.iter().map(|pair| pair.0));
    let tied_both = tied(pairs.iter().copied());
    let mut second: Vec<u32> = pairs.iter().map(|pair| pair.1).collect();
    let exchanges = exchanges(&mut second);
    let tied_second = tied(second.iter().copied());
    let count = pairs.len() as u64;
    let total = count * count.saturating_sub(1) / 2;
    if tied_first == total || tied_second == total {
        return None;
    }
    let concordant_less_discordant =
        total as f64 - tied_first as f64 - tied_second as f64 + tied_both as f64 - 2.0 * exchanges as f64;
    let tau = concordant_less_discordant / ((total - tied_first) as f64).sqrt() / ((total - tied_second) as f64).sqrt();
    Some(tau.clamp(-1.0, 1.0))
}

/// The number of pairs of equal values in a sorted sequence.
fn tied<T: PartialEq>(sorted: impl Iterator<Item = T>) -> u64 {
    let (mut total, mut run) = (0u64, 0u64);
    let mut last = None;
    for value in sorted {
        run = if last.as_ref() == Some(&value) { run + 1 } else { 0 };
        total += run;
        last = Some(value);
    }
    total
}

/// Sorts the values and counts the pairs that were in the wrong order.
fn exchanges(values: &mut [u32]) -> u64 {
    let mut total = 0;
    let mut merged = values.to_vec();
    let mut width = 1;
    while width < values.len() {
        for (from, to) in values.chunks(2 * width).zip(merged.chunks_mut(2 * width)) {
            let (left, right) = from.split_at(width.min(from.len()));
            let (mut i, mut j) = (0, 0);
            for slot in to {
                if j == right.len() || (i < left.len() && left[i] <= right[j]) {
                    *slot = left[i];
                    i += 1;
                } else {
                    *slot = right[j];
                    j += 1;
                    total += (left.len() - i) as u64;
                }
            }
        }
        values.copy_from_slice(&merged);
        width *= 2;
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition, pair by pair.
    fn by_definition(pairs: &[(u32, u32)]) -> Option<f64> {
        let (mut sum, mut first, mut second) = (0i64, 0i64, 0i64);
        for (index, a) in pairs.iter().enumerate() {
            for b in &pairs[..index] {
                let order = |x: u32, y: u32| i64::from(x > y) - i64::from(x < y);
                let (one, two) = (order(a.0, b.0), order(a.1, b.1));
                sum += one * two;
                first += one.abs();
                second += two.abs();
            }
        }
        (first > 0 && second > 0).then(|| sum as f64 / (first as f64).sqrt() / (second as f64).sqrt())
    }

    proptest! {
        #[test]
        fn counting_exchanges_is_the_definition(pairs in prop::collection::vec((0u32..6, 0u32..6), 0..40)) {
            let (fast, slow) = (tau_b(pairs.clone()), by_definition(&pairs));
            prop_assert_eq!(fast.is_some(), slow.is_some());
            if let (Some(fast), Some(slow)) = (fast, slow) {
                prop_assert!((fast - slow).abs() < 1e-12);
            }
        }
    }
}

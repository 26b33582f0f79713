//! Ranks; equal values share their mean rank.

/// Returns the rank of each value, starting at 1. Equal values share their mean rank. NaN values
/// come last.
pub fn ranks(values: &[f64]) -> Vec<f64> {
    let dense = Dense::new(values);
    let rows: Vec<u32> = (0..values.len() as u32).collect();
    dense.ranks_of(&rows)
}

/// Values as level numbers: equal values have the same level, and levels rise with the values.
#[derive(Debug, Clone)]
pub(crate) struct Dense {
    pub levels: Vec<u32>,
    pub count: usize,
}

impl Dense {
    pub fn new(values: &[f64]) -> Self {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_unstable_by(|&a, &b| values[a].total_cmp(&values[b]));
        let mut levels = vec![0; values.len()];
        let mut level = 0;
        for (place, &index) in order.iter().enumerate() {
            // Not `total_cmp`, because 0 and -0 are equal.
            if place > 0 && values[index] != values[order[place - 1]] {
                level += 1;
            }
            levels[index] = level;
        }
        Self { levels, count: if values.is_empty() { 0 } else { level as usize + 1 } }
    }

    /// Returns the ranks of the chosen rows among themselves. It counts, so that a bootstrap need
    /// not sort each resample.
    pub fn ranks_of(&self, rows: &[u32]) -> Vec<f64> {
        let mut counts = vec![0u32; self.count];
        rows.iter().for_each(|&row| counts[self.levels[row as usize] as usize] += 1);
        let mut before = 0u32;
        let means: Vec<f64> = counts
            .iter()
            .map(|&count| {
                let mean = f64::from(before) + (f64::from(count) + 1.0) / 2.0;
                before += count;
                mean
            })
            .collect();
        rows.iter().map(|&row| means[self.levels[row as usize] as usize]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_share_the_mean_of_their_places() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, -2.0, 3.0]), [4.0, 2.0, 4.0, 1.0, 4.0]);
        assert_eq!(ranks(&[0.0, -0.0]), [1.5, 1.5]);
        assert_eq!(ranks(&[]), [0.0; 0]);
    }

    #[test]
    fn rows_are_ranked_among_themselves() {
        let dense = Dense::new(&[10.0, 30.0, 20.0]);
        assert_eq!(dense.ranks_of(&[1, 1, 0]), [2.5, 2.5, 1.0]);
    }
}

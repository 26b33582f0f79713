//! Compares two runs on the same samples.

use std::collections::HashMap;

use agenticiqa_statistics::{Bootstrap, PairedBootstrap, Pairs, Williams, paired_bootstrap, williams};
use serde::{Deserialize, Serialize};

/// A comparison of two sets of scores. Positive differences mean that the first agrees better with
/// people.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The name of the first set.
    pub first: String,
    /// The name of the second set.
    pub second: String,
    /// The number of samples with scores in both.
    pub n: usize,
    /// The number of samples with a score in only one of them.
    pub unpaired: usize,
    /// The rank correlation of the first with the opinions.
    pub first_srcc: Option<f64>,
    /// The rank correlation of the second with the opinions.
    pub second_srcc: Option<f64>,
    /// The paired bootstrap of the difference of the rank correlations.
    pub paired_bootstrap: Option<PairedBootstrap>,
    /// Williams' test of the dependent rank correlations.
    pub williams: Option<Williams>,
}

/// Sample ID, score and opinion.
pub(crate) type Judged = Vec<(String, f64, f64)>;

/// Compares two runs on their common samples.
pub(crate) fn compare(first: (&str, &Judged), second: (&str, &Judged), bootstrap: &Bootstrap) -> Comparison {
    let of_second: HashMap<&str, f64> = second.1.iter().map(|(id, score, _)| (id.as_str(), *score)).collect();
    let joined: Vec<(f64, f64, f64)> =
        first.1.iter().filter_map(|(id, score, mos)| Some((*score, *of_second.get(id.as_str())?, *mos))).collect();
    let column = |pick: fn(&(f64, f64, f64)) -> f64| joined.iter().map(pick).collect::<Vec<f64>>();
    let pairs = |x: Vec<f64>, y: Vec<f64>| Pairs::new(x, y).ok();
    let one = pairs(column(|row| row.0), column(|row| row.2));
    let two = pairs(column(|row| row.1), column(|row| row.2));
    let between = pairs(column(|row| row.0), column(|row| row.1)).and_then(|pairs| pairs.spearman());
    let (first_srcc, second_srcc) = (one.as_ref().and_then(Pairs::spearman), two.as_ref().and_then(Pairs::spearman));
    let test = || williams(first_srcc?, second_srcc?, between?, joined.len());
    Comparison {
        first: first.0.to_owned(),
        second: second.0.to_owned(),
        n: joined.len(),
        unpaired: first.1.len() + second.1.len() - 2 * joined.len(),
        first_srcc,
        second_srcc,
        paired_bootstrap: one.zip(two).and_then(|(one, two)| paired_bootstrap(&one, &two, bootstrap)),
        williams: test(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_joined_by_name_and_order_does_not_matter() {
        let noise = |i: usize, seed: usize| ((i * seed) % 101) as f64;
        let run = |seed: usize, strength: f64| -> Judged {
            (0..120).map(|i| (format!("s{i}"), i as f64 + strength * noise(i, seed), i as f64)).collect()
        };
        let (good, bad) = (run(37, 0.1), run(53, 3.0));
        let mut shuffled = bad.clone();
        shuffled.reverse();
        shuffled.truncate(100);
        let bootstrap = Bootstrap::default();
        let found = compare(("good", &good), ("bad", &shuffled), &bootstrap);
        assert_eq!((found.n, found.unpaired), (100, 20));
        assert!(found.first_srcc > found.second_srcc);
        assert!(found.paired_bootstrap.unwrap().p_value < 0.01 && found.williams.unwrap().p_value < 0.01);
        shuffled.sort_by(|a, b| a.0.cmp(&b.0));
        let again = compare(("good", &good), ("bad", &shuffled), &bootstrap);
        assert_eq!(again, found);
    }
}

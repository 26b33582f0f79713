//! The score as a sum, and the edits that would raise it.

use std::collections::BTreeMap;

use crate::state::{Advice, Contribution, ExecutorOutput, Score};

/// Name of the first part: what an image without a fault would get.
const CLEAN: &str = "clean image";
/// Name of the last part.
const REST: &str = "other (content, composition, not explained)";

/// Returns the parts of a score, which sum to it: the clean start, what each fault costs, and the rest. Of
/// several objects, the parts are averaged, as their scores are. Nothing is returned if no parts were
/// measured.
pub fn contributions(evidence: &ExecutorOutput, score: Option<Score>) -> Vec<Contribution> {
    let (Some(score), Some(parts)) = (score, evidence.score_parts.as_ref().filter(|parts| !parts.is_empty())) else {
        return Vec::new();
    };
    let share = 1.0 / parts.len() as f64;
    let clean = parts.values().map(|parts| share * parts.clean).sum::<f64>();
    let mut faults: BTreeMap<&str, [f64; 3]> = BTreeMap::new();
    for cost in parts.values().flat_map(|parts| &parts.costs) {
        let name = cost.problem.map_or_else(|| cost.distortion.name(), |problem| problem.name());
        let [value, low, high] = faults.entry(name).or_default();
        *value -= share * cost.cost;
        *low -= share * cost.interval[1];
        *high -= share * cost.interval[0];
    }
    let mut faults: Vec<Contribution> = faults
        .into_iter()
        .map(|(name, [value, low, high])| Contribution { name: name.to_owned(), value, interval: Some([low, high]) })
        .collect();
    faults.sort_by(|one, other| one.value.total_cmp(&other.value));
    let rest = score.value() - clean - faults.iter().map(|fault| fault.value).sum::<f64>();
    let part = |name: &str, value: f64| Contribution { name: name.to_owned(), value, interval: None };
    std::iter::once(part(CLEAN, clean)).chain(faults).chain([part(REST, rest)]).collect()
}

/// Returns the edits that raise the score, largest gain first.
pub fn advice(evidence: &ExecutorOutput) -> Vec<Advice> {
    let tried = evidence.what_if.iter().flatten().flat_map(|(object, what_ifs)| {
        what_ifs.tried.iter().filter(|tried| !tried.doubtful).map(move |tried| (object, tried))
    });
    let mut advice: Vec<Advice> = tried
        .map(|(object, tried)| Advice {
            object: object.clone(),
            operation: tried.operation,
            amount: tried.amount,
            expected_gain: tried.gain(),
        })
        .collect();
    advice.sort_by(|one, other| other.expected_gain.total_cmp(&one.expected_gain));
    advice
}

//! The combined score of the tools and its prediction interval.
//!
//! As in the paper, the score is the mean of the tools that a model or the user selected.
//!
//! The built-in analyst also runs tools that are not selected, and weighs them. Tools with a
//! prediction interval were fitted to human opinions on whole images. If such a tool ran, it
//! determines the score. Classical metrics on the same pixels are then additional evidence only:
//! the fitted tool is built from them or agrees better with people, so averaging them in would make
//! the score worse. Learned tools and tools added by the user still count.

use super::{Fusion, mean};
use crate::state::{ExecutorOutput, Interval, ToolExecutionLog};
use agenticiqa_tools::{Backend, Registry};

/// A score from 1 to 5 with its prediction interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The score.
    pub score: f64,
    /// The 90% prediction interval of the mean opinion score. Known if at least one of the tools that
    /// count reports one on each measured region.
    pub interval: Option<Interval>,
}

impl Estimate {
    /// Returns the mean of the scores that count, with its interval, or nothing without scores.
    pub fn of(evidence: &ExecutorOutput, registry: &Registry) -> Option<Self> {
        let counted = counted(evidence, registry);
        let score = mean(&counted.iter().filter_map(|log| score_of(log)).collect::<Vec<_>>())?;
        Some(Self { score, interval: interval(&counted, score) })
    }

    /// Fuses the score with the level probabilities from the reasoner.
    ///
    /// A score with an interval stays unchanged if no level was judged: fusion with equal
    /// probabilities would only pull it toward the middle of the scale.
    pub fn fused(self, fusion: &Fusion, levels: Option<&[f64; 5]>) -> Self {
        if self.interval.is_some() && levels.is_none() {
            return self;
        }
        let score = fusion.score(Some(self.score), levels).clamp(1.0, 5.0);
        Self { score, interval: self.interval.and_then(|interval| moved(interval, self.score, score)) }
    }
}

/// Returns the runs whose scores count, each measurement once.
pub fn counted<'a>(evidence: &'a ExecutorOutput, registry: &Registry) -> Vec<&'a ToolExecutionLog> {
    let runs = evidence.distinct_runs();
    let scored = |log: &&ToolExecutionLog| log.normalized_score.is_some();
    if evidence.tool_logs.iter().filter(scored).all(|log| evidence.is_selected(log)) {
        return runs;
    }
    let carried =
        |log: &ToolExecutionLog| runs.iter().any(|other| other.interval.is_some() && other.region == log.region);
    let classical = |log: &ToolExecutionLog| {
        registry.get(log.tool_name.as_str()).is_ok_and(|tool| tool.metadata().backend == Backend::Native)
    };
    let counts = |log: &&ToolExecutionLog| log.interval.is_some() || !classical(log) || !carried(log);
    runs.iter().copied().filter(counts).collect()
}

/// Returns the interval around the mean, or nothing if no counted tool reports an interval on one of
/// the regions.
///
/// On the same pixels, the intervals are averaged end by end and then widened until they contain the
/// score of each tool that reports one. Different regions are averaged end by end, as if their errors
/// were fully correlated, so the result is not too narrow. The scores of tools without an interval
/// move it ([`moved`]).
fn interval(counted: &[&ToolExecutionLog], score: f64) -> Option<Interval> {
    let mut regions: Vec<_> = counted.iter().map(|log| log.region).collect();
    regions.sort_unstable();
    regions.dedup();
    let mut parts = Vec::new();
    for region in regions {
        let carriers = counted.iter().filter(|log| log.region == region);
        let known: Vec<(f64, Interval)> = carriers.filter_map(|log| Some((score_of(log)?, log.interval?))).collect();
        let of = |value: &dyn Fn(&(f64, Interval)) -> f64| known.iter().map(value).collect::<Vec<_>>();
        let scores = of(&|(score, _)| *score);
        let low = mean(&of(&|(_, interval)| interval.low()))?;
        let high = mean(&of(&|(_, interval)| interval.high()))?;
        parts.push((
            scores.iter().copied().fold(low, f64::min),
            mean(&scores)?,
            scores.iter().copied().fold(high, f64::max),
        ));
    }
    let of = |value: &dyn Fn(&(f64, f64, f64)) -> f64| mean(&parts.iter().map(value).collect::<Vec<_>>());
    let carried = Interval::new(of(&|part| part.0)?.max(1.0), of(&|part| part.2)?.min(5.0)).ok()?;
    moved(carried, of(&|part| part.1)?, score)
}

/// Returns the interval after other evidence moved the score. It contains the old interval and the
/// same interval around the new score, so more disagreement makes it wider.
fn moved(interval: Interval, from: f64, to: f64) -> Option<Interval> {
    let shift = to - from;
    let low = (interval.low() + shift.min(0.0)).min(to).max(1.0);
    let high = (interval.high() + shift.max(0.0)).max(to).min(5.0);
    Interval::new(low, high).ok()
}

fn score_of(log: &ToolExecutionLog) -> Option<f64> {
    log.normalized_score.map(crate::state::Score::value)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn log(tool: &str, score: f64, interval: Option<[f64; 2]>, region: Option<[usize; 4]>) -> Value {
        let mut log = json!({
            "tool_name": tool, "object_name": "Global", "distortion": "Blurs", "raw_score": score,
            "normalized_score": score, "execution_time": 0.1, "timestamp": "2026-01-01T00:00:00Z", "region": region,
        });
        if let Some(interval) = interval {
            log["interval"] = json!(interval);
        }
        log
    }

    fn estimate(logs: Vec<Value>) -> Estimate {
        let evidence: ExecutorOutput = serde_json::from_value(json!({ "tool_logs": logs })).unwrap();
        Estimate::of(&evidence, &Registry::builtin().unwrap()).unwrap()
    }

    fn close(estimate: Estimate, score: f64, low: f64, high: f64) {
        let interval = estimate.interval.unwrap();
        for (found, expected) in [(estimate.score, score), (interval.low(), low), (interval.high(), high)] {
            assert!((found - expected).abs() < 1e-9, "{estimate:?}");
        }
    }

    #[test]
    fn without_a_tool_that_knows_its_interval_all_count_alike() {
        let estimate = estimate(vec![log("VSI", 4.0, None, None), log("PSNR", 3.0, None, None)]);
        assert_eq!(estimate, Estimate { score: 3.5, interval: None });
        let fused = estimate.fused(&Fusion::default(), None);
        assert_eq!(fused.score, Fusion::default().score(Some(3.5), None));
    }

    #[test]
    fn a_tool_that_knows_its_interval_carries_the_score_and_metrics_are_evidence() {
        let logs = vec![log("VSI", 2.0, None, None), log("Fused-FR", 4.0, Some([3.5, 4.4]), None)];
        let estimate = estimate(logs);
        close(estimate, 4.0, 3.5, 4.4);
        assert_eq!(estimate.fused(&Fusion::default(), None), estimate);
    }

    #[test]
    fn learned_tools_count_beside_it_and_widen_the_interval_by_their_disagreement() {
        let logs = vec![log("TOPIQ_FR", 3.0, None, None), log("Fused-FR", 4.0, Some([3.5, 4.4]), None)];
        close(estimate(logs), 3.5, 3.0, 4.4);
    }

    #[test]
    fn an_opinion_moves_the_score_and_widens_the_interval() {
        let estimate = estimate(vec![log("Fused-FR", 4.0, Some([3.5, 4.4]), None)]);
        let fusion = Fusion::default();
        let levels = Fusion::named(1);
        let fused = estimate.fused(&fusion, Some(&levels));
        let expected = fusion.score(Some(4.0), Some(&levels));
        assert!(expected < 4.0);
        close(fused, expected, 3.5 + expected - 4.0, 4.4);
        let agreeing = estimate.fused(&fusion, Some(&[0.0, 0.0, 0.0, 1.0, 0.0]));
        close(agreeing, 4.0, 3.5, 4.4);
    }

    #[test]
    fn parts_are_averaged_and_a_part_without_an_interval_leaves_it_unknown() {
        let (car, sky) = (Some([0, 0, 9, 9]), Some([9, 0, 9, 9]));
        let mut logs = vec![log("Fused-FR", 4.0, Some([3.5, 4.5]), car), log("Fused-FR", 2.0, Some([1.5, 2.9]), sky)];
        close(estimate(logs.clone()), 3.0, 2.5, 3.7);
        logs[1] = log("VSI", 2.0, None, sky);
        assert_eq!(estimate(logs), Estimate { score: 3.0, interval: None });
    }

    #[test]
    fn two_tools_of_the_same_pixels_are_both_held() {
        let logs = vec![log("Fused-FR", 4.6, Some([4.4, 4.8]), None), log("Fused-NR", 2.0, Some([1.5, 2.5]), None)];
        close(estimate(logs), 3.3, 2.0, 4.6);
    }
}

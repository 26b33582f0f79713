//! Checks whether the evidence is sufficient and describes what is missing.

use crate::state::{
    Disagreement, Distortion, DistortionAnalysis, ExecutorOutput, GLOBAL, OneOrMany, PlannerOutput, QueryScope,
    QueryType, Severity,
};

/// A tool score above this contradicts a severe distortion.
const HIGH_SCORE: f64 = 4.0;

/// Returns what is missing, or `None` if the evidence is sufficient. Steps that the plan turned off
/// are not missing.
pub fn gap(plan: &PlannerOutput, evidence: &ExecutorOutput) -> Option<String> {
    if plan.query_type == QueryType::Other {
        return None;
    }
    uncovered(plan, evidence).or_else(|| unscored(plan, evidence)).or_else(|| contradiction(evidence))
}

/// Finds objects of the question without a distortion analysis.
fn uncovered(plan: &PlannerOutput, evidence: &ExecutorOutput) -> Option<String> {
    if !plan.plan.distortion_analysis {
        return None;
    }
    let covered = |name: &str| {
        evidence
            .distortion_analysis
            .as_ref()
            .is_some_and(|analysis| analysis.get(name).is_some_and(|of| !of.is_empty()))
    };
    let missing: Vec<&str> = plan.query_scope.names().into_iter().filter(|name| !covered(name)).collect();
    match (&plan.query_scope, missing.as_slice()) {
        (_, []) => None,
        (QueryScope::Global, _) => Some("Distortion analysis is missing for the whole image".to_owned()),
        (QueryScope::Objects(_), missing) => {
            Some(format!("Distortion analysis does not cover all query_scope objects: missing {}", missing.join(", ")))
        }
    }
}

/// Finds visible distortions without a tool score, although tools were planned.
fn unscored(plan: &PlannerOutput, evidence: &ExecutorOutput) -> Option<String> {
    if !plan.plan.tool_execution {
        return None;
    }
    let scored = |object: &str, distortion: Distortion| {
        let of_object = evidence.quality_scores.as_ref().and_then(|scores| scores.get(object));
        of_object.is_some_and(|scores| scores.contains_key(&distortion))
    };
    let any_score = |object: &str| {
        evidence.quality_scores.as_ref().is_some_and(|scores| scores.get(object).is_some_and(|of| !of.is_empty()))
    };
    for object in plan.query_scope.names() {
        let key: Vec<Distortion> = key_distortions(evidence, object);
        let complete = if key.is_empty() { any_score(object) } else { key.iter().all(|key| scored(object, *key)) };
        if !complete && object == GLOBAL {
            return Some("Missing tool scores for the whole image".to_owned());
        } else if !complete {
            return Some(format!("Missing tool scores for {object} region"));
        }
    }
    None
}

/// Returns the distortions of an object that are present.
fn key_distortions(evidence: &ExecutorOutput, object: &str) -> Vec<Distortion> {
    let analysis = evidence.distortion_analysis.as_ref().and_then(|analysis| analysis.get(object));
    let visible = |analysis: &&DistortionAnalysis| analysis.severity > Severity::None;
    analysis.into_iter().flatten().filter(visible).map(|analysis| analysis.distortion).collect()
}

/// Finds a severe distortion with a high score from the tool selected for it, or a severity that
/// contradicts the measured one.
pub fn contradiction(evidence: &ExecutorOutput) -> Option<String> {
    high_scores(evidence).or_else(|| evidence.disagreements.first().map(Disagreement::reason))
}

fn high_scores(evidence: &ExecutorOutput) -> Option<String> {
    let (analysis, scores) = (evidence.distortion_analysis.as_ref()?, evidence.quality_scores.as_ref()?);
    for (object, analyses) in analysis {
        for DistortionAnalysis { distortion, severity, .. } in analyses {
            let tools = scores.get(object).and_then(|scores| scores.get(distortion));
            let high = |tools: &OneOrMany<_>| {
                tools.as_slice().iter().all(|(_, score): &crate::state::ToolScore| score.value() > HIGH_SCORE)
            };
            if *severity >= Severity::Severe && tools.is_some_and(high) {
                let (severity, distortion) = (severity.name(), distortion.name().to_lowercase());
                let place = if object.as_str() == GLOBAL { String::new() } else { format!(" on {object}") };
                return Some(format!("Contradictory evidence: {severity} {distortion}{place} but high scores"));
            }
        }
    }
    None
}

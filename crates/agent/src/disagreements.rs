//! Compares what a model says with what was measured.

use crate::reasoner::Analyses;
use crate::state::{Claim, Disagreement, GLOBAL, QualityLevel, Score, Severity, Text};

use crate::fusion::Estimate;

/// So many levels between a claim and a measurement are a contradiction.
const CONTRADICTION: u8 = 2;
/// The name of the measurements.
const MEASURED: &str = "the measurement";
/// The name of the tools.
const TOOLS: &str = "the tools";
/// What a disagreement about the score is about.
const LEVEL: &str = "quality level";

/// Returns the severities of a model that contradict the measured ones.
pub fn severities(model: &str, claimed: Option<&Analyses>, measured: Option<&Analyses>) -> Vec<Disagreement> {
    let (Some(claimed), Some(measured)) = (claimed, measured) else { return Vec::new() };
    let mut found = Vec::new();
    for (object, analyses) in claimed {
        for claim in analyses {
            let of_object = measured.get(object).into_iter().flatten();
            let Some(fact) = of_object.into_iter().find(|fact| fact.distortion == claim.distortion) else { continue };
            let levels = (claim.severity as u8).abs_diff(fact.severity as u8);
            if levels >= CONTRADICTION {
                let side = |by: &str, severity: Severity, reason: &Text| {
                    Some(Claim {
                        by: Text::new(by).ok()?,
                        value: Text::new(severity.name()).ok()?,
                        reason: Some(reason.clone()),
                    })
                };
                let sides = side(model, claim.severity, &claim.explanation)
                    .zip(side(MEASURED, fact.severity, &fact.explanation))
                    .zip(Text::new(claim.distortion.name()).ok());
                found.extend(sides.map(|((claimed, measured), about)| Disagreement {
                    object: object.clone(),
                    about,
                    claimed,
                    measured,
                    levels,
                }));
            }
        }
    }
    found
}

/// Returns the disagreement of a model's level with the score of the tools. A level that the prediction
/// interval of the tools allows does not contradict them.
pub fn level(model: &str, claimed: QualityLevel, tools: Estimate) -> Option<Disagreement> {
    let score = Score::new(tools.score.clamp(1.0, 5.0)).ok()?;
    let measured = QualityLevel::of(score);
    let levels = claimed.number().abs_diff(measured.number());
    let allowed = tools.interval.is_some_and(|interval| interval.holds(f64::from(claimed.number())));
    if levels < CONTRADICTION || allowed {
        return None;
    }
    let interval = tools.interval.map(|interval| format!(" ({:.2} to {:.2})", interval.low(), interval.high()));
    let reason = format!("{:.2} of 5{}", tools.score, interval.unwrap_or_default());
    let side = |by: &str, level: QualityLevel, reason: Option<Text>| {
        Some(Claim { by: Text::new(by).ok()?, value: Text::new(level.name()).ok()?, reason })
    };
    Some(Disagreement {
        object: Text::new(GLOBAL).ok()?,
        about: Text::new(LEVEL).ok()?,
        claimed: side(model, claimed, None)?,
        measured: side(TOOLS, measured, Text::new(reason).ok())?,
        levels,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::state::Interval;

    fn analyses(severity: &str, kind: &str) -> Analyses {
        let one = json!({"Global": [{"type": kind, "severity": severity, "explanation": "sigma 12"}]});
        serde_json::from_value(one).unwrap()
    }

    #[test]
    fn two_levels_are_a_contradiction_and_one_is_not() {
        let compare = |claimed: &str, measured: &str| {
            severities("openai.x", Some(&analyses(claimed, "Noise")), Some(&analyses(measured, "Noise")))
        };
        assert!(compare("slight", "none").is_empty() && compare("severe", "moderate").is_empty());
        let found = compare("none", "severe");
        assert_eq!((found.len(), found[0].levels), (1, 3));
        let (claimed, measured) = (&found[0].claimed, &found[0].measured);
        assert_eq!((claimed.by.as_str(), claimed.value.as_str()), ("openai.x", "none"));
        assert_eq!((measured.value.as_str(), measured.reason.as_ref().unwrap().as_str()), ("severe", "sigma 12"));
        assert_eq!(
            found[0].reason(),
            "Contradictory evidence: openai.x says none for Noise, but the measurement says severe"
        );
        let other = severities("x", Some(&analyses("none", "Blurs")), Some(&analyses("extreme", "Noise")));
        assert!(other.is_empty() && severities("x", Some(&analyses("none", "Blurs")), None).is_empty());
    }

    #[test]
    fn a_level_that_the_interval_allows_is_no_contradiction() {
        let tools = |score: f64, interval: Option<(f64, f64)>| Estimate {
            score,
            interval: interval.map(|(low, high)| Interval::new(low, high).unwrap()),
        };
        assert_eq!(level("x", QualityLevel::Excellent, tools(4.4, None)), None);
        let found = level("x", QualityLevel::Excellent, tools(2.2, None)).unwrap();
        assert_eq!((found.levels, found.measured.value.as_str()), (3, "Poor"));
        assert_eq!(level("x", QualityLevel::Good, tools(2.4, Some((1.2, 4.1)))), None);
        let wide = level("x", QualityLevel::Excellent, tools(2.4, Some((1.2, 4.1)))).unwrap();
        assert_eq!(wide.measured.reason.unwrap().as_str(), "2.40 of 5 (1.20 to 4.10)");
    }
}

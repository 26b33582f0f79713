//! Answers when a tool reports a prediction interval.

use super::*;
use crate::state::Interval;

/// Evidence of a blurred image with a tool that reports a prediction interval.
fn carried(score: f64, low: f64, high: f64) -> ExecutorOutput {
    carried_by("Fused-FR", (Blurs, Severity::Severe), [score, low, high])
}

fn carried_by(
    tool: &str,
    (distortion, severity): (Distortion, Severity),
    [score, low, high]: [f64; 3],
) -> ExecutorOutput {
    let mut fused = log(tool, GLOBAL, score, score, None);
    fused.interval = Some(Interval::new(low, high).unwrap());
    let logs = vec![fused, log("VSI", GLOBAL, 0.91, 2.04, None)];
    evidence(&[(GLOBAL, distortion, severity, "edges are 4.2 pixels wide")], logs)
}

#[test]
fn severities_do_not_change_a_score_that_was_fitted_to_opinions() {
    for (tool, distortion) in [("Fused-NR", Compression), ("Fused-NR", Noise), ("Fused-FR", Blurs)] {
        let evidence = carried_by(tool, (distortion, Severity::Extreme), [3.75, 3.5, 3.875]);
        assert_eq!(concluded("Rate it", &evidence, &[]).levels, None, "{tool}");
    }
}

#[test]
fn a_tool_that_knows_its_interval_gives_the_level_whatever_severities_and_metrics_say() {
    let conclusion = concluded("Rate the quality of this image", &carried(3.75, 3.5, 3.875), &[]);
    assert_eq!((conclusion.final_answer.as_str(), conclusion.levels), ("B", None));
    for part in [
        "The quality is good.",
        "Fused-FR gave 3.75 (higher is better) for the whole image, 3.75 on the scale from 1 to 5 \
         (90% prediction interval 3.50 to 3.88).",
        "The score follows Fused-FR, fitted to people's opinions; the other tools are additional evidence.",
    ] {
        assert!(conclusion.reasoning.contains(part), "{}", conclusion.reasoning);
    }
}

#[test]
fn a_level_that_is_not_determined_is_not_pretended() {
    let unsure = carried(3.5, 2.875, 4.125);
    for (query, expected) in [
        (
            "Describe the quality of this image.",
            "The quality is between fair and good; severe blur in the whole image.",
        ),
        ("描述图像质量。", "整体质量介于一般与良好之间；整张图像有严重的模糊。"),
        ("Is the quality good?", "Cannot tell. The quality is between fair and good."),
        ("Is the quality acceptable?", "Yes. The quality is between fair and good."),
        ("图像质量好吗？", "无法判断。整体质量介于一般与良好之间。"),
    ] {
        assert_eq!(concluded(query, &unsure, &[]).final_answer, expected, "{query}");
    }
    assert_eq!(concluded("Rate the quality of this image", &unsure, &[]).final_answer, "B", "the letter of the number");
    assert_eq!(concluded("Is the quality good? A. Yes B. No", &unsure, &[]).final_answer, "A");
    assert_eq!(
        concluded("Is the quality good?", &carried(3.75, 3.25, 3.9), &[]).final_answer,
        "Yes. The quality is good."
    );
}

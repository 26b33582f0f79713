//! Prediction intervals of scores, an addition to the specification.

use agenticiqa::fusion::Fusion;
use agenticiqa::state::{AnswerForm, ExecutorOutput, QualityLevel, SummarizerOutput};
use serde_json::json;

use crate::seeds::summarizer_core::{CHOSEN, SCORED, scene, some_evidence, summarize};
use crate::seeds::support::{Scene, Scripted, evidence, log, plan};

/// Evidence of a tool with a prediction interval and of a tool without.
fn carried(score: f64, low: f64, high: f64) -> ExecutorOutput {
    let mut fused = log("Fused-FR", "Global", "Blurs", score);
    fused["interval"] = json!([low, high]);
    let logs = [fused, log("VSI", "Global", "Blurs", 1.5)];
    ExecutorOutput { tool_logs: logs.map(|log| serde_json::from_value(log).unwrap()).to_vec(), ..some_evidence() }
}

#[tokio::test]
async fn the_score_has_the_interval_of_the_tool_that_carries_it() {
    let mut scene = scene(AnswerForm::Score);
    scene.state.executor_evidence = Some(carried(3.2, 2.9, 3.5));
    let (result, model) = summarize(Scripted::new().says("score", &[SCORED]), &scene).await;
    let result = result.unwrap().result;
    let expected = Fusion::default().score(Some(3.2), Some(&Fusion::named(2)));
    assert!((result.quality_score.unwrap().value() - expected).abs() < 1e-12, "other metrics do not change it");
    let interval = result.score_interval.unwrap();
    assert!((interval.low() - (2.9 + expected - 3.2)).abs() < 1e-12 && interval.high() == 3.5, "{interval:?}");
    let user = &model.calls("score")[0].prompt.user;
    assert!(user.contains("quality of 3.20") && user.contains("between 2.90 and 3.50"), "{user}");
    let added = "Tools that were run in addition: Fused-FR gives 3.20 for Global, VSI gives 1.50 for Global.";
    assert!(user.contains(added), "{user}");
    assert!(user.contains("Together, the tools that determine the score (Fused-FR) point to"), "{user}");
    assert!(!result.quality_reasoning.as_str().contains("not determined"));
    let json = serde_json::to_value(&result).unwrap();
    assert_eq!(serde_json::from_value::<SummarizerOutput>(json.clone()).unwrap(), result);
    let mut elsewhere = json;
    elsewhere["score_interval"] = json!([4.0, 5.0]);
    assert!(serde_json::from_value::<SummarizerOutput>(elsewhere).unwrap_err().to_string().contains("score_interval"));
}

/// Runs are listed object by object, so the runs of one tool are not next to each other.
#[tokio::test]
async fn a_tool_that_measured_several_objects_is_named_once() {
    let run = |tool: &str, object: &str, x: usize| {
        let mut log = log(tool, object, "Blurs", 3.0);
        log["region"] = json!([x, 0, 90, 90]);
        log
    };
    let mut scene = scene(AnswerForm::Score);
    let scores = json!({"Blurs": [["PIQE", 3.0], ["NIQE", 3.0]]});
    scene.state.executor_evidence = Some(evidence(json!({
        "quality_scores": {"car": scores, "sky": scores},
        "tool_logs": [run("PIQE", "car", 0), run("NIQE", "car", 0), run("PIQE", "sky", 90), run("NIQE", "sky", 90)],
    })));
    let (_, model) = summarize(Scripted::new().says("score", &[SCORED]), &scene).await;
    let user = &model.calls("score")[0].prompt.user;
    assert!(user.contains("the tools that determine the score (NIQE, PIQE) point to"), "{user}");
    assert!(!user.contains("run in addition"), "{user}");
}

#[tokio::test]
async fn a_level_that_is_not_determined_is_said_whoever_answers() {
    for (query, sentence) in [
        ("How good is it?", "so the quality is between fair and good."),
        ("图像质量如何？", "因此质量等级无法确定，介于一般与良好之间。"),
    ] {
        let mut scene = Scene::new(query, AnswerForm::Text);
        (scene.state.plan, scene.state.executor_evidence) =
            (Some(plan(json!("Global"), [true; 4])), Some(carried(3.6, 2.9, 4.3)));
        let (result, _) = summarize(Scripted::new().says("answer", &[CHOSEN]), &scene).await;
        let result = result.unwrap().result;
        assert_eq!(result.quality_score.unwrap().value(), 3.6, "nothing to fuse it with");
        assert_eq!(result.open_levels(), Some((QualityLevel::Fair, QualityLevel::Good)));
        assert!(result.quality_reasoning.as_str().ends_with(sentence), "{}", result.quality_reasoning);
        let used = result.used_evidence.last().unwrap();
        assert_eq!(used.evidence, ["/tool_logs/0"], "{used:?}");
    }
}

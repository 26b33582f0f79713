use serde_json::{Value, json};

use super::super::conclusion::{Frame, conclude};
use super::super::planner::plan;
use super::*;
use crate::fusion::Estimate;
use crate::question::question_without_options;
use crate::state::ExecutorOutput;
use agenticiqa_tools::Registry;

/// A fault of the image: category, problem, severity, cost, explanation.
type Found<'a> = (&'a str, &'a str, &'a str, f64, &'a str);

const BLUR: Found<'_> =
    ("Blurs", "motion_blur", "severe", 1.2, "edges are 11.9 px wide (clean photos stay below 7.1 px)");
const DARK: Found<'_> = ("Brightness change", "underexposure", "slight", 0.2, "mean brightness 61 of 255");

/// The evidence of an image with a score and faults; the faults of `doubted` do not get better by an edit.
fn evidence(score: f64, interval: [f64; 2], faults: &[Found<'_>], doubted: &[&str]) -> ExecutorOutput {
    let severity = |name: &str| ["none", "slight", "moderate", "severe", "extreme"].iter().position(|one| *one == name);
    let analyses: Vec<Value> = faults
        .iter()
        .map(|(category, _, name, _, explanation)| {
            assert!(severity(name).is_some());
            json!({"type": category, "severity": name, "explanation": explanation})
        })
        .collect();
    let costs: Vec<Value> = faults
        .iter()
        .map(|(category, problem, _, cost, _)| {
            json!({"distortion": category, "problem": problem, "cost": cost, "interval": [cost, cost]})
        })
        .collect();
    let tried: Vec<Value> = doubted
        .iter()
        .map(|problem| {
            json!({"problem": problem, "operation": "exposure", "amount": 0.3, "before": score, "after": score,
                   "gain_interval": [-0.1, 0.1], "doubtful": true})
        })
        .collect();
    let costs_in_all: f64 = faults.iter().map(|fault| fault.3).sum();
    let log = json!({"tool_name": "Fused-NR", "object_name": "Global", "distortion": "Blurs", "raw_score": score,
        "normalized_score": score, "interval": interval, "execution_time": 0.1, "timestamp": "2026-01-01T00:00:00Z"});
    let categories: Vec<&str> = faults.iter().map(|fault| fault.0).collect();
    serde_json::from_value(json!({
        "distortion_set": {"Global": categories},
        "distortion_analysis": {"Global": analyses},
        "score_parts": {"Global": {"clean": score + costs_in_all, "costs": costs}},
        "what_if": {"Global": {"tried": tried, "lost": if faults.contains(&BLUR) { vec!["motion_blur"] } else { vec![] }}},
        "tool_logs": [log],
    }))
    .unwrap()
}

fn answered(query: &str, form: AnswerForm, evidence: &ExecutorOutput) -> Option<Conclusion> {
    let registry = Registry::builtin().unwrap();
    let plan = plan(query, &[], false, &[], &registry, &[], &[]);
    let question = question_without_options(query);
    let case = Case {
        question: &question,
        options: &[],
        form,
        plan: &plan,
        evidence,
        fused: Estimate::of(evidence, &registry),
        placed: &[],
        frame: Frame::default(),
        registry: &registry,
        language: Language::of(&question),
    };
    told(&case, &conclude(&case))
}

fn text(query: &str, evidence: &ExecutorOutput) -> String {
    answered(query, AnswerForm::Text, evidence).expect("a verdict").reasoning
}

const QUESTION: &str = "Assess the overall quality of this image.";

#[test]
fn the_verdict_comes_first_then_other_reasons_then_what_to_do_then_measurements() {
    let evidence = evidence(2.1, [1.8, 2.4], &[BLUR, DARK], &["underexposure"]);
    let answer = answered(QUESTION, AnswerForm::Text, &evidence).unwrap();
    assert_eq!(answer.final_answer, "The quality is poor, mainly because camera shake or motion has badly blurred it.");
    let told: Vec<&str> = answer.used_evidence.iter().map(|used| used.sentence.as_str()).collect();
    assert_eq!(
        told,
        [
            answer.final_answer.as_str(),
            "Perhaps it is a little too dark, but mending that does not help.",
            "Shoot again with a shorter exposure or a steadier camera: it is camera shake or motion, and the detail is \
             lost.",
            "Measurements: the score by Fused-NR is 2.10 of 5 (90% prediction interval 1.80 to 2.40).",
            "Motion blur: edges are 11.9 px wide (clean photos stay below 7.1 px).",
            "Underexposure: mean brightness 61 of 255.",
        ]
    );
    for used in &answer.used_evidence {
        assert!(answer.reasoning.contains(&used.sentence), "{}", used.sentence);
    }
    assert_eq!(answer.used_evidence[0].evidence, ["/distortion_analysis/Global/0", "/tool_logs/0"]);
    let paragraphs: Vec<&str> = answer.reasoning.split(PARAGRAPH).collect();
    assert!(paragraphs.len() == 2 && paragraphs[1].starts_with("Measurements"), "{paragraphs:?}");
}

#[test]
fn a_good_image_needs_no_reason_and_a_mediocre_one_without_a_fault_says_so() {
    let good = text(QUESTION, &evidence(4.1, [3.8, 4.4], &[], &[]));
    assert!(good.starts_with("The quality is good: no fault is visible.\n\nMeasurements"), "{good}");
    let fair = text(QUESTION, &evidence(2.9, [2.7, 3.2], &[], &[]));
    assert!(fair.starts_with("The quality is fair, although no technical fault is visible. What it lacks"), "{fair}");
    let noticed = text(QUESTION, &evidence(4.1, [3.8, 4.4], &[DARK], &[]));
    assert!(noticed.starts_with("The quality is good, although it is a little too dark."), "{noticed}");
}

#[test]
fn an_uncertain_level_says_why_and_no_range_of_levels_is_told() {
    let two = text(QUESTION, &evidence(2.6, [1.9, 3.2], &[BLUR], &[]));
    assert!(two.contains("Some people would call it poor"), "{two}");
    let many = text(QUESTION, &evidence(3.0, [1.6, 4.4], &[BLUR], &[]));
    assert!(many.contains("The level is uncertain, because people's opinions"), "{many}");
    for told in [two, many] {
        assert!(!told.contains("between"), "{told}");
    }
}

#[test]
fn a_loss_without_a_name_is_not_blamed_on_a_small_fault() {
    let mut evidence = evidence(2.4, [2.1, 2.7], &[DARK], &[]);
    evidence.score_parts.iter_mut().flat_map(|parts| parts.values_mut()).for_each(|parts| parts.clean = 4.0);
    let told = text(QUESTION, &evidence);
    assert!(told.starts_with("The quality is poor, partly because it is a little too dark. The rest"), "{told}");
}

#[test]
fn chinese_questions_get_the_same_structure() {
    let evidence = evidence(2.1, [1.8, 2.4], &[BLUR, DARK], &[]);
    let told = text("请评价这张图像的整体质量。", &evidence);
    assert!(told.starts_with("图像质量较差，主要原因是相机抖动或运动使画面严重模糊。此外，画面略暗。请缩短"), "{told}");
    let (_, measurements) = told.split_once(PARAGRAPH).unwrap();
    assert!(measurements.starts_with("测量结果：Fused-NR的分数为2.10，满分5分"), "{told}");
}

#[test]
fn questions_with_a_claim_or_about_a_property_are_answered_elsewhere() {
    let evidence = evidence(2.1, [1.8, 2.4], &[BLUR], &[]);
    for query in ["Is the image blurry?", "How severe is the noise?", "Which distortion is the worst?"] {
        assert!(answered(query, AnswerForm::Text, &evidence).is_none(), "{query}");
    }
    let rated = answered("Rate the quality from A to E.", AnswerForm::Score, &evidence).unwrap();
    assert_eq!(rated.final_answer, "D");
    assert!(rated.reasoning.starts_with("The quality is poor, mainly because"), "{}", rated.reasoning);
}

use serde_json::{Value, json};

use super::*;

/// The evidence of an image with faults and what was tried against them.
fn evidence(costs: Value, what_if: Value, attributes: Value) -> ExecutorOutput {
    let evidence = json!({
        "score_parts": {"Global": {"clean": 4.0, "costs": costs}},
        "what_if": {"Global": what_if},
        "attributes": {"Global": attributes},
    });
    serde_json::from_value(evidence).unwrap()
}

fn cost(distortion: &str, problem: &str, cost: f64) -> Value {
    json!({"distortion": distortion, "problem": problem, "cost": cost, "interval": [0.5 * cost, 2.0 * cost]})
}

fn tried(problem: &str, operation: &str, amount: f64, gain: f64) -> Value {
    json!({
        "problem": problem, "operation": operation, "amount": amount, "before": 2.5, "after": 2.5 + gain,
        "gain_interval": [gain - 0.4, gain + 0.4], "doubtful": gain < 0.05,
    })
}

fn attribute(name: &str, value: f64) -> Value {
    json!({
        "level": "strong", "direction": "present", "value": 1.0, "probability": 0.9,
        "measurements": [{"name": name, "value": value}],
    })
}

fn told(evidence: &ExecutorOutput, language: Language) -> Vec<String> {
    recommendations(evidence, language).iter().map(ToString::to_string).collect()
}

#[test]
fn an_edit_that_helps_is_told_with_its_gain_and_with_what_stays_lost() {
    let dark = evidence(
        json!([cost("Brightness change", "underexposure", 0.8)]),
        json!({"tried": [tried("underexposure", "exposure", 1.3, 0.75)]}),
        json!({"exposure": attribute("lost highlights", 4.0)}),
    );
    assert_eq!(
        told(&dark, Language::English),
        ["Raise the exposure by 1.3 stops: the score would rise by about 0.8; the clipped highlights stay white."]
    );
    assert_eq!(told(&dark, Language::Chinese), ["提高曝光1.3档，分数大约会提高0.8；已经过曝的高光无法恢复。"]);
}

#[test]
fn a_compressed_file_is_saved_again_from_its_original() {
    let compressed = evidence(
        json!([cost("Compression", "compression", 0.9)]),
        json!({"tried": [tried("compression", "deblock", 0.5, 0.5)]}),
        json!({"compression": attribute("JPEG quality of the file", 12.0)}),
    );
    let [english] = &told(&compressed, Language::English)[..] else { panic!("one recommendation") };
    assert!(english.starts_with("Save it again from the original at quality 80 or more: the file is quality 12."));
    assert!(english.ends_with("Without the original, smooth the blocks: the score would rise by about 0.5."));
}

#[test]
fn lost_faults_come_before_doubtful_ones_and_cheap_ones_are_left_out() {
    let faulty = evidence(
        json!([
            cost("Color distortions", "color_cast", 0.5),
            cost("Blurs", "motion_blur", 0.4),
            cost("Noise", "noise", 0.01)
        ]),
        json!({"tried": [tried("color_cast", "white_balance", 0.5, 0.0)], "lost": ["motion_blur"]}),
        json!({}),
    );
    assert_eq!(
        told(&faulty, Language::English),
        [
            "Shoot again with a shorter exposure or a steadier camera: it is camera shake or motion, and the detail is \
             lost.",
            "Whether the color cast disturbs is doubtful: correcting it would not raise the score."
        ]
    );
    let chinese = told(&faulty, Language::Chinese);
    assert!(chinese.len() == 2 && chinese.iter().all(|text| !text.is_ascii()), "{chinese:?}");
}

#[test]
fn nothing_is_advised_without_a_fault() {
    let clean = evidence(json!([]), json!({"tried": []}), json!({}));
    assert!(told(&clean, Language::English).is_empty());
}

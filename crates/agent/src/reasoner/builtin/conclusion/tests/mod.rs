use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

use super::super::planner::plan;
use super::*;
use crate::question::{answer_form, options_in, question_without_options};
use crate::state::{Distortion, DistortionAnalysis, RawScore, Seconds, Severity, Text, ToolExecutionLog};
use Distortion::{Blurs, Brightness, Color, Compression, Noise};

mod certainty;

fn name(text: &str) -> Text {
    Text::new(text).unwrap()
}

type Analyzed<'a> = (&'a str, Distortion, Severity, &'a str);

/// Evidence with these analyses; detection found them and nothing else.
fn evidence(analyses: &[Analyzed<'_>], logs: Vec<ToolExecutionLog>) -> ExecutorOutput {
    let mut set: BTreeMap<Text, Vec<Distortion>> = BTreeMap::from([(name(GLOBAL), Vec::new())]);
    let mut analyzed: BTreeMap<Text, Vec<DistortionAnalysis>> = BTreeMap::new();
    for (part, distortion, severity, explanation) in analyses {
        set.entry(name(part)).or_default().push(*distortion);
        let analysis = DistortionAnalysis::new(*distortion, *severity, explanation).unwrap();
        analyzed.entry(name(part)).or_default().push(analysis);
    }
    ExecutorOutput {
        distortion_set: Some(set),
        distortion_analysis: Some(analyzed),
        tool_logs: logs,
        ..ExecutorOutput::default()
    }
}

fn log(tool: &str, part: &str, raw: f64, score: f64, region: Option<[usize; 4]>) -> ToolExecutionLog {
    ToolExecutionLog {
        tool_name: name(tool),
        object_name: name(part),
        distortion: Blurs,
        raw_score: Some(RawScore(raw)),
        normalized_score: Some(Score::new(score).unwrap()),
        interval: None,
        execution_time: Seconds::new(0.1).unwrap(),
        fallback: false,
        error: None,
        timestamp: Timestamp::UNIX_EPOCH,
        region,
        cached: false,
    }
}

fn concluded(query: &str, evidence: &ExecutorOutput, placed: &[&str]) -> Conclusion {
    let registry = Registry::builtin().unwrap();
    let options = options_in(query);
    let plan = plan(query, &options, false, placed, &registry, &[], &[]);
    let scores = evidence.distinct_scores();
    let mean = (!scores.is_empty()).then(|| scores.iter().map(|(_, score)| score).sum::<f64>() / scores.len() as f64);
    let carried = Estimate::of(evidence, &registry).filter(|estimate| estimate.interval.is_some());
    let fused = carried.or(mean.map(|score| Estimate { score, interval: None }));
    let question = question_without_options(query);
    let case = Case {
        question: &question,
        options: &options,
        form: answer_form(query, &options, None),
        plan: &plan,
        evidence,
        fused,
        placed,
        frame: Frame { size: Some((4000, 3000)), ..Frame::default() },
        registry: &registry,
        language: Language::of(query),
    };
    let conclusion = conclude(&case);
    check_evidence(query, &conclusion, evidence, fused.map(|fused| fused.score));
    conclusion
}

/// Checks that every pointer resolves, every sentence is in the reasoning, and every number was
/// measured.
fn check_evidence(query: &str, conclusion: &Conclusion, evidence: &ExecutorOutput, fused: Option<f64>) {
    let json = serde_json::to_value(evidence).unwrap();
    for used in &conclusion.used_evidence {
        assert!(conclusion.reasoning.contains(&used.sentence), "{query}: {}", used.sentence);
        for pointer in &used.evidence {
            assert!(json.pointer(pointer).is_some(), "{query}: {pointer} leads nowhere");
        }
    }
    // 1 to 5 is the scale, 90 the percentage of the prediction interval.
    let (mut numbers, mut texts) = (vec![1.0, 5.0, 90.0], Vec::new());
    numbers.extend(fused);
    gather(&json, &mut numbers, &mut texts);
    let words = |c: char| !(c.is_ascii_digit() || c == '.');
    let said =
        conclusion.reasoning.split(words).map(|number| number.trim_matches('.')).filter(|number| !number.is_empty());
    for number in said {
        let decimals = number.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let measured = numbers.iter().any(|value| format!("{value:.decimals$}") == number);
        assert!(measured || texts.iter().any(|text| text.contains(number)), "{query}: {number} was not measured");
    }
}

fn gather(value: &Value, numbers: &mut Vec<f64>, texts: &mut Vec<String>) {
    match value {
        Value::Number(number) => numbers.extend(number.as_f64()),
        Value::String(text) => texts.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| gather(item, numbers, texts)),
        Value::Object(fields) => fields.iter().for_each(|(key, item)| {
            texts.push(key.clone());
            gather(item, numbers, texts);
        }),
        _ => {}
    }
}

fn blurred(severity: Severity) -> ExecutorOutput {
    let logs = vec![log("BRISQUE", GLOBAL, 61.234, 1.87, None), log("PIQE", GLOBAL, 0.4321, 2.41, None)];
    evidence(&[(GLOBAL, Blurs, severity, "edges are 4.2 pixels wide")], logs)
}

#[test]
fn yes_or_no_questions_are_answered_by_severity() {
    use Severity::{Moderate, None, Severe, Slight};
    for (query, severity, expected) in [
        ("Is the image blurry?", Slight, "Yes. The image is slightly blurred."),
        ("Is the image blurry?", None, "No. The image is sharp."),
        ("Is the image very blurry?", Slight, "No. The image is slightly blurred."),
        ("Is the image very blurry?", Moderate, "Yes. The image is clearly blurred."),
        ("Is the image severely blurred?", Moderate, "No. The image is clearly blurred."),
        ("Is the image sharp?", Slight, "Probably. The image is slightly blurred."),
        ("Is the image sharp?", Severe, "No. The image is strongly blurred."),
        ("Is the image perfectly sharp?", Slight, "No. The image is slightly blurred."),
        ("Is the image noisy?", Severe, "No. The image shows no visible noise."),
        ("Is the image free of noise?", Severe, "Yes. The image shows no visible noise."),
        ("图像模糊吗？", Severe, "是。图像严重模糊。"),
        ("图像清晰吗？", Severe, "否。图像严重模糊。"),
        ("Is there any distortion?", None, "No. No visible distortion was found."),
        ("Is there any distortion?", Severe, "Yes. Severe blur in the whole image."),
        ("Is the quality good?", Severe, "No. The quality is poor."),
    ] {
        assert_eq!(concluded(query, &blurred(severity), &[]).final_answer, expected, "{query} {severity}");
    }
}

#[test]
fn yes_and_no_as_options() {
    for (query, severity, expected) in [
        ("Is the image blurry? A. Yes B. No", Severity::Severe, "A"),
        ("Is the image blurry? A. No B. Yes", Severity::Severe, "B"),
        ("Is the image clear? A. Yes B. No", Severity::Severe, "B"),
        ("Is the image blurry? A. Yes, slightly B. Yes, severely C. No", Severity::Severe, "B"),
        ("图像模糊吗？A、是B、否", Severity::None, "B"),
        ("Is the image quality acceptable? A. Yes B. No", Severity::Extreme, "B"),
    ] {
        assert_eq!(concluded(query, &blurred(severity), &[]).final_answer, expected, "{query}");
    }
}

#[test]
fn the_most_severe_of_the_distortions_offered_is_chosen() {
    let found = evidence(
        &[
            (GLOBAL, Noise, Severity::Severe, "sigma is 18.5"),
            (GLOBAL, Blurs, Severity::Slight, "edges are 2.1 pixels wide"),
            (GLOBAL, Brightness, Severity::Moderate, "the image is underexposed, mean brightness 0.18"),
        ],
        Vec::new(),
    );
    for (query, expected) in [
        ("Which distortion is the worst? A. Blur B. Noise C. Compression", "B"),
        ("Which distortion is the worst? A. Motion blur B. JPEG artifacts", "A"),
        ("What problem does the image have? A. Overexposure B. Underexposure C. Banding", "B"),
        ("哪种失真最严重？A、模糊B、压缩C、噪点", "C"),
        ("Which best describes the image? A. Sharp B. Grainy C. Hazy", "B"),
        ("How is the brightness? A. Too dark B. Normal C. Too bright", "A"),
        ("Which distortion is there? A. Blocking B. None", "B"),
    ] {
        let conclusion = concluded(query, &found, &[]);
        assert_eq!(conclusion.final_answer, expected, "{query}: {}", conclusion.reasoning);
    }
    let text = concluded("Which distortion is the worst?", &found, &[]).final_answer;
    assert!(text.starts_with("Severe noise in the whole image; moderate underexposure"), "{text}");
}

#[test]
fn degrees_and_levels_are_matched_to_the_nearest_option() {
    for (query, severity, expected) in [
        ("How severe is the blur? A. None B. Slight C. Moderate D. Severe", Severity::Moderate, "C"),
        ("How severe is the blur? A. None B. Slight C. Moderate D. Severe", Severity::None, "A"),
        ("How blurry is the image? A. Not at all B. Slightly blurry C. Very blurry", Severity::Slight, "B"),
        ("How clear is the image? A. Very clear B. Fairly clear C. Blurry", Severity::Severe, "C"),
        ("How is the sharpness? A. Good B. Average C. Bad", Severity::Moderate, "B"),
        ("How is the sharpness? A. Good B. Average C. Bad", Severity::None, "A"),
        ("What is the blur level? A. High B. Medium C. Low", Severity::Severe, "A"),
        ("How is the quality? A) Excellent B) Good C) Fair D) Poor E) Bad", Severity::Severe, "D"),
        ("图像的清晰度如何？A、好B、一般C、差", Severity::Severe, "C"),
        ("模糊程度如何？A、轻微B、中等C、严重", Severity::Slight, "A"),
    ] {
        let conclusion = concluded(query, &blurred(severity), &[]);
        assert_eq!(conclusion.final_answer, expected, "{query}: {}", conclusion.reasoning);
    }
}

#[test]
fn parts_are_compared_as_the_question_asks() {
    let found = evidence(
        &[
            ("car", Blurs, Severity::Severe, "edges are 5.5 pixels wide"),
            ("sky", Blurs, Severity::None, "edges are 1.5 pixels wide"),
            ("sky", Noise, Severity::Moderate, "sigma is 9.25"),
        ],
        Vec::new(),
    );
    let placed = ["car", "sky"];
    for (query, expected) in [
        ("Which part is most blurry? A. The sky B. The car", "B"),
        ("Which part is the sharpest? A. The sky B. The car", "A"),
        ("Which part has the worst quality? A. The sky B. The car", "B"),
        ("Which object is noisier? A. car B. sky", "B"),
    ] {
        assert_eq!(concluded(query, &found, &placed).final_answer, expected, "{query}");
    }
    let answer = |query: &str| concluded(query, &found, &placed).final_answer;
    assert_eq!(answer("Is the sky sharper than the car?"), "Yes. The sky is sharp, while the car is strongly blurred.");
    assert_eq!(
        answer("Is the sky more blurred than the car?"),
        "No. The sky is sharp, while the car is strongly blurred."
    );
    assert_eq!(answer("Is the car blurry?"), "Yes. The car is strongly blurred.");
    assert_eq!(answer("How noisy is the sky?"), "The sky shows moderate noise.");
}

#[test]
fn scores_give_a_letter_and_levels_that_follow_the_severity() {
    let letter = |severity| concluded("Rate the quality of this image", &blurred(severity), &[]).final_answer;
    assert_eq!(letter(Severity::Severe), "D");
    assert_eq!(letter(Severity::Extreme), "D");
    let clean = evidence(&[], vec![log("BRISQUE", GLOBAL, 5.5, 4.71, None)]);
    let conclusion = concluded("Rate the quality of this image", &clean, &[]);
    assert_eq!(conclusion.final_answer, "A");
    assert!(conclusion.reasoning.contains("No visible distortion was found."), "{}", conclusion.reasoning);
    let mut before = 6.0;
    for severity in Severity::ALL {
        let levels = concluded("Rate it", &blurred(severity), &[]).levels.unwrap();
        assert!((levels.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let mean: f64 = levels.iter().enumerate().map(|(index, level)| (index as f64 + 1.0) * level).sum();
        assert!(mean < before, "{severity}");
        before = mean;
    }
}

#[test]
fn further_distortions_lower_the_levels_and_the_worst_matters_most() {
    let mean = |analyses: &[Analyzed<'_>]| {
        let levels = concluded("Rate it", &evidence(analyses, Vec::new()), &[]).levels.unwrap();
        levels.iter().enumerate().map(|(index, level)| (index as f64 + 1.0) * level).sum::<f64>()
    };
    let blur = (GLOBAL, Blurs, Severity::Moderate, "x");
    let noise = (GLOBAL, Noise, Severity::Moderate, "x");
    let two_moderate = mean(&[blur, noise]);
    assert!(two_moderate < mean(&[blur]));
    assert!(mean(&[(GLOBAL, Blurs, Severity::Severe, "x")]) < two_moderate);
}

#[test]
fn reasons_carry_the_numbers_of_analyses_and_tools_with_their_direction() {
    let reasoning = concluded("Is the image blurry?", &blurred(Severity::Severe), &[]).reasoning;
    for part in [
        "Severe blur in the whole image: edges are 4.2 pixels wide.",
        "BRISQUE gave 61.23 (lower is better) for the whole image, 1.87 on the scale from 1 to 5.",
        "PIQE gave 0.4321 (lower is better)",
        "The combined tool score is 2.14 on the scale from 1 to 5.",
    ] {
        assert!(reasoning.contains(part), "{reasoning}");
    }
    let chinese = concluded("图像模糊吗？", &blurred(Severity::Severe), &[]).reasoning;
    assert!(chinese.contains("BRISQUE对整张图像给出61.23（越低越好），换算为1到5分制的1.87分。"), "{chinese}");
}

#[test]
fn what_is_missing_is_said() {
    let found = evidence(&[("car", Blurs, Severity::Slight, "edges are 2.2 pixels wide")], Vec::new());
    let conclusion = concluded("Is the car blurry?", &found, &[]);
    for part in ["The region of the car is not known, so the whole image was measured.", "No tool scores were measured"]
    {
        assert!(conclusion.reasoning.contains(part), "{}", conclusion.reasoning);
    }
    assert!(!concluded("Is the car blurry?", &found, &["car"]).reasoning.contains("not known"));
    let located = evidence(&[], vec![log("NIQE", "car", 4.5, 3.1, Some([0, 0, 9, 9]))]);
    let reasoning = concluded("How is the quality of the car?", &located, &[]).reasoning;
    assert!(reasoning.contains("for the car") && !reasoning.contains("not known"), "{reasoning}");
    let nothing = ExecutorOutput::default();
    let conclusion = concluded("Rate this image", &nothing, &[]);
    assert_eq!(conclusion.final_answer, "Unable to determine");
    assert_eq!(conclusion.levels, None);
    assert!(conclusion.reasoning.contains("No tool scores were measured"), "{}", conclusion.reasoning);
    let unanswered = concluded("Is the image blurry?", &nothing, &[]);
    assert_eq!(unanswered.final_answer, "Cannot tell. Nothing was measured that answers the question.");
}

#[test]
fn failed_and_standing_in_tools_are_told() {
    let mut failed = log("NIQE", GLOBAL, 0.0, 1.0, None);
    (failed.raw_score, failed.normalized_score, failed.error) = (None, None, Some("the image is too small".into()));
    let mut fallback = log("BRISQUE", GLOBAL, f64::INFINITY, 2.0, None);
    fallback.fallback = true;
    let reasoning = concluded("Rate it", &evidence(&[], vec![failed, fallback]), &[]).reasoning;
    for part in
        ["NIQE gave no score for the whole image: the image is too small.", "gave infinity", "It replaces a tool"]
    {
        assert!(reasoning.contains(part), "{reasoning}");
    }
}

#[test]
fn contradictions_are_noted_with_both_sides() {
    let logs = vec![log("VSI", GLOBAL, 0.99, 4.52, None)];
    let found = evidence(&[(GLOBAL, Blurs, Severity::Severe, "edges are 6.1 pixels wide")], logs);
    let conclusion = concluded("Is the image blurry?", &found, &[]);
    let used = conclusion.used_evidence.iter().find(|used| used.sentence.starts_with("Contradictory")).unwrap();
    assert_eq!(used.sentence, "Contradictory evidence: severe blur in the whole image, yet VSI scores 4.52.");
    assert_eq!(used.evidence, ["/distortion_analysis/Global/0", "/tool_logs/0"]);
    let agreeing = evidence(&[(GLOBAL, Blurs, Severity::Moderate, "x")], vec![log("VSI", GLOBAL, 0.99, 4.52, None)]);
    assert!(!concluded("Is the image blurry?", &agreeing, &[]).reasoning.contains("Contradict"));
}

#[test]
fn questions_of_taste_get_an_honest_answer() {
    let nothing = ExecutorOutput::default();
    let answer = concluded("Is this image beautiful?", &nothing, &[]).final_answer;
    assert!(answer.starts_with("I cannot judge beauty"), "{answer}");
    assert!(concluded("这张照片美吗？", &nothing, &[]).final_answer.starts_with("我无法判断美感"));
    let choice = concluded("Is it beautiful? A. Yes B. No C. Not sure", &nothing, &[]);
    assert_eq!(choice.final_answer, "C");
    assert!(choice.reasoning.contains("only the most cautious guess"), "{}", choice.reasoning);
    assert_eq!(concluded("Rate the beauty of it", &nothing, &[]).final_answer, "Unable to determine");
}

#[test]
fn options_that_nothing_speaks_for_are_called_a_guess() {
    let conclusion = concluded("When was it taken? A. In spring B. In autumn", &blurred(Severity::Slight), &[]);
    assert_eq!(conclusion.final_answer, "A");
    assert!(
        conclusion.reasoning.contains("The evidence does not decide between the options"),
        "{}",
        conclusion.reasoning
    );
}

#[test]
fn names_of_parts_are_escaped_in_pointers() {
    assert_eq!(findings::pointer("distortion_analysis", "a/b~c", Some(2)), "/distortion_analysis/a~1b~0c/2");
    let found =
        evidence(&[("a/b~c", Color, Severity::Slight, "x"), (GLOBAL, Compression, Severity::Slight, "y")], Vec::new());
    concluded("Rate it", &found, &["a/b~c"]);
}

#[test]
fn direction_of_brightness_is_read_from_the_explanation() {
    let dark = evidence(&[(GLOBAL, Brightness, Severity::Moderate, "the image is too dark, mean 0.12")], Vec::new());
    assert!(concluded("Is it too dark?", &dark, &[]).final_answer.starts_with("Yes"));
    assert!(concluded("Is it too bright?", &dark, &[]).final_answer.starts_with("No"));
}

#[test]
fn kinds_of_one_distortion_are_told_by_the_explanation() {
    let moved = evidence(&[(GLOBAL, Blurs, Severity::Moderate, "motion blur: edges are 4.0 px wide")], Vec::new());
    for (query, expected) in [
        ("What kind of blur is it? A. Out of focus B. Motion blur", "B"),
        ("What kind of blur is it? A. Motion blur B. Defocus", "A"),
        ("图像是哪种模糊？A、失焦B、运动模糊", "B"),
    ] {
        assert_eq!(concluded(query, &moved, &[]).final_answer, expected, "{query}");
    }
}

#[test]
fn an_unknown_direction_is_not_guessed() {
    let silent = evidence(&[(GLOBAL, Brightness, Severity::Moderate, "mean 0.12")], Vec::new());
    let answer = concluded("Is the exposure wrong?", &silent, &[]).final_answer;
    assert!(answer.starts_with("Yes. "), "{answer}");
    let answer = concluded("Is it too bright?", &silent, &[]).final_answer;
    assert!(answer.starts_with("Cannot tell. "), "{answer}");
}

//! What is said about ten images with known faults, made from the shipped photograph.
//!
//! The images and the texts are written to `target/tmp/verdicts`, so that one can look at them side by side.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agenticiqa::agent::{Agent, Input, Options, Request};
use agenticiqa::events::EventLog;
use agenticiqa::imaging::{Decoder, encode_png};
use agenticiqa::metrics::{Image, Pixels};
use agenticiqa::reasoner::Reasoner;
use agenticiqa::reasoner::builtin::Builtin;
use agenticiqa::repair::{Edit, Effort, Operation};
use agenticiqa::state::{AssessmentRecord, ByNode, SummarizerOutput};
use agenticiqa::tools::{Registry, ToolCache};
use agenticiqa_distort::{Kind, distort};

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

/// An image, and words of which the first sentence must have one.
type Case = (&'static str, Image, &'static [&'static str]);

fn cases() -> Vec<Case> {
    let clean = Decoder::default().open(example("osprey.jpg")).unwrap().image;
    let made = |kind, level| distort(&clean, kind, level, 1).unwrap();
    let exposed = |amount| Edit { operation: Operation::Exposure, amount }.apply(&clean).unwrap();
    let shake = made(Kind::MotionBlur, 5);
    let two = distort(&made(Kind::MotionBlur, 4), Kind::WhiteNoise, 3, 1).unwrap();
    let cast = Pixels::read(&clean).map_pixels(|[r, g, b]| [r * 1.15, g * 0.65, b * 1.15]).write(8).unwrap();
    let over = Pixels::read(&clean).map(|sample| (sample * 1.5 + 0.25).min(1.0)).write(8).unwrap();
    // What is darker than the sky loses three stops.
    let backlit = Pixels::read(&clean)
        .map_pixels(|[r, g, b]| {
            let bright = (0.299 * r + 0.587 * g + 0.114 * b).clamp(0.0, 1.0);
            let factor = if bright < 0.75 { 0.3 } else { 1.15 };
            [r * factor, g * factor, b * factor]
        })
        .write(8)
        .unwrap();
    vec![
        ("clean", clean.clone(), &["no fault", "although"]),
        ("blur", made(Kind::GaussianBlur, 4), &["blurred", "soft"]),
        ("shake", shake, &["blurred", "shake"]),
        ("noise", made(Kind::WhiteNoise, 4), &["nois"]),
        ("dark", exposed(-2.6), &["dark"]),
        ("over", over, &["bright"]),
        ("backlit", backlit, &["dark", "behind"]),
        ("jpeg", Decoder::default().open(example("osprey-compressed.jpg")).unwrap().image, &["compression"]),
        ("cast", cast, &["color"]),
        ("two faults", two, &["nois", "blurred"]),
    ]
}

fn agent() -> Agent {
    let builtin: Arc<dyn Reasoner> = Arc::new(Builtin);
    Agent {
        registry: Arc::new(Registry::builtin().unwrap()),
        cache: Arc::new(ToolCache::new(100, None)),
        reasoners: ByNode { planner: builtin.clone(), executor: builtin.clone(), summarizer: builtin },
        options: Options::default(),
    }
}

async fn assessed(agent: &Agent, name: &str, bytes: Vec<u8>, query: &str) -> AssessmentRecord {
    let input = Input::Bytes(format!("{name}.png"), bytes);
    let request = Request { query: query.to_owned(), what_if: Some(Effort::Full), ..Request::new(input) };
    agent.assess(request, EventLog::default()).await.unwrap()
}

/// The numbers with a fraction: those that only a measurement has.
fn numbers(text: &str) -> Vec<&str> {
    let parts = text.split(|character: char| !character.is_ascii_digit() && character != '.');
    parts.map(|part| part.trim_matches('.')).filter(|part| part.contains('.')).collect()
}

fn check(name: &str, result: &SummarizerOutput, reasons: &[&str]) {
    let text = result.quality_reasoning.as_str();
    let (told, measured) = text.split_once("\n\n").unwrap_or_else(|| panic!("{name}: {text}"));
    let first = told.split_inclusive(". ").next().unwrap();
    let level = result.quality_level.unwrap().name().to_lowercase();
    assert!(first.starts_with(&format!("The quality is {level}")), "{name}: {text}");
    assert!(reasons.iter().any(|word| first.contains(word)), "{name}: {text}");
    assert!(measured.starts_with("Measurements: the score by Fused-NR is"), "{name}: {text}");
    for hidden in ["between", "BRISQUE", "NIQE", "PIQE", "Global"] {
        assert!(!text.contains(hidden), "{name} says {hidden}: {text}");
    }
    let mut all = numbers(told);
    all.extend(numbers(measured.split_once(". ").map_or(measured, |(score, _)| score)));
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), count, "{name} says a number twice: {text}");
    let sum: f64 = result.contributions.iter().map(|part| part.value).sum();
    assert!((sum - result.quality_score.unwrap().value()).abs() < 1e-6, "{name}");
    for used in &result.used_evidence {
        assert!(text.contains(&used.sentence), "{name}: {}", used.sentence);
    }
}

#[tokio::test]
async fn ten_images_are_told_like_a_person_would() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("verdicts");
    std::fs::create_dir_all(&folder).unwrap();
    let agent = agent();
    for (name, image, reasons) in cases() {
        // The compressed photo is a file whose quality is known.
        let bytes = match name {
            "jpeg" => std::fs::read(example("osprey-compressed.jpg")).unwrap(),
            _ => encode_png(&image).unwrap(),
        };
        std::fs::write(folder.join(format!("{name}.png")), &bytes).unwrap();
        let record = assessed(&agent, name, bytes.clone(), "Describe the quality of this image.").await;
        let result = record.summarizer_result.unwrap();
        std::fs::write(folder.join(format!("{name}.txt")), result.quality_reasoning.as_str()).unwrap();
        check(name, &result, reasons);
        assert!(result.quality_reasoning.as_str().starts_with(result.final_answer.as_str()), "{name}");
        if name == "jpeg" {
            let chinese = assessed(&agent, name, bytes, "请描述这张图像的质量。").await;
            let chinese = chinese.summarizer_result.unwrap();
            let (told, measured) = chinese.quality_reasoning.as_str().split_once("\n\n").unwrap();
            assert!(told.starts_with("图像质量") && told.contains("压缩") && told.contains("80以上"), "{told}");
            assert!(measured.starts_with("测量结果"), "{measured}");
        }
    }
}

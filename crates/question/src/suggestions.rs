//! Questions that an image makes interesting: about what seems wrong with it and what is in it.
//!
//! Each suggestion can be answered by measurements, in English and in Chinese alike.

use crate::language::Language;
use agenticiqa_vision::detector;
use agenticiqa_vision::perception::Examination;
use agenticiqa_vision::vocabulary::{Axis, Origin, Problem, RegionBox};

/// This many questions are suggested at most.
const MOST: usize = 6;
/// Questions about this many faults.
const FAULTS: usize = 3;
/// Parts of the image that cover less are not asked about.
const SMALLEST_PART: f64 = 0.02;

/// A question that is worth asking about an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Suggestion {
    /// About the overall quality.
    Quality,
    /// About a fault that was found.
    Fault(Problem),
    /// About a part that was found, by its English name.
    Part(String),
    /// Where the image is sharp: the background is not.
    Focus,
    /// What to do about the faults.
    Fix,
    /// Whether the image is good enough to print it.
    Print,
    /// About the colors of an image with strong ones.
    Colors,
    /// About the light of a dark image.
    Light,
}

/// Returns the questions that an image makes interesting, the most interesting first. `found` are the parts that
/// were found in it.
pub fn suggestions(examination: &Examination, found: &[RegionBox], area: usize) -> Vec<Suggestion> {
    let faults: Vec<Problem> = examination.detected().iter().filter_map(|finding| finding.problem()).collect();
    let mut all = vec![Suggestion::Quality];
    all.extend(faults.iter().take(FAULTS).map(|problem| Suggestion::Fault(*problem)));
    if !faults.is_empty() {
        all.push(Suggestion::Fix);
    }
    let large = |part: &&RegionBox| (part.width * part.height) as f64 >= SMALLEST_PART * area as f64;
    let detected = found.iter().filter(|part| part.origin == Origin::Detector).filter(large);
    // "the bird" says more than "the subject".
    let named = |part: &&RegionBox| detector::CLASSES.contains(&part.name.as_str());
    let part = detected.max_by_key(|part| (named(part), part.width * part.height));
    all.extend(part.map(|part| Suggestion::Part(part.name.as_str().to_owned())));
    let looks = |axis: Axis, levels: &[&str]| {
        examination.attributes.get(&axis).is_some_and(|attribute| levels.contains(&attribute.level.as_str()))
    };
    if looks(Axis::Lighting, &["dark", "very dark"]) {
        all.push(Suggestion::Light);
    }
    if looks(Axis::Colorfulness, &["vivid", "monochrome", "dull"]) {
        all.push(Suggestion::Colors);
    }
    if part.is_some() {
        all.push(Suggestion::Focus);
    }
    if faults.is_empty() {
        all.push(Suggestion::Print);
    }
    all.dedup();
    all.truncate(MOST);
    all
}

impl Suggestion {
    /// Returns the question in a language.
    pub fn text(&self, language: Language) -> String {
        match language {
            Language::English => self.english(),
            Language::Chinese => self.chinese(),
        }
    }

    fn english(&self) -> String {
        match self {
            Self::Quality => "How good is the quality of this image?",
            Self::Fault(problem) => match problem {
                Problem::Blur => "How blurred is it?",
                Problem::MotionBlur => "Is it motion blur or missed focus?",
                Problem::Noise => "How strong is the noise?",
                Problem::Compression => "How visible are the compression artifacts?",
                Problem::Underexposure => "Is it too dark?",
                Problem::Overexposure => "Is it overexposed?",
                Problem::Backlight => "Is the subject too dark?",
                Problem::LowContrast => "Is the contrast too low?",
                Problem::ColorCast => "Does it have a color cast?",
                Problem::DullColors => "Are the colors too pale?",
                Problem::Oversaturation => "Are the colors oversaturated?",
                Problem::Oversharpening => "Is it oversharpened?",
                Problem::Haze => "How hazy is it?",
                Problem::Other => "What is wrong with it?",
            },
            Self::Part(name) => return format!("Is the {name} sharp?"),
            Self::Focus => "Which part is the sharpest?",
            Self::Fix => "How can I fix it?",
            Self::Print => "Would it print well at A4?",
            Self::Colors => "What is the main color?",
            Self::Light => "Where is it too dark?",
        }
        .to_owned()
    }

    fn chinese(&self) -> String {
        match self {
            Self::Quality => "这张图像的质量如何？",
            Self::Fault(problem) => match problem {
                Problem::Blur => "它有多模糊？",
                Problem::MotionBlur => "是运动模糊还是失焦？",
                Problem::Noise => "噪点有多严重？",
                Problem::Compression => "压缩痕迹明显吗？",
                Problem::Underexposure => "太暗了吗？",
                Problem::Overexposure => "过曝了吗？",
                Problem::Backlight => "主体太暗了吗？",
                Problem::LowContrast => "对比度太低了吗？",
                Problem::ColorCast => "有偏色吗？",
                Problem::DullColors => "颜色太淡了吗？",
                Problem::Oversaturation => "颜色过饱和了吗？",
                Problem::Oversharpening => "锐化过度了吗？",
                Problem::Haze => "雾气有多重？",
                Problem::Other => "有什么问题？",
            },
            Self::Part(name) => {
                let named = detector::other_names(name).find(|name| !name.is_ascii()).unwrap_or("主体");
                return format!("{named}清晰吗？");
            }
            Self::Focus => "哪个部分最清晰？",
            Self::Fix => "怎样修复它？",
            Self::Print => "能打印成A4吗？",
            Self::Colors => "主要颜色是什么？",
            Self::Light => "哪里太暗？",
        }
        .to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meaning::{Form, read};
    use agenticiqa_metrics::Image;
    use agenticiqa_vision::analysis::examine;
    use agenticiqa_vision::vocabulary::{Distortion, Text};

    fn all() -> Vec<Suggestion> {
        let others = [Suggestion::Quality, Suggestion::Focus, Suggestion::Fix, Suggestion::Print, Suggestion::Colors];
        let faults = Problem::ALL.map(Suggestion::Fault);
        let part = Suggestion::Part("bird".to_owned());
        others.into_iter().chain(faults).chain([part, Suggestion::Light]).collect()
    }

    #[test]
    fn every_suggestion_is_understood_alike_in_both_languages() {
        for suggestion in all() {
            let (english, chinese) = (suggestion.text(Language::English), suggestion.text(Language::Chinese));
            let (one, other) = (read(&english), read(&chinese));
            assert!(one.is_understood() && one.unknown.is_empty(), "{english}: {:?} {:?}", one.form, one.unknown);
            assert!(other.is_understood(), "{chinese}: {:?}", other.form);
            let aspects =
                |meaning: &crate::meaning::Meaning| meaning.measured().map(|claim| claim.aspect).collect::<Vec<_>>();
            assert_eq!(aspects(&one), aspects(&other), "{english} {chinese}");
        }
    }

    #[test]
    fn what_was_found_is_asked_about() {
        let mut state = 1_u32;
        let mut noise = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as usize / 4
        };
        let scene = |at: usize| 40 + (at % 256) / 3;
        let image = |pixels: Vec<usize>| {
            Image::from_gray8(256, 256, pixels.into_iter().map(|value| value as u8).collect()).unwrap()
        };
        let clean = image((0..256 * 256).map(scene).collect());
        let noisy = image((0..256 * 256).map(|at| scene(at) + noise()).collect());
        let examination = examine(&noisy, Some(&clean)).unwrap();
        let seen = suggestions(&examination, &[], 256 * 256);
        let found = examination.detected();
        assert!(found.iter().any(|finding| finding.category == Distortion::Noise), "{found:?}");
        assert!(seen.contains(&Suggestion::Fault(Problem::Noise)) && seen.contains(&Suggestion::Fix), "{seen:?}");
        assert!(seen.len() <= MOST);

        let bird = RegionBox::found(
            Text::new("bird").unwrap(),
            agenticiqa_metrics::Region { x: 20, y: 20, width: 100, height: 100 },
            Origin::Detector,
            Some(0.9),
        );
        let seen = suggestions(&examination, &[bird], 256 * 256);
        let part = seen.iter().find(|one| matches!(one, Suggestion::Part(_))).unwrap();
        assert_eq!(part.text(Language::English), "Is the bird sharp?");
        assert_eq!(part.text(Language::Chinese), "鸟清晰吗？");
        assert_eq!(read(&part.text(Language::English)).form, Form::YesNo);
    }
}

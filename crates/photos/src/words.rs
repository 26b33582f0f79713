//! What is said about photos, in English and Chinese.

use agenticiqa_agent::language::Language;
use agenticiqa_vision::vocabulary::{Cost, Problem};

use crate::decide::{Aspect, Decision, Merits, Model};
use crate::study::Study;

/// Faults that cost less are not worth a word.
const WORTH: f64 = 0.1;

/// Returns why a photo has its score, in a few words.
pub fn main_reason(study: &Study, language: Language) -> String {
    let main = study.costs.iter().find(|cost| cost.cost >= WORTH);
    let english = language == Language::English;
    match main {
        Some(cost) if english => format!("{} lowers the score by {:.1}", fault(cost, language), cost.cost),
        Some(cost) => format!("{}使分数降低 {:.1}", fault(cost, language), cost.cost),
        None if study.strange && english => "unlike a photo, so its faults are not judged".to_owned(),
        None if study.strange => "不像照片，因此不判断其缺陷".to_owned(),
        None if english => "no fault found".to_owned(),
        None => "未发现缺陷".to_owned(),
    }
}

/// Returns the name of a fault.
fn fault(cost: &Cost, language: Language) -> String {
    match (language, cost.problem) {
        (Language::English, Some(problem)) => problem.name().to_owned(),
        (Language::English, None) => cost.distortion.to_string().to_lowercase(),
        (Language::Chinese, problem) => chinese(problem.unwrap_or(Problem::Other)).to_owned(),
    }
}

const fn chinese(problem: Problem) -> &'static str {
    match problem {
        Problem::Blur => "失焦",
        Problem::MotionBlur => "运动模糊",
        Problem::Noise => "噪点",
        Problem::Compression => "压缩痕迹",
        Problem::Underexposure => "曝光不足",
        Problem::Overexposure => "曝光过度",
        Problem::Backlight => "逆光",
        Problem::LowContrast => "对比度低",
        Problem::ColorCast => "偏色",
        Problem::DullColors => "色彩暗淡",
        Problem::Oversaturation => "过饱和",
        Problem::Oversharpening => "过度锐化",
        Problem::Haze => "雾霾",
        Problem::Other => "失真",
    }
}

/// A photo among those of its group.
pub(crate) struct Case<'a> {
    pub merits: &'a [&'a Merits],
    pub digests: &'a [[u8; 32]],
    pub best: usize,
    pub place: usize,
    pub decisions: &'a [Decision],
    pub model: &'a Model,
}

/// Returns why a photo of a group is kept, rejected or doubtful. `keeper` is the file name of the best one.
pub(crate) fn reason(case: &Case<'_>, keeper: &str, language: Language) -> String {
    let english = language == Language::English;
    let (mine, best) = (case.merits[case.place], case.merits[case.best]);
    if case.merits.len() == 1 {
        return if english { "no other photo of this scene" } else { "没有同一场景的其他照片" }.to_owned();
    }
    let copies = case.digests.iter().filter(|digest| **digest == case.digests[case.place]).count();
    if case.place != case.best && case.digests[case.place] == case.digests[case.best] {
        return if english { format!("the same file as {keeper}") } else { format!("与 {keeper} 是同一文件") };
    }
    match case.decisions[case.place] {
        Decision::Keep => kept(case, copies, language),
        Decision::Unsure if english => format!("as good as {keeper}: no difference is certain"),
        Decision::Unsure => format!("与 {keeper} 相当：没有确定的差别"),
        Decision::Reject => {
            let main = case.model.main_aspect(best, mine);
            let why = main.and_then(|aspect| advantage(aspect, best, mine, language));
            match why {
                Some(why) if english => format!("{keeper} is better ({why})"),
                Some(why) => format!("{keeper} 更好（{why}）"),
                None if copies < 2 && english => format!("{keeper} is better"),
                None if copies < 2 => format!("{keeper} 更好"),
                None if english => format!("another copy of this photo is in the group; {keeper} is kept"),
                None => format!("组内有此照片的另一副本；保留 {keeper}"),
            }
        }
    }
}

/// Returns why the best photo of a group is kept.
fn kept(case: &Case<'_>, copies: usize, language: Language) -> String {
    let english = language == Language::English;
    let mine = case.merits[case.best];
    // Against the best of those that are rejected for certain.
    let different = |place: &usize| case.digests[*place] != case.digests[case.best];
    let rejected = (0..case.merits.len()).filter(|place| case.decisions[*place] == Decision::Reject).filter(different);
    let rejected: Vec<usize> = rejected.collect();
    let runner_up = rejected.iter().copied().min_by(|one, other| {
        let lead = |place: usize| case.model.probability(mine, case.merits[place]);
        lead(*one).total_cmp(&lead(*other))
    });
    let Some(runner_up) = runner_up else {
        return match (copies, english) {
            (2.., true) => format!("one of {copies} copies of the same file"),
            (2.., false) => format!("同一文件的 {copies} 个副本之一"),
            (_, true) => "the best by a small margin: no difference is certain".to_owned(),
            (_, false) => "略好于其他照片：没有确定的差别".to_owned(),
        };
    };
    let main = case.model.main_aspect(mine, case.merits[runner_up]);
    let why = main.and_then(|aspect| advantage(aspect, mine, case.merits[runner_up], language));
    let why = why.unwrap_or_else(|| if english { "the best of the group" } else { "组内最佳" }.to_owned());
    let faults: Vec<Problem> = rejected.iter().filter_map(|place| case.merits[*place].fault).collect();
    let common = faults.first().filter(|first| faults.len() == rejected.len() && faults.iter().all(|f| f == *first));
    match common.filter(|fault| mine.fault != Some(**fault)) {
        Some(fault) if english => format!("{why}; the others have {}", fault.name()),
        Some(fault) => format!("{why}；其他照片有{}", chinese(*fault)),
        None => why,
    }
}

/// Returns what makes the first photo better.
fn advantage(aspect: Aspect, one: &Merits, other: &Merits, language: Language) -> Option<String> {
    let english = language == Language::English;
    Some(match aspect {
        Aspect::Sharpness => {
            let (mine, others, what) = one.sharpness(other)?;
            match (what, english) {
                (Some(what), true) => format!("sharper {what}: {mine:.1} against {others:.1}"),
                (None, true) => format!("sharper: {mine:.1} against {others:.1}"),
                (Some(_), false) => format!("主体更清晰：{mine:.1} 对 {others:.1}"),
                (None, false) => format!("更清晰：{mine:.1} 对 {others:.1}"),
            }
        }
        Aspect::Focus => {
            let (mine, others) = one.focus.zip(other.focus)?;
            if english {
                format!("better focus: {mine:.1} against {others:.1}")
            } else {
                format!("对焦更好：{mine:.1} 对 {others:.1}")
            }
        }
        Aspect::Exposure => {
            let ([black, white], [more_black, more_white]) = (one.clipped, other.clipped);
            let percent = |share: f64| format!("{:.0}%", 100.0 * share);
            match () {
                () if more_white > white + 0.01 && english => {
                    format!("fewer lost highlights: {} against {}", percent(white), percent(more_white))
                }
                () if more_white > white + 0.01 => {
                    format!("高光溢出更少：{} 对 {}", percent(white), percent(more_white))
                }
                () if more_black > black + 0.01 && english => {
                    format!("fewer lost shadows: {} against {}", percent(black), percent(more_black))
                }
                () if more_black > black + 0.01 => {
                    format!("暗部丢失更少：{} 对 {}", percent(black), percent(more_black))
                }
                () if english => format!("better exposed: {:.1} against {:.1}", one.exposure, other.exposure),
                () => format!("曝光更好：{:.1} 对 {:.1}", one.exposure, other.exposure),
            }
        }
        Aspect::Noise if english => format!("less noise: {:.1} against {:.1} gray levels", one.noise, other.noise),
        Aspect::Noise => format!("噪点更少：{:.1} 对 {:.1} 灰度级", one.noise, other.noise),
        Aspect::Score if english => format!("higher score: {:.2} against {:.2}", one.score, other.score),
        Aspect::Score => format!("分数更高：{:.2} 对 {:.2}", one.score, other.score),
    })
}

/// Returns why a photo is rejected whatever else there is.
pub(crate) fn too_low(fault: Option<Problem>, high: f64, least: f64, language: Language) -> String {
    match (language, fault) {
        (Language::English, Some(fault)) => {
            format!("{}: the score is at most {high:.1}, below {least:.1}", fault.name())
        }
        (Language::English, None) => format!("the score is at most {high:.1}, below {least:.1}"),
        (Language::Chinese, Some(fault)) => format!("{}：分数最高 {high:.1}，低于 {least:.1}", chinese(fault)),
        (Language::Chinese, None) => format!("分数最高 {high:.1}，低于 {least:.1}"),
    }
}

/// Returns why a raw file is treated as the photo next to it.
pub(crate) fn goes_with(name: &str, language: Language) -> String {
    match language {
        Language::English => format!("the raw file of {name}"),
        Language::Chinese => format!("{name} 的原始文件"),
    }
}

/// Returns that a photo cannot be used.
pub(crate) fn unusable(reason: &str, language: Language) -> String {
    match language {
        Language::English => format!("cannot be judged: {reason}"),
        Language::Chinese => format!("无法判断：{reason}"),
    }
}

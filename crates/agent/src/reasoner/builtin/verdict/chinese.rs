//! Verdicts in Chinese.

use super::facts::{Certainty, Facts, Fault};
use super::{Reason, Words};
use crate::language::Language;
use crate::state::{Distortion, Problem, QualityLevel, Severity};
use crate::words::word;

/// The sentences of the language.
pub(super) struct Chinese;

impl Words for Chinese {
    fn verdict(&self, subject: Option<&str>, level: QualityLevel, reason: Reason<'_>) -> String {
        let quality = match subject {
            Some(name) => format!("{name}的质量{}", word(level, Language::Chinese)),
            None => format!("图像质量{}", word(level, Language::Chinese)),
        };
        let good = level >= QualityLevel::Good;
        match reason {
            Reason::Nothing if good => format!("{quality}，没有可见的缺陷。"),
            Reason::Nothing => format!("{quality}，但没有可见的技术缺陷。"),
            Reason::Fault(fault) | Reason::Partly(fault) if good => format!("{quality}，不过{}。", clause(fault)),
            Reason::Fault(fault) if fault.doubtful => format!("{quality}，原因可能是{}。", clause(fault)),
            Reason::Fault(fault) => format!("{quality}，主要原因是{}。", clause(fault)),
            Reason::Partly(fault) => format!("{quality}，部分原因是{}。", clause(fault)),
        }
    }

    fn further(&self, faults: &[&Fault<'_>], sure: bool) -> String {
        let list = faults.iter().map(|fault| clause(fault)).collect::<Vec<_>>().join("，");
        if sure {
            format!("此外，{list}。")
        } else {
            format!("也许{list}，但修复它并不会提高分数。")
        }
    }

    fn unnamed(&self, faults: bool) -> &'static str {
        if faults {
            "其余的不足无法归入某种缺陷，可能与内容、构图或光线有关。"
        } else {
            "它的不足无法归入某种缺陷，可能与内容、构图或光线有关。"
        }
    }

    fn uncertain(&self, certainty: Certainty) -> Option<String> {
        match certainty {
            Certainty::Sure => None,
            Certainty::Or(level) => {
                Some(format!("也有人会认为它{}：人们对这类图像的评价大约相差一级。", word(level, Language::Chinese)))
            }
            Certainty::Unlike => Some("等级不太确定，因为这张图像与拟合分数所用的照片不同。".to_owned()),
            Certainty::Disagreement => Some("等级不太确定，因为计入分数的工具意见不一。".to_owned()),
            Certainty::Opinions => Some("等级不太确定，因为人们对这类图像的评价相差一级以上。".to_owned()),
        }
    }

    fn score(&self, facts: &Facts<'_>) -> String {
        let mut tools: Vec<&str> = facts.carriers.iter().map(|(_, tool)| *tool).collect();
        tools.dedup();
        let interval = facts
            .interval
            .map(|interval| format!("（平均主观评分有九成可能在{:.2}到{:.2}之间）", interval.low(), interval.high()));
        format!("测量结果：{}的分数为{:.2}，满分5分{}。", tools.join("、"), facts.score, interval.unwrap_or_default())
    }

    fn measured(&self, fault: &Fault<'_>, measurements: &str) -> String {
        format!("{}：{measurements}。", name(fault))
    }

    fn measurement<'a>(&self, name: &'a str, unit: &'a str) -> (&'a str, &'a str) {
        let name = match name {
            "mean brightness" => "平均亮度",
            "lost shadows" => "丢失的暗部",
            "lost highlights" => "丢失的高光",
            "edge width" => "边缘宽度",
            "overshoot next to edges" => "边缘旁的过冲",
            "noise" => "噪声",
            "contrast" => "对比度",
            "range of tones" => "影调范围",
            "saturation" => "饱和度",
            "color of the grayest quarter" => "最灰的四分之一偏离灰色",
            "steps on the 8x8 grid against others" => "8x8网格上的台阶与其他位置之比",
            "JPEG quality of the file" => "文件的JPEG质量",
            "darkest tone" => "最暗的影调",
            other => other,
        };
        let unit = match unit {
            "gray levels" => "个灰度级",
            "px" => "像素",
            "levels" => "级",
            "ratio" => "",
            other => other,
        };
        (name, unit)
    }

    fn between(&self) -> &'static str {
        ""
    }
}

/// The name of a fault.
const fn name(fault: &Fault<'_>) -> &'static str {
    match (fault.problem, fault.distortion) {
        (Some(Problem::Blur), _) | (None, Distortion::Blurs) => "模糊",
        (Some(Problem::MotionBlur), _) => "运动模糊",
        (Some(Problem::Noise), _) | (None, Distortion::Noise) => "噪声",
        (Some(Problem::Compression), _) | (None, Distortion::Compression) => "压缩",
        (Some(Problem::Underexposure), _) => "曝光不足",
        (Some(Problem::Overexposure), _) => "曝光过度",
        (Some(Problem::Backlight), _) => "逆光",
        (Some(Problem::LowContrast), _) => "对比度低",
        (Some(Problem::Haze), _) => "雾气",
        (Some(Problem::ColorCast), _) => "偏色",
        (Some(Problem::DullColors), _) => "颜色暗淡",
        (Some(Problem::Oversaturation), _) => "饱和度过高",
        (Some(Problem::Oversharpening), _) | (None, Distortion::Sharpness) => "锐化过度",
        (Some(Problem::Other) | None, Distortion::Brightness) => "亮度",
        (Some(Problem::Other) | None, Distortion::Contrast) => "对比度",
        (Some(Problem::Other) | None, _) => "颜色",
    }
}

/// Picks the words of a severity.
const fn by(severity: Severity, [slight, moderate, severe, extreme]: [&str; 4]) -> &str {
    match severity {
        Severity::None | Severity::Slight => slight,
        Severity::Moderate => moderate,
        Severity::Severe => severe,
        Severity::Extreme => extreme,
    }
}

/// What is wrong, as a clause.
fn clause(fault: &Fault<'_>) -> String {
    let how = by(fault.severity, ["略微", "明显", "严重", "极其"]);
    let too = by(fault.severity, ["略", "偏", "太", "极"]);
    let there_is = |what: &str| format!("有{}{what}", by(fault.severity, ["轻微的", "明显的", "严重的", "极其严重的"]));
    match (fault.problem, fault.distortion) {
        (Some(Problem::Blur), _) | (None, Distortion::Blurs) => format!("画面{how}模糊"),
        (Some(Problem::MotionBlur), _) => format!("相机抖动或运动使画面{how}模糊"),
        (Some(Problem::Noise), _) | (None, Distortion::Noise) => there_is("噪声"),
        (Some(Problem::Compression), _) | (None, Distortion::Compression) => there_is("压缩痕迹"),
        (Some(Problem::Underexposure), _) => format!("画面{too}暗"),
        (Some(Problem::Overexposure), _) => format!("画面{too}亮"),
        (Some(Problem::Backlight), _) => format!("逆光使主体{too}暗"),
        (Some(Problem::LowContrast), _) => format!("对比度{too}低"),
        (Some(Problem::Haze), _) => there_is("雾气"),
        (Some(Problem::ColorCast), _) => {
            let color = match fault.shown.map(|shown| shown.level.as_str()) {
                Some("warm") => "暖色",
                Some("cool") => "冷色",
                Some("green") => "绿色",
                Some("magenta") => "品红色",
                _ => "",
            };
            if color.is_empty() { there_is("偏色") } else { format!("{}（偏{color}）", there_is("偏色")) }
        }
        (Some(Problem::DullColors), _) => format!("颜色{too}淡"),
        (Some(Problem::Oversaturation), _) => format!("颜色{too}浓"),
        (Some(Problem::Oversharpening), _) | (None, Distortion::Sharpness) => there_is("锐化光晕"),
        (Some(Problem::Other) | None, distortion) => {
            let what = match distortion {
                Distortion::Brightness => "亮度",
                Distortion::Contrast => "对比度",
                _ => "颜色",
            };
            format!("{what}{how}异常")
        }
    }
}

//! Advice in Chinese.

use super::{Lost, Step, Words};
use crate::state::{Operation, Problem, WhatIf};

/// The sentences of the language.
pub(super) struct Chinese;

impl Words for Chinese {
    fn step(&self, step: Step<'_>) -> String {
        match step {
            Step::Edit(tried, lost) => format!("{}，{}{}。", edit(tried), gain(tried), left(lost)),
            Step::Encode(quality, tried) => {
                let why = match quality {
                    Some(quality) => format!("以80以上的质量重新保存：当前文件的质量只有{quality:.0}"),
                    None => "以更低的压缩率重新保存：压缩丢掉的细节无法恢复".to_owned(),
                };
                let or = tried.map(|tried| format!("如果没有原图，可以平滑块效应，{}。", gain(tried)));
                format!("请用原图{why}。{}", or.unwrap_or_default())
            }
            Step::Again(problem) => again(problem).to_owned(),
            Step::Doubt(problem) => {
                let (fault, mending) = doubt(problem);
                format!("{fault}是存疑的：{mending}并不会提高分数。")
            }
        }
    }

    fn of_object(&self, object: &str, sentence: &str) -> String {
        format!("{object}：{sentence}")
    }
}

/// What to do in a photo editor.
fn edit(tried: &WhatIf) -> String {
    let amount = tried.amount;
    let percent = |share: f64| format!("{:.0}%", 100.0 * share);
    match tried.operation {
        Operation::Deblock => "平滑块效应".to_owned(),
        Operation::Denoise => format!("去除约{amount:.1}个灰度级的噪声"),
        Operation::WhiteBalance if amount > 0.95 => "以灰色物体校正白平衡".to_owned(),
        Operation::WhitePatch if amount > 0.95 => "以白色物体校正白平衡".to_owned(),
        Operation::WhiteBalance | Operation::WhitePatch => format!("校正{}的偏色", percent(amount)),
        Operation::Exposure if amount > 0.0 => format!("提高曝光{amount:.1}档"),
        Operation::Exposure => format!("降低曝光{:.1}档", -amount),
        Operation::Shadows => format!("提亮暗部{}", percent(amount)),
        Operation::Contrast => format!("提高对比度，用上{}的空闲影调", percent(amount)),
        Operation::Saturation if amount > 1.0 => format!("把饱和度提高{}", percent(amount - 1.0)),
        Operation::Saturation => format!("把饱和度降低{}", percent(1.0 - amount)),
        Operation::Sharpen => format!("锐化{}", percent(amount)),
        Operation::Soften => format!("用半径{amount:.1}像素的模糊柔化光晕"),
    }
}

fn gain(tried: &WhatIf) -> String {
    match tried.gain() {
        gain if gain < 0.1 => "分数会略有提高".to_owned(),
        gain => format!("分数大约会提高{gain:.1}"),
    }
}

fn left(lost: Lost) -> &'static str {
    match lost {
        Lost::Nothing => "",
        Lost::Highlights => "；已经过曝的高光无法恢复",
        Lost::Shadows => "；全黑的暗部无法恢复",
    }
}

/// How to take the photo again.
const fn again(problem: Problem) -> &'static str {
    match problem {
        Problem::MotionBlur => "请缩短曝光时间或拿稳相机重新拍摄：这是抖动或运动造成的模糊，细节已经丢失。",
        Problem::Blur => "请对准主体对焦后重新拍摄：细节已经丢失，后期无法恢复。",
        Problem::Noise => "请增加光线或降低感光度后重新拍摄：后期去噪会同时抹掉细节。",
        Problem::Compression => "请用原图以更低的压缩率重新保存：压缩丢掉的细节无法恢复。",
        Problem::Underexposure => "请增加光线或延长曝光后重新拍摄：暗部细节已经丢失。",
        Problem::Overexposure => "请缩短曝光后重新拍摄：亮部细节已经丢失。",
        Problem::Backlight => "请顺光拍摄或使用闪光灯重新拍摄：暗部细节已经丢失。",
        Problem::LowContrast | Problem::Haze => "请在更通透的光线下重新拍摄：后期无法恢复对比度。",
        Problem::ColorCast => "请调整白平衡后重新拍摄：后期无法恢复颜色。",
        Problem::DullColors | Problem::Oversaturation => "请改用原始颜色的版本：后期无法恢复颜色。",
        Problem::Oversharpening => "请改用锐化之前的版本：后期无法去掉光晕。",
        Problem::Other => "后期无法修复。",
    }
}

/// A fault, and what mends it.
const fn doubt(problem: Problem) -> (&'static str, &'static str) {
    match problem {
        Problem::Blur => ("画面偏软", "锐化"),
        Problem::MotionBlur => ("运动模糊", "锐化"),
        Problem::Noise => ("噪声有影响", "去噪"),
        Problem::Compression => ("压缩有影响", "平滑块效应"),
        Problem::Underexposure => ("画面太暗", "提亮"),
        Problem::Overexposure => ("画面太亮", "压暗"),
        Problem::Backlight => ("暗部太暗", "提亮暗部"),
        Problem::LowContrast => ("对比度太低", "提高对比度"),
        Problem::Haze => ("雾气有影响", "提高对比度"),
        Problem::ColorCast => ("偏色有影响", "校正偏色"),
        Problem::DullColors => ("颜色太淡", "提高饱和度"),
        Problem::Oversaturation => ("颜色太浓", "降低饱和度"),
        Problem::Oversharpening => ("锐化过度", "柔化"),
        Problem::Other => ("这个问题", "后期编辑"),
    }
}

//! Chinese answers.

use super::super::{Strength, Verdict};
use super::{Answers, Beyond, Look};
use crate::question::meaning::{Aspect, Kind};
use agenticiqa_vision::palette::Hue;

/// The sentences of the language.
#[derive(Debug)]
pub(crate) struct Chinese;

fn amount(strength: Strength) -> &'static str {
    match strength {
        Strength::None => "没有可见的",
        Strength::Slight => "有轻微的",
        Strength::Moderate => "有中等程度的",
        Strength::Severe => "有严重的",
        Strength::Extreme => "有极其严重的",
    }
}

fn side(step: i8, words: [&'static str; 5]) -> &'static str {
    words[usize::try_from(step.clamp(-2, 2) + 2).unwrap_or(2)]
}

const fn name(hue: Hue) -> &'static str {
    match hue {
        Hue::Red => "红色",
        Hue::Orange => "橙色",
        Hue::Yellow => "黄色",
        Hue::Green => "绿色",
        Hue::Cyan => "青色",
        Hue::Blue => "蓝色",
        Hue::Purple => "紫色",
        Hue::Pink => "粉色",
        Hue::Brown => "棕色",
        Hue::Black => "黑色",
        Hue::Gray => "灰色",
        Hue::White => "白色",
    }
}

impl Answers for Chinese {
    fn verdict(&self, verdict: Verdict) -> &'static str {
        match verdict {
            Verdict::Yes => "是。",
            Verdict::Probably => "很可能是。",
            Verdict::Open => "无法判断。",
            Verdict::ProbablyNot => "很可能不是。",
            Verdict::No => "否。",
        }
    }

    fn subject(&self, part: Option<&str>) -> String {
        match part {
            None => "图像",
            Some("upper left") => "左上角",
            Some("upper center") => "正上方",
            Some("upper right") => "右上角",
            Some("center left") => "左侧中部",
            Some("center") => "中央",
            Some("center right") => "右侧中部",
            Some("lower left") => "左下角",
            Some("lower center") => "正下方",
            Some("lower right") => "右下角",
            Some(part) => part,
        }
        .to_owned()
    }

    fn look(&self, subject: &str, look: Look) -> String {
        match look {
            Look::Blur(Strength::None, _) => format!("{subject}清晰"),
            Look::Blur(Strength::Slight, _) => format!("{subject}轻微模糊"),
            Look::Blur(strength, kind) => {
                let degree = match strength {
                    Strength::Moderate => "明显",
                    Strength::Severe => "严重",
                    _ => "极其",
                };
                let cause = match kind {
                    Some(Kind::Motion) => "，很可能是运动或抖动造成的",
                    Some(Kind::Defocus) => "，很可能是失焦造成的",
                    _ => "",
                };
                format!("{subject}{degree}模糊{cause}")
            }
            Look::Noise(strength) => format!("{subject}{}噪点", amount(strength)),
            Look::Compression(strength) => format!("{subject}{}压缩痕迹", amount(strength)),
            Look::Haze(strength) => format!("{subject}{}雾气", amount(strength)),
            Look::Halos(strength) => format!("{subject}{}过度锐化", amount(strength)),
            Look::Cast(strength, kind) => {
                let hue = match kind.filter(|_| strength > Strength::None) {
                    Some(Kind::Warm) => "偏暖",
                    Some(Kind::Cool) => "偏冷",
                    Some(Kind::Green) => "偏绿",
                    Some(Kind::Magenta) => "偏洋红",
                    _ => "",
                };
                let hue = if hue.is_empty() { String::new() } else { format!("（{hue}）") };
                format!("{subject}{}偏色{hue}", amount(strength))
            }
            Look::Light(step) => format!("{subject}{}", side(step, ["很暗", "较暗", "明暗适中", "明亮", "非常明亮"])),
            Look::Exposure(0, Strength::None) => format!("{subject}曝光正常"),
            Look::Exposure(0, _) => format!("{subject}同时有过暗和过亮的部分"),
            Look::Exposure(step, strength) => {
                let degree = match strength {
                    Strength::None | Strength::Slight => "轻微",
                    Strength::Moderate => "",
                    Strength::Severe => "严重",
                    Strength::Extreme => "极其严重地",
                };
                format!("{subject}{degree}{}", if step < 0 { "曝光不足" } else { "曝光过度" })
            }
            Look::Backlit => format!("{subject}逆光，主体比背景暗"),
            Look::Contrast(step) => format!("{subject}对比度{}", side(step, ["低", "低", "正常", "高", "高"])),
            Look::Color(-2) => format!("{subject}是黑白的或几乎没有颜色"),
            Look::Color(step) => format!("{subject}色彩{}", side(step, ["暗淡", "暗淡", "适中", "鲜艳", "过于鲜艳"])),
            Look::Mood(step) => {
                let words = ["阴沉", "阴沉", "平和", "明快", "明快"];
                format!("从光线和色彩看，{subject}显得{}", side(step, words))
            }
            Look::Symmetric(true) => "左右两半对称".to_owned(),
            Look::Symmetric(false) => "左右两半不对称".to_owned(),
            Look::Place { centered, percent } => {
                let place = if centered { "位于画面中央" } else { "偏离画面中央" };
                format!("{subject}{place}，占画面的{percent}%")
            }
        }
    }

    fn colors(&self, subject: &str, shares: &[(Hue, f64)]) -> String {
        let listed: Vec<String> =
            shares.iter().map(|(hue, share)| format!("{}（{:.0}%）", name(*hue), 100.0 * share)).collect();
        format!("{subject}主要是{}", listed.join("、"))
    }

    fn named(&self, aspect: Aspect, clause: &str) -> String {
        let name = match aspect {
            Aspect::Light => "光线",
            Aspect::Exposure => "曝光",
            Aspect::Sharpness => "清晰度",
            Aspect::Noise => "噪点",
            Aspect::Contrast => "对比度",
            Aspect::Color => "色彩",
            Aspect::Cast => "色调",
            Aspect::Compression => "压缩",
            Aspect::Haze => "雾感",
            Aspect::Halos => "锐化",
            Aspect::Quality => "质量",
            Aspect::Damage => "失真",
            Aspect::Mood => "氛围",
            Aspect::Hue => "主要颜色",
            Aspect::Symmetry => "对称性",
            Aspect::Emphasis => "主体",
            Aspect::Composition | Aspect::Beauty | Aspect::Origin | Aspect::Content => "其他",
        };
        format!("{name}：{clause}")
    }

    fn jpeg_quality(&self, quality: Option<f64>) -> String {
        match quality {
            Some(quality) => format!("文件是质量为{quality:.0}的JPEG"),
            None => "文件不是JPEG，没有这个设置".to_owned(),
        }
    }

    fn joined(&self, clauses: &[String]) -> String {
        clauses.join("；")
    }

    fn not_found(&self, part: &str) -> String {
        format!("没有找到{part}；就整张图像而言：")
    }

    fn not_measured(&self) -> &'static str {
        "没有可以回答该问题的测量结果"
    }

    fn beyond(&self, beyond: Beyond) -> &'static str {
        match beyond {
            Beyond::Beauty => "我无法判断美感、风格或情感。",
            Beyond::Origin => "我无法判断图像是生成的、修改过的还是真实的。",
            Beyond::Content => "我无法判断图像中是什么或是谁，也无法判断其来源。",
            Beyond::Composition => "我无法判断构图或图像突出的内容。",
            Beyond::Unknown => "我无法判断这个问题：我只回答有关图像技术质量的问题。",
            Beyond::Instruction => "我只根据对图像的测量来回答。",
            Beyond::NoReference => "没有参考图像，我无法判断。",
        }
    }

    fn read_as(&self, written: &str, word: &str) -> String {
        format!("“{written}”按“{word}”理解")
    }

    fn compared(&self, first: &str, second: &str, differ: bool) -> String {
        if differ { format!("{first}，而{second}") } else { format!("{first}，{second}：两者几乎没有差别") }
    }

    fn best_part(&self, part: &str) -> String {
        format!("{part}：")
    }

    fn narrowly(&self, part: &str) -> String {
        format!("{part}，但差别很小：")
    }

    fn all_alike(&self) -> &'static str {
        "各部分几乎没有差别："
    }

    fn everywhere(&self) -> &'static str {
        "到处都是："
    }

    fn against_limit(&self, score: f64, limit: f64, interval: Option<(f64, f64)>) -> String {
        let range = interval.map(|(low, high)| format!("（平均主观评分有九成可能在{low:.2}到{high:.2}之间）"));
        let way = if score >= limit { "不低于" } else { "低于" };
        format!("分数为{score:.2}{}，{way}{limit}", range.unwrap_or_default())
    }

    fn value(&self, name: &str, value: &str) -> String {
        format!("{name}：{value}")
    }

    fn size(&self, width: usize, height: usize) -> String {
        let megapixels = (width * height) as f64 / 1e6;
        format!("{width} x {height}像素（{megapixels:.1}百万像素）")
    }

    fn print(&self, paper: &str, density: f64) -> String {
        let meaning = match density {
            density if density >= 250.0 => "足够近看",
            density if density >= 150.0 => "在一臂距离外足够",
            density if density >= 90.0 => "只适合远看",
            _ => "太低，会看出像素",
        };
        format!("印成{paper}时每英寸有{density:.0}个像素，{meaning}")
    }

    fn no_advice(&self) -> &'static str {
        "不需要修改：没有发现修图可以改善的问题。"
    }

    fn not_tried(&self) -> &'static str {
        "没有尝试修改；启用what-if可以得到测得的改善"
    }

    fn against_reference(&self, same: bool) -> &'static str {
        if same { "与参考图像没有可见的差别" } else { "与参考图像有可见的差别" }
    }
}

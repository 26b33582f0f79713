//! The sentences of the conclusion in English and Chinese.

use super::findings::Finding;
use crate::state::{Distortion, GLOBAL, Interval, QualityLevel, Severity, ToolExecutionLog};
use crate::words;

/// Writes sentences in one language.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wording {
    /// Whether to write Chinese instead of English.
    pub chinese: bool,
}

impl Wording {
    /// Returns the text in the language.
    pub fn pick(self, english: &str, chinese: &str) -> String {
        if self.chinese { chinese.to_owned() } else { english.to_owned() }
    }

    /// The name of an object.
    pub fn part(self, name: &str) -> String {
        match (name, self.chinese) {
            (GLOBAL, false) => "the whole image".to_owned(),
            (GLOBAL, true) => "整张图像".to_owned(),
            (_, true) => name.to_owned(),
            (_, false) if name.starts_with("the ") || !name.is_ascii() => name.to_owned(),
            (_, false) => format!("the {name}"),
        }
    }

    /// The name of a distortion category.
    pub fn distortion(self, distortion: Distortion) -> String {
        let (english, chinese) = match distortion {
            Distortion::Blurs => ("blur", "模糊"),
            Distortion::Color => ("color distortion", "色彩失真"),
            Distortion::Compression => ("compression damage", "压缩失真"),
            Distortion::Noise => ("noise", "噪声"),
            Distortion::Brightness => ("wrong brightness", "亮度异常"),
            Distortion::Sharpness => ("oversharpening", "过度锐化"),
            Distortion::Contrast => ("wrong contrast", "对比度异常"),
        };
        self.pick(english, chinese)
    }

    /// The name of a severity.
    pub fn severity(self, severity: Severity) -> String {
        let chinese = match severity {
            Severity::None => "无",
            Severity::Slight => "轻微",
            Severity::Moderate => "中等",
            Severity::Severe => "严重",
            Severity::Extreme => "极其严重",
        };
        self.pick(severity.name(), chinese)
    }

    /// The name of a quality level.
    pub fn level(self, level: QualityLevel) -> String {
        words::word(level, self.chinese)
    }

    /// A range of quality levels: "between fair and good".
    pub fn between(self, first: QualityLevel, last: QualityLevel) -> String {
        words::between(first, last, self.chinese)
    }

    /// The combined score of all tools.
    pub fn together(self, score: f64) -> String {
        let english = format!("The combined tool score is {score:.2} on the scale from 1 to 5");
        self.pick(&english, &format!("各工具综合为1到5分制的{score:.2}分"))
    }

    /// The tools that determine the score.
    pub fn carried(self, tools: &str) -> String {
        let english =
            format!("The score follows {tools}, fitted to people's opinions; the other tools are additional evidence");
        self.pick(&english, &format!("分数以{tools}为准，它按人的主观评分拟合；其他工具作为旁证"))
    }

    /// "severe blur in the car", "no visible noise in the whole image".
    pub fn found(self, finding: &Finding<'_>) -> String {
        let (part, distortion) = (self.part(finding.part), self.distortion(finding.distortion));
        match (finding.severity, self.chinese) {
            (Severity::None, false) => format!("no visible {distortion} in {part}"),
            (Severity::None, true) => format!("{part}没有可见的{distortion}"),
            (severity, false) => format!("{} {distortion} in {part}", self.severity(severity)),
            (severity, true) => format!("{part}有{}的{distortion}", self.severity(severity)),
        }
    }

    /// A sentence about one analysis, with its explanation.
    pub fn analysis(self, finding: &Finding<'_>) -> String {
        let found = self.found(finding);
        match (finding.explanation, self.chinese) {
            (Some(explanation), false) => self.sentence(&format!("{found}: {explanation}")),
            (Some(explanation), true) => self.sentence(&format!("{found}：{explanation}")),
            (None, _) => self.sentence(&found),
        }
    }

    /// A sentence about one run of a tool.
    pub fn run(self, log: &ToolExecutionLog, lower_is_better: Option<bool>) -> String {
        let (tool, part) =
            (&log.tool_name, self.part(if log.region.is_some() { log.object_name.as_str() } else { GLOBAL }));
        let direction = match lower_is_better {
            Some(true) => self.pick(" (lower is better)", "（越低越好）"),
            Some(false) => self.pick(" (higher is better)", "（越高越好）"),
            None => String::new(),
        };
        let raw = log.raw_score.map(|raw| number(raw.0));
        let interval = log.interval.map(|interval| self.expected(interval)).unwrap_or_default();
        let text = match (raw, log.normalized_score, self.chinese) {
            (Some(raw), Some(score), false) => {
                format!(
                    "{tool} gave {raw}{direction} for {part}, {:.2} on the scale from 1 to 5{interval}",
                    score.value()
                )
            }
            (Some(raw), Some(score), true) => {
                format!("{tool}对{part}给出{raw}{direction}，换算为1到5分制的{:.2}分{interval}", score.value())
            }
            (Some(raw), None, false) => {
                format!("{tool} gave {raw}{direction} for {part}, which has no scale from 1 to 5")
            }
            (Some(raw), None, true) => format!("{tool}对{part}给出{raw}{direction}，没有换算分数"),
            (None, _, false) => {
                format!("{tool} gave no score for {part}: {}", log.error.as_deref().unwrap_or("no reason given"))
            }
            (None, _, true) => format!("{tool}对{part}没有给出分数：{}", log.error.as_deref().unwrap_or("原因不明")),
        };
        let stands_in = self.pick(" It replaces a tool that failed or is not available.", "它代替了无法运行的工具。");
        self.sentence(&text) + if log.fallback { &stands_in } else { "" }
    }

    /// The prediction interval, as an addition to a score.
    fn expected(self, interval: Interval) -> String {
        let (low, high) = (interval.low(), interval.high());
        let english = format!(" (90% prediction interval {low:.2} to {high:.2})");
        self.pick(&english, &format!("（平均主观评分有九成可能在{low:.2}到{high:.2}之间）"))
    }

    /// Makes a sentence: upper-case start, full stop at the end.
    pub fn sentence(self, text: &str) -> String {
        let mut characters = text.trim().chars();
        let first = characters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
        let mut sentence = first + characters.as_str();
        if !sentence.ends_with(['.', '!', '?', '。', '！', '？']) {
            sentence.push_str(if self.chinese { "。" } else { "." });
        }
        sentence
    }

    /// Joins sentences.
    pub fn join(self, sentences: &[String]) -> String {
        sentences.join(if self.chinese { "" } else { " " })
    }
}

/// Formats a number with its significant digits.
fn number(value: f64) -> String {
    match value {
        value if value.is_nan() => "no number".to_owned(),
        value if value.is_infinite() => if value > 0.0 { "infinity" } else { "minus infinity" }.to_owned(),
        value if value.abs() >= 100.0 => format!("{value:.1}"),
        value if value.abs() >= 1.0 => format!("{value:.2}"),
        value => format!("{value:.4}"),
    }
}

//! Verdicts in English.

use super::facts::{Certainty, Facts, Fault};
use super::{Reason, Words};
use crate::language::Language;
use crate::state::{Distortion, Problem, QualityLevel, Severity};
use crate::words::word;

/// The sentences of the language.
pub(super) struct English;

impl Words for English {
    fn verdict(&self, subject: Option<&str>, level: QualityLevel, reason: Reason<'_>) -> String {
        let quality = match subject {
            Some(name) => format!("The quality of the {name} is {}", word(level, Language::English)),
            None => format!("The quality is {}", word(level, Language::English)),
        };
        let good = level >= QualityLevel::Good;
        match reason {
            Reason::Nothing if good => format!("{quality}: no fault is visible."),
            Reason::Nothing => format!("{quality}, although no technical fault is visible."),
            Reason::Fault(fault) | Reason::Partly(fault) if good => format!("{quality}, although {}.", clause(fault)),
            Reason::Fault(fault) if fault.doubtful => format!("{quality}, probably because {}.", clause(fault)),
            Reason::Fault(fault) => format!("{quality}, mainly because {}.", clause(fault)),
            Reason::Partly(fault) => format!("{quality}, partly because {}.", clause(fault)),
        }
    }

    fn further(&self, faults: &[&Fault<'_>], sure: bool) -> String {
        let clauses: Vec<String> = faults.iter().map(|fault| clause(fault)).collect();
        let list = match clauses.split_last() {
            Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
            _ => clauses.concat(),
        };
        if sure { format!("In addition, {list}.") } else { format!("Perhaps {list}, but mending that does not help.") }
    }

    fn unnamed(&self, faults: bool) -> &'static str {
        if faults {
            "The rest of what it lacks has no name here: it may be the content, the composition or the light."
        } else {
            "What it lacks has no name here: it may be the content, the composition or the light."
        }
    }

    fn uncertain(&self, certainty: Certainty) -> Option<String> {
        match certainty {
            Certainty::Sure => None,
            Certainty::Or(level) => Some(format!(
                "Some people would call it {}: opinions of such images differ by about a level.",
                word(level, Language::English)
            )),
            Certainty::Unlike => Some(
                "The level is uncertain, because the image is unlike the photos that the score was fitted to."
                    .to_owned(),
            ),
            Certainty::Disagreement => {
                Some("The level is uncertain, because the tools that count disagree.".to_owned())
            }
            Certainty::Opinions => Some(
                "The level is uncertain, because people's opinions of such images differ by more than a level."
                    .to_owned(),
            ),
        }
    }

    fn score(&self, facts: &Facts<'_>) -> String {
        let mut tools: Vec<&str> = facts.carriers.iter().map(|(_, tool)| *tool).collect();
        tools.dedup();
        let by = if tools.is_empty() { String::new() } else { format!(" by {}", tools.join(", ")) };
        let interval = facts
            .interval
            .map(|interval| format!(" (90% prediction interval {:.2} to {:.2})", interval.low(), interval.high()));
        format!("Measurements: the score{by} is {:.2} of 5{}.", facts.score, interval.unwrap_or_default())
    }

    fn measured(&self, fault: &Fault<'_>, measurements: &str) -> String {
        let name = match (fault.problem, fault.distortion) {
            (Some(problem), _) => problem.name(),
            (None, Distortion::Blurs) => "blur",
            (None, Distortion::Color) => "color",
            (None, Distortion::Compression) => "compression",
            (None, Distortion::Noise) => "noise",
            (None, Distortion::Brightness) => "brightness",
            (None, Distortion::Sharpness) => "oversharpening",
            (None, Distortion::Contrast) => "contrast",
        };
        let mut letters = name.chars();
        let first = letters.next().map(|letter| letter.to_ascii_uppercase()).unwrap_or_default();
        format!("{first}{}: {measurements}.", letters.as_str())
    }

    fn measurement<'a>(&self, name: &'a str, unit: &'a str) -> (&'a str, &'a str) {
        (name, unit)
    }

    fn between(&self) -> &'static str {
        " "
    }
}

/// Picks the words of a severity.
fn by(severity: Severity, [slight, moderate, severe, extreme]: [&str; 4]) -> String {
    match severity {
        Severity::None | Severity::Slight => slight,
        Severity::Moderate => moderate,
        Severity::Severe => severe,
        Severity::Extreme => extreme,
    }
    .to_owned()
}

/// What is wrong, as a clause about "it".
fn clause(fault: &Fault<'_>) -> String {
    let severity = fault.severity;
    let too =
        |adjective: &str| format!("it is {} {adjective}", by(severity, ["a little too", "too", "much too", "far too"]));
    let much = |words: [&str; 4]| by(severity, words);
    match (fault.problem, fault.distortion) {
        (Some(Problem::Blur), _) | (None, Distortion::Blurs) => {
            much(["it is slightly soft", "it is blurred", "it is badly blurred", "it is blurred beyond use"])
        }
        (Some(Problem::MotionBlur), _) => {
            let how = much(["slightly", "visibly", "badly", "completely"]);
            format!("camera shake or motion has {how} blurred it")
        }
        (Some(Problem::Noise), _) | (None, Distortion::Noise) => {
            much(["it is slightly noisy", "it is noisy", "it is very noisy", "noise covers it"])
        }
        (Some(Problem::Compression), _) | (None, Distortion::Compression) => {
            let how = much(["slightly", "visibly", "badly", "extremely"]);
            format!("compression has {how} damaged it")
        }
        (Some(Problem::Underexposure), _) => too("dark"),
        (Some(Problem::Overexposure), _) => too("bright"),
        (Some(Problem::Backlight), _) => {
            let how = much(["a little too", "too", "much too", "far too"]);
            format!("the light comes from behind and leaves the subject {how} dark")
        }
        (Some(Problem::LowContrast), _) => {
            let how = much(["a little too", "too", "much too", "far too"]);
            format!("its contrast is {how} low")
        }
        (Some(Problem::Haze), _) => much([
            "haze veils it slightly",
            "haze veils it",
            "haze veils it heavily",
            "hardly anything is visible through the haze",
        ]),
        (Some(Problem::ColorCast), _) => {
            let strength = much(["slight", "visible", "strong", "extreme"]);
            let color = fault.shown.map(|shown| shown.level.as_str());
            let color = color.filter(|color| ["warm", "cool", "green", "magenta"].contains(color));
            match color {
                Some(color) => format!("its colors have a {strength} {color} cast"),
                None => format!("its colors have a {strength} cast"),
            }
        }
        (Some(Problem::DullColors), _) => {
            let how = much(["a little too", "too", "much too", "far too"]);
            format!("its colors are {how} pale")
        }
        (Some(Problem::Oversaturation), _) => {
            let how = much(["a little too", "too", "much too", "far too"]);
            format!("its colors are {how} strong")
        }
        (Some(Problem::Oversharpening), _) | (None, Distortion::Sharpness) => {
            let how = much(["slight", "visible", "strong", "extreme"]);
            format!("sharpening has left {how} halos")
        }
        (Some(Problem::Other) | None, distortion) => {
            let what = match distortion {
                Distortion::Brightness => "brightness is",
                Distortion::Contrast => "contrast is",
                _ => "colors are",
            };
            format!("its {what} {}", much(["slightly off", "off", "badly off", "extremely off"]))
        }
    }
}

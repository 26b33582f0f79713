//! English answers.

use super::super::{Strength, Verdict};
use super::{Answers, Beyond, Look};
use crate::question::meaning::{Aspect, Kind};
use agenticiqa_vision::palette::Hue;

/// The sentences of the language.
#[derive(Debug)]
pub(crate) struct English;

fn amount(strength: Strength) -> &'static str {
    match strength {
        Strength::None => "no visible",
        Strength::Slight => "slight",
        Strength::Moderate => "moderate",
        Strength::Severe => "strong",
        Strength::Extreme => "extreme",
    }
}

fn side(step: i8, words: [&'static str; 5]) -> &'static str {
    words[usize::try_from(step.clamp(-2, 2) + 2).unwrap_or(2)]
}

/// The sentence about one thing.
fn told(subject: &str, look: Look) -> String {
    match look {
        Look::Blur(Strength::None, _) => format!("{subject} is sharp"),
        Look::Blur(Strength::Slight, _) => format!("{subject} is slightly blurred"),
        Look::Blur(strength, kind) => {
            let degree = match strength {
                Strength::Moderate => "clearly",
                Strength::Severe => "strongly",
                _ => "extremely",
            };
            let cause = match kind {
                Some(Kind::Motion) => ", most likely by motion or camera shake",
                Some(Kind::Defocus) => ", most likely because it is out of focus",
                _ => "",
            };
            format!("{subject} is {degree} blurred{cause}")
        }
        Look::Noise(strength) => format!("{subject} shows {} noise", amount(strength)),
        Look::Compression(strength) => format!("{subject} shows {} compression artifacts", amount(strength)),
        Look::Haze(strength) => format!("{subject} shows {} haze", amount(strength)),
        Look::Halos(strength) => format!("{subject} shows {} oversharpening", amount(strength)),
        Look::Cast(strength, kind) => {
            let hue = match kind.filter(|_| strength > Strength::None) {
                Some(Kind::Warm) => "warm ",
                Some(Kind::Cool) => "cool ",
                Some(Kind::Green) => "green ",
                Some(Kind::Magenta) => "magenta ",
                _ => "",
            };
            let what = if kind == Some(Kind::Fringing) { "color fringing" } else { "color cast" };
            let article = match strength {
                Strength::None => "",
                Strength::Extreme => "an ",
                _ => "a ",
            };
            format!("{subject} has {article}{} {hue}{what}", amount(strength))
        }
        Look::Light(step) => {
            let words = ["very dark", "dark", "neither dark nor bright", "bright", "very bright"];
            format!("{subject} is {}", side(step, words))
        }
        Look::Exposure(0, Strength::None) => format!("{subject} is exposed correctly"),
        Look::Exposure(0, _) => format!("{subject} has dark and blown-out parts at once"),
        Look::Exposure(step, strength) => {
            let degree = match strength {
                Strength::None | Strength::Slight => "slightly ",
                Strength::Moderate => "",
                Strength::Severe => "severely ",
                Strength::Extreme => "extremely ",
            };
            format!("{subject} is {degree}{}", if step < 0 { "underexposed" } else { "overexposed" })
        }
        Look::Backlit => format!("{subject} is backlit: what matters is darker than what is behind it"),
        Look::Contrast(step) => {
            format!("{subject} has {} contrast", side(step, ["low", "low", "normal", "high", "high"]))
        }
        Look::Color(-2) => format!("{subject} is black and white or almost colorless"),
        Look::Color(step) => {
            format!(
                "{subject} has {} colors",
                side(step, ["dull", "dull", "moderately strong", "vivid", "oversaturated"])
            )
        }
        Look::Mood(step) => {
            let words = ["gloomy", "gloomy", "neither lively nor gloomy", "lively", "lively"];
            format!("{subject} looks {} by its light and color", side(step, words))
        }
        Look::Symmetric(true) => "the left half mirrors the right half".to_owned(),
        Look::Symmetric(false) => "the left half does not mirror the right half".to_owned(),
        Look::Place { centered, percent } => {
            let place = if centered { "in the middle" } else { "away from the middle" };
            format!("{subject} is {place} and covers {percent}% of the image")
        }
    }
}

const fn name(hue: Hue) -> &'static str {
    match hue {
        Hue::Red => "red",
        Hue::Orange => "orange",
        Hue::Yellow => "yellow",
        Hue::Green => "green",
        Hue::Cyan => "cyan",
        Hue::Blue => "blue",
        Hue::Purple => "purple",
        Hue::Pink => "pink",
        Hue::Brown => "brown",
        Hue::Black => "black",
        Hue::Gray => "gray",
        Hue::White => "white",
    }
}

/// Whether a subject is more than one thing: "the branches", "people".
fn is_plural(subject: &str) -> bool {
    let last = subject.rsplit(' ').next().unwrap_or(subject);
    last == "people" || last.ends_with('s') && !["ss", "us", "is"].iter().any(|end| last.ends_with(end))
}

impl Answers for English {
    fn verdict(&self, verdict: Verdict) -> &'static str {
        match verdict {
            Verdict::Yes => "Yes. ",
            Verdict::Probably => "Probably. ",
            Verdict::Open => "Cannot tell. ",
            Verdict::ProbablyNot => "Probably not. ",
            Verdict::No => "No. ",
        }
    }

    fn subject(&self, part: Option<&str>) -> String {
        match part {
            None => "the image".to_owned(),
            Some(part) if part.starts_with("the ") || !part.is_ascii() => part.to_owned(),
            Some(part) => format!("the {part}"),
        }
    }

    fn look(&self, subject: &str, look: Look) -> String {
        let told = told(subject, look);
        let verbs = [(" is ", " are "), (" shows ", " show "), (" has ", " have ")];
        let rest = told.strip_prefix(subject).filter(|_| is_plural(subject));
        let agreed = rest.and_then(|rest| {
            verbs.iter().find_map(|(one, many)| Some(format!("{subject}{many}{}", rest.strip_prefix(one)?)))
        });
        agreed.unwrap_or(told)
    }

    fn colors(&self, subject: &str, shares: &[(Hue, f64)]) -> String {
        let listed: Vec<String> =
            shares.iter().map(|(hue, share)| format!("{} ({:.0}%)", name(*hue), 100.0 * share)).collect();
        let verb = if is_plural(subject) { "are" } else { "is" };
        match listed.as_slice() {
            [all @ .., last] if !all.is_empty() => format!("{subject} {verb} mostly {} and {last}", all.join(", ")),
            all => format!("{subject} {verb} mostly {}", all.join("")),
        }
    }

    fn named(&self, aspect: Aspect, clause: &str) -> String {
        format!("{}: {clause}", aspect.name())
    }

    fn jpeg_quality(&self, quality: Option<f64>) -> String {
        match quality {
            Some(quality) => format!("the file is a JPEG of quality {quality:.0}"),
            None => "the file is not a JPEG, so it has no such setting".to_owned(),
        }
    }

    fn joined(&self, clauses: &[String]) -> String {
        match clauses {
            [first, last] => format!("{first}, and {last}"),
            clauses => clauses.join("; "),
        }
    }

    fn not_found(&self, part: &str) -> String {
        format!("I did not find the {part}; for the whole image: ")
    }

    fn not_measured(&self) -> &'static str {
        "nothing was measured that answers the question"
    }

    fn beyond(&self, beyond: Beyond) -> &'static str {
        match beyond {
            Beyond::Beauty => "I cannot judge beauty, style or feelings. ",
            Beyond::Origin => "I cannot judge whether an image is generated, edited or real. ",
            Beyond::Content => "I cannot judge what or who is in an image, or where it comes from. ",
            Beyond::Composition => "I cannot judge composition or what an image emphasizes. ",
            Beyond::Unknown => "I cannot judge that: I answer questions about the technical quality of an image. ",
            Beyond::Instruction => "I answer from measurements of the image only. ",
            Beyond::NoReference => "I cannot judge that without a reference image. ",
        }
    }

    fn read_as(&self, written: &str, word: &str) -> String {
        format!("I read \"{written}\" as \"{word}\"")
    }

    fn compared(&self, first: &str, second: &str, differ: bool) -> String {
        if differ { format!("{first}, while {second}") } else { format!("{first}, and {second}: they hardly differ") }
    }

    fn best_part(&self, part: &str) -> String {
        format!("{part}: ")
    }

    fn narrowly(&self, part: &str) -> String {
        format!("{part}, by a narrow margin: ")
    }

    fn all_alike(&self) -> &'static str {
        "the parts hardly differ: "
    }

    fn everywhere(&self) -> &'static str {
        "Everywhere: "
    }

    fn against_limit(&self, score: f64, limit: f64, interval: Option<(f64, f64)>) -> String {
        let range = interval.map(|(low, high)| format!(" (90% prediction interval {low:.2} to {high:.2})"));
        let way = if score >= limit { "not below" } else { "below" };
        format!("the score is {score:.2}{}, {way} {limit}", range.unwrap_or_default())
    }

    fn value(&self, name: &str, value: &str) -> String {
        format!("{name}: {value}")
    }

    fn size(&self, width: usize, height: usize) -> String {
        let megapixels = (width * height) as f64 / 1e6;
        format!("{width} x {height} pixels ({megapixels:.1} megapixels)")
    }

    fn print(&self, paper: &str, density: f64) -> String {
        let meaning = match density {
            density if density >= 250.0 => "enough to look at closely",
            density if density >= 150.0 => "enough at arm's length",
            density if density >= 90.0 => "enough only from some distance",
            _ => "too few: single pixels show",
        };
        format!("at {paper} it has {density:.0} pixels per inch, which is {meaning}")
    }

    fn no_advice(&self) -> &'static str {
        "No edit is needed: nothing was found that an edit would mend."
    }

    fn not_tried(&self) -> &'static str {
        "edits were not tried; ask with what-if for their measured gain"
    }

    fn against_reference(&self, same: bool) -> &'static str {
        if same {
            "no visible difference from the reference was measured"
        } else {
            "it differs visibly from the reference"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbs_agree_with_their_subjects() {
        assert_eq!(English.look("the branches", Look::Blur(Strength::None, None)), "the branches are sharp");
        assert_eq!(English.look("the glass", Look::Light(-1)), "the glass is dark");
        assert_eq!(English.look("people", Look::Noise(Strength::None)), "people show no visible noise");
    }
}

//! Selects the option that the evidence supports. Options are claims too.

use super::ask::Asked;
use super::scale::Position;
use super::truth::{likeness, probability};
use crate::language::{Lexicon, lexicons};
use crate::question::meaning::{self, Aspect, Claim, Degree, Extreme, Form, Grade, Kind, Meaning, Pole};
use crate::question::words::{longest_listed, starts_with_listed, words};
use crate::state::{AnswerOption, QualityLevel};

/// The letter of an option, and what decided it.
#[derive(Debug, Clone)]
pub(crate) struct Choice {
    pub letter: char,
    /// The positions that decided; empty if the option is a guess.
    pub because: Vec<Position>,
    /// Whether another option fits equally well.
    pub tied: bool,
    /// Whether the colors of the image decided.
    pub shown: bool,
}

/// The meaning of an option.
#[derive(Debug)]
struct Reading<'a> {
    letter: char,
    text: &'a str,
    meaning: Meaning,
    yes: Option<bool>,
    /// "None of these", "no distortion".
    nothing: bool,
    unsure: bool,
}

/// Positions that differ by less are equal.
const EQUAL: f64 = 0.02;

/// Returns the option that the evidence supports best, or a guess.
pub(crate) fn choose(asked: &Asked<'_>, options: &[AnswerOption], parts: &[(char, String)]) -> Option<Choice> {
    let readings: Vec<Reading<'_>> = options.iter().map(read).collect();
    by_yes_or_no(asked, &readings)
        .or_else(|| by_color(asked, &readings))
        .or_else(|| by_part(asked, parts, options.len()))
        .or_else(|| by_claims(asked, &readings))
        .or_else(|| by_scale(asked, &readings))
        .or_else(|| guess(asked, &readings))
}

fn read(option: &AnswerOption) -> Reading<'_> {
    let words = words(&option.text);
    let nothing = longest_listed(&words, |lexicon| lexicon.options.nothing_wrong).is_some();
    let starts = |list: fn(&'static Lexicon) -> &'static str| starts_with_listed(&words, list);
    let meaning = meaning::read(&option.text);
    let says_more = !meaning.claims.is_empty();
    let yes = if starts(|lexicon| lexicon.options.yes) {
        Some(true)
    } else if starts(|lexicon| lexicon.options.no) && !says_more && !(nothing && words.len() > 1) {
        Some(false)
    } else {
        None
    };
    let nothing = nothing || words.len() == 1 && starts(|lexicon| lexicon.options.no) && option.text.trim() == "无";
    let says_nothing = nothing && meaning.claims.iter().all(|claim| claim.denied || claim.aspect == Aspect::Damage);
    let unsure = longest_listed(&words, |lexicon| lexicon.options.unsure).is_some();
    Reading { letter: option.letter, text: &option.text, meaning, yes, nothing: says_nothing, unsure }
}

fn by_yes_or_no(asked: &Asked<'_>, readings: &[Reading<'_>]) -> Option<Choice> {
    let both = [true, false].iter().all(|yes| readings.iter().any(|reading| reading.yes == Some(*yes)));
    if !both {
        return None;
    }
    if asked.meaning.claims.iter().any(|claim| claim.aspect == Aspect::Hue) {
        return by_main_color(asked, readings);
    }
    let judged = asked.judged()?;
    let comparison = super::compare(asked);
    let probability = comparison.as_ref().map_or_else(|| asked.combined(&judged), |compared| compared.probability);
    let holds = probability >= 0.5;
    let position = judged[0].position.clone();
    let distance = |reading: &&Reading<'_>| {
        let stated = reading.meaning.degree.map_or(position.fault, amount_of);
        (stated - position.fault).abs()
    };
    let fitting = readings.iter().filter(|reading| reading.yes == Some(holds));
    let chosen = fitting.min_by(|one, two| distance(one).total_cmp(&distance(two)))?;
    let because = judged.into_iter().map(|one| one.position).collect();
    Some(Choice { letter: chosen.letter, because, tied: false, shown: false })
}

/// "Is the main color blue? Yes / No"
fn by_main_color(asked: &Asked<'_>, readings: &[Reading<'_>]) -> Option<Choice> {
    let holds = super::frame::is_main_color(asked)? >= 0.5;
    let chosen = readings.iter().find(|reading| reading.yes == Some(holds))?;
    Some(Choice { letter: chosen.letter, because: Vec::new(), tied: false, shown: true })
}

/// Options that are colors: the one that is seen most.
fn by_color(asked: &Asked<'_>, readings: &[Reading<'_>]) -> Option<Choice> {
    let texts: Vec<&str> = readings.iter().map(|reading| reading.text).collect();
    let seen = super::frame::of_options(asked, &texts)?;
    let sign = if asked.meaning.form == Form::WhichNot || asked.meaning.denies { -1.0 } else { 1.0 };
    let best = readings.iter().zip(&seen).max_by(|one, other| (sign * one.1).total_cmp(&(sign * other.1)))?;
    let tied = seen.iter().filter(|other| (*other - best.1).abs() < EQUAL / 2.0).count() > 1;
    Some(Choice { letter: best.0.letter, because: Vec::new(), tied, shown: true })
}

fn amount_of(degree: Degree) -> f64 {
    match degree {
        Degree::Any | Degree::Slight | Degree::Enough => 1.0,
        Degree::Moderate => 2.0,
        Degree::Strong | Degree::Severe | Degree::Too => 3.0,
        Degree::Extreme => 4.0,
    }
}

/// "Which part?": the part that lies farthest on the aspect.
fn by_part(asked: &Asked<'_>, parts: &[(char, String)], options: usize) -> Option<Choice> {
    if parts.len() < 2 || parts.len() < options {
        return None;
    }
    let names: Vec<&str> = parts.iter().map(|(_, name)| name.as_str()).collect();
    let ranked = super::ranked(asked, &names)?;
    let first = ranked.first()?;
    // One part that was found is the subject rather than those that were not.
    let found = ranked.len() > 1 || first.2.aspect == Aspect::Emphasis && first.1 > 0.0;
    if !found {
        return None;
    }
    let tied = ranked.get(1).is_some_and(|second| (first.1 - second.1).abs() < EQUAL);
    // Equal parts were not found: the part that is most often the subject is the better guess.
    let letter = if ranked.iter().all(|(_, rank, _)| (rank - first.1).abs() < EQUAL) {
        let texts: Vec<(char, &str)> = parts.iter().map(|(letter, name)| (*letter, name.as_str())).collect();
        super::prior::part(asked.meaning, &texts)?
    } else {
        parts.iter().find(|(_, name)| *name == first.0)?.0
    };
    Some(Choice { letter, because: ranked.into_iter().map(|(_, _, position)| position).collect(), tied, shown: false })
}

/// Options about different aspects, sides or kinds: the one that is most true wins.
fn by_claims(asked: &Asked<'_>, readings: &[Reading<'_>]) -> Option<Choice> {
    let claims: Vec<&Claim> = readings.iter().flat_map(|reading| reading.meaning.measured()).collect();
    let first = claims.first()?;
    let family = |claim: &Claim| match claim.aspect {
        Aspect::Light | Aspect::Exposure => Aspect::Exposure,
        Aspect::Color | Aspect::Mood | Aspect::Contrast => Aspect::Color,
        other => other,
    };
    let differ = claims.iter().any(|claim| family(claim) != family(first))
        || claims.iter().any(|claim| claim.kind.is_some() && claim.kind != first.kind && claim.aspect == first.aspect);
    let asks = matches!(asked.meaning.form, Form::Which | Form::WhichNot);
    let asks_scale = asked.meaning.measured().any(|claim| claim.aspect != Aspect::Damage);
    // "How hazy is it? Clear / Slight / Strong" is one scale, whatever its ends are called.
    let bare = |reading: &Reading<'_>| reading.meaning.claims.is_empty() && reading.meaning.degree.is_some();
    let scale = asked.meaning.form == Form::HowMuch && asks_scale && readings.iter().any(bare);
    if scale || !differ && (!asks || asks_scale) || claims.len() + 1 < readings.len().min(3) {
        return None;
    }
    let inverted = asked.meaning.form == Form::WhichNot;
    let mut ranked: Vec<(f64, char, Vec<Position>)> = Vec::new();
    for reading in readings {
        let (strength, positions) = strength(asked, reading)?;
        ranked.push((if inverted { -strength } else { strength }, reading.letter, positions));
    }
    let most = ranked.iter().map(|(strength, ..)| *strength).fold(f64::NEG_INFINITY, f64::max);
    let tied = ranked.iter().filter(|(strength, ..)| most - strength < EQUAL).count() > 1;
    let (_, letter, positions) = ranked.into_iter().find(|(strength, ..)| *strength == most)?;
    Some(Choice { letter, because: positions, tied, shown: false })
}

/// How strongly the claims of an option are present, from 0 to 4.
fn strength(asked: &Asked<'_>, reading: &Reading<'_>) -> Option<(f64, Vec<Position>)> {
    /// The strength of damage that is not measured, such as rain.
    const UNKNOWN: f64 = 0.15;
    /// Weaker damage counts as none.
    const NOTHING: f64 = 0.7;
    if reading.nothing {
        return Some((NOTHING, Vec::new()));
    }
    let (mut sum, mut count, mut positions) = (0.0, 0.0, Vec::new());
    let part = asked.scope.first().copied().unwrap_or(crate::state::GLOBAL);
    for claim in reading.meaning.measured() {
        let Some(position) = asked.scales.position(part, claim.aspect) else { continue };
        sum += present(asked, part, claim, &position);
        count += 1.0;
        positions.push(position);
    }
    if count == 0.0 { Some((UNKNOWN, positions)) } else { Some((sum / count, positions)) }
}

fn present(asked: &Asked<'_>, part: &str, claim: &Claim, position: &Position) -> f64 {
    let value = position.value;
    let light = |sign: f64| {
        let light = asked.scales.position(part, Aspect::Light).map_or(0.0, |light| sign * light.value);
        0.6 * light.max(0.0)
    };
    let strength = match (claim.aspect, claim.pole.unwrap_or(Pole::Fault)) {
        (Aspect::Sharpness, Pole::Low | Pole::Fault) => value * likeness(claim, position),
        (Aspect::Sharpness, _) => 2.2 - 1.2 * value,
        (Aspect::Exposure, Pole::Low) => (-value).max(light(-1.0)),
        (Aspect::Exposure, Pole::High) => value.max(light(1.0)),
        (Aspect::Exposure, Pole::Fault) if claim.kind == Some(Kind::Backlight) => {
            if position.kind == Some(Kind::Backlight) { position.fault } else { 0.1 }
        }
        (Aspect::Damage, _) => 0.3,
        (aspect, Pole::High | Pole::Fault) if Claim::is_amount(aspect) => value * likeness(claim, position),
        (aspect, _) if Claim::is_amount(aspect) => 2.0 - value,
        (_, Pole::Low) => -1.2 * value,
        (_, Pole::High) => 1.2 * value,
        (_, Pole::Fault) => position.fault,
        (_, Pole::Middle) => 1.0 - value.abs(),
        (_, Pole::Good) => 1.5 - position.fault,
    };
    if claim.denied { 1.4 - strength } else { strength }
}

/// Options on one scale: the nearest wins.
fn by_scale(asked: &Asked<'_>, readings: &[Reading<'_>]) -> Option<Choice> {
    let question = asked.meaning.measured().next().copied().or_else(|| asked.implied());
    let of_options = || readings.iter().flat_map(|reading| reading.meaning.measured()).map(|claim| claim.aspect);
    let about_whole = question.is_none_or(|claim| claim.aspect == Aspect::Quality);
    let aspect = match question {
        Some(claim) if !about_whole => {
            let exposure = of_options().any(|aspect| aspect == Aspect::Exposure);
            if exposure && claim.aspect == Aspect::Light { Aspect::Exposure } else { claim.aspect }
        }
        _ => of_options().next().unwrap_or(Aspect::Quality),
    };
    if question.is_none() && of_options().next().is_none() && asked.meaning.form == Form::Beyond {
        return None;
    }
    if let Some(choice) = by_goodness(asked, readings, aspect) {
        return Some(choice);
    }
    let base = question.filter(|claim| claim.aspect == aspect).unwrap_or(Claim::new(aspect, None, None));
    let part = asked.scope.first().copied().unwrap_or(crate::state::GLOBAL);
    let position = asked.scales.position(part, aspect)?;
    let centers: Vec<(f64, char)> =
        readings.iter().filter_map(|reading| Some((center(reading, &base, aspect)?, reading.letter))).collect();
    if centers.len() < 2 {
        return None;
    }
    let centers = if aspect == Aspect::Quality { within_reach(centers) } else { centers };
    let off = |center: f64| (center - place(&position, &base)).abs();
    let nearest = centers.iter().min_by(|one, two| off(one.0).total_cmp(&off(two.0)))?;
    let tied = centers.iter().filter(|other| (other.0 - nearest.0).abs() < EQUAL).count() > 1;
    Some(Choice { letter: nearest.1, because: vec![position], tied, shown: false })
}

/// "How is the lighting? Good / Average / Poor": how much is wrong, and not how bright it is.
fn by_goodness(asked: &Asked<'_>, readings: &[Reading<'_>], aspect: Aspect) -> Option<Choice> {
    if !matches!(aspect, Aspect::Light | Aspect::Exposure) {
        return None;
    }
    let grade = |reading: &Reading<'_>| {
        let grade = reading.meaning.grade.filter(|_| reading.meaning.measured().next().is_none());
        match grade {
            Some((Grade::Good, false)) | Some((Grade::Poor, true)) => Some(0.3),
            Some((Grade::Medium, _)) => Some(1.1),
            Some((Grade::Poor, false)) | Some((Grade::Good, true)) => Some(2.0),
            _ => None,
        }
    };
    let graded: Vec<(f64, char)> =
        readings.iter().filter_map(|reading| Some((grade(reading)?, reading.letter))).collect();
    let worst = graded.iter().any(|(fault, _)| *fault > 1.5);
    if graded.len() < readings.len() || !worst {
        return None;
    }
    let part = asked.scope.first().copied().unwrap_or(crate::state::GLOBAL);
    let position = asked.scales.position(part, aspect)?;
    let off = |fault: f64| (fault - position.fault).abs();
    let nearest = graded.iter().min_by(|one, two| off(one.0).total_cmp(&off(two.0)))?;
    let letter = nearest.1;
    Some(Choice { letter, because: vec![position], tied: false, shown: false })
}

/// Scores of photos seldom reach the ends of the scale: where an end has no neighbor among the options, it begins
/// earlier.
fn within_reach(mut centers: Vec<(f64, char)>) -> Vec<(f64, char)> {
    for (end, inner, begins) in [(5.0, 4.0, 4.3), (1.0, 2.0, 1.7)] {
        let has = |wanted: f64| centers.iter().any(|(center, _)| (center - wanted).abs() < EQUAL);
        if has(end) && !has(inner) {
            centers
                .iter_mut()
                .filter(|(center, _)| (*center - end).abs() < EQUAL)
                .for_each(|(center, _)| *center = begins);
        }
    }
    centers
}

/// Where the image lies on the scale of the question; only the part that is of its kind counts.
fn place(position: &Position, base: &Claim) -> f64 {
    let amount = position.aspect == Aspect::Sharpness || Claim::is_amount(position.aspect);
    if amount { position.value * likeness(base, position) } else { position.value }
}

/// Returns the place that an option states.
fn center(reading: &Reading<'_>, base: &Claim, aspect: Aspect) -> Option<f64> {
    let meaning = &reading.meaning;
    let stated = meaning.measured().find(|claim| claim.aspect == aspect).or_else(|| meaning.measured().next());
    if aspect == Aspect::Quality
        && let Some(level) = level(reading.text)
    {
        return Some(level);
    }
    if let Some(claim) = stated {
        let claim = Claim { aspect, ..*claim };
        return Some(center_of(&claim));
    }
    if reading.nothing {
        return Some(0.0);
    }
    if meaning.lacks && meaning.grade.is_none() {
        let mut claim = Claim { pole: None, kind: None, ..*base };
        claim.lack();
        return Some(center_of(&claim));
    }
    let bad = base.is_bad();
    if let Some((grade, denied)) = meaning.grade {
        let pole = if bad || Claim::is_amount(aspect) { base.pole } else { None };
        let mut claim = Claim { denied: false, degree: None, ..*base };
        claim.pole = pole;
        let acceptable = matches!(grade, Grade::Good | Grade::Medium);
        claim.grade(grade);
        claim.degree = meaning.degree.or(claim.degree).filter(|_| !acceptable || meaning.degree != Some(Degree::Any));
        return Some(center_of(&Claim { denied, ..claim }));
    }
    if meaning.denies || reading.yes == Some(false) {
        let claim = if base.pole.is_some() { *base } else { Claim { pole: Some(Pole::High), ..*base } };
        return Some(center_of(&Claim { denied: true, degree: None, ..claim }));
    }
    let degree = meaning.degree?;
    let pole = base.pole.or(Some(Pole::High));
    Some(center_of(&Claim { pole, degree: Some(degree), denied: false, ..*base }))
}

/// The quality level that a text names.
fn level(text: &str) -> Option<f64> {
    let words = words(text);
    let named = QualityLevel::ALL.into_iter().rev().filter_map(|level| {
        let named = lexicons().filter_map(|lexicon| crate::question::words::longest(&words, (lexicon.level)(level)));
        Some((named.max()?, f64::from(level.number())))
    });
    named.max_by_key(|(length, _)| *length).map(|(_, level)| level)
}

/// The typical place of an image for which a claim is true.
fn center_of(claim: &Claim) -> f64 {
    use Degree::{Any, Enough, Extreme as Utter, Moderate, Severe, Slight, Strong, Too};
    let pole = claim.pole.unwrap_or(Pole::Middle);
    let sharpness = claim.aspect == Aspect::Sharpness;
    if sharpness || Claim::is_amount(claim.aspect) {
        let present =
            if sharpness { matches!(pole, Pole::Low | Pole::Fault) } else { matches!(pole, Pole::High | Pole::Fault) };
        return match (pole, present != claim.denied, claim.degree) {
            (Pole::Middle, ..) => 1.45,
            (_, true, _) if claim.denied => 2.4,
            (_, true, Some(Slight)) => 1.0,
            (_, true, Some(Any | Moderate | Enough)) => 1.7,
            (_, true, Some(Utter)) => 3.6,
            (_, true, Some(Strong | Severe | Too)) => 2.9,
            (_, true, None) => 2.6,
            (_, false, Some(Moderate | Slight | Any)) if !claim.denied => 1.1,
            (Pole::Good, false, _) => 0.3,
            (_, false, _) => 0.1,
        };
    }
    if claim.aspect == Aspect::Quality {
        return match (pole, claim.denied) {
            (Pole::High | Pole::Good, false) | (Pole::Low | Pole::Fault, true) => 4.0,
            (Pole::Middle, _) => 3.0,
            _ => 2.0,
        };
    }
    let unit = if claim.aspect == Aspect::Exposure { 2.0 } else { 1.2 };
    let size = match claim.degree {
        Some(Slight) => 0.5,
        Some(Moderate) => 0.7,
        Some(Strong | Severe | Utter) => 1.5,
        _ => 1.0,
    };
    if claim.denied {
        return 0.0;
    }
    match pole {
        Pole::Low if claim.kind == Some(Kind::Monochrome) => -2.2,
        Pole::Low => -unit * size,
        Pole::High => unit * size,
        Pole::Fault => -0.8 * unit,
        Pole::Good if matches!(claim.aspect, Aspect::Color | Aspect::Contrast | Aspect::Light) => 0.45 * unit,
        Pole::Good | Pole::Middle => 0.0,
    }
}

/// No measurement decides: the option that admits it, else what is most often true.
fn guess(asked: &Asked<'_>, readings: &[Reading<'_>]) -> Option<Choice> {
    let unsure = readings.iter().find(|reading| reading.unsure);
    let yes =
        || readings.iter().find(|reading| reading.yes == Some(true)).filter(|_| super::prior::often_yes(asked.meaning));
    let no = || readings.iter().find(|reading| reading.yes == Some(false));
    let texts: Vec<(char, &str)> = readings.iter().map(|reading| (reading.letter, reading.text)).collect();
    let letter = match unsure.or_else(yes).or_else(no) {
        Some(reading) => reading.letter,
        None => super::prior::part(asked.meaning, &texts)?,
    };
    Some(Choice { letter, because: Vec::new(), tied: false, shown: false })
}

/// Which end of a ranking a question asks for: 1 for much of the claim, -1 for little.
pub(crate) fn wanted(meaning: &Meaning) -> f64 {
    if meaning.extreme == Some(Extreme::Least) || meaning.form == Form::WhichNot { -1.0 } else { 1.0 }
}

/// How true a claim is, for a ranking: not rounded to 0 or 1.
pub(crate) fn rank(claim: &Claim, position: &Position) -> f64 {
    let toward = match (claim.aspect, claim.pole) {
        (Aspect::Sharpness, Some(Pole::Low | Pole::Fault)) => position.value * likeness(claim, position),
        (Aspect::Sharpness, _) => -position.value,
        (Aspect::Quality, Some(Pole::Low | Pole::Fault)) => -position.value,
        (aspect, Some(Pole::Low | Pole::Good)) if Claim::is_amount(aspect) => -position.value,
        (_, Some(Pole::Low)) => -position.value,
        (_, Some(Pole::Good | Pole::Middle)) => -position.fault,
        (_, Some(Pole::Fault)) => position.fault,
        _ => position.value,
    };
    let toward = if claim.denied { -toward } else { toward };
    toward + 0.01 * probability(claim, position)
}

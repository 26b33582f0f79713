//! Answers a question from its meaning and the evidence.

mod ask;
mod choice;
mod frame;
mod look;
mod prior;
mod scale;
mod sentences;
mod truth;
mod values;

pub(crate) use ask::Asked;
pub(crate) use choice::{Choice, choose};
pub use frame::Frame;
pub(crate) use frame::colors_told;
pub(crate) use look::Strength;
pub(crate) use scale::{Position, Scales};
pub(crate) use sentences::{Answers, Beyond, Look, answers};
pub(crate) use truth::{PRESENT, Verdict};

use crate::language::Language;
use crate::question::meaning::{Aspect, Claim, Form, Kind, Meaning, Pole};
use crate::state::GLOBAL;
use look::look;

/// Parts whose positions differ by less hardly differ.
const ALIKE: f64 = 0.25;

/// An answer with the evidence behind it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    /// The whole answer.
    pub text: String,
    /// The part of it that the evidence shows, without a verdict.
    pub because: String,
    /// JSON pointers to the evidence.
    pub pointers: Vec<String>,
    /// What the answer says is there or not, by aspect.
    pub aspects: Vec<Aspect>,
}

/// What an answer is written with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Writer<'a> {
    pub language: Language,
    /// The words for the level of the overall quality.
    pub quality: &'a str,
    /// The words for all visible distortions.
    pub damage: &'a str,
    /// Parts whose place is not known: the whole image was measured instead.
    pub missing: &'a [&'a str],
    /// The size of the image in pixels.
    pub size: Option<(usize, usize)>,
}

impl Writer<'_> {
    pub fn answers(&self) -> &'static dyn Answers {
        answers(self.language)
    }

    fn subject(&self, part: &str) -> String {
        let whole = part == GLOBAL || self.missing.contains(&part);
        self.answers().subject((!whole).then_some(part))
    }

    /// The clause about a position.
    pub fn state(&self, position: &Position) -> String {
        match look(position) {
            Some(look) => self.answers().look(&self.subject(&position.part), look),
            None if position.aspect != Aspect::Quality => self.damage.to_owned(),
            None => self.quality.to_owned(),
        }
    }

    fn states<'p>(&self, positions: impl Iterator<Item = &'p Position>) -> String {
        let mut clauses: Vec<String> = Vec::new();
        for position in positions {
            let clause = self.state(position);
            if !clauses.contains(&clause) {
                clauses.push(clause);
            }
        }
        self.answers().joined(&clauses)
    }

    /// Clauses about several aspects, each after its name.
    fn each(&self, positions: &[&Position]) -> String {
        let answers = self.answers();
        let clauses = positions.iter().map(|position| answers.named(position.aspect, &self.state(position)));
        let clauses: Vec<String> = clauses.collect();
        clauses.join(self.language.phrases().between_clauses())
    }

    /// The words for parts that were not found.
    fn not_found(&self, positions: &[&Position]) -> String {
        let missing = positions.iter().find(|position| self.missing.contains(&position.part.as_str()));
        missing.map(|position| self.answers().not_found(&position.part)).unwrap_or_default()
    }

    /// Makes a sentence: upper-case start, full stop at the end.
    pub fn sentence(&self, text: &str) -> String {
        let mut characters = text.trim().chars();
        let first = characters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
        let mut sentence = first + characters.as_str();
        if !sentence.ends_with(['.', '!', '?', '。', '！', '？']) {
            sentence.push_str(self.language.phrases().full_stop());
        }
        sentence
    }

    fn answer(&self, verdict: &str, positions: &[&Position], because: &str) -> Answer {
        let because = format!("{}{because}", self.not_found(positions));
        let mut pointers: Vec<String> = Vec::new();
        for pointer in positions.iter().flat_map(|position| &position.pointers) {
            if !pointers.contains(pointer) {
                pointers.push(pointer.clone());
            }
        }
        let aspects = positions.iter().map(|position| position.aspect).collect();
        Answer { text: format!("{verdict}{}", self.sentence(&because)), because, pointers, aspects }
    }
}

/// Answers one sentence; nothing if it makes no specific claim, so that the whole image is described.
pub(crate) fn answer(asked: &Asked<'_>, writer: &Writer<'_>) -> Option<Answer> {
    if asked.meaning.claims.iter().any(|claim| claim.aspect == Aspect::Hue) {
        return frame::hues(asked, writer);
    }
    match asked.meaning.form {
        Form::YesNo => yes_or_no(asked, writer),
        Form::Either => either(asked, writer),
        // "Which is sharper, the sky or the car?"
        Form::Which if asked.scope.len() > 1 && asked.meaning.extreme.is_some() && names_aspect(asked.meaning) => {
            which_part(asked, writer)
        }
        Form::Which | Form::WhichNot => which(asked, writer),
        Form::WhichPart => which_part(asked, writer),
        Form::Where => place(asked, writer),
        Form::Why if asked.meaning.measured().next().is_none() => which(asked, writer),
        Form::HowMuch | Form::RateSeveral | Form::Why => how_much(asked, writer),
        Form::Value => values::value(writer),
        Form::Print => values::print(asked, writer),
        Form::Advice => values::advice(asked, writer),
        Form::Compare => values::against_reference(asked, writer),
        Form::Whole => None,
        Form::Beyond | Form::Instruction => None,
    }
}

fn names_aspect(meaning: &Meaning) -> bool {
    meaning.measured().any(|claim| !matches!(claim.aspect, Aspect::Damage | Aspect::Quality))
}

/// Why a question is beyond measuring.
pub(crate) fn beyond(meaning: &Meaning) -> Beyond {
    if meaning.form == Form::Instruction {
        return Beyond::Instruction;
    }
    match meaning.claims.iter().map(|claim| claim.aspect).find(|aspect| !aspect.is_measured()) {
        Some(Aspect::Beauty) => Beyond::Beauty,
        Some(Aspect::Origin) => Beyond::Origin,
        Some(Aspect::Content) => Beyond::Content,
        Some(Aspect::Composition) => Beyond::Composition,
        _ => Beyond::Unknown,
    }
}

fn yes_or_no(asked: &Asked<'_>, writer: &Writer<'_>) -> Option<Answer> {
    if let Some(compared) = compare(asked) {
        let verdict = writer.answers().verdict(Verdict::of(compared.probability));
        let [first, second] = &compared.positions;
        let differ = (first.value - second.value).abs() >= ALIKE;
        let because = writer.answers().compared(&writer.state(first), &writer.state(second), differ);
        return Some(writer.answer(verdict, &[first, second], &because));
    }
    if let Some(limited) = values::limit(asked, writer) {
        return Some(limited);
    }
    let Some(judged) = asked.judged() else {
        let verdict = writer.answers().verdict(Verdict::Open);
        let because = writer.answers().not_measured();
        asked.meaning.measured().next()?;
        return Some(writer.answer(verdict, &[], because));
    };
    let verdict = writer.answers().verdict(Verdict::of(asked.combined(&judged)));
    let positions: Vec<&Position> = judged.iter().map(|one| &one.position).collect();
    let because = judged.iter().map(|one| shown(&one.claim, &one.position)).collect::<Vec<_>>();
    let because = writer.states(because.iter());
    Some(writer.answer(verdict, &positions, &because))
}

/// A position as the claim sees it: a cause is named only if it was not asked for in vain.
fn shown(claim: &Claim, position: &Position) -> Position {
    let light = claim.aspect == Aspect::Light && matches!(claim.pole, Some(Pole::Good | Pole::Fault));
    let kind = if light { None } else { position.kind };
    Position { kind, ..position.clone() }
}

/// "Too dark or too bright?": the side that is true, or neither.
fn either(asked: &Asked<'_>, writer: &Writer<'_>) -> Option<Answer> {
    let judged = asked.judged()?;
    let best = judged.iter().max_by(|one, other| one.probability.total_cmp(&other.probability))?;
    let positions: Vec<&Position> =
        if best.probability < 0.5 { judged.iter().map(|one| &one.position).collect() } else { vec![&best.position] };
    let because = writer.states(positions.iter().copied());
    Some(writer.answer("", &positions, &because))
}

/// "Which distortion?": all that is visible, worst first; "which not": what is not there.
fn which(asked: &Asked<'_>, writer: &Writer<'_>) -> Option<Answer> {
    if let Some(judged) = asked.judged() {
        let positions: Vec<&Position> = judged.iter().map(|one| &one.position).collect();
        let kinds = asked.meaning.measured().any(|claim| claim.aspect != Aspect::Damage);
        let because = if kinds { writer.states(positions.iter().copied()) } else { writer.damage.to_owned() };
        return Some(writer.answer("", &positions, &because));
    }
    let part = asked.scope.first().copied().unwrap_or(GLOBAL);
    let position = asked.scales.position(part, Aspect::Damage)?;
    Some(writer.answer("", &[&position], writer.damage))
}

/// Ranks parts by the claim of a question: name, rank and position, the best first.
pub(crate) fn ranked<'p>(asked: &Asked<'_>, parts: &[&'p str]) -> Option<Vec<(&'p str, f64, Position)>> {
    let claim = asked.meaning.measured().find(|claim| claim.aspect != Aspect::Damage).copied();
    let claim = claim.or_else(|| asked.implied()).or_else(|| asked.meaning.measured().next().copied());
    let claim = claim.unwrap_or(Claim::new(Aspect::Sharpness, Some(Pole::High), None));
    let claim = with_grade(asked.meaning, claim);
    let sign = choice::wanted(asked.meaning);
    let mut ranked: Vec<(&str, f64, Position)> = parts
        .iter()
        .filter_map(|part| {
            let position = asked.scales.position(part, claim.aspect)?;
            Some((*part, sign * choice::rank(&claim, &position), position))
        })
        .collect();
    ranked.sort_by(|one, other| other.1.total_cmp(&one.1));
    Some(ranked).filter(|ranked| !ranked.is_empty())
}

/// "the best quality", "the highest noise": the grade decides the side.
fn with_grade(meaning: &Meaning, mut claim: Claim) -> Claim {
    if let Some((grade, denied)) = meaning.grade.filter(|_| claim.pole.is_none()) {
        claim.grade(grade);
        claim.denied ^= denied;
    }
    claim
}

fn which_part(asked: &Asked<'_>, writer: &Writer<'_>) -> Option<Answer> {
    if asked.scope.len() < 2 {
        return place(asked, writer);
    }
    let ranked = ranked(asked, asked.scope)?;
    let positions: Vec<&Position> = ranked.iter().map(|(_, _, position)| position).collect();
    let (first, last) = (ranked.first()?, ranked.last()?);
    if (first.1 - last.1).abs() < ALIKE {
        let because = format!("{}{}", writer.answers().all_alike(), writer.states(positions.iter().take(1).copied()));
        return Some(writer.answer("", &positions, &because));
    }
    let name = writer.subject(first.0);
    if look(&first.2).is_some() && look(&first.2) == look(&ranked[1].2) {
        let because = format!("{}{}", writer.answers().narrowly(&name), writer.state(&first.2));
        return Some(writer.answer("", &positions, &because));
    }
    let because = format!("{}{}", writer.answers().best_part(&name), writer.state(&first.2));
    let because = writer.answers().compared(&because, &writer.state(&ranked[1].2), true);
    Some(writer.answer("", &positions, &because))
}

/// "Where is the blur?": the worst places, or everywhere.
fn place(asked: &Asked<'_>, writer: &Writer<'_>) -> Option<Answer> {
    let ranked = ranked(asked, if asked.scope.is_empty() { &[GLOBAL] } else { asked.scope })?;
    let positions: Vec<&Position> = ranked.iter().map(|(_, _, position)| position).collect();
    let (first, last) = (ranked.first()?, ranked.last()?);
    let shown = first.2.fault >= PRESENT || !asked.meaning.measured().any(Claim::is_bad);
    if !shown || ranked.len() == 1 {
        return Some(writer.answer("", &positions[..1], &writer.state(&first.2)));
    }
    if (first.1 - last.1).abs() < 2.0 * ALIKE {
        let because = format!("{}{}", writer.answers().everywhere(), writer.state(&first.2));
        return Some(writer.answer("", &positions, &because));
    }
    let worst: Vec<&(&str, f64, Position)> =
        ranked.iter().filter(|(_, rank, _)| first.1 - rank < ALIKE).take(3).collect();
    let clauses: Vec<String> = worst.iter().map(|(_, _, position)| writer.state(position)).collect();
    Some(writer.answer("", &positions, &writer.answers().joined(&clauses)))
}

fn how_much(asked: &Asked<'_>, writer: &Writer<'_>) -> Option<Answer> {
    let claims: Vec<Claim> = asked.meaning.measured().copied().collect();
    if claims.is_empty() || claims.iter().all(|claim| claim.aspect == Aspect::Quality) && asked.scope == [GLOBAL] {
        return None;
    }
    let mut positions = Vec::new();
    for claim in &claims {
        for part in asked.parts_of(claim) {
            positions.push(asked.scales.position(part, claim.aspect)?);
        }
    }
    let positions: Vec<&Position> = positions.iter().collect();
    let several = claims.len() > 1 && claims.iter().all(|claim| claim.pole.is_none() || Claim::is_amount(claim.aspect));
    let because = if several { writer.each(&positions) } else { writer.states(positions.iter().copied()) };
    let mut answer = writer.answer("", &positions, &because);
    if asked.meaning.jpeg_quality {
        return Some(values::jpeg_quality(&positions, writer));
    }
    if asked.meaning.wants_value {
        let numbers = values::numbers(&positions, writer);
        answer.text = [numbers.as_str(), &answer.text].concat();
    }
    Some(answer)
}

/// Two parts compared.
#[derive(Debug, Clone)]
pub(crate) struct Compared {
    pub probability: f64,
    pub positions: [Position; 2],
}

/// "Is the sky sharper than the car?"
pub(crate) fn compare(asked: &Asked<'_>) -> Option<Compared> {
    let [first, second] = asked.scope else { return None };
    if !asked.meaning.than {
        return None;
    }
    let claim = asked.meaning.measured().next().copied().or_else(|| asked.implied())?;
    let claim = with_grade(asked.meaning, Claim { kind: claim.kind.filter(|kind| *kind == Kind::Motion), ..claim });
    let (one, two) = (asked.scales.position(first, claim.aspect)?, asked.scales.position(second, claim.aspect)?);
    let sign = choice::wanted(asked.meaning);
    let difference = sign * (choice::rank(&claim, &one) - choice::rank(&claim, &two));
    let probability = 1.0 / (1.0 + (-difference / 0.3).exp());
    Some(Compared { probability, positions: [one, two] })
}

//! A question ready to be judged: its meaning, the parts that each claim is about, and the evidence.

use super::scale::{Position, Scales};
use super::truth::probability;
use crate::question::meaning::{Aspect, Claim, Grade, Joint, Meaning, Pole};
use crate::question::words::{Word, words};
use crate::state::GLOBAL;

/// A sentence with its evidence.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    pub meaning: &'a Meaning,
    pub scales: Scales<'a>,
    /// The parts of the question; the whole image if it names none.
    pub scope: &'a [&'a str],
}

/// A claim about a part, with its place on the scale and its truth.
#[derive(Debug, Clone)]
pub(crate) struct Judged {
    pub claim: Claim,
    pub position: Position,
    pub probability: f64,
}

impl Asked<'_> {
    /// Judges all claims of the sentence. Nothing is returned if a claim has no evidence.
    pub fn judged(&self) -> Option<Vec<Judged>> {
        let mut claims: Vec<Claim> = self.meaning.measured().map(|claim| self.against_reference(*claim)).collect();
        if claims.is_empty() {
            claims.extend(self.implied());
        }
        let mut judged = Vec::new();
        for claim in claims {
            for part in self.parts_of(&claim) {
                let claim = self.with_cast(part, claim);
                let position = self.scales.position(part, claim.aspect)?;
                judged.push(Judged { claim, probability: probability(&claim, &position), position });
            }
        }
        Some(judged).filter(|judged| !judged.is_empty())
    }

    /// "Is it darker than the reference?" is about the change, not about how dark the image looks.
    fn against_reference(&self, claim: Claim) -> Claim {
        let changed = self.meaning.reference && self.scales.reference && claim.aspect == Aspect::Light;
        if changed { Claim { aspect: Aspect::Exposure, ..claim } } else { claim }
    }

    /// Colors are right or wrong by their strength and by their cast: the worse of both counts.
    fn with_cast(&self, part: &str, claim: Claim) -> Claim {
        let whole = matches!(claim.pole, Some(Pole::Good | Pole::Fault)) && claim.kind.is_none();
        let fault = |aspect: Aspect| self.scales.position(part, aspect).map_or(0.0, |position| position.fault);
        let cast = whole && claim.aspect == Aspect::Color && fault(Aspect::Cast) > fault(Aspect::Color);
        if cast { Claim { aspect: Aspect::Cast, ..claim } } else { claim }
    }

    /// The claim of a sentence that names no aspect: "Is it good?", "Is there any problem?"
    pub fn implied(&self) -> Option<Claim> {
        if let Some(denied) = self.meaning.issue {
            return Some(Claim { denied, ..Claim::new(Aspect::Damage, Some(Pole::High), None) });
        }
        let (grade, denied) = self.meaning.grade?;
        if self.meaning.reference && self.scales.reference {
            // "Is it worse than the reference?"
            let good = matches!(grade, Grade::Good | Grade::High);
            return Some(Claim { denied: denied != good, ..Claim::new(Aspect::Damage, Some(Pole::High), None) });
        }
        let mut claim = Claim::new(Aspect::Quality, None, None);
        claim.grade(grade);
        Some(Claim { denied, degree: self.meaning.degree.or(claim.degree), ..claim })
    }

    /// Combines the claims of a sentence.
    pub fn combined(&self, judged: &[Judged]) -> f64 {
        let each = judged.iter().map(|one| one.probability);
        match self.meaning.joint {
            Joint::And => each.fold(1.0, f64::min),
            Joint::Or => each.fold(0.0, f64::max),
        }
    }

    /// The parts that a claim is about: those named before it, else after it, else all.
    pub fn parts_of(&self, claim: &Claim) -> Vec<&str> {
        if self.scope.len() < 2 {
            return if self.scope.is_empty() { vec![GLOBAL] } else { self.scope.to_vec() };
        }
        let words = words(&self.meaning.text);
        let places: Vec<(usize, &str)> =
            self.scope.iter().filter_map(|part| Some((place_of(part, &words)?, *part))).collect();
        let claims = || self.meaning.measured().map(|claim| claim.at);
        let begin = claims().filter(|at| *at < claim.at).max().map_or(0, |at| at + 1);
        let end = claims().filter(|at| *at > claim.at).min().unwrap_or(usize::MAX);
        let between = |from: usize, to: usize| -> Vec<&str> {
            places.iter().filter(|(at, _)| (from..to).contains(at)).map(|(_, part)| *part).collect()
        };
        let before = between(begin, claim.at);
        let after = || between(claim.at, end);
        let own = if before.is_empty() { after() } else { before };
        if own.is_empty() { self.scope.to_vec() } else { own }
    }
}

/// Returns where a part is named.
fn place_of(part: &str, text: &[Word<'_>]) -> Option<usize> {
    let name = words(part);
    let last = name.last()?;
    let same = |word: &Word<'_>| {
        word.folded.starts_with(&last.folded) || last.folded.starts_with(&word.folded) && word.folded.len() > 2
    };
    text.iter().position(same)
}

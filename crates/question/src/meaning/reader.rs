//! Turns the signs of one sentence into claims: judgments, degrees and denials find what they are
//! said of.

use super::claim::Claim;
use super::sign::{Aspect, Degree, Grade, Pole, Sign};

/// A sign with its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    pub sign: Sign,
    /// Index of the first word.
    pub at: usize,
    /// Number of words.
    pub length: usize,
    /// Whether a mark such as a comma precedes it.
    pub after_mark: bool,
}

impl Token {
    fn end(&self) -> usize {
        self.at + self.length
    }

    fn names_aspect(&self) -> bool {
        matches!(self.sign, Sign::Property(_) | Sign::State(..))
    }
}

/// Words between a judgment and the aspect that it is said of, at most: "lack of any sharpness".
const NEAR: usize = 2;

/// How the claims of a sentence are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Joint {
    /// All of them.
    #[default]
    And,
    /// One of them.
    Or,
}

/// The claims of a sentence.
#[derive(Debug, Clone, Default)]
pub(super) struct Read {
    pub claims: Vec<Claim>,
    pub joint: Joint,
    /// A grade without an aspect: "Is it good?"
    pub grade: Option<(Grade, bool)>,
    /// A problem without an aspect: "Is there any problem?"
    pub issue: Option<bool>,
    /// A degree without an aspect: "Severe".
    pub degree: Option<Degree>,
    /// Something is denied, but no aspect: "does not exist".
    pub denies: bool,
}

/// What waits for the next aspect.
#[derive(Debug, Default)]
struct Waiting {
    degree: Option<Degree>,
    grade: Option<Grade>,
    lack: bool,
    excess: bool,
    issue: bool,
}

impl Waiting {
    fn give(&mut self, claim: &mut Claim) {
        let waiting = std::mem::take(self);
        let own = |degree: &Degree| !matches!(degree, Degree::Too | Degree::Enough);
        claim.degree = claim.degree.or(waiting.degree.filter(own));
        if let Some(grade) = waiting.grade {
            claim.grade(grade);
        }
        if waiting.issue {
            claim.blame();
        }
        if waiting.excess || waiting.degree == Some(Degree::Too) {
            claim.exceed();
        }
        if waiting.lack {
            claim.lack();
        }
        if waiting.degree == Some(Degree::Enough) {
            claim.suffice();
        }
    }
}

/// Reads the claims of a sentence.
pub(super) fn read(tokens: &[Token]) -> Read {
    let mut read = Read::default();
    let mut waiting = Waiting::default();
    // Where the open denial began: what follows is denied.
    let mut denied: Option<usize> = None;
    let mut joined = true;
    // "too low or too high": a second judgment of the same property.
    let mut property: Option<Claim> = None;
    let mut alternative = false;
    for (index, token) in tokens.iter().enumerate() {
        let next = tokens[index + 1..].iter().find(|next| !matches!(next.sign, Sign::Filler));
        let near = |next: &&Token| next.at <= token.end() + NEAR && !next.after_mark;
        let ahead = tokens[index + 1..].iter().take(3).any(|later| later.names_aspect() && near(&later));
        let judges = matches!(token.sign, Sign::Grade(_) | Sign::Lack | Sign::Excess);
        if let (true, false, Some(base)) = (judges && alternative, ahead, property) {
            read.claims.push(base);
            alternative = false;
        }
        match token.sign {
            Sign::Property(aspect) => {
                let base = Claim { at: token.at, length: token.length, ..Claim::new(aspect, None, None) };
                add(&mut read, base, token, &mut waiting, denied, joined);
                (property, alternative, joined) = (Some(base), false, false);
            }
            Sign::State(aspect, pole, kind) => {
                add(&mut read, Claim::new(aspect, Some(pole), kind), token, &mut waiting, denied, joined);
                joined = false;
            }
            // "Is it noisy too?"
            Sign::Degree(Degree::Too) if next.is_none_or(|next| next.after_mark) => {}
            Sign::Degree(degree) => {
                let for_next = next.is_some_and(|next| {
                    near(&next)
                        && (next.names_aspect()
                            || matches!(next.sign, Sign::Grade(_) | Sign::Degree(_) | Sign::Issue | Sign::Excess))
                });
                match read.claims.last_mut().filter(|_| !for_next) {
                    Some(claim) if degree == Degree::Enough => {
                        claim.suffice();
                        claim.denied |= denied.is_some_and(|at| at > claim.at);
                    }
                    // "明暗对比强烈": much of a property is its high side.
                    Some(claim) if claim.pole.is_none() && degree > Degree::Moderate && degree < Degree::Too => {
                        claim.grade(Grade::High);
                        claim.denied |= denied.is_some_and(|at| at > claim.at);
                    }
                    Some(claim) => {
                        claim.degree = claim.degree.or(Some(degree));
                        claim.denied |= denied.is_some_and(|at| at > claim.at);
                    }
                    None => waiting.degree = Some(stronger(waiting.degree, degree)),
                }
                read.degree = Some(stronger(read.degree, degree));
            }
            Sign::Grade(grade) => {
                let too = waiting.degree == Some(Degree::Too);
                let backward = !ahead && !read.claims.is_empty();
                if backward {
                    let degree = waiting.degree.take();
                    for claim in read.claims.iter_mut().rev() {
                        let first = claim.pole.is_none();
                        claim.grade(grade);
                        claim.degree = claim.degree.or(degree.filter(|_| !too));
                        if too {
                            claim.exceed();
                        }
                        claim.denied |= denied.is_some_and(|at| at > claim.at);
                        if !first || claim.aspect == Aspect::Quality {
                            break;
                        }
                    }
                } else {
                    waiting.grade = Some(grade);
                    read.grade = read.grade.or(Some((grade, denied.is_some())));
                }
            }
            Sign::Issue => match read.claims.last_mut() {
                Some(claim) if !ahead => claim.blame(),
                _ => {
                    waiting.issue = true;
                    read.issue = Some(denied.is_some());
                }
            },
            Sign::Lack => match read.claims.last_mut() {
                Some(claim) if !ahead => {
                    claim.lack();
                    claim.denied ^= denied.is_some_and(|at| at > claim.at);
                    if claim.aspect == Aspect::Light && claim.pole == Some(Pole::Low) {
                        claim.exceed();
                    }
                }
                _ => waiting.lack = true,
            },
            Sign::Excess => match read.claims.last_mut() {
                Some(claim) if !ahead => {
                    claim.exceed();
                    claim.denied |= denied.is_some_and(|at| at > claim.at);
                }
                _ => waiting.excess = true,
            },
            Sign::Deny => {
                read.denies = true;
                denied = Some(token.at);
                let last =
                    next.is_none() || next.is_some_and(|next| matches!(next.sign, Sign::Ask | Sign::Or | Sign::But));
                if let Some(claim) = read.claims.last_mut().filter(|_| last && !ahead) {
                    claim.denied = true;
                }
            }
            Sign::Free => match read.claims.last_mut().filter(|claim| claim.at + claim.length == token.at) {
                Some(claim) if !ahead || next.is_none_or(|next| next.after_mark) => claim.denied = !claim.denied,
                _ => denied = Some(token.at),
            },
            // "Is she right, is it too dark?"
            Sign::Ask if token.after_mark => waiting = Waiting::default(),
            Sign::And => joined = true,
            Sign::Or => {
                joined = true;
                if let Some(last) = read.claims.last() {
                    read.joint = Joint::Or;
                    alternative = property.is_some_and(|base| base.aspect == last.aspect && last.pole.is_some());
                }
            }
            Sign::But => {
                joined = true;
                denied = None;
                waiting = Waiting::default();
            }
            _ => {}
        }
    }
    if let Some(claim) = read.claims.last_mut() {
        // "How good is the sharpness" was given already; what still waits was said last.
        if waiting.grade.is_some() || waiting.excess {
            waiting.give(claim);
        }
    }
    if read.claims.len() < 2 {
        read.joint = Joint::And;
    }
    read
}

fn stronger(one: Option<Degree>, other: Degree) -> Degree {
    match one {
        Some(Degree::Too) => Degree::Too,
        Some(one) if other != Degree::Too => one.max(other),
        _ => other,
    }
}

/// Adds a claim, or joins it with the one before: "the lighting is bright" and "clear focus" are one.
fn add(read: &mut Read, mut claim: Claim, token: &Token, waiting: &mut Waiting, denied: Option<usize>, joined: bool) {
    (claim.at, claim.length) = (token.at, token.length);
    // "flat, lacking tones": what is lacking is another claim.
    let another = |before: &Claim| (waiting.lack || waiting.excess) && before.pole.is_some();
    if let Some(before) = read.claims.last_mut().filter(|before| !joined && !token.after_mark && !another(before))
        && let Some(mut one) = merged(before, &claim)
    {
        one.degree = before.degree.or(one.degree);
        one.denied = before.denied || denied.is_some();
        one.at = before.at;
        one.length = token.end() - before.at;
        waiting.give(&mut one);
        *before = one;
        return;
    }
    waiting.give(&mut claim);
    claim.denied ^= denied.is_some();
    read.claims.push(claim);
}

/// Joins a property with a state next to it.
fn merged(before: &Claim, next: &Claim) -> Option<Claim> {
    let tone = |aspect: Aspect| matches!(aspect, Aspect::Light | Aspect::Exposure | Aspect::Color | Aspect::Contrast);
    match (before.pole, next.pole) {
        // "the lighting is bright", "the exposure is too dark", "the color is bright"
        (None, Some(_)) if before.aspect == next.aspect => Some(*next),
        (None, Some(_)) if before.aspect == Aspect::Exposure && next.aspect == Aspect::Light => Some(*next),
        (None, Some(pole)) if tone(before.aspect) && tone(next.aspect) && next.aspect != Aspect::Exposure => {
            Some(Claim::new(before.aspect, Some(pole), None))
        }
        // "the colors are lively"
        (None, Some(pole)) if before.aspect == Aspect::Color && next.aspect == Aspect::Mood => {
            Some(Claim::new(Aspect::Color, Some(pole), None))
        }
        (Some(pole), None) if before.aspect == Aspect::Mood && next.aspect == Aspect::Color => {
            Some(Claim::new(Aspect::Color, Some(pole), None))
        }
        // "clear focus", "bright colors", "sharp contrast"
        (Some(_), None) if before.aspect == next.aspect => Some(*before),
        (Some(pole), None) if before.at + before.length == next.at && before.kind.is_none() => {
            Some(Claim::new(next.aspect, Some(pole), None)).filter(|_| tone(next.aspect))
        }
        // "motion blur", "clear and sharp"
        (Some(one), Some(two)) if before.aspect == next.aspect && one == two => {
            Some(Claim { kind: before.kind.or(next.kind), ..*next })
        }
        _ => None,
    }
}

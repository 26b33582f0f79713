//! The form of a question: what kind of answer it wants.

use super::claim::Claim;
use super::reader::{Joint, Read, Token};
use super::sign::{Aspect, Sign};

/// The kind of answer that a question wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Form {
    /// "Is it blurry?"
    YesNo,
    /// "Too dark or too bright?"
    Either,
    /// "Which distortion is the worst?"
    Which,
    /// "Which distortion does not exist?"
    WhichNot,
    /// "Which part is the sharpest?"
    WhichPart,
    /// "Where is the blur?"
    Where,
    /// "How sharp is it?"
    HowMuch,
    /// "What is the PSNR?", "What is the resolution?"
    Value,
    /// "Rate the sharpness, the noise and the exposure."
    RateSeveral,
    /// "Is it the same as the reference?"
    Compare,
    /// "Why is the quality low?"
    Why,
    /// "How can I fix it?"
    Advice,
    /// "Would it print well at A3?"
    Print,
    /// "Describe the image.", "Rate the quality."
    Whole,
    /// Nothing that measurements answer.
    Beyond,
    /// An order instead of a question.
    Instruction,
}

impl Form {
    /// The name of the form in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::YesNo => "yes or no",
            Self::Either => "either or",
            Self::Which => "which",
            Self::WhichNot => "which not",
            Self::WhichPart => "which part",
            Self::Where => "where",
            Self::HowMuch => "how much",
            Self::Value => "value",
            Self::RateSeveral => "rate several",
            Self::Compare => "compare",
            Self::Why => "why",
            Self::Advice => "advice",
            Self::Print => "print",
            Self::Whole => "whole image",
            Self::Beyond => "beyond measuring",
            Self::Instruction => "instruction",
        }
    }
}

/// How a sentence begins and ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asking {
    /// It asks me: "Can you tell me how sharp it is?"
    pub asks_me: bool,
    /// It ends with a question mark.
    pub has_mark: bool,
    /// It ends with a particle that makes it a yes-or-no question, in Chinese.
    pub has_particle: bool,
    /// It names a number of points: "Does it score at least 3.5?"
    pub has_points: bool,
}

/// Returns the form of a sentence.
pub(super) fn form(tokens: &[Token], read: &Read, how: Asking) -> Form {
    let place = |wanted: &[Sign]| tokens.iter().position(|token| wanted.contains(&token.sign));
    let has = |sign: Sign| place(&[sign]).is_some();
    let claims = &read.claims;
    let measured = claims.iter().any(|claim| claim.aspect.is_measured());
    let says_something = measured || read.grade.is_some() || read.issue.is_some();
    if has(Sign::Instruction) {
        return Form::Instruction;
    }
    if has(Sign::Print) {
        return Form::Print;
    }
    if has(Sign::Resolution) && !measured {
        return Form::Value;
    }
    if has(Sign::Difference) && (has(Sign::Reference) || !measured) {
        return Form::Compare;
    }
    if has(Sign::Advice) {
        return Form::Advice;
    }
    if has(Sign::Why) && says_something {
        return Form::Why;
    }
    if has(Sign::Where) && measured {
        return Form::Where;
    }
    let named = || claims.iter().filter(|claim| claim.aspect.is_measured());
    let several = named().count() > 1 && named().all(|claim| claim.pole.is_none() || Claim::is_amount(claim.aspect));
    let apart = read.joint == Joint::And && named().any(|claim| claim.pole.is_none());
    if several
        && apart
        && (has(Sign::Rate)
            || place(&[Sign::Ask]).is_none_or(|ask| place(&[Sign::How]).is_some_and(|how| how < ask))
                && !has(Sign::Which))
    {
        return Form::RateSeveral;
    }
    let asked = place(&[Sign::Ask]);
    let words = [Sign::Which, Sign::How, Sign::HowMany, Sign::Where, Sign::Why, Sign::Resolution];
    let asked = asked.filter(|at| {
        // "Can you tell me how sharp it is?"
        let first = place(&words);
        how.has_particle || first.is_none_or(|first| *at < first) && !(first.is_some() && how.asks_me)
    });
    if asked.is_some() && how.has_points && !measured {
        return Form::YesNo;
    }
    if asked.is_some() {
        return asked_with_yes_or_no(read, measured, says_something);
    }
    let which = place(&[Sign::Which]);
    if which.is_some() {
        return which_form(tokens, read);
    }
    if has(Sign::Describe) {
        return if says_something && !about_quality(claims) { Form::HowMuch } else { Form::Whole };
    }
    if !says_something && (has(Sign::HowMany) || !claims.is_empty()) {
        return Form::Beyond;
    }
    if about_quality(claims) {
        return Form::Whole;
    }
    let judged = claims.iter().all(|claim| claim.pole.is_some());
    let number = has(Sign::How) || has(Sign::Rate) || has(Sign::Value) || has(Sign::Resolution);
    if measured && judged && how.has_mark && !number {
        return match asked_with_yes_or_no(read, measured, says_something) {
            Form::YesNo if read.joint == Joint::Or && claims[0].degree != Some(super::Degree::Any) => Form::Either,
            form => form,
        };
    }
    if measured {
        return if read.joint == Joint::Or { Form::Either } else { Form::HowMuch };
    }
    if read.grade.is_some() || has(Sign::Rate) { Form::Whole } else { Form::Beyond }
}

/// Whether all claims are about the overall quality, without a judgment.
fn about_quality(claims: &[Claim]) -> bool {
    !claims.is_empty() && claims.iter().all(|claim| claim.aspect == Aspect::Quality && claim.pole.is_none())
}

fn asked_with_yes_or_no(read: &Read, measured: bool, says_something: bool) -> Form {
    let claims = &read.claims;
    let beyond = claims.iter().any(|claim| !claim.aspect.is_measured()) && !measured;
    if beyond || !says_something {
        return Form::Beyond;
    }
    match (read.joint, claims.as_slice()) {
        (Joint::Or, [one, .., other]) => {
            let any = one.degree == Some(super::Degree::Any) || one.denied;
            let sides = one.aspect == other.aspect && (one.pole, one.kind) != (other.pole, other.kind);
            if sides || !any && one.pole.is_some() && one.is_bad() != other.is_bad() {
                Form::Either
            } else {
                Form::YesNo
            }
        }
        _ => Form::YesNo,
    }
}

fn which_form(tokens: &[Token], read: &Read) -> Form {
    let has = |wanted: Sign| tokens.iter().any(|token| token.sign == wanted);
    let claims = &read.claims;
    let extreme = has(Sign::Most) || has(Sign::Least) || has(Sign::More) || has(Sign::Less) || has(Sign::Than);
    let damage = claims.iter().any(|claim| claim.aspect == Aspect::Damage) || read.issue.is_some();
    let others = || claims.iter().filter(|claim| claim.aspect != Aspect::Damage);
    // "What is the most prominent color?" asks for no part.
    if claims.iter().any(|claim| claim.aspect == Aspect::Hue) {
        return Form::HowMuch;
    }
    let emphasis = claims.iter().any(|claim| claim.aspect == Aspect::Emphasis);
    if has(Sign::Part) && !damage || has(Sign::Part) && has(Sign::Most) || emphasis {
        return Form::WhichPart;
    }
    if damage && others().next().is_none_or(|claim| claim.aspect == Aspect::Quality) {
        return if read.denies { Form::WhichNot } else { Form::Which };
    }
    match others().next() {
        Some(claim) if claim.aspect.is_measured() && claim.pole.is_none() => {
            if extreme {
                Form::WhichPart
            } else if claim.aspect == Aspect::Quality {
                Form::Whole
            } else {
                Form::HowMuch
            }
        }
        // "What is the JPEG quality?"
        Some(claim) if claim.aspect == Aspect::Compression && claim.pole == Some(super::Pole::Low) => Form::HowMuch,
        Some(claim) if claim.aspect.is_measured() => {
            if has(Sign::How) {
                Form::HowMuch
            } else if read.denies {
                Form::WhichNot
            } else {
                Form::Which
            }
        }
        Some(_) => Form::Beyond,
        None if read.grade.is_some() => Form::Whole,
        None if has(Sign::Value) => Form::Value,
        None if read.denies => Form::WhichNot,
        None => Form::Beyond,
    }
}

//! Compares each answer with its own evidence: a verdict with the sentence after it, the score with its parts and
//! its level, and every citation with the record.

use agenticiqa::question::meaning::{Aspect, Claim, Form, Kind, Pole, read, read_all};
use agenticiqa::state::{AnswerForm, AssessmentRecord};

use super::question::Question;
use super::truth::{says_no, says_yes};

/// Parts of a score are rounded to four digits each.
const ROUNDING: f64 = 0.01;

/// Returns what an answer contradicts.
pub fn contradictions(question: &Question, record: &AssessmentRecord) -> Vec<String> {
    let Some(result) = &record.summarizer_result else { return vec!["no answer".to_owned()] };
    let mut found = Vec::new();
    if result.answer_form == AnswerForm::Text && question.reference.is_none() {
        found.extend(against_its_sentence(&question.question, result.final_answer.as_str()));
    }
    if let Some(score) = result.quality_score {
        let level = result.quality_level;
        if level.map(agenticiqa::state::QualityLevel::number)
            != Some((score.value() + 0.5).floor().clamp(1.0, 5.0) as u8)
        {
            found.push(format!("level {level:?} of score {:.2}", score.value()));
        }
        if result.answer_form == AnswerForm::Score
            && level.map(|level| level.letter().to_string()).as_deref() != Some(result.final_answer.as_str())
        {
            found.push(format!("answer {} next to level {level:?}", result.final_answer.as_str()));
        }
        let parts = &result.contributions;
        let sum: f64 = parts.iter().map(|part| part.value).sum();
        if !parts.is_empty() && (sum - score.value()).abs() > ROUNDING {
            found.push(format!("parts sum to {sum:.3}, the score is {:.3}", score.value()));
        }
    }
    let evidence = serde_json::to_value(&record.executor_evidence).unwrap_or_default();
    for used in &result.used_evidence {
        for pointer in used.evidence.iter().filter(|pointer| evidence.pointer(pointer).is_none()) {
            found.push(format!("{:?} cites {pointer}, which the record does not have", used.sentence));
        }
    }
    found
}

/// "Yes. The image is sharp." to "Is it blurred?": the sentence is read like a question, so both are claims.
fn against_its_sentence(question: &str, answer: &str) -> Option<String> {
    let meanings = read_all(question);
    let [meaning] = meanings.as_slice() else { return None };
    let [asked] = meaning.claims.as_slice() else { return None };
    if meaning.form != Form::YesNo || meaning.than || meaning.reference {
        return None;
    }
    let lower = answer.to_lowercase();
    let yes = match (says_yes(&lower), says_no(&lower)) {
        (true, _) => true,
        (_, true) => false,
        _ => return None,
    };
    // Also without "I did not find the bird; for the whole image:".
    let sentence = answer.split_once(['.', '。']).map_or("", |(_, sentence)| sentence);
    let sentence = sentence.rsplit([':', '：']).next().unwrap_or(sentence);
    let shown = read(sentence).claims.into_iter().find(|claim| same_scale(claim.aspect, asked.aspect))?;
    let holds = truth(asked, &shown)?;
    (holds != yes).then(|| format!("{question} {answer}"))
}

fn same_scale(one: Aspect, other: Aspect) -> bool {
    let family = |aspect: Aspect| if aspect == Aspect::Exposure { Aspect::Light } else { aspect };
    family(one) == family(other)
}

/// Whether a claim holds if what is shown is true; nothing if that depends on how much.
fn truth(asked: &Claim, shown: &Claim) -> Option<bool> {
    use agenticiqa::question::meaning::Degree::{Any, Extreme, Severe, Slight, Strong};
    if matches!(asked.degree, Some(Slight)) {
        return None;
    }
    if asked.kind.is_some_and(|kind| kind != Kind::Oversaturated) && asked.kind != shown.kind
        || asked.aspect != shown.aspect
    {
        return None;
    }
    let denied = |claim: &Claim| claim.denied;
    let (one, other) = (asked.pole?, shown.pole?);
    let absent = denied(shown);
    let strong = matches!(shown.degree, Some(Strong | Severe | Extreme)) && !absent;
    let holds = match (one, other) {
        (Pole::Good | Pole::Fault | Pole::Middle, _) | (_, Pole::Good | Pole::Fault | Pole::Middle) => return None,
        (one, other) if one == other && absent => false,
        (one, other) if one == other && (strong || matches!(asked.degree, None | Some(Any))) => {
            if matches!(shown.degree, Some(Slight)) { return None } else { true }
        }
        (one, other) if one == other => return None,
        // "no visible noise" is a low noise.
        _ if absent && Claim::is_amount(asked.aspect) => true,
        // The opposite side is shown: nothing of what was asked.
        _ if absent => return None,
        _ if matches!(shown.degree, Some(Slight)) => return None,
        _ => false,
    };
    Some(holds != denied(asked))
}

#[test]
fn a_yes_beside_evidence_for_no_is_found() {
    let wrong = |question: &str, answer: &str| against_its_sentence(question, answer).is_some();
    for (question, answer) in [
        ("Is it blurred?", "Yes. The image is sharp."),
        ("Is it sharp?", "Yes. The image is strongly blurred."),
        ("Is it free of noise?", "Yes. The image shows strong noise."),
        ("Is the noise level low?", "No. The image shows no visible noise."),
        ("图像模糊吗？", "是。图像清晰。"),
        ("有噪点吗？", "否。图像有严重的噪点。"),
    ] {
        assert!(wrong(question, answer), "{question} {answer}");
    }
    for (question, answer) in [
        ("Is it blurred?", "No. The image is sharp."),
        ("Is it sharp?", "No. The image is strongly blurred."),
        ("Is it free of noise?", "No. The image shows strong noise."),
        ("Is the noise level low?", "Yes. The image shows no visible noise."),
        ("图像模糊吗？", "是。图像严重模糊。"),
    ] {
        assert!(!wrong(question, answer), "{question} {answer}");
    }
}

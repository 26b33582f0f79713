//! Writes the answer from the evidence. Each sentence states a measurement and cites it.

pub(crate) mod findings;
mod judgment;
mod wording;

use findings::Findings;
use judgment::{level_of, quality, worst_distortions};
use wording::Wording;

pub use super::answer::Frame;
use super::answer::{self, Answer, Asked, Choice, PRESENT, Position, Scales, Writer};
use super::objects::option_object;
use crate::fusion::Fusion;
use crate::fusion::{Estimate, counted};
use crate::language::{Language, is_full_stop};
use crate::question::meaning::{self, Aspect, Form, Meaning};
use crate::state::{
    AnswerForm, AnswerOption, Distortion, ExecutorOutput, GLOBAL, PlannerOutput, QueryType, ReferenceMode, Score,
    Severity, UsedEvidence,
};
use agenticiqa_tools::Registry;

/// A tool score above this contradicts a severe distortion.
const HIGH_SCORE: f64 = 4.0;
/// The standard deviation of a judged level: severities are correct within about one step.
const LEVEL_DEVIATION: f64 = 0.7;

/// The input of the conclusion.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    /// The question, without its options.
    pub question: &'a str,
    /// The options.
    pub options: &'a [AnswerOption],
    /// The form of the answer.
    pub form: AnswerForm,
    /// The plan.
    pub plan: &'a PlannerOutput,
    /// The evidence.
    pub evidence: &'a ExecutorOutput,
    /// The combined score of the tools alone.
    pub fused: Option<Estimate>,
    /// The objects with a known region.
    pub placed: &'a [&'a str],
    /// The image itself, as far as it is known.
    pub frame: Frame<'a>,
    /// The tools, for the direction of their scores.
    pub registry: &'a Registry,
    /// The language of the answer.
    pub language: Language,
}

/// An answer with its reasons.
#[derive(Debug, Clone, PartialEq)]
pub struct Conclusion {
    /// The letter or the sentence.
    pub final_answer: String,
    /// The reasons.
    pub reasoning: String,
    /// The probability of each quality level, worst first; absent if no distortion was judged.
    pub levels: Option<[f64; 5]>,
    /// The evidence for each sentence of the reasoning.
    pub used_evidence: Vec<UsedEvidence>,
}

/// Answers the question from the evidence.
pub fn conclude(case: &Case<'_>) -> Conclusion {
    let findings = Findings::new(case.plan, case.evidence);
    let wording = Wording { language: case.language };
    let levels = counting_damage(case, &findings).map(levels_of);
    let overall = overall(levels, case.fused);
    let answering = Answering::new(case, &findings, overall, wording);
    let mut reasons = Reasons { wording, sentences: Vec::new(), shown: Vec::new() };
    let final_answer = match case.form {
        AnswerForm::Score => score(&findings, overall, wording, &mut reasons),
        AnswerForm::Choice if !case.options.is_empty() => answering.choice(&mut reasons),
        AnswerForm::Choice | AnswerForm::Text => answering.text(&mut reasons),
    };
    if case.plan.query_type == QueryType::Iqa || !case.evidence.is_empty() {
        describe(case, &findings, &mut reasons);
    }
    let sentences: Vec<String> = reasons.sentences.iter().map(|used| used.sentence.clone()).collect();
    Conclusion { final_answer, reasoning: wording.join(&sentences), levels, used_evidence: reasons.sentences }
}

/// Collects the reasons.
struct Reasons {
    wording: Wording,
    sentences: Vec<UsedEvidence>,
    /// The aspects that the answer is about, and whether it says that they are at fault.
    shown: Vec<(Aspect, bool)>,
}

impl Reasons {
    /// Adds a sentence. It replaces an earlier sentence that it begins with.
    fn say(&mut self, text: &str, evidence: Vec<String>) {
        let sentence = self.wording.sentence(text);
        let says_it_too = |used: &&mut UsedEvidence| sentence.starts_with(used.sentence.trim_end_matches(is_full_stop));
        match self.sentences.iter_mut().find(says_it_too) {
            Some(used) => {
                let new: Vec<String> =
                    evidence.into_iter().filter(|pointer| !used.evidence.contains(pointer)).collect();
                used.sentence = sentence;
                used.evidence.extend(new);
            }
            None => self.sentences.push(UsedEvidence { sentence, evidence }),
        }
    }
}

/// Returns the probability of each level, worst first, for a damage from 0 to 4.
///
/// The damage is the worst severity plus 0.15 of each further one; the level is 5 minus the damage.
/// Neighboring levels get a share by a normal distribution, because a severity may be wrong by a
/// step.
fn levels_of(damage: f64) -> [f64; 5] {
    let center = 5.0 - damage;
    let weights: [f64; 5] = std::array::from_fn(|index| {
        let distance = (index as f64 + 1.0 - center) / LEVEL_DEVIATION;
        (-0.5 * distance * distance).exp()
    });
    let sum: f64 = weights.iter().sum();
    weights.map(|weight| weight / sum)
}

/// Returns the damage if it counts in the score.
///
/// Severities come from measurements of the same pixels and are not fitted to opinions. They are
/// not a second opinion on a score that is, so they explain that score and do not change it.
fn counting_damage(case: &Case<'_>, findings: &Findings<'_>) -> Option<f64> {
    let carried = case.fused.is_some_and(|fused| fused.interval.is_some());
    findings.greatest_damage().filter(|_| !carried)
}

/// Fuses levels and tools into a score from 1 to 5, as in the paper. Either may be absent.
fn overall(levels: Option<[f64; 5]>, fused: Option<Estimate>) -> Option<Estimate> {
    let alone =
        || levels.map(|levels| Estimate { score: Fusion::default().score(None, Some(&levels)), interval: None });
    fused.map(|fused| fused.fused(&Fusion::default(), levels.as_ref())).or_else(alone)
}

fn score(findings: &Findings<'_>, overall: Option<Estimate>, wording: Wording, reasons: &mut Reasons) -> String {
    let Some(overall) = overall else {
        reasons.say(wording.phrases().no_level(), Vec::new());
        return wording.phrases().undetermined().to_owned();
    };
    let judgment = quality(findings, overall, wording);
    reasons.say(&judgment.text, judgment.pointers);
    level_of(overall.score).letter().to_string()
}

/// All that sentences are answered with.
struct Answering<'a> {
    case: &'a Case<'a>,
    findings: &'a Findings<'a>,
    overall: Option<Estimate>,
    wording: Wording,
    meanings: Vec<Meaning>,
    missing: Vec<&'a str>,
    quality: String,
    damage: String,
}

impl<'a> Answering<'a> {
    fn new(case: &'a Case<'a>, findings: &'a Findings<'a>, overall: Option<Estimate>, wording: Wording) -> Self {
        let quality = overall.map(|overall| quality(findings, overall, wording).text);
        Self {
            case,
            findings,
            overall,
            wording,
            meanings: meaning::read_all(case.question),
            missing: missing(case, findings),
            quality: quality.unwrap_or_else(|| wording.phrases().no_level().to_owned()),
            damage: worst_distortions(findings, wording),
        }
    }

    fn asked<'m>(&'m self, meaning: &'m Meaning) -> Asked<'m> {
        let scales = Scales {
            findings: self.findings,
            evidence: self.case.evidence,
            overall: self.overall,
            reference: self.case.plan.reference_mode == ReferenceMode::FullReference,
            frame: self.case.frame,
        };
        Asked { meaning, scales, scope: &self.findings.scope }
    }

    fn writer(&self) -> Writer<'_> {
        Writer {
            language: self.case.language,
            quality: &self.quality,
            damage: &self.damage,
            missing: &self.missing,
            size: self.case.frame.size,
        }
    }

    /// Answers each sentence of the question.
    fn text(&self, reasons: &mut Reasons) -> String {
        let mut texts: Vec<String> = Vec::new();
        for meaning in &self.meanings {
            let (asked, writer) = (self.asked(meaning), self.writer());
            let tools = self.named_tools(reasons);
            let answered = if tools.is_some() { None } else { answer::answer(&asked, &writer) };
            let text = match (tools, answered) {
                (Some(text), _) => text,
                (None, Some(answered)) => self.say(meaning, answered, reasons),
                (None, None) => self.without_claim(meaning, reasons),
            };
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        self.wording.join(&texts)
    }

    fn say(&self, meaning: &Meaning, answered: Answer, reasons: &mut Reasons) -> String {
        self.say_misspelled(meaning, reasons);
        let Answer { text, because, pointers, aspects } = answered;
        let asked = self.asked(meaning);
        let part = self.findings.scope.first().copied().unwrap_or(GLOBAL);
        for position in aspects.iter().filter_map(|aspect| asked.scales.position(part, *aspect)) {
            reasons.shown.push((position.aspect, position.fault >= PRESENT));
        }
        reasons.say(&because, pointers);
        text
    }

    fn say_misspelled(&self, meaning: &Meaning, reasons: &mut Reasons) {
        for (written, word) in &meaning.misspelled {
            reasons.say(&answer::answers(self.case.language).read_as(written, word), Vec::new());
        }
    }

    /// Answers a sentence without a claim that is measured: the whole image is described, after what
    /// cannot be judged.
    fn without_claim(&self, meaning: &Meaning, reasons: &mut Reasons) -> String {
        let unanswered = matches!(meaning.form, Form::Beyond | Form::Instruction);
        let honest = if unanswered { answer::answers(self.case.language).beyond(answer::beyond(meaning)) } else { "" };
        if unanswered {
            reasons.say(honest.trim(), Vec::new());
        }
        let whole = whole(self.case, self.findings, self.overall, self.wording, reasons);
        format!("{honest}{whole}")
    }

    /// "What is the BRISQUE score?": the scores of the tools that the question names.
    fn named_tools(&self, reasons: &mut Reasons) -> Option<String> {
        let required = self.case.plan.required_tools();
        let named = self.meanings.iter().all(|meaning| meaning.measured().next().is_none());
        if required.is_empty() || !named {
            return None;
        }
        let mut sentences: Vec<String> = Vec::new();
        for (pointer, log) in self.findings.runs().filter(|(_, log)| required.contains(&log.tool_name.as_str())) {
            let tool = self.case.registry.get(log.tool_name.as_str()).ok();
            let sentence = self.wording.run(log, tool.and_then(|tool| tool.metadata().lower_is_better));
            if !sentences.contains(&sentence) {
                reasons.say(&sentence, vec![pointer]);
                sentences.push(sentence);
            }
        }
        Some(self.wording.join(&sentences)).filter(|text| !text.is_empty())
    }

    fn choice(&self, reasons: &mut Reasons) -> String {
        let Some(meaning) = self.meanings.first() else { return String::new() };
        let asked = self.asked(meaning);
        let parts: Vec<(char, String)> = self
            .case
            .options
            .iter()
            .filter_map(|option| Some((option.letter, option_object(&option.text, &self.findings.scope)?)))
            .filter(|(_, name)| self.findings.scope.contains(&name.as_str()))
            .collect();
        let Some(chosen) = answer::choose(&asked, self.case.options, &parts) else { return String::new() };
        let Choice { letter, because, tied, shown } = chosen;
        if shown {
            let colors = answer::colors_told(&asked, &self.writer());
            reasons.say(&self.wording.phrases().chosen(letter, &colors), Vec::new());
            return letter.to_string();
        }
        if because.is_empty() {
            reasons.say(answer::answers(self.case.language).beyond(answer::beyond(meaning)).trim(), Vec::new());
            reasons.say(&self.wording.phrases().guess(letter), Vec::new());
            return letter.to_string();
        }
        self.say_misspelled(meaning, reasons);
        let writer = self.writer();
        let mut clauses: Vec<String> = Vec::new();
        for clause in because.iter().take(3).map(|position| writer.state(position)) {
            if !clauses.contains(&clause) {
                clauses.push(clause);
            }
        }
        let pointers: Vec<String> = because.iter().flat_map(|position| position.pointers.clone()).collect();
        reasons.shown.extend(because.iter().map(|Position { aspect, fault, .. }| (*aspect, *fault >= PRESENT)));
        let text = writer.answers().joined(&clauses);
        reasons.say(&self.wording.phrases().chosen(letter, &text), pointers.clone());
        if tied {
            reasons.say(self.wording.phrases().tied(), pointers);
        }
        letter.to_string()
    }
}

/// Describes the whole image, for questions without a specific claim.
fn whole(
    case: &Case<'_>,
    findings: &Findings<'_>,
    overall: Option<Estimate>,
    wording: Wording,
    reasons: &mut Reasons,
) -> String {
    let Some(overall) = overall else {
        let nothing = if case.evidence.is_empty() { "" } else { wording.phrases().nothing_measured() };
        return nothing.to_owned();
    };
    let judgment = quality(findings, overall, wording);
    reasons.say(&judgment.text, judgment.pointers);
    let worst = findings.visible().first().map(|finding| wording.found(finding));
    let clauses: Vec<String> = std::iter::once(judgment.text).chain(worst).collect();
    wording.sentence(&clauses.join(wording.phrases().between_clauses()))
}

/// Returns the parts that were not measured by themselves.
fn missing<'a>(case: &Case<'_>, findings: &Findings<'a>) -> Vec<&'a str> {
    let placed = |part: &str| {
        case.placed.contains(&part)
            || findings.runs().any(|(_, log)| log.object_name.as_str() == part && log.region.is_some())
    };
    findings.scope.iter().copied().filter(|part| *part != GLOBAL && !placed(part)).collect()
}

/// Whether an answer says the opposite of a finding of nothing: then the finding is left out, because
/// the attributes have decided.
fn contradicts(distortion: Distortion, shown: &[(Aspect, bool)]) -> bool {
    let aspect = |aspect: Aspect| match aspect {
        Aspect::Sharpness => Some(Distortion::Blurs),
        Aspect::Noise => Some(Distortion::Noise),
        Aspect::Compression => Some(Distortion::Compression),
        Aspect::Light | Aspect::Exposure => Some(Distortion::Brightness),
        Aspect::Contrast | Aspect::Haze => Some(Distortion::Contrast),
        Aspect::Color | Aspect::Cast => Some(Distortion::Color),
        Aspect::Halos => Some(Distortion::Sharpness),
        _ => None,
    };
    shown.iter().any(|(one, faulty)| *faulty && aspect(*one) == Some(distortion))
}

/// Describes the measurements, missing measurements and contradictions.
fn describe(case: &Case<'_>, findings: &Findings<'_>, reasons: &mut Reasons) {
    say_places(case, findings, reasons);
    let wording = reasons.wording;
    let analyzed = findings.all();
    let shown = std::mem::take(&mut reasons.shown);
    let agrees = |finding: &&findings::Finding<'_>| {
        finding.severity > Severity::None || !contradicts(finding.distortion, &shown)
    };
    for finding in analyzed.iter().filter(agrees) {
        reasons.say(&wording.analysis(finding), vec![finding.pointer.clone()]);
    }
    if analyzed.is_empty() {
        let looked: Vec<String> = findings.scope.iter().flat_map(|part| findings.pointers_of(part)).collect();
        let found_nothing = !looked.is_empty() && findings.greatest_damage() == Some(0.0);
        let phrases = wording.phrases();
        let text = if found_nothing { phrases.nothing_found() } else { phrases.nothing_analyzed() };
        reasons.say(text, if found_nothing { looked } else { vec!["/distortion_analysis".to_owned()] });
    }
    for (pointer, log) in findings.runs() {
        let direction = case.registry.get(log.tool_name.as_str()).ok().and_then(|tool| tool.metadata().lower_is_better);
        reasons.say(&wording.run(log, direction), vec![pointer]);
    }
    let scored: Vec<String> =
        findings.runs().filter(|(_, log)| log.normalized_score.is_some()).map(|(pointer, _)| pointer).collect();
    match case.fused {
        _ if scored.is_empty() => {
            reasons.say(wording.phrases().no_scores(), vec!["/tool_logs".to_owned()]);
        }
        Some(fused) if case.evidence.distinct_runs().len() > 1 => {
            let phrases = wording.phrases();
            let sentence =
                carriers(case, findings).map_or_else(|| phrases.together(fused.score), |tools| phrases.carried(&tools));
            reasons.say(&sentence, scored);
        }
        _ => {}
    }
    say_contradictions(findings, reasons);
}

/// Returns the tools that determine the score while others are only evidence. Returns nothing if
/// all tools count or if damage counts.
fn carriers(case: &Case<'_>, findings: &Findings<'_>) -> Option<String> {
    if counting_damage(case, findings).is_some() {
        return None;
    }
    let counted = counted(case.evidence, case.registry);
    let others = counted.len() < case.evidence.distinct_runs().len();
    if !others || counted.iter().any(|log| log.interval.is_none()) {
        return None;
    }
    let mut names: Vec<&str> = counted.iter().map(|log| log.tool_name.as_str()).collect();
    names.dedup();
    Some(names.join(", "))
}

/// States which objects were not measured separately because their region is unknown.
fn say_places(case: &Case<'_>, findings: &Findings<'_>, reasons: &mut Reasons) {
    for part in findings.scope.iter().filter(|part| **part != GLOBAL && !case.placed.contains(part)) {
        let runs: Vec<_> = findings.runs().filter(|(_, log)| log.object_name.as_str() == *part).collect();
        if runs.iter().any(|(_, log)| log.region.is_some()) {
            continue;
        }
        let pointers =
            findings.pointers_of(part).into_iter().chain(runs.into_iter().map(|(pointer, _)| pointer)).collect();
        let name = reasons.wording.part(part);
        reasons.say(&reasons.wording.phrases().region_unknown(&name), pointers);
    }
}

/// States severe distortions that contradict high scores of the same object.
fn say_contradictions(findings: &Findings<'_>, reasons: &mut Reasons) {
    let high = |score: Option<Score>| score.map(Score::value).filter(|score| *score > HIGH_SCORE);
    let wording = reasons.wording;
    for finding in findings.all().iter().filter(|finding| finding.severity >= Severity::Severe) {
        for (pointer, log) in findings.runs().filter(|(_, log)| log.object_name.as_str() == finding.part) {
            let Some(score) = high(log.normalized_score) else { continue };
            let contradiction = wording.phrases().contradiction(&wording.found(finding), log.tool_name.as_str(), score);
            reasons.say(&contradiction, vec![finding.pointer.clone(), pointer]);
        }
    }
}

#[cfg(test)]
mod tests;

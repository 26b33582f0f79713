//! The evidence as a list of findings: object, distortion, severity and JSON pointer.

use std::collections::BTreeMap;

use super::super::lexicon::mentions;
use crate::language::Direction;
use crate::question::words::words;
use crate::state::{Distortion, DistortionAnalysis, ExecutorOutput, GLOBAL, PlannerOutput, Severity, ToolExecutionLog};

/// The share of each further distortion that is added to the worst one.
const FURTHER: f64 = 0.15;

/// The severity of one distortion of one object.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Finding<'a> {
    /// The name of the object.
    pub part: &'a str,
    /// The distortion category.
    pub distortion: Distortion,
    /// The severity; none if the distortion was not detected.
    pub severity: Severity,
    /// The visual explanation, if the distortion was analyzed.
    pub explanation: Option<&'a str>,
    /// The JSON pointer to the evidence.
    pub pointer: String,
}

impl Finding<'_> {
    /// Returns the direction in which the property is wrong, if the explanation states it.
    pub fn direction(&self) -> Option<Direction> {
        let words = words(self.explanation?);
        let said = mentions(&words);
        let mut directions = said
            .iter()
            .filter(|mention| mention.term.distortions.contains(&self.distortion) && !mention.denied)
            .filter_map(|mention| mention.term.direction);
        let first = directions.next()?;
        directions.all(|other| other == first).then_some(first)
    }
}

/// The evidence, and the objects of the question.
#[derive(Debug)]
pub(crate) struct Findings<'a> {
    evidence: &'a ExecutorOutput,
    /// The objects of the question.
    pub scope: Vec<&'a str>,
}

impl<'a> Findings<'a> {
    /// Combines plan and evidence.
    pub fn new(plan: &'a PlannerOutput, evidence: &'a ExecutorOutput) -> Self {
        Self { evidence, scope: plan.query_scope.names() }
    }

    /// Returns all analyzed distortions, object by object.
    pub fn all(&self) -> Vec<Finding<'a>> {
        let parts = self.evidence.distortion_analysis.iter().flatten();
        parts
            .flat_map(|(part, analyses)| {
                analyses.iter().enumerate().map(move |(index, one)| (part.as_str(), index, one))
            })
            .map(|(part, index, analysis)| finding(part, index, analysis))
            .collect()
    }

    /// Returns the severity of a distortion of an object: as analyzed, or none if detection did not
    /// find it. Objects without their own evidence use that of the whole image.
    pub fn of(&self, part: &str, distortion: Distortion) -> Option<Finding<'a>> {
        let own = self.own(part, distortion);
        if own.is_none() && !self.has(part) { self.own(GLOBAL, distortion) } else { own }
    }

    fn own(&self, part: &str, distortion: Distortion) -> Option<Finding<'a>> {
        let analyzed = self.evidence.distortion_analysis.as_ref().and_then(|parts| parts.get_key_value(part));
        let found = analyzed.and_then(|(part, analyses)| {
            let index = analyses.iter().position(|analysis| analysis.distortion == distortion)?;
            Some(finding(part.as_str(), index, &analyses[index]))
        });
        found.or_else(|| {
            let (part, detected) = self.evidence.distortion_set.as_ref()?.get_key_value(part)?;
            let looked_for = !detected.contains(&distortion);
            looked_for.then(|| Finding {
                part: part.as_str(),
                distortion,
                severity: Severity::None,
                explanation: None,
                pointer: pointer("distortion_set", part.as_str(), None),
            })
        })
    }

    /// Returns whether an object has its own evidence.
    pub fn has(&self, part: &str) -> bool {
        self.evidence.distortion_analysis.as_ref().is_some_and(|parts| parts.contains_key(part))
            || self.evidence.distortion_set.as_ref().is_some_and(|parts| parts.contains_key(part))
    }

    /// Returns the visible distortions, worst first. Limited to the scope if the scope has
    /// evidence.
    pub fn visible(&self) -> Vec<Finding<'a>> {
        let in_scope = self.scope.iter().any(|part| self.has(part));
        let mut visible: Vec<Finding<'a>> = self
            .all()
            .into_iter()
            .filter(|finding| finding.severity > Severity::None && (!in_scope || self.scope.contains(&finding.part)))
            .collect();
        visible.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        visible
    }

    /// Returns the damage of an object from 0 to 4: the worst severity plus a share of each further
    /// one.
    pub fn damage(&self, part: &str) -> Option<f64> {
        let (part, analyses) = match self.evidence.distortion_analysis.as_ref().and_then(|all| all.get_key_value(part))
        {
            Some((part, analyses)) => (part.as_str(), analyses.as_slice()),
            None => (part, &[][..]),
        };
        let found_nothing = || self.evidence.distortion_set.as_ref()?.get(part).filter(|found| found.is_empty());
        if analyses.is_empty() {
            return found_nothing().map(|_| 0.0);
        }
        let severities = analyses.iter().map(|analysis| f64::from(analysis.severity as u8));
        let worst = severities.clone().fold(0.0, f64::max);
        Some((worst + FURTHER * (severities.sum::<f64>() - worst)).min(4.0))
    }

    /// Returns the damage of the most damaged object.
    pub fn greatest_damage(&self) -> Option<f64> {
        let analyzed = self.evidence.distortion_analysis.iter().flat_map(BTreeMap::keys);
        let detected = self.evidence.distortion_set.iter().flat_map(BTreeMap::keys);
        analyzed.chain(detected).filter_map(|part| self.damage(part.as_str())).reduce(f64::max)
    }

    /// Returns the JSON pointers to the evidence of an object.
    pub fn pointers_of(&self, part: &str) -> Vec<String> {
        let analyzed: Vec<String> =
            self.all().into_iter().filter(|finding| finding.part == part).map(|finding| finding.pointer).collect();
        let detected = self.evidence.distortion_set.as_ref().is_some_and(|parts| parts.contains_key(part));
        if analyzed.is_empty() && detected { vec![pointer("distortion_set", part, None)] } else { analyzed }
    }

    /// Returns every run of every tool with its JSON pointer.
    pub fn runs(&self) -> impl Iterator<Item = (String, &'a ToolExecutionLog)> {
        self.evidence.tool_logs.iter().enumerate().map(|(index, log)| (format!("/tool_logs/{index}"), log))
    }
}

fn finding<'a>(part: &'a str, index: usize, analysis: &'a DistortionAnalysis) -> Finding<'a> {
    Finding {
        part,
        distortion: analysis.distortion,
        severity: analysis.severity,
        explanation: Some(analysis.explanation.as_str()),
        pointer: pointer("distortion_analysis", part, Some(index)),
    }
}

/// Builds a JSON pointer into the evidence (RFC 6901).
pub(crate) fn pointer(field: &str, part: &str, index: Option<usize>) -> String {
    let part = part.replace('~', "~0").replace('/', "~1");
    match index {
        Some(index) => format!("/{field}/{part}/{index}"),
        None => format!("/{field}/{part}"),
    }
}

//! Plans by rule from the words of the question: its type, its scope, and the tools.

use std::collections::BTreeMap;
use std::ops::Range;

use super::intent;
use super::lexicon::{Mention, may_be_adjective, mentions, speaks_of_quality};
use super::objects::{Object, noun_at, objects};
use crate::language::{List, entries, is_listed, lexicons};
use crate::question::meaning::{self, Aspect, Claim};
use crate::question::question_without_options;
use crate::question::words::{Word, contains_listed, find, listed_at, words};
use crate::state::{
    AnswerOption, Distortion, DistortionSource, GLOBAL, OneOrMany, PlanControlFlags, PlannerOutput, QueryScope,
    QueryType, ReferenceMode, Text,
};
use agenticiqa_tools::{Registry, Scale, Tool};

/// Makes a plan from the question.
///
/// The options are not part of the question: a distortion that only they name still has to be
/// detected. Objects in the options of a "which part" question are included, because they have to
/// be compared. Requested tools (`required_tools`) come before tools that the question names. Each
/// reason in `replan_reasons` turns on the steps that provide the missing evidence.
pub fn plan(
    query: &str,
    options: &[AnswerOption],
    has_reference: bool,
    region_names: &[&str],
    registry: &Registry,
    required_tools: &[String],
    replan_reasons: &[(String, PlannerOutput)],
) -> PlannerOutput {
    let question = question_without_options(query);
    let words = words(&question);
    let (named_tools, tool_words) = tools_in(&words, registry, has_reference);
    let required = required(required_tools, named_tools, registry);
    let mentions = terms(&words, &tool_words);
    let mut parts = objects(&words, &mentions, region_names, &tool_words);
    let meanings = meaning::read_all(&question);
    let of_options = || options.iter().any(|option| meaning::read(&option.text).measured().next().is_some());
    let specific = |claim: &Claim| claim.aspect != Aspect::Quality || claim.pole.is_some();
    let measured = meanings.iter().any(|meaning| meaning.is_understood() && meaning.measured().any(specific));
    let measured = measured || of_options();
    let query_type = query_type(&words, &mentions, &parts, !required.is_empty() || measured);
    let distortions = by_part(&words, &mentions, &parts).filter(|_| query_type == QueryType::Iqa);
    let places = intent::parts_asked_for(&meanings, options, !parts.is_empty(), region_names);
    if !places.is_empty() {
        let add = |name: String| Object { name, at: words.len(), length: 0 };
        parts = places.into_iter().map(add).collect();
    }
    let query_scope = QueryScope::from_names(parts.iter().map(|part| &part.name));
    let distortions = distortions.map(|distortions| cover(distortions, &query_scope));
    let names_region = query_scope != QueryScope::Global;
    let flags = PlanControlFlags::by_rule(query_type, distortions.is_some(), names_region, !required.is_empty());
    let planned = PlannerOutput {
        query_type,
        query_scope,
        distortion_source: if distortions.is_some() { DistortionSource::Explicit } else { DistortionSource::Inferred },
        distortions,
        reference_mode: if has_reference { ReferenceMode::FullReference } else { ReferenceMode::NoReference },
        required_tool: OneOrMany::from_vec(required),
        plan: flags,
    };
    replan_reasons.iter().fold(planned, |plan, (reason, tried)| close_gap(plan, reason, tried))
}

/// Returns the plan for other parts than those that the question names.
pub(super) fn about(plan: PlannerOutput, names: &[&str]) -> PlannerOutput {
    let query_scope = QueryScope::from_names(names);
    let of_all = |mut named: BTreeMap<Text, Vec<Distortion>>| {
        if let Some(everywhere) = named.remove(GLOBAL) {
            named.extend(names.iter().filter_map(|name| Some((Text::new(*name).ok()?, everywhere.clone()))));
        }
        cover(named, &query_scope)
    };
    PlannerOutput { distortions: plan.distortions.map(of_all), query_scope, ..plan }
}

/// Turns on the steps that provide the evidence missing in an earlier round.
fn close_gap(plan: PlannerOutput, reason: &str, tried: &PlannerOutput) -> PlannerOutput {
    let reason = reason.to_lowercase();
    let says = |list: List| lexicons().any(|lexicon| entries(list(lexicon)).any(|stem| reason.contains(stem)));
    let contradiction = says(|lexicon| lexicon.plan.contradiction);
    let scores = says(|lexicon| lexicon.plan.missing_scores) && !contradiction;
    let coverage = says(|lexicon| lexicon.plan.missing_analysis) && !contradiction;
    let unknown = !contradiction && !scores && !coverage;
    let on = |now: bool, before: bool, wanted: bool| now || before || wanted;
    let (now, before) = (plan.plan, tried.plan);
    let uncovered = match &plan.distortions {
        None => true,
        Some(named) => plan.query_scope.names().iter().any(|part| !named.contains_key(*part)),
    };
    let find = contradiction || unknown || coverage && uncovered;
    let measure = contradiction || unknown || scores;
    let flags = PlanControlFlags {
        distortion_detection: on(now.distortion_detection, before.distortion_detection, find),
        distortion_analysis: on(now.distortion_analysis, before.distortion_analysis, true),
        tool_selection: on(now.tool_selection, before.tool_selection, measure),
        tool_execution: on(now.tool_execution, before.tool_execution, measure),
    };
    PlannerOutput { plan: flags, ..plan }
}

/// Returns the required tools without duplicates, by their registry names. Unknown names stay and
/// fail when they run.
fn required(asked: &[String], named: Vec<Text>, registry: &Registry) -> Vec<Text> {
    let canonical = |name: &String| Text::new(registry.get(name).map_or(name.as_str(), Tool::name)).ok();
    let mut tools: Vec<Text> = Vec::new();
    for tool in asked.iter().filter_map(canonical).chain(named) {
        if !tools.contains(&tool) {
            tools.push(tool);
        }
    }
    tools
}

/// Returns the tools that the question names in any spelling, and the positions of these words.
fn tools_in(words: &[Word<'_>], registry: &Registry, has_reference: bool) -> (Vec<Text>, Vec<Range<usize>>) {
    let (mut tools, mut places) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < words.len() {
        let longest = (1..=3).rev().filter(|length| at + length <= words.len()).find_map(|length| {
            let spelling: String = words[at..at + length].iter().map(|word| word.folded.as_str()).collect();
            let broken = words[at + 1..at + length].iter().any(|word| word.after_mark);
            let tool = (!broken).then(|| tool_called(&spelling, registry, has_reference)).flatten()?;
            (!is_common_word(tool) || written_as_tool(words, at, length, tool)).then_some((length, tool))
        });
        if let Some((length, tool)) = longest {
            tools.extend(Text::new(tool.name()));
            places.push(at..at + length);
            at += length;
        } else {
            at += 1;
        }
    }
    (tools, places)
}

/// Returns the tool with a spelling. The reference decides between variants of one name ("TOPIQ",
/// "WaDIQaM").
fn tool_called<'a>(spelling: &str, registry: &'a Registry, has_reference: bool) -> Option<&'a Tool> {
    if spelling.len() < 3 {
        return None;
    }
    let variant = if has_reference { "fr" } else { "nr" };
    let known = ["topiq", "wadiqam"].contains(&spelling);
    let spellings = [spelling.to_owned(), format!("{spelling}{variant}"), format!("{spelling}fr")];
    let count = if known { 3 } else { 1 };
    spellings[..count].iter().find_map(|spelling| registry.get(spelling).ok())
}

fn is_common_word(tool: &Tool) -> bool {
    // A user may have named a tool "noise".
    let name = words(tool.name());
    let of_quality = || mentions(&name).iter().any(|mention| mention.length == name.len());
    tool.scale() == Scale::None || is_listed(tool.name(), |lexicon| lexicon.plan.everyday_tools) || of_quality()
}

/// Returns whether a common word means a tool: spelled like the tool, or next to a word such as
/// "metric". A plain measurement always needs such a word.
fn written_as_tool(words: &[Word<'_>], at: usize, length: usize, tool: &Tool) -> bool {
    let near_tool = |index: usize| listed_at(words, index, |lexicon| lexicon.plan.near_tools).is_some();
    let shouting = words.len() > 1 && words.iter().all(|word| word.text == word.text.to_uppercase());
    let spelled = tool.scale() != Scale::None && words[at].text == tool.name() && !shouting;
    spelled || at.checked_sub(1).is_some_and(near_tool) || near_tool(at + length)
}

/// Returns the quality terms of a question, without the names of tools.
fn terms(words: &[Word<'_>], tool_words: &[Range<usize>]) -> Vec<Mention> {
    let mut terms = mentions(words);
    terms.retain(|mention| {
        let before = mention.at.checked_sub(1).map(|at| words[at].folded.as_str());
        let end = mention.at + mention.length;
        let next = words.get(end).filter(|word| !word.after_mark).map(|word| word.folded.as_str());
        let adjective = may_be_adjective(words, mention) && next.is_some() && noun_at(words, end).is_some();
        let word = words[mention.at].folded.as_str();
        let spurious =
            lexicons().any(|lexicon| (lexicon.context.has_other_meaning)(word, before, next, mention.length));
        let of_a_tool = tool_words.iter().any(|range| range.contains(&mention.at));
        !adjective && !spurious && !of_a_tool
    });
    terms
}

fn query_type(words: &[Word<'_>], mentions: &[Mention], parts: &[Object], names_tool: bool) -> QueryType {
    let other_at = |at: &usize| listed_at(words, *at, |lexicon| lexicon.plan.taste).is_some();
    let other = (0..words.len()).find(other_at);
    let mood_at = |at: usize| listed_at(words, at, |lexicon| lexicon.plan.moods).is_some();
    let solid = mentions.iter().any(|mention| other.is_none() || !mood_at(mention.at));
    if names_tool || solid {
        return QueryType::Iqa;
    }
    let of_beauty = |at: usize| at > 0 && other_at(&(at - 1)) || at > 1 && other_at(&(at - 2));
    let technical = lexicons()
        .flat_map(|lexicon| entries(lexicon.plan.technical))
        .any(|pattern| find(words, pattern).is_some_and(|(at, _)| !of_beauty(at)));
    let content = contains_listed(words, |lexicon| lexicon.plan.content);
    let presence = !parts.is_empty() && contains_listed(words, |lexicon| lexicon.plan.presence);
    if !technical && (other.is_some() || (content || presence) && !speaks_of_quality(words)) {
        QueryType::Other
    } else {
        QueryType::Iqa
    }
}

/// Returns the named distortions by object. If every clause has an object and a distortion, each
/// object gets those of its clause, otherwise all of them.
fn by_part(words: &[Word<'_>], mentions: &[Mention], parts: &[Object]) -> Option<BTreeMap<Text, Vec<Distortion>>> {
    if mentions.is_empty() {
        return None;
    }
    let clause = |at: usize| {
        let parting = |index: &usize| {
            words[*index].after_mark || listed_at(words, *index, |lexicon| lexicon.plan.clauses).is_some()
        };
        (1..=at.min(words.len().saturating_sub(1))).filter(parting).count()
    };
    let of_parts: Vec<usize> = parts.iter().map(|part| clause(part.at)).collect();
    let of_mentions: Vec<usize> = mentions.iter().map(|mention| clause(mention.at)).collect();
    let paired = of_parts.iter().all(|clause| of_mentions.contains(clause))
        && of_mentions.iter().all(|clause| of_parts.contains(clause));
    let mut named: BTreeMap<Text, Vec<Distortion>> = BTreeMap::new();
    let global = [(GLOBAL, None)];
    let listed: Vec<(&str, Option<usize>)> = match parts {
        [] => global.to_vec(),
        parts => parts.iter().zip(&of_parts).map(|(part, clause)| (part.name.as_str(), Some(*clause))).collect(),
    };
    for (name, part_clause) in listed {
        let Ok(name) = Text::new(name) else { continue };
        let distortions = named.entry(name).or_default();
        for (mention, mention_clause) in mentions.iter().zip(&of_mentions) {
            let belongs = !paired || part_clause.is_none_or(|clause| clause == *mention_clause);
            for distortion in mention.term.distortions.iter().filter(|_| belongs) {
                if !distortions.contains(distortion) {
                    distortions.push(*distortion);
                }
            }
        }
    }
    Some(named)
}

/// Assigns the named distortions to every object of the scope and removes all other objects.
fn cover(mut named: BTreeMap<Text, Vec<Distortion>>, scope: &QueryScope) -> BTreeMap<Text, Vec<Distortion>> {
    let all: Vec<Distortion> =
        Distortion::ALL.into_iter().filter(|distortion| named.values().any(|list| list.contains(distortion))).collect();
    let names = scope.names();
    named.retain(|part, _| names.contains(&part.as_str()));
    for part in names.into_iter().filter_map(|part| Text::new(part).ok()) {
        named.entry(part).or_insert_with(|| all.clone());
    }
    named
}

#[cfg(test)]
mod tests;

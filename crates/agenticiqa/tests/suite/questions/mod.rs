//! The built-in analyst answers a set of questions with known truth, without a model.
//!
//! `tests/data/questions/README.md` says how to add a question.

mod consistent;
mod documented;
mod images;
mod question;
mod tally;
mod truth;

use std::collections::{BTreeMap, BTreeSet};

use agenticiqa::Agent;
use agenticiqa::question::options_in;
use futures_util::{StreamExt, stream};

use images::Images;
use question::Question;
use tally::{Outcome, share, table};
use truth::Right;

/// The smallest share of right answers. Raise it when answers get better.
const LEAST: f64 = 0.96;
/// Questions that are answered at the same time.
const AT_ONCE: usize = 4;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_builtin_analyst_answers_the_set() {
    let questions = Question::all();
    let images = Images::make(&questions.iter().flat_map(Question::images).collect());
    let agent = Agent::builtin().unwrap();
    let answer = async |question| {
        let answered = agent.ask(Question::request(question, &images)).await;
        let answer = answered.unwrap_or_else(|error| panic!("{}: {error}", question.id));
        let right = question.right.accepts(answer.answer(), answer.score());
        let contradictions = consistent::contradictions(question, &answer.record);
        Outcome { question, answer: answer.to_string(), right, contradictions }
    };
    let outcomes: Vec<Outcome<'_>> = stream::iter(&questions).map(answer).buffered(AT_ONCE).collect().await;
    let table = table(&outcomes);
    eprintln!("{table}");
    let contradictions: Vec<String> = outcomes
        .iter()
        .flat_map(|one| one.contradictions.iter().map(|what| format!("{}: {what}", one.question.id)))
        .collect();
    assert!(contradictions.is_empty(), "answers contradict their evidence:\n{}", contradictions.join("\n"));
    assert!(share(&outcomes) >= LEAST, "less than {LEAST} of the answers are right");
}

#[test]
fn the_set_is_balanced() {
    let questions = Question::all();
    let count = |keep: &dyn Fn(&Question) -> bool| questions.iter().filter(|one| keep(one)).count() as f64;
    for language in ["en", "zh"] {
        let yes = count(&|one| one.language() == language && one.right == Right::Yes);
        let no = count(&|one| one.language() == language && one.right == Right::No);
        assert!((0.45..0.55).contains(&(yes / (yes + no))), "{language}: {yes} yes, {no} no");
    }
    let chinese = count(&|one| one.language() == "zh") / questions.len() as f64;
    assert!((0.35..0.48).contains(&chinese), "{chinese}");
}

#[test]
fn ids_are_unique_and_every_chinese_question_has_its_english_one() {
    let questions = Question::all();
    let ids: BTreeSet<&str> = questions.iter().map(|one| one.id.as_str()).collect();
    assert_eq!(ids.len(), questions.len());
    let english: BTreeMap<&str, &Question> =
        questions.iter().filter(|one| one.language() == "en").map(|one| (one.meaning(), one)).collect();
    for chinese in questions.iter().filter(|one| one.language() == "zh") {
        let same = english.get(chinese.meaning()).unwrap_or_else(|| panic!("{} is alone", chinese.id));
        assert_eq!((&same.image, &same.axis, &same.form), (&chinese.image, &chinese.axis, &chinese.form));
        assert_eq!(same.options.len(), chinese.options.len(), "{}", chinese.id);
        if !matches!(same.right, Right::Says { .. }) {
            assert_eq!(same.right, chinese.right, "{}", chinese.id);
        }
    }
    assert_eq!(english.len() + ids.iter().filter(|id| id.ends_with(".zh")).count(), questions.len());
}

#[test]
fn every_image_is_used_and_every_letter_is_an_option() {
    let questions = Question::all();
    let used: BTreeSet<&str> = questions.iter().flat_map(Question::images).collect();
    let unused: Vec<String> = images::names().into_iter().filter(|name| !used.contains(name.as_str())).collect();
    assert!(unused.is_empty(), "{unused:?}");
    for question in &questions {
        if let Right::Letter(letter) = question.right {
            let options = match question.options.len() {
                0 => options_in(&question.question).len(),
                given => given,
            };
            assert!(('A'..).take(options).any(|one| one == letter), "{}", question.id);
        }
    }
}

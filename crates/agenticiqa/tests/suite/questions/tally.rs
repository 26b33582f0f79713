//! Counts right answers by group and prints them as a table.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::question::Question;

/// A question and what came of it.
pub struct Outcome<'a> {
    /// The question.
    pub question: &'a Question,
    /// The answer.
    pub answer: String,
    /// Whether it is right.
    pub right: bool,
    /// What it says against its own evidence.
    pub contradictions: Vec<String>,
}

/// The share of right answers.
pub fn share<'a>(outcomes: impl IntoIterator<Item = &'a Outcome<'a>>) -> f64 {
    let (mut right, mut all) = (0.0, 0.0);
    for outcome in outcomes {
        all += 1.0;
        right += f64::from(u8::from(outcome.right));
    }
    right / all
}

/// The table: right answers by form, axis and language, and each wrong answer.
pub fn table(outcomes: &[Outcome<'_>]) -> String {
    let mut text = String::new();
    let by = [
        ("form", outcomes.iter().map(|one| one.question.form.as_str()).collect::<Vec<_>>()),
        ("axis", outcomes.iter().map(|one| one.question.axis.as_str()).collect()),
        ("language", outcomes.iter().map(|one| one.question.language()).collect()),
        ("truth", outcomes.iter().map(|one| one.question.right.name()).collect()),
    ];
    for (name, keys) in by {
        let mut groups: BTreeMap<&str, Vec<&Outcome<'_>>> = BTreeMap::new();
        keys.into_iter().zip(outcomes).for_each(|(key, one)| groups.entry(key).or_default().push(one));
        let _ = writeln!(text, "\n{name:<16} right   of      %  wrong");
        for (key, group) in groups {
            let wrong: Vec<&str> = group.iter().filter(|one| !one.right).map(|one| one.question.id.as_str()).collect();
            let right = group.len() - wrong.len();
            let percent = 100.0 * share(group.iter().copied());
            let _ = writeln!(text, "{key:<16} {right:>5} {:>4} {percent:>6.1}  {}", group.len(), wrong.join(" "));
        }
    }
    for one in outcomes.iter().filter(|one| !one.right) {
        let Question { id, image, question, options, right, .. } = one.question;
        let _ = writeln!(text, "\n{id} on {image}: {question} {}", options.join(" / "));
        let _ = writeln!(text, "  answer: {}\n  right:  {right:?}", one.answer);
    }
    let right = outcomes.iter().filter(|one| one.right).count();
    let _ = writeln!(text, "\n{right} of {} right ({:.1} %)", outcomes.len(), 100.0 * share(outcomes));
    text
}

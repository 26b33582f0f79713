//! The answers in `docs/questions.md` are those of the program.

use std::path::Path;

use agenticiqa::Agent;
use agenticiqa::agent::{Input, Request};

const DOCUMENT: &str = include_str!("../../../../../docs/questions.md");

/// The rows of the table of real outputs: image, question and answer.
fn rows() -> Vec<[&'static str; 3]> {
    let section = DOCUMENT.split("## Real outputs").nth(1).and_then(|rest| rest.split("\n## ").next()).unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    rows.map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [image, question, answer] = cells[..] else { panic!("{line}") };
        [image.trim_matches('`'), question, answer]
    })
    .collect()
}

/// A text without its digits: scores change with the models.
fn without_numbers(text: &str) -> String {
    text.chars().filter(|character| !character.is_ascii_digit()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_outputs_in_the_document_are_real() {
    let agent = Agent::builtin().unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let rows = rows();
    assert!(rows.len() > 10);
    for [image, question, expected] in rows {
        let request = Request { query: question.to_owned(), ..Request::new(Input::Path(folder.join(image))) };
        let answer = agent.ask(request).await.unwrap();
        assert_eq!(without_numbers(answer.answer()), without_numbers(expected), "{image}: {question}");
    }
}

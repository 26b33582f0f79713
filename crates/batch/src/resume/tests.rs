use std::path::PathBuf;

use serde_json::{Value, json};

use super::*;
use crate::Error;

const ALL: RangeInclusive<u64> = 1..=u64::MAX;

struct Desk {
    folder: tempfile::TempDir,
}

impl Desk {
    fn new(input: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let lines: String = input.iter().map(|id| sample(id)).collect();
        std::fs::write(folder.path().join("input.jsonl"), lines).unwrap();
        Self { folder }
    }

    fn output(&self) -> PathBuf {
        self.folder.path().join("output.jsonl")
    }

    fn ledger(&self) -> Ledger {
        Ledger::read(&Input::file(self.folder.path().join("input.jsonl")), &PathRules::new(None, None)).unwrap()
    }

    /// Writes the output, resumes it, and returns what remains.
    fn resumed(&self, content: &str, range: RangeInclusive<u64>) -> Result<(String, Ledger, Found), Error> {
        std::fs::write(self.output(), content).unwrap();
        let mut ledger = self.ledger();
        let (mut output, found) = open(&self.output(), Existing::Resume, &mut ledger, &range)?;
        output.append(&"appended").unwrap();
        drop(output);
        let left = std::fs::read_to_string(self.output()).unwrap();
        Ok((left.strip_suffix("\"appended\"\n").unwrap().to_owned(), ledger, found))
    }
}

fn sample(id: &str) -> String {
    format!("{{\"sample_id\": \"{id}\", \"query\": \"Rate it.\", \"image_path\": \"{id}.png\"}}\n")
}

fn record(id: &str, status: &str) -> String {
    format!(
        "{{\"sample_id\":\"{id}\",\"query\":\"Rate it.\",\"image_path\":\"{id}.png\",\"reference_path\":null,\
         \"metadata\":{{\"final_status\":\"{status}\"}}}}\n"
    )
}

#[test]
fn a_torn_line_is_cut_off_wherever_it_is_torn() {
    let desk = Desk::new(&["a", "b"]);
    let (first, second) = (record("a", "success"), record("b", "partial"));
    for cut in 0..second.len() {
        let (left, ledger, found) = desk.resumed(&format!("{first}{}", &second[..cut]), ALL).unwrap();
        // A record that lacks only its newline is complete.
        let whole = cut == second.len() - 1;
        assert_eq!(left, if whole { format!("{first}{second}") } else { first.clone() }, "{cut}");
        assert_eq!((ledger.done(), found.torn), if whole { (2, 0) } else { (1, cut as u64) }, "{cut}");
    }
}

#[test]
fn failed_records_go_and_good_ones_stay_once() {
    let desk = Desk::new(&["a", "b", "c", "d"]);
    let lines = [
        record("a", "error"),
        record("b", "success"),
        record("x", "success"),
        record("c", "error"),
        record("b", "partial"),
    ];
    let (left, ledger, found) = desk.resumed(&lines.concat(), ALL).unwrap();
    assert_eq!(left, format!("{}{}", lines[1], lines[2]));
    assert_eq!((found.records, found.foreign, found.failed, found.torn), (1, 1, 2, 0));
    assert_eq!((ledger.total(), ledger.done()), (4, 1));
}

#[test]
fn failed_records_outside_of_the_range_are_not_touched() {
    let desk = Desk::new(&["a", "b", "c"]);
    let lines = [record("a", "error"), record("b", "error"), record("c", "success")];
    let (left, _, found) = desk.resumed(&lines.concat(), 2..=3).unwrap();
    assert_eq!((left, found.failed), (format!("{}{}", lines[0], lines[2]), 1));
}

#[test]
fn other_files_are_never_changed() {
    let desk = Desk::new(&["a"]);
    let good = record("a", "success");
    for (content, line) in [
        (sample("a"), 1),
        (format!("{good}\n"), 2),
        (format!("{good}not a record\n"), 2),
        (format!("{good}not a record"), 2),
        (format!("{}\n{good}", &good[..20]), 1),
    ] {
        let error = desk.resumed(&content, ALL).unwrap_err();
        assert!(matches!(error, Error::NotARecord { line: found, .. } if found == line), "{error}");
        assert_eq!(std::fs::read_to_string(desk.output()).unwrap(), content);
    }
    let other = good.replace("Rate it.", "Is it blurry?");
    let error = desk.resumed(&other, ALL).unwrap_err();
    assert!(error.to_string().contains("the record of \"a\" is about another query"), "{error}");
    assert_eq!(std::fs::read_to_string(desk.output()).unwrap(), other);
}

#[test]
fn a_record_with_other_options_or_regions_is_another_question() {
    let line = r#"{"sample_id": "a", "query": "Which?", "image_path": "a.png", "options": ["Blur", "B. Noise"], "regions": ["car=1,2,3,4"]}"#;
    let desk = Desk::new(&[]);
    std::fs::write(desk.folder.path().join("input.jsonl"), line).unwrap();
    let car = json!({"name": "car", "x": 1, "y": 2, "width": 3, "height": 4});
    let sky = json!({"name": "sky", "x": 0, "y": 0, "width": 9, "height": 2});
    let options = json!([{"letter": "A", "text": "Blur"}, {"letter": "B", "text": "Noise"}]);
    let other_options = json!([{"letter": "A", "text": "Blur"}, {"letter": "B", "text": "Haze"}]);
    let other_car = json!({"name": "car", "x": 1, "y": 2, "width": 30, "height": 4});
    let is_kept = |executor: &str, options: &Value, regions: Value| {
        let backends = json!({"planner": "builtin", "executor": executor, "summarizer": "builtin"});
        let record = json!({"sample_id": "a", "query": "Which?", "image_path": "a.png", "reference_path": null,
            "options": options, "regions": regions, "metadata": {"final_status": "success", "backends": backends}});
        match desk.resumed(&format!("{record}\n"), ALL) {
            Ok((_, ledger, _)) => ledger.done() == 1,
            Err(Error::AnotherQuestion { .. }) => false,
            Err(error) => panic!("{error}"),
        }
    };
    assert!(is_kept("builtin", &options, json!([car])));
    assert!(!is_kept("builtin", &other_options, json!([car])));
    assert!(!is_kept("builtin", &json!([]), json!([car])));
    for regions in [json!([]), json!([other_car]), json!([car, sky]), json!([sky, car])] {
        assert!(!is_kept("builtin", &options, regions.clone()), "{regions}");
    }
    assert!(is_kept("openai.gpt-4o", &options, json!([car, sky])), "the model located the sky");
    assert!(!is_kept("openai.gpt-4o", &options, json!([sky, car])));
    assert!(is_kept("builtin", &Value::Null, Value::Null), "a record without these fields");
}

#[test]
fn options_in_the_question_are_those_of_its_record() {
    let query = "Which?\nA. Blur\nB. Noise";
    let desk = Desk::new(&[]);
    let line = json!({"sample_id": "a", "query": query, "image_path": "a.png"});
    std::fs::write(desk.folder.path().join("input.jsonl"), line.to_string()).unwrap();
    let options = json!([{"letter": "A", "text": "Blur"}, {"letter": "B", "text": "Noise"}]);
    let record = json!({"sample_id": "a", "query": query, "image_path": "a.png", "reference_path": null,
        "options": options, "regions": [], "metadata": {"final_status": "success"}});
    assert_eq!(desk.resumed(&format!("{record}\n"), ALL).unwrap().1.done(), 1);
}

#[test]
fn an_output_that_is_there_is_refused_replaced_or_in_use() {
    let desk = Desk::new(&["a"]);
    std::fs::write(desk.output(), "precious\n").unwrap();
    let mut ledger = desk.ledger();
    let refused = open(&desk.output(), Existing::Refuse, &mut ledger, &ALL).unwrap_err();
    assert!(matches!(refused, Error::OutputExists(_)), "{refused}");
    assert_eq!(std::fs::read_to_string(desk.output()).unwrap(), "precious\n");
    let (output, _) = open(&desk.output(), Existing::Overwrite, &mut ledger, &ALL).unwrap();
    assert_eq!(std::fs::read_to_string(desk.output()).unwrap(), "");
    let second = open(&desk.output(), Existing::Overwrite, &mut ledger, &ALL).unwrap_err();
    assert!(matches!(second, Error::OutputInUse(_)), "{second}");
    drop(output);
    open(&desk.output(), Existing::Refuse, &mut ledger, &ALL).unwrap();
}

#[test]
fn after_failed_records_were_taken_out_the_file_is_still_ours_alone() {
    let desk = Desk::new(&["a", "b"]);
    std::fs::write(desk.output(), [record("a", "error"), record("b", "success")].concat()).unwrap();
    let mut ledger = desk.ledger();
    let (_output, _) = open(&desk.output(), Existing::Resume, &mut ledger, &ALL).unwrap();
    let second = open(&desk.output(), Existing::Resume, &mut desk.ledger(), &ALL).unwrap_err();
    assert!(matches!(second, Error::OutputInUse(_)), "{second}");
}

#[test]
fn repeated_names_are_told_by_their_lines() {
    let desk = Desk::new(&["a", "b", "a"]);
    let ledger = desk.ledger();
    let input = Input::file(desk.folder.path().join("input.jsonl"));
    let items = input.items(&PathRules::new(None, None)).unwrap().map(|item| judge(&ledger, item.unwrap()).unwrap());
    let items: Vec<Item> = items.collect();
    assert!(items[0].is_ok() && items[1].is_ok());
    let flaw = items[2].as_ref().unwrap_err();
    assert_eq!(flaw.message, "sample_id \"a\" is that of line 1 already: give every line its own");
    assert_eq!(flaw_name(&input, flaw), "input.jsonl:3");
}

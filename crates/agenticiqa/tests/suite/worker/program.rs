//! The worker program on its own: `python agenticiqa_worker.py`.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::worker::support::{PYTHON, is_running, python_path, until};

struct Program {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Program {
    fn start(arguments: &[&str]) -> Self {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tools/worker/agenticiqa_worker.py");
        let mut child = Command::new(PYTHON)
            .arg(file)
            .args(arguments)
            .env("PYTHONPATH", python_path())
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (stdin, lines) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()).lines());
        Self { child, stdin, lines }
    }

    fn hear(&mut self) -> Value {
        serde_json::from_str(&self.lines.next().unwrap().unwrap()).unwrap()
    }

    fn say(&mut self, line: &str) {
        writeln!(self.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Returns the answer to a request, skipping the events before it.
    fn ask(&mut self, request: &Value) -> Value {
        self.say(&request.to_string());
        loop {
            let line = self.hear();
            if line.get("event").is_none() {
                return line;
            }
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn it_greets_serves_files_and_buffers_and_ends_with_its_input() {
    let folder = tempfile::tempdir().unwrap();
    let (file, buffer) = (folder.path().join("two.ppm"), folder.path().join("raw"));
    std::fs::write(&file, b"P6\n2 1\n255\n\x00\x33\x66\x99\xcc\xff").unwrap();
    std::fs::write(&buffer, [0, 0x33, 0x66, 0x99, 0xcc, 0xff]).unwrap();
    let mut program = Program::start(&["--device", "cpu"]);
    let hello = json!({"hello": "agenticiqa-worker", "protocol": 1, "pyiqa": "0.0-stand-in", "device": "cpu"});
    assert_eq!(program.hear(), hello);
    let raw = |layout: &str| json!({"buffer": buffer, "width": 2, "height": 1, "channels": 3, "dtype": "uint8", "layout": layout});
    let batch = [json!({"path": file}), raw("interleaved"), raw("planar")].map(|image| json!({"image": image}));
    let answer = program.ask(&json!({"id": 1, "metric": "blue", "batch": batch}));
    assert_eq!(answer["errors"], json!([null, null, null]));
    let scores: Vec<f64> = serde_json::from_value(answer["scores"].clone()).unwrap();
    for (score, expected) in scores.iter().zip([0.7, 0.7, 0.9]) {
        assert!((score - expected).abs() < 1e-6, "{scores:?}");
    }
    assert!(buffer.exists(), "only what is marked so is unlinked");
    let id = program.child.id();
    drop(program.stdin.take());
    until("the program ends with its input", || !is_running(id));
}

#[test]
fn it_describes_the_metrics_that_there_are() {
    let mut program = Program::start(&[]);
    program.hear();
    let one = program.ask(&json!({"id": 7, "describe": ["mean_error", "nonsense"]}));
    let expected =
        json!({"name": "mean_error", "mode": "FR", "known": true, "lower_better": true, "score_range": "0, 1"});
    assert_eq!((&one["id"], &one["metrics"][0]), (&json!(7), &expected));
    assert_eq!(one["metrics"][1]["known"], json!(false));
    let all = program.ask(&json!({"id": 8, "describe": []}));
    assert!(all["metrics"].as_array().unwrap().len() > 20);
}

#[test]
fn bad_requests_are_answered_and_the_next_one_is_served() {
    let mut program = Program::start(&[]);
    program.hear();
    for bad in [
        "nonsense",
        "[]",
        "{}",
        r#"{"id": 1}"#,
        r#"{"id": 1, "metric": "mean"}"#,
        r#"{"id": 1, "metric": "mean", "batch": 7}"#,
    ] {
        program.say(bad);
        let answer = loop {
            let line = program.hear();
            if line.get("event").is_none() {
                break line;
            }
        };
        assert!(answer["error"].as_str().unwrap().starts_with("bad request"), "{bad}: {answer}");
    }
    let folder = tempfile::tempdir().unwrap();
    let short = folder.path().join("short");
    std::fs::write(&short, [0; 5]).unwrap();
    let raw = |path: &Path, channels: usize, dtype: &str| json!({"image": {"buffer": path, "width": 2, "height": 1, "channels": channels, "dtype": dtype}});
    let missing = folder.path().join("missing");
    let batch = [
        raw(&short, 3, "uint8"),
        raw(&missing, 3, "uint8"),
        raw(&short, 2, "uint8"),
        raw(&short, 1, "float"),
        json!({}),
        json!({"image": {"path": short}}),
        raw(&short, 1, "uint8"),
    ];
    let answer = program.ask(&json!({"id": 2, "metric": "mean", "batch": batch}));
    let errors = answer["errors"].as_array().unwrap();
    let words = ["holds 5 bytes and the image needs 6", "FileNotFoundError", "2 channels", "float", "", ""];
    for (error, words) in errors.iter().zip(words) {
        assert!(error.as_str().unwrap().contains(words), "{error}");
    }
    assert_eq!((&errors[6], &answer["scores"][6]), (&Value::Null, &json!(0.0)));
}

//! Tools of the Python worker, with a small package instead of pyiqa.

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;

use crate::support::*;

/// Runs the program with this Python for the worker.
fn with_python(python: &str, arguments: &[&str]) -> Output {
    let packages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../agenticiqa/tests/suite/worker");
    let paths = ["stand_in_pyiqa", "stand_in_torch"].map(|name| packages.join(name));
    let mut command = Command::cargo_bin("agenticiqa").unwrap();
    command.args(arguments).env("AGENTICIQA_PYTHON", python).env("PYTHONDONTWRITEBYTECODE", "1");
    command.env("PYTHONPATH", std::env::join_paths(paths).unwrap()).env_remove("AGENTICIQA_ILNIQE_MODEL");
    command.output().unwrap()
}

fn line<'a>(text: &'a str, tool: &str) -> &'a str {
    text.lines().find(|line| line.trim_start_matches(['|', '│', ' ']).starts_with(tool)).unwrap_or_default()
}

#[test]
fn a_tool_of_a_list_of_ones_own_is_scored_by_the_worker() {
    let folder = tempfile::tempdir().unwrap();
    let (list, config) = (folder.path().join("tools.json"), folder.path().join("pipeline.yaml"));
    let entry = r#"{"type": "NR", "backend": "worker", "worker": {"metric": "maximum"}, "strengths": [], "lower_is_better": false, "range": [0, 1]}"#;
    std::fs::write(&list, format!(r#"{{"Brightest": {entry}}}"#)).unwrap();
    std::fs::write(&config, format!("tools:\n  metadata: {}\n", list.display())).unwrap();
    let picture = folder.path().join("picture.bmp");
    write_bmp(&picture, 12, 9, |x, y| [if (x, y) == (11, 8) { 204 } else { 9 }, 30, 40]);
    let config = config.to_str().unwrap();
    let arguments = ["--config", config, "score", "--tool", "brightest", "--format", "json", picture.to_str().unwrap()];
    let output = with_python("python3", &arguments);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let row = &rows(&output)[0];
    assert_eq!(row["tool"], "Brightest");
    assert!((row["raw_score"].as_f64().unwrap() - 0.8).abs() < 1e-6, "{row}");
    assert!((row["normalized_score"].as_f64().unwrap() - 4.2).abs() < 1e-6, "{row}");
}

#[test]
fn check_tells_what_the_worker_lacks() {
    let off = stdout(&agenticiqa(&["tools", "check"]));
    assert!(off.contains("AGENTICIQA_PYTHON"), "{off}");
    let wrong = with_python("/no/such/python", &["tools", "check"]);
    assert_eq!(code(&wrong), 0, "what is missing is no failure of a tool");
    assert!(stdout(&wrong).contains("/no/such/python"), "{}", stdout(&wrong));
    let unknown = with_python("python3", &["tools", "check"]);
    assert_eq!(code(&unknown), 0, "{}", stdout(&unknown));
    assert!(line(&stdout(&unknown), "MUSIQ").contains("not ready"), "{}", stdout(&unknown));
    assert!(line(&stdout(&unknown), "SSIM").contains("ok"), "{}", stdout(&unknown));
}

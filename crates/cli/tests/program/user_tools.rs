//! Tools that a user adds in the configuration: planned, chosen, run and recorded like the built-in
//! ones.
#![cfg(unix)]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Output;

use crate::support::*;

/// Writes an executable script with this body into the folder.
fn script(folder: &Path, body: &str) -> String {
    let path = folder.join("my score.sh");
    std::fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Runs the program with the tool MyTool, whose scores range from 1 (bad) to 0 (good).
fn with_tool(folder: &Path, body: &str, more: &str, arguments: &[&str]) -> Output {
    let script = script(folder, body);
    let pipeline = format!(
        "tools:\n  add:\n    MyTool:\n      type: NR\n      backend: command\n      description: Mine.\n      strengths: \
         [Compression]\n      lower_is_better: true\n      range: [0, 1]\n      check: 0.25\n      command:\n        run: \
         [\"{script}\", \"{{image}}\"]\n        timeout: 20\n{more}"
    );
    let config = folder.join("pipeline.yaml");
    std::fs::write(&config, pipeline).unwrap();
    agenticiqa(&[&["--config", config.to_str().unwrap()], arguments].concat())
}

const GOOD: &str = "echo \"$1\" >> \"${0%/*}/calls\"; echo 0.25";

#[test]
fn the_built_in_analyst_chooses_it_for_its_strength_and_it_is_on_record() {
    let folder = tempfile::tempdir().unwrap();
    let picture = example("osprey-compressed.jpg");
    let picture = picture.to_str().unwrap();
    let query = "Is the image damaged by compression?";
    let output = with_tool(folder.path(), GOOD, "", &["assess", picture, "--query", query, "--format", "json"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let record: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let evidence = &record["executor_evidence"];
    assert_eq!(evidence["selected_tools"]["Global"]["Compression"], "MyTool", "{evidence}");
    let log = &evidence["tool_logs"][0];
    assert_eq!((&log["tool_name"], log["raw_score"].as_f64()), (&"MyTool".into(), Some(0.25)), "{evidence}");
    assert_eq!(log["normalized_score"].as_f64(), Some(4.0));
    // The whole image is scored, so the tool got the file itself.
    assert_eq!(std::fs::read_to_string(folder.path().join("calls")).unwrap(), format!("{picture}\n"));
}

#[test]
fn a_question_and_a_flag_can_name_it() {
    let folder = tempfile::tempdir().unwrap();
    let picture = example("osprey.jpg");
    let picture = picture.to_str().unwrap();
    for arguments in [["--query", "Please score it with mytool."], ["--tool", "my_tool"]] {
        let output =
            with_tool(folder.path(), GOOD, "", &[&["assess", picture, "--format", "json"], &arguments[..]].concat());
        let record: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
        assert_eq!(record["plan"]["required_tool"], "MyTool", "{record}");
        assert_eq!(record["executor_evidence"]["tool_logs"][0]["raw_score"].as_f64(), Some(0.25));
    }
}

#[test]
fn it_scores_lists_shows_and_checks_like_any_other() {
    let folder = tempfile::tempdir().unwrap();
    let picture = example("osprey.jpg");
    let picture = picture.to_str().unwrap();
    let output = with_tool(folder.path(), GOOD, "", &["score", picture, "--tool", "MYTOOL", "--format", "json"]);
    let row = &rows(&output)[0];
    assert_eq!((row["raw_score"].as_f64(), row["normalized_score"].as_f64()), (Some(0.25), Some(4.0)));
    assert!(stderr(&output).contains("linear scale"), "{}", stderr(&output));
    // A region is passed as a separate file.
    let region = ["score", picture, "-t", "MyTool", "--region", "beak=10,10,40,30", "--format", "json"];
    assert_eq!(rows(&with_tool(folder.path(), GOOD, "", &region))[0]["region"], "beak");
    let calls = std::fs::read_to_string(folder.path().join("calls")).unwrap();
    assert!(calls.lines().last().unwrap().ends_with("image.png"), "{calls}");
    let all = stdout(&with_tool(folder.path(), GOOD, "", &["score", picture, "--all", "--format", "csv"]));
    assert!(all.contains("MyTool"));
    let list = stdout(&with_tool(folder.path(), GOOD, "", &["tools", "list", "--format", "markdown"]));
    assert!(list.contains("| MyTool | NR | command of yours | its program |"), "{list}");
    assert!(stdout(&with_tool(folder.path(), GOOD, "", &["tools", "show", "MyTool"])).contains("my score.sh {image}"));
    let check = with_tool(folder.path(), GOOD, "", &["tools", "check", "MyTool"]);
    assert!(code(&check) == 0 && stdout(&check).contains("ok"), "{}", stdout(&check));
    let differs = with_tool(folder.path(), "echo 0.5", "", &["tools", "check", "MyTool"]);
    assert!(code(&differs) == 1 && stdout(&differs).contains("differs from the recorded 0.25"));
}

#[test]
fn a_broken_one_fails_alone_and_another_tool_stands_in() {
    let folder = tempfile::tempdir().unwrap();
    let picture = example("osprey-compressed.jpg");
    let picture = picture.to_str().unwrap();
    let broken = "echo my weights are lost >&2; exit 9";
    let output = with_tool(folder.path(), broken, "", &["assess", picture, "--tool", "MyTool", "--format", "json"]);
    let record: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let logs = record["executor_evidence"]["tool_logs"].as_array().unwrap();
    let error = logs[0]["error"].as_str().unwrap();
    assert!(error.ends_with("my score.sh ended with exit code 9: my weights are lost"), "{error}");
    assert_eq!((logs[1]["tool_name"].as_str(), logs[1]["fallback"].as_bool()), (Some("BRISQUE"), Some(true)));
    let output = with_tool(folder.path(), broken, "", &["score", picture, "--tool", "MyTool", "--tool", "NIQE"]);
    assert_eq!(code(&output), 1);
    assert!(stdout(&output).contains("NIQE"));
}

#[test]
fn a_mistake_in_an_entry_is_told_by_file_tool_and_field() {
    let folder = tempfile::tempdir().unwrap();
    let wrong = |more: &str| {
        let output = with_tool(folder.path(), GOOD, more, &["tools", "list"]);
        assert_eq!(code(&output), 2);
        stderr(&output)
    };
    let unknown = wrong("      rnage: [0, 1]\n");
    assert!(unknown.contains("pipeline.yaml:") && unknown.contains("tools.add.MyTool.rnage"), "{unknown}");
    let reference = wrong("    Other: {type: FR, backend: command, strengths: [], command: {run: [a, \"{image}\"]}}\n");
    assert!(reference.contains("tools.add.Other.command.run: must have {reference}"), "{reference}");
    let strength =
        wrong("    Other: {type: NR, backend: command, strengths: [Blur], command: {run: [a, \"{image}\"]}}\n");
    assert!(strength.contains("tools.add.Other.strengths: must be among Blurs"), "{strength}");
    let missing = wrong("    Other: {type: NR, backend: command, strengths: []}\n");
    assert!(missing.contains("tools.add.Other.command: must be there"), "{missing}");
}

#[test]
fn a_list_of_the_users_own_is_read_with_its_mistakes() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("mine.json");
    let script = script(folder.path(), GOOD);
    let run = |entry: &str, arguments: &[&str]| {
        std::fs::write(&list, format!(r#"{{"Own": {entry}}}"#)).unwrap();
        let config = folder.path().join("pipeline.yaml");
        std::fs::write(&config, format!("tools: {{metadata: {}}}\n", list.display())).unwrap();
        agenticiqa(&[&["--config", config.to_str().unwrap()], arguments].concat())
    };
    let entry = format!(
        r#"{{"type": "NR", "backend": "command", "strengths": [], "command": {{"run": ["{script}", "{{image}}"]}}}}"#
    );
    let output = run(&entry, &["score", example("osprey.jpg").to_str().unwrap(), "-t", "own", "--format", "json"]);
    assert_eq!(rows(&output)[0]["raw_score"].as_f64(), Some(0.25), "{}", stderr(&output));
    let wrong = run(&entry.replace("NR", "XX"), &["tools"]);
    assert!(code(&wrong) == 2 && stderr(&wrong).contains("mine.json: Own.type: unknown variant"), "{}", stderr(&wrong));
}

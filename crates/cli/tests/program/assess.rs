//! `assess`, `doctor`, `graph` and `man`: answers, records, gates and error messages.

use serde_json::Value;

use assert_cmd::Command;

use crate::support;

/// The program in an empty folder, without API keys and settings.
fn program() -> Command {
    let mut command = Command::cargo_bin("agenticiqa").unwrap();
    let set = std::env::vars().map(|(name, _)| name);
    for name in set.filter(|name| {
        ["AGENTICIQA_", "OPENAI_", "ANTHROPIC_", "GOOGLE_", "GEMINI_", "OLLAMA_"].iter().any(|of| name.starts_with(of))
    }) {
        command.env_remove(name);
    }
    command.current_dir(env!("CARGO_TARGET_TMPDIR")).env("XDG_CONFIG_HOME", "/nowhere");
    command
}

struct Ran {
    code: i32,
    stdout: String,
    stderr: String,
}

fn run(arguments: &[&str]) -> Ran {
    let output = program().args(arguments).output().unwrap();
    Ran { code: support::code(&output), stdout: support::stdout(&output), stderr: support::stderr(&output) }
}

fn example(name: &str) -> String {
    support::example(name).display().to_string()
}

fn record(arguments: &[&str]) -> Value {
    let photo = example("osprey.jpg");
    let output = run(&[&["assess", &photo, "--format", "json"], arguments].concat());
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert_eq!(output.stdout.lines().count(), 1, "one object, one line");
    serde_json::from_str(&output.stdout).unwrap()
}

#[test]
fn with_no_key_a_photo_gets_an_answer_a_score_and_reasons() {
    let record = record(&[]);
    let result = &record["summarizer_result"];
    assert_eq!(result["answer_form"], "score");
    assert!((3.5..=5.0).contains(&result["quality_score"].as_f64().unwrap()), "{result}");
    assert_eq!(record["metadata"]["backends"]["planner"], "builtin");
    assert_eq!(record["metadata"]["final_status"], "success");
    assert_eq!(record["sample_id"], "osprey");
    for used in result["used_evidence"].as_array().unwrap() {
        for pointer in used["evidence"].as_array().unwrap() {
            assert!(record["executor_evidence"].pointer(pointer.as_str().unwrap()).is_some(), "{pointer}");
        }
    }
    for field in ["query", "options", "image_path", "reference_path", "regions", "plan"] {
        assert!(record.get(field).is_some(), "{field}");
    }
}

#[test]
fn a_question_is_answered_in_words_and_a_choice_with_its_letter() {
    let blurred = example("osprey-blurred.jpg");
    let photo = example("osprey.jpg");
    let output = run(&["assess", &blurred, "--query", "Is the image blurry?", "--format", "json"]);
    let answer: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(answer["summarizer_result"]["answer_form"], "text");
    let text = answer["summarizer_result"]["final_answer"].as_str().unwrap();
    assert!(text.starts_with("Yes"), "{text}");
    let choice = ["-o", "Noise", "-o", "Blur", "-o", "JPEG blocks", "--format", "json", "-Q", "What is wrong with it?"];
    let output = run(&[&["assess", &blurred, "-r", &photo][..], &choice[..]].concat());
    let answer: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(answer["summarizer_result"]["final_answer"], "B");
    assert_eq!(answer["plan"]["reference_mode"], "Full-Reference");
}

#[test]
fn with_a_reference_the_score_is_that_of_fused_fr_and_metrics_are_evidence() {
    let (photo, compressed) = (example("osprey.jpg"), example("osprey-compressed.jpg"));
    let output = run(&["assess", &compressed, "-r", &photo, "--format", "json"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let record: Value = serde_json::from_str(&output.stdout).unwrap();
    let logs = record["executor_evidence"]["tool_logs"].as_array().unwrap();
    let fused = logs.iter().find(|log| log["tool_name"] == "Fused-FR").unwrap();
    assert!(logs.iter().any(|log| log["tool_name"] != "Fused-FR" && log["normalized_score"].is_f64()), "{logs:?}");
    let result = &record["summarizer_result"];
    assert_eq!(result["quality_score"], fused["normalized_score"]);
    assert_eq!(result["score_interval"], fused["interval"]);
    assert!((result["quality_score"].as_f64().unwrap() - 2.8919).abs() < 1e-3, "{result}");
    assert_eq!((&result["final_answer"], &result["quality_level"]), (&"C".into(), &"Fair".into()));
    let text = run(&["assess", &compressed, "-r", &photo]).stdout;
    assert!(text.contains("2.89 of 5 (2.5–3.2), fair"), "{text}");
    assert!(text.contains("the score by Fused-FR is 2.89 of 5"), "{text}");
}

#[test]
fn identical_pictures_are_perfect() {
    let photo = example("osprey.jpg");
    let record = record(&["-r", &photo]);
    let result = &record["summarizer_result"];
    assert_eq!((&result["quality_score"], &result["final_answer"]), (&5.0.into(), &"A".into()));
    assert_eq!(result["score_interval"], serde_json::json!([5.0, 5.0]));
}

#[test]
fn the_text_for_people_has_answer_bar_severities_tools_and_reasons() {
    let output = run(&["assess", &example("osprey-compressed.jpg")]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    for part in ["of 5", "█", "Distortions", "Compression", "Tools", "BRISQUE", "Reasons", "builtin"] {
        assert!(output.stdout.contains(part), "{part} is not in {}", output.stdout);
    }
    assert!(!output.stdout.contains('\u{1b}'), "no colors where there is no terminal");
    assert!(output.stderr.is_empty(), "{}", output.stderr);
}

#[test]
fn a_gate_that_is_not_met_exits_with_3() {
    let compressed = example("osprey-compressed.jpg");
    assert_eq!(run(&["assess", &compressed, "--fail-under", "1"]).code, 0);
    let failed = run(&["assess", &compressed, "--fail-under", "4.9"]);
    assert_eq!(failed.code, 3);
    assert!(failed.stderr.contains("is below 4.9"), "{}", failed.stderr);
    assert_eq!(run(&["assess", &compressed, "--fail-under", "9"]).code, 2);
}

#[test]
fn regions_and_tools_are_those_that_were_named() {
    let record = record(&[
        "--query",
        "Is the bird sharp?",
        "--region",
        "bird=100,50,200,200",
        "--tool",
        "piqe",
        "--tool",
        "NIQE",
    ]);
    let logs = record["executor_evidence"]["tool_logs"].as_array().unwrap();
    let tools: Vec<_> = logs.iter().map(|log| log["tool_name"].as_str().unwrap()).collect();
    assert_eq!(tools, ["PIQE", "NIQE"]);
    assert!(
        logs.iter().all(|log| log["object_name"] == "bird" && log["region"] == serde_json::json!([100, 50, 200, 200]))
    );
}

#[test]
fn an_object_without_a_place_is_said_to_be_measured_on_the_whole() {
    let record = record(&["--query", "Is the chandelier sharp?", "--tool", "PIQE"]);
    let log = &record["executor_evidence"]["tool_logs"][0];
    assert_eq!((&log["object_name"], &log["region"]), (&Value::from("chandelier"), &Value::Null));
    assert_eq!(record["regions"][0]["origin"], "whole image");
    let notes = record["metadata"]["notes"].to_string();
    assert!(notes.contains("the region of \\\"chandelier\\\" is not known"), "{notes}");
}

#[test]
fn a_place_is_found_without_a_region_and_given_regions_are_all_reported() {
    let record = record(&["--query", "Is the background sharp?", "--tool", "PIQE"]);
    let region = &record["regions"][0];
    assert_eq!((&region["name"], &region["origin"]), (&"background".into(), &"position".into()));
    let log = &record["executor_evidence"]["tool_logs"][0];
    assert_eq!(log["region"], serde_json::json!([region["x"], region["y"], region["width"], region["height"]]));
    let record = self::record(&["--region", "left=0,0,200,200", "--region", "right=300,0,200,200"]);
    let analyzed: Vec<&String> =
        record["executor_evidence"]["distortion_analysis"].as_object().unwrap().keys().collect();
    assert_eq!(analyzed, ["left", "right"]);
    assert!(record["regions"].as_array().unwrap().iter().all(|region| region["origin"] == "given"));
}

#[test]
fn maps_of_the_tools_that_ran_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let maps = folder.path().join("maps").display().to_string();
    let output = run(&[
        "assess",
        &example("osprey-blurred.jpg"),
        "-r",
        &example("osprey.jpg"),
        "--tool",
        "SSIM",
        "--map",
        &maps,
    ]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert!(std::path::Path::new(&maps).join("osprey-blurred-SSIM.png").exists());
    assert!(output.stdout.contains("heat map: "));
}

#[test]
fn the_regions_of_a_question_are_drawn_next_to_the_maps() {
    let folder = tempfile::tempdir().unwrap();
    let maps = folder.path().join("maps");
    let (image, path) = (example("osprey-blurred.jpg"), maps.display().to_string());
    let output = run(&["assess", &image, "-Q", "Is the bird sharp?", "--no-what-if", "--map", &path]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let drawn = maps.join("osprey-blurred-regions.png");
    assert!(std::fs::read(&drawn).unwrap().starts_with(b"\x89PNG"));
    assert!(output.stdout.contains(&format!("regions: {}", drawn.display())), "{}", output.stdout);
    let whole = folder.path().join("whole");
    let path = whole.display().to_string();
    let output = run(&["assess", &image, "-Q", "Is it sharp?", "--no-what-if", "--map", &path]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert!(!whole.join("osprey-blurred-regions.png").exists());
}

#[test]
fn checkpoints_let_an_assessment_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("kept").display().to_string();
    let first = record(&["--checkpoints", &kept]);
    let second = record(&["--checkpoints", &kept, "--resume"]);
    assert_eq!(first["summarizer_result"], second["summarizer_result"]);
    assert!(second["metadata"]["notes"].to_string().contains("resumed after the summarizer"));
}

#[test]
fn what_cannot_be_done_is_said_with_exit_code_2() {
    let photo = example("osprey.jpg");
    for (arguments, says) in [
        (vec!["assess", "nowhere.jpg"], "nowhere.jpg"),
        (vec!["assess", &photo, "--tool", "BRISK"], "did you mean BRISQUE"),
        (vec!["assess", &photo, "--region", "face=9000,0,10,10"], "face"),
        (vec!["assess", &photo, "--backend", "openai.gpt-4o"], "OPENAI_API_KEY"),
        (vec!["assess", &photo, "--backend", "gpt-4o"], "provider.model"),
        (vec!["assess", &photo, "--answer", "choice"], "--option"),
        (vec!["assess", &photo, "--query", "  "], "query"),
        (vec!["assess", &photo, "--max-replan", "9"], "max_replan"),
        (vec!["assess", &photo, "--config", "nowhere/configs"], "nowhere/configs"),
        (vec!["assess", &photo, "--backend-override", "planner.color=red"], "color"),
    ] {
        let output = run(&arguments);
        assert_eq!(output.code, 2, "{arguments:?}: {}", output.stderr);
        assert!(output.stderr.contains(says), "{arguments:?}: {}", output.stderr);
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_model_that_cannot_be_reached_is_a_failure_and_its_key_is_not_told() {
    let output = program()
        .args(["assess", &example("osprey.jpg"), "--backend", "openai.gpt-4o", "--log-level", "trace"])
        .args(["--backend-override", "planner.retry_attempts=1"])
        .env("OPENAI_API_KEY", "sk-very-secret")
        .env("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(stderr.contains("no answer: planner: openai.gpt-4o"), "{stderr}");
    assert!(!stdout.contains("very-secret") && !stderr.contains("very-secret"));
}

#[test]
fn a_fallback_to_the_built_in_analyst_still_answers() {
    let output = program()
        .args(["assess", &example("osprey.jpg"), "--backend", "openai.gpt-4o", "--format", "json"])
        .args(["planner", "executor", "summarizer"].iter().flat_map(|role| {
            [format!("{role}.retry_attempts=1"), format!("{role}.fallback_backend=builtin")]
                .into_iter()
                .flat_map(|setting| ["--backend-override".to_owned(), setting])
        }))
        .env("OPENAI_API_KEY", "sk-very-secret")
        .env("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let record: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(record["metadata"]["final_status"], "partial");
    assert!(record["metadata"]["error_details"].to_string().contains("Model fallback: openai.gpt-4o -> builtin"));
    assert!(record["summarizer_result"]["quality_score"].is_f64());
}

#[test]
fn doctor_tells_what_is_there_and_never_a_key() {
    let output = program().arg("doctor").env("OPENAI_API_KEY", "sk-very-secret").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{text}");
    for part in ["agenticiqa", "builtin", "openai", "present", "tools: ", "next: "] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    assert!(!text.contains("very-secret"));
    let json = program().args(["doctor", "--format", "json"]).output().unwrap();
    let report: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert!(report["tools"].as_array().unwrap().len() > 40);
    let missing = program().arg("doctor").env("AGENTICIQA_BACKEND", "google.gemini-2.0-flash").output().unwrap();
    assert_eq!(missing.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&missing.stdout).contains("GOOGLE_API_KEY"));
    let silent = program()
        .args(["doctor", "--check-api"])
        .envs([("AGENTICIQA_BACKEND", "ollama.x"), ("OLLAMA_BASE_URL", "http://127.0.0.1:1")])
        .output()
        .unwrap();
    assert_eq!(silent.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&silent.stdout).contains("ollama.x does not answer"));
}

#[test]
fn graph_schemas_and_the_manual_are_printed() {
    assert!(run(&["graph"]).stdout.starts_with("flowchart TD"));
    let schemas: Value = serde_json::from_str(&run(&["graph", "--schemas"]).stdout).unwrap();
    assert!(schemas["AssessmentRecord"]["properties"]["plan"].is_object());
    assert!(run(&["man"]).stdout.contains(".TH agenticiqa"));
}

#[test]
fn the_parts_of_the_score_sum_to_it_with_and_without_a_reference_and_for_regions() {
    let reference = example("osprey.jpg");
    let damaged = [example("osprey-blurred.jpg"), example("osprey-compressed.jpg")];
    for photo in &damaged {
        for more in [
            vec![],
            vec!["-r", &reference],
            vec!["--region", "bird=100,50,200,200", "-Q", "Is the bird sharp?", "--tool", "Fused-NR"],
        ] {
            let output = run(&[&["assess", photo, "--format", "json"], more.as_slice()].concat());
            let record: Value = serde_json::from_str(&output.stdout).unwrap();
            let result = &record["summarizer_result"];
            let parts = result["contributions"].as_array().unwrap();
            let sum: f64 = parts.iter().map(|part| part["value"].as_f64().unwrap()).sum();
            assert!((sum - result["quality_score"].as_f64().unwrap()).abs() < 1e-6, "{result}");
            assert_eq!(parts[0]["name"], "clean image");
            let faults = &parts[1..parts.len() - 1];
            assert!(faults.iter().all(|fault| fault["value"].as_f64() <= Some(0.0)), "{result}");
        }
    }
}

#[test]
fn edits_are_tried_unless_they_are_not_wanted_and_inputs_are_never_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let photo = folder.path().join("photo.jpg");
    std::fs::copy(example("osprey-compressed.jpg"), &photo).unwrap();
    let (photo, fixed) = (photo.display().to_string(), folder.path().join("fixed.png").display().to_string());
    let output = run(&["assess", &photo, "--save-fixed", &fixed]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert!(output.stdout.contains("What if\nSmoothing the blocks"), "{}", output.stdout);
    assert!(output.stderr.contains("the score becomes"), "{}", output.stderr);
    assert!(output.stderr.contains("8 bits per channel, without metadata"), "{}", output.stderr);
    assert!(agenticiqa::imaging::Decoder::default().open(std::path::Path::new(&fixed)).is_ok());
    let before = std::fs::read(&photo).unwrap();
    let output = run(&["assess", &photo, "--save-fixed", &photo]);
    assert_eq!((output.code, std::fs::read(&photo).unwrap() == before), (2, true), "{}", output.stderr);
    let output = run(&["assess", &photo, "--no-what-if"]);
    assert!(output.code == 0 && !output.stdout.contains("What if"), "{}", output.stdout);
}

#[test]
fn images_in_which_edits_have_no_meaning_get_none_and_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let images = [
        ("black", [0, 0], "the image has one color"),
        ("white", [255, 255], "the image has one color"),
        ("drawing", [0, 255], "the image is unlike photos"),
    ];
    for (name, [line, ground], why) in images {
        let sample = |x: usize| if (x / 5).is_multiple_of(4) { line } else { ground };
        let samples = (0..320 * 240).flat_map(|place| [sample(place % 320); 3]).collect();
        let image = agenticiqa::metrics::Image::from_rgb8(320, 240, samples).unwrap();
        let (file, fixed) =
            (folder.path().join(name).with_extension("png"), folder.path().join(format!("{name}-fixed")));
        std::fs::write(&file, agenticiqa::imaging::encode_png(&image).unwrap()).unwrap();
        let output = run(&["assess", &file.display().to_string(), "--save-fixed", &fixed.display().to_string()]);
        assert!(output.stdout.contains(&format!("No edit was tried: {why}")), "{name}: {}", output.stdout);
        assert!(output.stderr.contains(&format!("was not written: no edit was tried ({why})")), "{}", output.stderr);
        assert!(!fixed.exists());
    }
}

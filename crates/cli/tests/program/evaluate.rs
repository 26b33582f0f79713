//! `dataset`, `eval` and `calibrate` on a synthetic TID2013, from its published layout to results
//! and a tool list.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::*;

/// A small TID2013: 6 references, noise and blocks at 5 levels, names in mixed case, lower opinions
/// for higher levels.
fn tid2013(folder: &Path) -> PathBuf {
    let root = folder.join("tid2013");
    fs::create_dir_all(root.join("distorted_images")).unwrap();
    fs::create_dir_all(root.join("reference_images")).unwrap();
    let scene = |number: u32| {
        move |x: u32, y: u32| {
            let wave = ((x * (number + 2) + y * 3) % 64) * 2 + ((x / 9 + y / 7 + number) % 5) * 25;
            [wave as u8, (wave / 2 + 60) as u8, (255 - wave.min(255)) as u8]
        }
    };
    let mut scores = String::new();
    let mut deviations = String::new();
    for reference in 1..=6u32 {
        let clean = scene(reference);
        write_bmp(&root.join(format!("reference_images/I{reference:02}.BMP")), 64, 64, clean);
        // Both distortions have about the same squared error.
        for (distortion, strength) in [(1, 14u32), (10, 8)] {
            for level in 1..=5u32 {
                let size = strength * level;
                let name = format!("i{reference:02}_{distortion:02}_{level}.bmp");
                let distorted = move |x: u32, y: u32| {
                    let step = if distortion == 1 {
                        (x * 37 + y * 101 + x * y) % (size + 1)
                    } else {
                        (x / 8 + y / 8) % 2 * size
                    };
                    clean(x, y).map(|value| (u32::from(value) + step).saturating_sub(size / 2).min(255) as u8)
                };
                write_bmp(&root.join("distorted_images").join(&name), 64, 64, distorted);
                let opinion = 8.0 - 1.2 * f64::from(level) - 0.05 * f64::from(reference) - 0.01 * f64::from(distortion);
                scores += &format!("{opinion:.5} {}\n", if level == 2 { name.to_uppercase() } else { name });
                deviations += "0.4\n";
            }
        }
    }
    fs::write(root.join("mos_with_names.txt"), scores).unwrap();
    fs::write(root.join("mos_std.txt"), deviations).unwrap();
    root
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

/// The manifest of the synthetic dataset.
fn prepared(folder: &Path) -> String {
    let manifest = text(&folder.join("tid2013.jsonl"));
    let root = text(&tid2013(folder));
    let output = agenticiqa(&["dataset", "prepare", "tid2013", "--root", &root, "--output", &manifest]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stdout(&output).starts_with("TID2013: 60 samples (10 test, 50 train) written to "), "{}", stdout(&output));
    manifest
}

#[test]
fn a_prepared_manifest_is_valid_and_faults_are_told_by_line() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = prepared(folder.path());
    let output = agenticiqa(&["dataset", "validate", &manifest]);
    assert_eq!(code(&output), 0, "{}", stdout(&output));
    assert!(stdout(&output).contains("60 samples (10 test, 50 train), 60 with reference, 60 with mos"));

    let lines: Vec<String> = fs::read_to_string(&manifest).unwrap().lines().map(str::to_owned).collect();
    let mut broken = lines.clone();
    broken[1] = lines[1].replace("i01_01_2", "i99_01_2").replace("I01_01_2", "I99_01_2");
    broken[4] = lines[0].clone();
    fs::write(&manifest, broken.join("\n")).unwrap();
    let output = agenticiqa(&["dataset", "validate", &manifest, "--format", "json"]);
    assert_eq!(code(&output), 2);
    let problems = rows(&output)[0]["problems"].clone();
    let told: Vec<_> =
        problems.as_array().unwrap().iter().map(|one| (one["line"].as_u64(), one["field"].as_str())).collect();
    assert_eq!(told, [(Some(2), Some("image_path")), (Some(5), Some("sample_id"))]);

    let unknown = agenticiqa(&["dataset", "prepare", "TID2014", "--root", "/", "--output", &manifest]);
    assert_eq!(code(&unknown), 2);
    assert!(stderr(&unknown).contains("no dataset is called \"TID2014\"; there are TID2013, KADID-10k"));
    assert!(stdout(&agenticiqa(&["dataset", "list"])).contains("mos_with_names.txt"));
}

#[test]
fn tools_are_evaluated_on_a_manifest_with_groups_plots_and_cache() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = prepared(folder.path());
    let (plots, cache) = (text(&folder.path().join("plots")), text(&folder.path().join("cache")));
    let arguments = [
        "eval",
        "correlation",
        &manifest,
        "-t",
        "psnr",
        "-t",
        "GMSD",
        "--group-by",
        "metadata.distortion",
        "--cache",
        &cache,
    ];
    let output = agenticiqa(&[&arguments[..], &["--plots", &plots, "--format", "json"]].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let report = rows(&output).remove(0);
    assert_eq!(report["dataset"], "TID2013");
    assert_eq!(report["published"].as_array().unwrap().len(), 4);
    for (evaluated, name) in report["evaluated"].as_array().unwrap().iter().zip(["PSNR", "GMSD"]) {
        assert_eq!(evaluated["name"], name);
        let overall = &evaluated["overall"];
        let srcc = overall["srcc"]["value"].as_f64().unwrap();
        assert!(srcc > 0.4, "{name}: {srcc}");
        let (low, high) = (&overall["srcc"]["interval"]["low"], &overall["srcc"]["interval"]["high"]);
        assert!(low.as_f64().unwrap() < srcc && srcc < high.as_f64().unwrap() + 1e-12);
        assert_eq!(overall["outlier_rule"], "twice_opinion_deviation");
        let groups = evaluated["groups"].as_array().unwrap();
        let values: Vec<_> = groups.iter().map(|group| group["value"].as_str().unwrap()).collect();
        assert_eq!(values, ["JPEG compression", "additive Gaussian noise"]);
        for group in groups {
            assert_eq!(group["agreement"]["n"], 30);
            assert!(group["agreement"]["srcc"]["value"].as_f64().unwrap() > 0.8, "{group}");
        }
        for file in [format!("{name}.svg"), format!("{name}-by-metadata-distortion.svg")] {
            let svg = fs::read_to_string(folder.path().join("plots").join(&file)).unwrap();
            assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"), "{file}");
            let png = fs::read(folder.path().join("plots").join(file.replace(".svg", ".png"))).unwrap();
            let picture = agenticiqa::imaging::Decoder::default().decode(&png).unwrap().image;
            assert!(picture.width() > 1700 && picture.height() > 300);
        }
    }
    assert_eq!(report["comparisons"][0]["first"], "PSNR");
    assert_eq!(report["comparisons"][0]["n"], 60);
    // One cache file per image and tool. The second run adds none and gets the same ranks.
    let known = || {
        fs::read_dir(&cache).unwrap().map(|folder| fs::read_dir(folder.unwrap().path()).unwrap().count()).sum::<usize>()
    };
    assert_eq!(known(), 120);
    let again = rows(&agenticiqa(&[&arguments[..], &["--format", "json"]].concat())).remove(0);
    assert_eq!(known(), 120);
    for (one, other) in again["evaluated"].as_array().unwrap().iter().zip(report["evaluated"].as_array().unwrap()) {
        assert_eq!(
            (&one["overall"]["srcc"], &one["overall"]["krcc"]),
            (&other["overall"]["srcc"], &other["overall"]["krcc"])
        );
        assert_eq!((&one["counts"], &one["notes"]), (&other["counts"], &other["notes"]));
    }
    let table = stdout(&agenticiqa(&arguments));
    for part in [
        "PSNR by metadata.distortion",
        "60 of 60 samples used, none skipped",
        "seed 0",
        "in the AgenticIQA paper",
        "AgenticIQA (GPT-4o)",
    ] {
        assert!(table.contains(part), "{part} is missing in\n{table}");
    }
    let csv =
        stdout(&agenticiqa(&[&arguments[..], &["--format", "csv", "--split", "test", "--resamples", "0"]].concat()));
    assert!(csv.starts_with("name,field,value,n,srcc,srcc_low"), "{csv}");
    assert!(csv.lines().nth(1).unwrap().starts_with("PSNR,,,10,"), "{csv}");
    assert!(csv.lines().nth(1).unwrap().ends_with("50 of another split"), "{csv}");
}

/// A record of `batch`, with only the fields that evaluation reads.
fn record(id: usize, score: Value, mos: Value) -> String {
    let status = if score.is_null() { "error" } else { "success" };
    let kind = ["even", "odd"][id % 2];
    json!({
        "sample_id": format!("s{id}"), "options": [], "metadata": {"final_status": status},
        "summarizer_result": if score.is_null() { Value::Null } else { json!({"final_answer": "B", "quality_score": score}) },
        "input": {"mos": mos, "mos_range": [0, 100], "higher_is_better": true, "metadata": {"kind": kind}},
    })
    .to_string()
}

#[test]
fn records_are_evaluated_compared_and_what_is_left_out_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, strength: f64| {
        let mut lines: Vec<String> = (0..80)
            .map(|i| record(i, json!(1.0 + i as f64 / 20.0 + strength * ((i * 37) % 11) as f64), json!(i)))
            .collect();
        lines.extend([
            record(80, Value::Null, json!(50)),
            record(81, json!(3.0), Value::Null),
            record(5, json!(1.25), json!(5)),
        ]);
        let path = folder.path().join(name);
        fs::write(&path, lines.join("\n")).unwrap();
        text(&path)
    };
    let (good, bad) = (write("good.jsonl", 0.01), write("bad.jsonl", 0.5));
    let output = agenticiqa(&["eval", "correlation", "--input", &good, "--compare", &bad, "--format", "json"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let report = rows(&output).remove(0);
    let counts = &report["evaluated"][0]["counts"];
    for (field, count) in [("rows", 83), ("used", 80), ("failed", 1), ("without_mos", 1), ("duplicates", 1)] {
        assert_eq!(counts[field], count, "{field}");
    }
    let comparison = &report["comparisons"][0];
    assert!(comparison["paired_bootstrap"]["difference"].as_f64().unwrap() > 0.1);
    assert!(comparison["williams"]["p_value"].as_f64().unwrap() < 1e-6);
    let table = stdout(&agenticiqa(&["eval", "correlation", &good]));
    assert!(table.contains("80 of 83 samples used, skipped: 1 repeated, 1 without mos, 1 failed"), "{table}");

    let threads = |threads: &str| {
        let output = agenticiqa(&["--threads", threads, "eval", "correlation", &good, "--format", "json"]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        stdout(&output)
    };
    let one = threads("1");
    assert!(one.contains("comparisons"), "{one}");
    assert_eq!(one, threads("3"));
}

#[test]
fn bad_input_of_evaluation_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |arguments: &[&str], reason: &str| {
        let output = agenticiqa(arguments);
        assert_eq!(code(&output), 2, "{}", stdout(&output));
        assert!(stderr(&output).contains(reason), "{} does not say {reason:?}", stderr(&output));
    };
    let manifest = text(&folder.path().join("m.jsonl"));
    fs::write(&manifest, "{\"sample_id\": \"a\", \"image_path\": \"a.png\", \"query\": \"?\", \"mos\": 3}\n").unwrap();
    refused(&["eval", "correlation", &manifest], "name tools with --tool");
    refused(&["eval", "correlation", &manifest, "-t", "SSIM"], "no sample of");
    refused(&["eval", "correlation", &manifest, "-t", "SSIMM"], "did you mean SSIM?");
    refused(&["eval", "correlation", &manifest, "-t", "NIQE"], "0 of 1 samples can be used");
    refused(&["eval", "correlation", &manifest, "-t", "NIQE", "--confidence", "95"], "between 0 and 1");
    refused(&["eval", "mcq", &manifest], "it is a manifest");
    refused(&["eval", "correlation", "/nowhere.jsonl"], "/nowhere.jsonl: No such file");
    fs::write(&manifest, "{\"sample_id\": \"a\"\n").unwrap();
    refused(&["eval", "correlation", &manifest], "m.jsonl, line 1: not a JSON object");
    refused(&["calibrate", "--manifest", &manifest], "m.jsonl, line 1");
}

#[test]
fn answers_are_evaluated_by_task() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("answers.jsonl");
    let question = |id: usize, answer: &str, given: &str, task: &str| {
        json!({
            "sample_id": format!("q{id}"), "options": [{"letter": "A", "text": "Yes"}, {"letter": "B", "text": "No"}],
            "summarizer_result": {"final_answer": given, "quality_score": null}, "metadata": {"final_status": "success"},
            "input": {"answer": answer, "dataset": "AgenticIQA-Eval", "metadata": {"task_type": task}},
        })
        .to_string()
    };
    let lines =
        [question(1, "A", "A", "planner"), question(2, "B", "A", "planner"), question(3, "B", "B", "summarizer")];
    fs::write(&path, lines.join("\n")).unwrap();
    let table = stdout(&agenticiqa(&["eval", "mcq", &text(&path)]));
    for part in ["66.7 %", "task_type: planner", "80.4 %", "3 of 3 questions used"] {
        assert!(table.contains(part), "{part} is missing in\n{table}");
    }
    let csv = stdout(&agenticiqa(&["eval", "mcq", &text(&path), "--format", "csv"]));
    assert!(csv.contains("metadata.task_type,planner,2,1,0.5,"), "{csv}");
}

#[test]
fn a_calibrated_list_scores_as_the_opinions_say() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = prepared(folder.path());
    let list = text(&folder.path().join("own/tools.json"));
    let arguments = ["calibrate", "--manifest", &manifest, "-t", "PSNR", "--output", &list];
    let output = agenticiqa(&arguments);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stdout(&output).contains("PSNR: fitted on TID2013, 60 images, "), "{}", stdout(&output));
    let written: Value = serde_json::from_str(&fs::read_to_string(&list).unwrap()).unwrap();
    let entry = &written["PSNR"];
    assert_eq!((&entry["calibration"]["n"], &entry["calibration"]["dataset"]), (&json!(60), &json!("TID2013")));
    assert!(entry["calibration"]["residual"].as_f64().unwrap() < 0.4, "{entry}");
    assert!(entry["fitted_on"].as_str().unwrap().starts_with("TID2013, 60 images, "));

    let configs = folder.path().join("configs");
    fs::create_dir(&configs).unwrap();
    fs::write(configs.join("pipeline.yaml"), format!("tools:\n  metadata: {list}\n")).unwrap();
    let image = text(&folder.path().join("tid2013/distorted_images/i01_01_5.bmp"));
    let reference = text(&folder.path().join("tid2013/reference_images/I01.BMP"));
    let score = |config: &[&str]| {
        let output =
            agenticiqa(&[config, &["score", &image, "-r", &reference, "-t", "PSNR", "--format", "json"]].concat());
        rows(&output)[0]["normalized_score"].as_f64().unwrap()
    };
    let calibrated = score(&["--config", &text(&configs)]);
    // The opinion of level 5 is near 2 on the scale from 0 to 9, which is 1.9 on the scale from 1
    // to 5.
    assert!((calibrated - 1.9).abs() < 0.5, "{calibrated}");
    assert_ne!(calibrated, score(&[]));

    let again = agenticiqa(&arguments);
    assert_eq!(code(&again), 2);
    assert!(stderr(&again).contains("already exists"), "{}", stderr(&again));
    assert_eq!(code(&agenticiqa(&[&arguments[..], &["--force", "--format", "json"]].concat())), 0);
}

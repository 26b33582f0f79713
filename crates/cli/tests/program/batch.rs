//! `batch`: after a kill, a stop or a full disk, a resumed run has exactly one record per sample.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::support;

/// A folder with small images and an input.
struct Desk {
    folder: tempfile::TempDir,
}

impl Desk {
    fn new(samples: usize, side: u32) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..5_u32 {
            let pixel = |x: u32, y: u32| [(x * y * (number + 1)) as u8, (x * 7 + y) as u8, (y * 5) as u8];
            support::write_bmp(&folder.path().join(format!("{number}.bmp")), side, side, pixel);
        }
        let mut lines = String::new();
        for number in 0..samples {
            let (picture, other) = (number % 5, (number + 1) % 5);
            // Every sample needs its own measurement: a unique pair or region.
            let region = format!("part={},{},{},{}", number % 7, number % 11, side - 12 - number as u32 % 5, side - 12);
            writeln!(
                lines,
                "{{\"sample_id\": \"s{number}\", \"query\": \"How sharp is the part?\", \"image_path\": \"{picture}.bmp\", \
                 \"reference_path\": \"{other}.bmp\", \"regions\": [\"{region}\"], \"mos\": {number}}}"
            )
            .unwrap();
        }
        std::fs::write(folder.path().join("input.jsonl"), lines).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The program in the folder, without the environment of the developer.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("agenticiqa"));
        let set = std::env::vars().map(|(name, _)| name);
        for name in set.filter(|name| ["AGENTICIQA_", "OPENAI_"].iter().any(|of| name.starts_with(of))) {
            command.env_remove(name);
        }
        command.current_dir(self.folder.path()).env("XDG_CONFIG_HOME", "/nowhere");
        command.env("AGENTICIQA_DATA_DIR", "/nowhere/agenticiqa").arg("batch").args(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn start(&self) -> Child {
        self.command(&["--input", "input.jsonl", "--output", "output.jsonl", "--resume"]).spawn().unwrap()
    }

    fn run(&self, arguments: &[&str]) -> std::process::Output {
        self.command(arguments).output().unwrap()
    }

    /// Number of records of each sample. Ignores a torn last line.
    fn counts(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        let text = std::fs::read_to_string(self.path("output.jsonl")).unwrap_or_default();
        for line in text.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
            let record: Value = serde_json::from_str(line).unwrap();
            *counts.entry(record["sample_id"].as_str().unwrap().to_owned()).or_default() += 1;
        }
        counts
    }

    fn lines(&self) -> usize {
        let bytes = std::fs::read(self.path("output.jsonl")).unwrap_or_default();
        bytes.iter().filter(|byte| **byte == b'\n').count()
    }

    fn assert_complete(&self, samples: usize) {
        let text = std::fs::read_to_string(self.path("output.jsonl")).unwrap();
        assert!(text.ends_with('\n'));
        let counts = self.counts();
        assert_eq!(counts.len(), samples);
        assert!(counts.values().all(|count| *count == 1), "{counts:?}");
        for line in text.lines() {
            let record: Value = serde_json::from_str(line).unwrap();
            assert_ne!(record["metadata"]["final_status"], "error", "{record}");
            assert_eq!(format!("s{}", record["input"]["mos"]), record["sample_id"].as_str().unwrap());
        }
    }
}

/// A deterministic pseudo-random generator.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

#[cfg(unix)]
#[test]
fn killed_at_random_points_it_ends_with_one_record_a_sample() {
    use std::os::unix::process::ExitStatusExt;
    const SAMPLES: usize = 250;
    let desk = Desk::new(SAMPLES, 96);
    let mut dice = Dice(6);
    let (mut kills, mut torn, mut at_work) = (0, 0, 0);
    while kills < 24 {
        let before = desk.counts().len();
        let mut child = desk.start();
        // Kills after a number of records or, every fourth time, at any moment from the start.
        let wanted = before + 1 + dice.below(14) as usize;
        while kills % 4 != 3 && desk.lines() < wanted && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_micros(dice.below(15_000)));
        child.kill().unwrap();
        let status = child.wait().unwrap();
        if status.signal() == Some(9) {
            kills += 1;
            let counts = desk.counts();
            assert!(counts.values().all(|count| *count == 1), "{counts:?}");
            assert!(counts.len() >= before, "a record was lost");
            at_work += usize::from(counts.len() > before);
            let text = std::fs::read(desk.path("output.jsonl")).unwrap_or_default();
            torn += usize::from(!text.is_empty() && !text.ends_with(b"\n"));
        } else {
            // The run was faster than the kill: start over.
            desk.assert_complete(SAMPLES);
            std::fs::remove_file(desk.path("output.jsonl")).unwrap();
        }
    }
    assert!(at_work >= 12, "only {at_work} of {kills} kills came while records were written ({torn} torn)");
    let status = desk.start().wait().unwrap();
    assert!(status.success());
    desk.assert_complete(SAMPLES);
}

#[cfg(unix)]
#[test]
fn ctrl_c_finishes_running_samples_and_writes_them() {
    const SAMPLES: usize = 3000;
    let desk = Desk::new(SAMPLES, 96);
    let child = desk.start();
    while desk.counts().len() < 3 {
        std::thread::sleep(Duration::from_millis(5));
    }
    let asked = Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status().unwrap();
    assert!(asked.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let (stdout, stderr) = (support::stdout(&output), support::stderr(&output));
    assert!(stderr.contains("finishing the running samples"), "{stderr}");
    let done = desk.counts().len();
    assert!((3..SAMPLES).contains(&done), "{done}");
    assert!(
        stdout.contains(&format!("stopped: {} samples are left; continue with --resume", SAMPLES - done)),
        "{stdout}"
    );
    let text = std::fs::read_to_string(desk.path("output.jsonl")).unwrap();
    assert!(text.ends_with('\n') && text.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
}

/// A limit on the file size simulates a full disk: the line that reaches it is cut off.
#[cfg(unix)]
#[test]
fn a_line_cut_by_the_end_of_space_is_repaired() {
    const SAMPLES: usize = 30;
    let desk = Desk::new(SAMPLES, 64);
    let program = assert_cmd::cargo::cargo_bin("agenticiqa");
    let script = format!(
        "trap '' XFSZ; ulimit -f 40; exec {} batch --input input.jsonl --output output.jsonl --execution-log off",
        program.display()
    );
    let mut command = desk.command(&[]);
    let mut shell = Command::new("bash");
    shell.args(["-c", &script]).current_dir(desk.folder.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for (name, value) in command.stdin(Stdio::null()).get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    let output = shell.output().unwrap();
    let stderr = support::stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("the output cannot be written") && stderr.contains("--resume"), "{stderr}");
    let done = desk.counts().len();
    assert!((1..SAMPLES).contains(&done), "{done}");
    let text = std::fs::read(desk.path("output.jsonl")).unwrap();
    assert!(text.ends_with(b"\n"), "no torn line stays");
    assert!(desk.start().wait().unwrap().success());
    desk.assert_complete(SAMPLES);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_device_is_a_failure_that_says_what_to_do() {
    let desk = Desk::new(3, 64);
    let output = desk.run(&["--input", "input.jsonl", "--output", "/dev/full", "--execution-log", "off"]);
    assert_eq!(support::code(&output), 1);
    assert!(support::stderr(&output).contains("No space left on device"), "{}", support::stderr(&output));
}

#[test]
fn folders_and_patterns_need_no_list() {
    let desk = Desk::new(0, 64);
    let arguments = ["--images", "*.bmp", "--query", "Is it blurry?", "--output", "records.jsonl", "--format", "json"];
    let output = desk.run(&arguments);
    assert_eq!(support::code(&output), 0, "{}", support::stderr(&output));
    let summary = &support::rows(&output)[0];
    assert_eq!(
        (&summary["total"], &summary["succeeded"], &summary["ending"]),
        (&5.into(), &5.into(), &"complete".into())
    );
    let records = std::fs::read_to_string(desk.path("records.jsonl")).unwrap();
    let record: Value = serde_json::from_str(records.lines().next().unwrap()).unwrap();
    assert_eq!(record["query"], "Is it blurry?");
    let log = std::fs::read_to_string(desk.path("records.jsonl.log")).unwrap();
    assert_eq!(log.lines().count(), 5);
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let desk = Desk::new(2, 64);
    let code = |arguments: &[&str]| {
        let output = desk.run(arguments);
        (support::code(&output), support::stderr(&output))
    };
    let (status, text) = code(&["--input", "missing.jsonl", "--output", "output.jsonl"]);
    assert!(status == 2 && text.contains("missing.jsonl"), "{text}");
    let (status, text) = code(&["--input", "input.jsonl", "--output", "input.jsonl", "--overwrite"]);
    assert!(status == 2 && text.contains("the same file"), "{text}");
    let (status, text) = code(&["--input", "input.jsonl", "--output", "o.jsonl", "--tool", "SIMM"]);
    assert!(status == 2 && text.contains("SSIM"), "{text}");
    let (status, text) = code(&["--input", "input.jsonl"]);
    assert!(status == 2 && text.contains("--output"), "{text}");
    append(
        &desk.path("input.jsonl"),
        "{\"sample_id\": \"s1\", \"query\": \"x\", \"image_path\": \"1.bmp\"}\nnonsense\n",
    );
    let output = desk.run(&["--input", "input.jsonl", "--output", "output.jsonl"]);
    let stdout = support::stdout(&output);
    assert_eq!(support::code(&output), 1);
    assert!(stdout.contains("2x InputError: input.jsonl:3, input.jsonl:4 (line 3: sample_id \"s1\""), "{stdout}");
    let (status, text) = code(&["--input", "input.jsonl", "--output", "output.jsonl"]);
    assert!(status == 2 && text.contains("--resume") && text.contains("--overwrite"), "{text}");
}

fn append(path: &Path, text: &str) {
    let old = std::fs::read_to_string(path).unwrap();
    std::fs::write(path, old + text).unwrap();
}

#[test]
fn a_score_that_drops_is_a_gate_not_met() {
    let desk = Desk::new(0, 64);
    let images = ["--images", "*.bmp", "--query", "Rate the quality.", "--execution-log", "off"];
    let batch = |more: &[&str]| desk.run(&[&images, more].concat());
    assert_eq!(support::code(&batch(&["--output", "before.jsonl"])), 0);
    let same = batch(&["--output", "same.jsonl", "--baseline", "before.jsonl", "--junit", "gate.xml"]);
    assert_eq!(support::code(&same), 0, "{}", support::stderr(&same));
    let report = std::fs::read_to_string(desk.path("gate.xml")).unwrap();
    assert!(report.contains("tests=\"5\" failures=\"0\"") && report.contains("name=\"3.bmp\""), "{report}");
    // A baseline with higher scores: every score has dropped.
    let mut better = String::new();
    for line in std::fs::read_to_string(desk.path("before.jsonl")).unwrap().lines() {
        let mut record: Value = serde_json::from_str(line).unwrap();
        let score = record["summarizer_result"]["quality_score"].as_f64().unwrap();
        record["summarizer_result"]["quality_score"] =
            (score + if record["sample_id"] == "2.bmp" { 0.5 } else { 0.05 }).into();
        writeln!(better, "{record}").unwrap();
    }
    std::fs::write(desk.path("better.jsonl"), better).unwrap();
    let dropped =
        batch(&["--output", "now.jsonl", "--baseline", "better.jsonl", "--max-drop", "0.1", "--junit", "gate.xml"]);
    let stderr = support::stderr(&dropped);
    assert_eq!(support::code(&dropped), 3, "{stderr}");
    assert!(stderr.contains("gate not met: 1 of 5 scores") && stderr.contains("2.bmp"), "{stderr}");
    assert!(stderr.contains("0.50") && !stderr.contains("3.bmp"), "{stderr}");
    let report = std::fs::read_to_string(desk.path("gate.xml")).unwrap();
    assert!(report.contains("<failure type=\"Dropped\" message=\"dropped by 0.50"), "{report}");
    let under = batch(&["--output", "now.jsonl", "--resume", "--fail-under", "5"]);
    assert_eq!(support::code(&under), 3);
    let wrong = batch(&["--output", "never.jsonl", "--baseline", "missing.jsonl"]);
    assert!(support::code(&wrong) == 2 && support::stderr(&wrong).contains("missing.jsonl"));
    assert!(!desk.path("never.jsonl").exists(), "a wrong path costs nothing");
}

#[test]
fn tools_alone_have_the_same_gates() {
    let desk = Desk::new(0, 64);
    let score = |arguments: &[&str]| {
        let mut command = desk.command(&[]);
        let mut plain = Command::new(command.get_program());
        for (name, value) in command.stdin(Stdio::null()).get_envs() {
            match value {
                Some(value) => plain.env(name, value),
                None => plain.env_remove(name),
            };
        }
        plain.current_dir(desk.folder.path()).arg("score").args(arguments).output().unwrap()
    };
    let pair = ["1.bmp", "2.bmp", "--reference", "0.bmp", "--tool", "SSIM", "--tool", "PSNR", "--format", "json"];
    let before = score(&pair);
    assert_eq!(support::code(&before), 0, "{}", support::stderr(&before));
    std::fs::write(desk.path("before.jsonl"), support::stdout(&before)).unwrap();
    let same = score(&[&pair[..], &["--baseline", "before.jsonl"]].concat());
    assert_eq!((support::code(&same), support::rows(&same).len()), (0, 4), "{}", support::stderr(&same));
    let raised = support::stdout(&before).replace("\"normalized_score\":1", "\"normalized_score\":3");
    assert_ne!(raised, support::stdout(&before));
    std::fs::write(desk.path("raised.jsonl"), raised).unwrap();
    let dropped = score(&[&pair[..], &["--baseline", "raised.jsonl", "--junit", "gate.xml"]].concat());
    assert_eq!(support::code(&dropped), 3, "{}", support::stderr(&dropped));
    assert!(std::fs::read_to_string(desk.path("gate.xml")).unwrap().contains("classname=\"agenticiqa score\""));
    let other = score(&["3.bmp", "--tool", "BRISQUE", "--baseline", "before.jsonl"]);
    assert!(support::stderr(&other).contains("the baseline and the results have no names in common"));
    assert_eq!(support::code(&other), 2);
    // A measurement has no scale from 1 to 5, so there is nothing to check.
    let measured = score(&["3.bmp", "--tool", "Noise", "--fail-under", "1"]);
    assert_eq!(support::code(&measured), 2, "{}", support::stderr(&measured));
    assert!(support::stderr(&measured).contains("cannot check the gate: nothing was assessed, or only by tools"));
}

#[test]
fn a_gate_that_has_nothing_to_check_is_not_met() {
    let desk = Desk::new(2, 64);
    std::fs::write(desk.path("empty.jsonl"), "").unwrap();
    let empty = desk.run(&["--input", "empty.jsonl", "--output", "none.jsonl", "--fail-under", "1"]);
    assert_eq!(support::code(&empty), 2, "{}", support::stderr(&empty));
    assert!(support::stderr(&empty).contains("cannot check the gate: nothing was assessed"));
    let beyond = ["--input", "input.jsonl", "--output", "out.jsonl", "--sample-range", "7-9", "--fail-under", "1"];
    let beyond = desk.run(&beyond);
    assert_eq!(support::code(&beyond), 2);
    let message = support::stderr(&beyond);
    assert!(message.contains("the range begins at sample 7, but the input has only 2"), "{message}");
}

#[test]
fn a_dry_run_says_what_a_run_would_cost() {
    let desk = Desk::new(4, 64);
    let arguments = ["--input", "input.jsonl", "--output", "output.jsonl", "--dry-run", "--backend", "openai.gpt-4o"];
    let output = desk.run(&arguments);
    let stdout = support::stdout(&output);
    assert_eq!(support::code(&output), 0, "{}", support::stderr(&output));
    assert!(stdout.contains("4 samples: 0 done, 4 to assess, 0 invalid lines"), "{stdout}");
    assert!(stdout.contains("about 20 model calls") && stdout.contains("USD"), "{stdout}");
    assert!(!desk.path("output.jsonl").exists());
    append(&desk.path("input.jsonl"), "{\"sample_id\": \"x\", \"query\": \"x\", \"image_path\": \"gone.bmp\"}\n");
    let output = desk.run(&arguments);
    assert_eq!(support::code(&output), 2);
    assert!(
        support::stdout(&output).contains("line 5: image_path gone.bmp: No such file"),
        "{}",
        support::stdout(&output)
    );
    let unpriced =
        desk.run(&["-i", "input.jsonl", "-o", "o.jsonl", "--max-cost", "1", "--backend", "openai.unheard-of"]);
    let stderr = support::stderr(&unpriced);
    assert!(support::code(&unpriced) == 2 && stderr.contains("no price is known for openai.unheard-of"), "{stderr}");
}

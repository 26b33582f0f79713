//! Hostile folders, names, files and numbers: nothing runs, leaks, hangs or reaches the terminal.
#![cfg(unix)]

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::support::*;

/// A folder that the program runs in, with a configuration folder of its own.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("work")).unwrap();
        let pixel = |x: u32, y: u32| [(x * y) as u8, (x * 7 + y) as u8, (y * 5) as u8];
        write_bmp(&folder.path().join("work/a.bmp"), 64, 64, pixel);
        Self(folder)
    }

    fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.path().join("work").join(name)
    }

    fn file(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn command(&self) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("agenticiqa"));
        let set = std::env::vars().map(|(name, _)| name);
        for name in set.filter(|name| ["AGENTICIQA_", "OPENAI_", "OLLAMA_"].iter().any(|of| name.starts_with(of))) {
            command.env_remove(name);
        }
        command.current_dir(self.path("")).env("XDG_CONFIG_HOME", self.0.path().join("config"));
        command.env("AGENTICIQA_DATA_DIR", self.0.path().join("data")).stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command().args(arguments).output().unwrap()
    }
}

/// Fails if an output has a control character other than a line break or a tab.
fn assert_tame(output: &Output) {
    for text in [stdout(output), stderr(output)] {
        let wild = text.chars().find(|letter| {
            (letter.is_control() && !matches!(letter, '\n' | '\t')) || matches!(letter, '\u{202a}'..='\u{202e}')
        });
        assert_eq!(wild, None, "{text:?}");
    }
}

#[test]
fn escape_sequences_from_outside_are_shown() {
    let place = Place::new();
    // Clears the screen, sets the clipboard, and writes from right to left.
    let evil = "a\u{1b}[2J\u{1b}]52;c;aGk=\u{7}\u{9b}31m\u{202e}";
    let name = format!("{evil}.bmp");
    std::fs::copy(place.path("a.bmp"), place.path(&name)).unwrap();
    let gone = format!("gone{evil}.png");
    let line = |id: &str, image: &str| json!({"sample_id": id, "query": evil, "image_path": image}).to_string();
    place.file("in.jsonl", &format!("{}\n{}\n", line(evil, &name), line("gone", &gone)));
    let query = format!("Is {evil} sharp?");
    for arguments in [
        &["assess", &name, "-Q", &query, "-o", evil, "-o", "no"][..],
        &["assess", &name, "-Q", &query, "--format", "json"],
        &["assess", &gone],
        &["score", &name, &gone, "-t", "Brightness"],
        &["score", &name, "-t", "Brightness", "--format", "csv"],
        &["score", &name, "-t", "Brightness", "--format", "json", "--log-level", "debug"],
        &["score", &name, "-t", evil],
        &["regions", &name],
        &["batch", "-i", "in.jsonl", "-o", "out.jsonl", "--fail-under", "5"],
        &["batch", "-i", "in.jsonl", "-o", "out.jsonl"],
        &["report", "-i", "out.jsonl", "-o", "report"],
        &["tools", "show", evil],
        &["dataset", "validate", "in.jsonl"],
        &["assess", &name, &name],
        &[evil],
        &["--config", evil, "doctor"],
    ] {
        assert_tame(&place.run(arguments));
    }
    let shown = place.run(&["score", &name, "-t", "Brightness"]);
    assert!(stdout(&shown).contains("a\\u001b[2J"), "{}", stdout(&shown));
    let json = place.run(&["score", &name, "-t", "Brightness", "--format", "json"]);
    assert_eq!(rows(&json)[0]["image_path"], name.as_str());
}

const COMMAND: &str = "tools:\n  add:\n    Mine:\n      type: NR\n      backend: command\n      strengths: [Noise]\n      \
                       lower_is_better: true\n      range: [0, 1]\n      command:\n        run: [\"./run.sh\", \"{image}\"]\n";

#[test]
fn a_folder_needs_trust_to_name_programs() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    place.file("configs/pipeline.yaml", &format!("{COMMAND}images:\n  max_side: 512\n"));
    place.file("run.sh", "#!/bin/sh\ntouch ran\necho 0.25\n");
    std::fs::set_permissions(place.path("run.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let score = |more: &[&str]| place.run(&[&["score", "a.bmp", "--tool", "Mine", "--format", "json"], more].concat());
    let refused = score(&[]);
    assert_eq!(code(&refused), 2, "{}", stderr(&refused));
    let warning = stderr(&refused);
    assert!(warning.contains("not trusted") && warning.contains("tools.add.Mine"), "{warning}");
    assert!(!place.path("ran").exists());
    // All that names no program or server counts without trust.
    let settings: Value = serde_json::from_str(&stdout(&place.run(&["doctor", "--format", "json"]))).unwrap();
    let sides: Vec<_> =
        settings["settings"].as_array().unwrap().iter().filter(|one| one["field"] == "images.max_side").collect();
    assert_eq!(sides[0]["value"], "512", "{sides:?}");
    let variable = |value: &str| {
        let mut command = place.command();
        command.env("AGENTICIQA_TRUST", value).args(["score", "a.bmp", "--tool", "Mine"]).output().unwrap()
    };
    assert_eq!(code(&variable("0")), 2);
    assert_eq!(code(&variable("/somewhere/else")), 2);
    assert_eq!(code(&variable(place.path("").to_str().unwrap())), 0);
    std::fs::remove_file(place.path("ran")).unwrap();
    assert_eq!(code(&variable("1")), 0);
    // For one run only.
    assert_eq!(code(&score(&[])), 2);
    // The flag is remembered for this folder.
    assert_eq!(rows(&score(&["--trust-folder"]))[0]["raw_score"], 0.25);
    assert_eq!(code(&score(&[])), 0);
    assert!(place.0.path().join("config/agenticiqa/trusted-folders.json").exists());
    // A file that was named is the user's choice.
    std::fs::remove_dir_all(place.0.path().join("config")).unwrap();
    assert_eq!(code(&score(&[])), 2);
    assert_eq!(code(&score(&["--config", "configs"])), 0);
}

#[test]
fn a_folder_needs_trust_to_name_servers_and_cannot_give_it_to_itself() {
    let place = Place::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let evil = format!("http://{}", listener.local_addr().unwrap());
    place.file(
        ".env",
        &format!("OPENAI_BASE_URL={evil}\nOLLAMA_HOST={evil}\nAGENTICIQA_PYTHON=./run.sh\nAGENTICIQA_TRUST=1\nXDG_CONFIG_HOME={}\n",
            place.path("fake").display()),
    );
    let here = place.path("").canonicalize().unwrap();
    place.file("fake/agenticiqa/trusted-folders.json", &json!({"trusted": [here]}).to_string());
    place.file("configs/model_backends.yaml", &format!(
        "planner:\n  backend: ollama.x\n  base_url: {evil}\n  retry_attempts: 1\nproviders:\n  openai:\n    base_url: {evil}\n    \
         api_key_env: AWS_SECRET\n  ollama:\n    base_url: {evil}\n"
    ));
    let mut command = place.command();
    command.env("OPENAI_API_KEY", "sk-very-secret").args(["doctor", "--format", "json"]);
    let output = command.output().unwrap();
    let warning = stderr(&output);
    for named in [
        "planner.base_url",
        "providers.openai.base_url",
        "providers.openai.api_key_env",
        "OPENAI_BASE_URL",
        "OLLAMA_HOST",
        "AGENTICIQA_PYTHON",
    ] {
        assert!(warning.contains(named), "{named} is not in {warning}");
    }
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!((&report["roles"][0]["backend"], &report["roles"][0]["base_url"]), (&json!("ollama.x"), &json!(null)));
    assert!(!stdout(&output).contains(&evil), "{}", stdout(&output));
    // Asking the model does not reach the server of the folder.
    place.run(&["assess", "a.bmp", "--max-replan", "0"]);
    assert!(listener.accept().is_err());
    let trusted = place.command().env("AGENTICIQA_TRUST", "1").args(["doctor", "--format", "json"]).output().unwrap();
    assert!(stdout(&trusted).contains(&evil) && !stderr(&trusted).contains("not trusted"), "{}", stderr(&trusted));
}

#[test]
fn endless_and_enormous_settings_are_refused() {
    let place = Place::new();
    let entries: String = (0..40_000).map(|number| format!("    field{number}: {number}\n")).collect();
    place.file("many.yaml", &format!("tools:\n  models:\n{entries}"));
    place.file("large.yaml", &format!("# {}\n", "x".repeat(2 << 20)));
    for (arguments, reason) in [
        (&["--threads", "100000", "score", "a.bmp"][..], "at most 1024"),
        (&["--threads", "0", "score", "a.bmp"], "from 1 to 1024"),
        (&["--config", "/dev/zero", "doctor"], "not a regular file"),
        (&["--config", "large.yaml", "doctor"], "more than 1048576 bytes"),
        (&["--config", "many.yaml", "doctor"], "more than 10000 fields"),
    ] {
        let output = place.run(arguments);
        assert_eq!(code(&output), 2, "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(reason), "{arguments:?}: {}", stderr(&output));
    }
    std::os::unix::fs::symlink("/dev/zero", place.path(".env")).unwrap();
    assert!(stderr(&place.run(&["doctor"])).contains(".env"));
}

#[test]
fn a_bomb_leaves_memory_and_rows_for_the_others() {
    let place = Place::new();
    // 900 million pixels, of which the file has none: 8 bits a pixel with run lengths.
    let mut bomb = bmp_header(30_000, 30_000, 0);
    (bomb[28], bomb[30]) = (8, 1);
    bomb.extend([0; 256 * 4]);
    std::fs::write(place.path("bomb.bmp"), bomb).unwrap();
    let program = assert_cmd::cargo::cargo_bin("agenticiqa");
    let mut shell = place.command();
    let environment: Vec<_> =
        shell.get_envs().map(|(name, value)| (name.to_owned(), value.map(OsStr::to_owned))).collect();
    shell = Command::new("/bin/sh");
    for (name, value) in environment {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    let script = "ulimit -v 4000000; exec \"$0\" --threads 2 score bomb.bmp a.bmp -t Brightness --format json";
    let output = shell.current_dir(place.path("")).args(["-c", script]).arg(program).output().unwrap();
    assert_eq!(code(&output), 2, "{}", stderr(&output));
    assert!(
        stderr(&output).contains("MB of memory") && stderr(&output).contains("--max-memory"),
        "{}",
        stderr(&output)
    );
    let rows = rows(&output);
    assert!(rows.iter().any(|row| row["image_path"] == "a.bmp" && row["raw_score"].is_number()), "{rows:?}");
    let small = place.run(&["score", "a.bmp", "-t", "Brightness", "--max-memory", "10000"]);
    assert!(stderr(&small).contains("MB of memory"), "{}", stderr(&small));
    assert_eq!(code(&place.run(&["score", "a.bmp", "-t", "Brightness", "--max-memory", "1GB"])), 0);
}

#[test]
fn names_that_are_not_unicode_are_all_assessed() {
    let place = Place::new();
    std::fs::create_dir(place.path("photos")).unwrap();
    for name in [&b"x\xff.bmp"[..], b"x\xfe.bmp"] {
        std::fs::copy(place.path("a.bmp"), place.path("photos").join(OsStr::from_bytes(name))).unwrap();
    }
    for expected in [2, 0] {
        let output = place.run(&["batch", "--images", "photos", "-o", "out.jsonl", "--resume", "--format", "json"]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let summary: Value = serde_json::from_str(&stdout(&output)).unwrap();
        assert_eq!(
            summary["succeeded"].as_u64().unwrap() + summary["partial"].as_u64().unwrap(),
            expected,
            "{summary}"
        );
    }
    let text = std::fs::read_to_string(place.path("out.jsonl")).unwrap();
    let ids: std::collections::BTreeSet<String> =
        text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["sample_id"].to_string()).collect();
    assert_eq!((text.lines().count(), ids.len()), (2, 2), "{ids:?}");
}

#[test]
fn the_longest_question_is_read_and_a_longer_one_is_refused() {
    let place = Place::new();
    // Words that each could begin a phrase, an option or a comparison.
    let longest = "is it less noisy than A. not sharp or ".repeat(4096 / 38 + 1);
    let ask = |bytes: usize| place.run(&["assess", "a.bmp", "-Q", &longest[..bytes], "--no-what-if"]);
    assert_ne!(code(&ask(4096)), 2);
    let refused = ask(4097);
    assert_eq!(code(&refused), 2);
    assert!(stderr(&refused).contains("at most 4096 bytes"), "{}", stderr(&refused));
}

#[test]
fn a_key_in_a_question_is_written_nowhere() {
    let place = Place::new();
    let run =
        |arguments: &[&str]| place.command().env("OPENAI_API_KEY", "sk-very-secret").args(arguments).output().unwrap();
    let query = "Is sk-very-secret sharp?";
    for arguments in [
        &["assess", "a.bmp", "-Q", query][..],
        &["assess", "a.bmp", "-Q", query, "--format", "json", "--log-level", "trace"],
        &["batch", "--images", "a.bmp", "--query", query, "-o", "out.jsonl"],
    ] {
        let output = run(arguments);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        assert!(!(stdout(&output) + &stderr(&output)).contains("very-secret"), "{arguments:?}");
    }
    let written = std::fs::read_to_string(place.path("out.jsonl")).unwrap();
    assert!(written.contains("Is [redacted] sharp?") && !written.contains("very-secret"), "{written}");
}

#[test]
fn a_device_as_output_gets_no_log_next_to_it() {
    let place = Place::new();
    let device = place.path("device");
    std::os::unix::fs::symlink("/dev/null", &device).unwrap();
    let output = place.run(&["batch", "--images", "a.bmp", "-o", device.to_str().unwrap()]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(!place.path("device.log").exists());
}

/// A PNG of 64x64 transparent pixels.
const TRANSPARENT: &[&str] = &[
    "iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAYAAACqaXHeAAAAq0lEQVR4nOXOoQEAAAgDoGWzef+f6RkEA53MNp/xgM",
    "YDGg9oPKDxgMYDGg9oPKDxgMYDGg9oPKDxgMYDGg9oPKDxgMYDGg9oPKDxgMYDGg9oPKDxgMYDGg9oPKDxgMYDGg9o",
    "PKDxgMYDGg9oPKDxgMYDGg9oPKDxgMYDGg9oPKDxgMYDGg9oPKDxgMYDGg9oPKDxgMYDGg9oPKDxgMYDGg9oPKDxgM",
    "YDGg9oB++xwC61HHENAAAAAElFTkSuQmCC",
];

#[test]
fn what_shows_nothing_is_not_called_blurred() {
    use base64::Engine as _;
    let place = Place::new();
    let png = base64::engine::general_purpose::STANDARD.decode(TRANSPARENT.concat()).unwrap();
    std::fs::write(place.path("clear.png"), png).unwrap();
    let output = place.run(&["assess", "clear.png", "--format", "json"]);
    let record: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let evidence = &record["executor_evidence"];
    let severities = evidence["distortion_analysis"]["Global"].as_array().unwrap();
    assert!(severities.iter().all(|one| one["severity"] == "none"), "{severities:?}");
    assert!(severities[0]["explanation"].as_str().unwrap().contains("not judged, because"), "{severities:?}");
    let sharpness = &evidence["attributes"]["Global"]["sharpness"];
    assert_eq!(sharpness["level"], "not applicable");
    assert!(sharpness["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{sharpness}");
    // The rows of tools that cannot run stay, with the reason.
    write_bmp(&place.path("one.bmp"), 1, 1, |_, _| [1, 2, 3]);
    let output = place.run(&["assess", "one.bmp", "--format", "json"]);
    let record: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let logs = record["executor_evidence"]["tool_logs"].as_array().unwrap();
    assert!(logs.iter().all(|log| log["error"].as_str().is_some_and(|error| error.contains("1x1"))), "{logs:?}");
    assert!(!logs.is_empty() && !record.to_string().contains("extreme"), "{record}");
    let scores = rows(&place.run(&["score", "one.bmp", "-t", "NIQE", "-t", "Brightness", "--format", "json"]));
    assert_eq!(scores.len(), 2);
    assert!(scores[0]["error"].as_str().unwrap().contains("1x1"), "{scores:?}");
}

#[test]
fn what_is_no_mcp_message_is_answered_with_its_id() {
    use std::io::Write as _;
    let place = Place::new();
    let mut server = place.command();
    let mut server = server.arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let lines = "garbage\n{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"tools/call\",\"params\":3}\n{\"id\":12,\"method\":\"ping\"}\n[]";
    server.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let output = server.wait_with_output().unwrap();
    let told: Vec<(Value, Value)> =
        rows(&output).into_iter().map(|row| (row["id"].clone(), row["error"]["code"].clone())).collect();
    let expected = [(json!(null), -32700), (json!(9), -32602), (json!(12), -32600), (json!(null), -32600)];
    assert_eq!(told, expected.map(|(id, code)| (id, json!(code))));
}

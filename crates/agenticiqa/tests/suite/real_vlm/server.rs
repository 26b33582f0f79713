//! The real server of `scripts/fetch-tiny-vlm`, started once per test process.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, OnceLock};

use agenticiqa::vlm::{ProviderSettings, Vlm, connect};

/// Held until the process ends. Then the standard input of the server closes, and it exits.
static SERVER: OnceLock<(Child, String)> = OnceLock::new();

/// Returns the address of the server. Without it, the test fails.
pub fn address() -> &'static str {
    &SERVER.get_or_init(start).1
}

/// The model of the server, without retries.
pub fn model() -> Arc<dyn Vlm> {
    let settings = ProviderSettings { base_url: Some(address().parse().unwrap()), api_key: None };
    connect(&"openai.tiny-vlm".parse().unwrap(), &settings).unwrap()
}

fn start() -> (Child, String) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let data = std::env::var_os("AGENTICIQA_TEST_DATA").map_or(root.join("test-data"), PathBuf::from);
    let home = data.join("tiny-vlm");
    assert!(home.join("ready").exists(), "{} is missing: run scripts/fetch-tiny-vlm first", home.display());
    let log = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("tiny-vlm-{}.log", std::process::id()));
    let mut child = Command::new(home.join("venv/bin/python"))
        .arg(root.join("scripts/tiny-vlm/serve.py"))
        .args([home.join("model.gguf"), PathBuf::from("0"), home.join("projector.gguf")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(File::create(&log).unwrap())
        .spawn()
        .expect("the server of scripts/fetch-tiny-vlm cannot be started");
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let address = lines.find_map(|line| line.unwrap().strip_prefix("LISTENING ").map(str::to_owned));
    (child, address.unwrap_or_else(|| panic!("the server ended at once: see {}", log.display())))
}

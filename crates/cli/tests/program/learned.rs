//! Learned tools with the published weights, from `tools install` to the score.

use std::path::{Path, PathBuf};

use crate::support::*;

fn data(name: &str) -> PathBuf {
    let here = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test-data");
    std::env::var_os("AGENTICIQA_TEST_DATA").map_or_else(here, PathBuf::from).join(name)
}

/// Compares with the official values of the calibration pairs, and with NIMA's network in Torch.
#[test]
fn tools_of_published_weights_are_installed_by_one_command_and_give_the_official_values() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| program(arguments).env("AGENTICIQA_DATA_DIR", folder.path()).output().unwrap();
    let weights = data("weights");
    assert!(weights.is_dir(), "run scripts/fetch-weights first");
    let installed = run(&["tools", "install", "LPIPS", "DISTS", "NIMA", "--from", weights.to_str().unwrap()]);
    assert_eq!(code(&installed), 0, "{}", stderr(&installed));
    let checked = run(&["tools", "check", "LPIPS", "DISTS", "NIMA"]);
    assert_eq!(code(&checked), 0, "{}", stdout(&checked));
    let picture = |kind: &str, name: &str| data(&format!("calibration/{kind}/{name}.bmp")).display().to_string();
    let score = |tool: &str, name: &str| {
        let (distorted, reference) = (picture("dist_dir", name), picture("ref_dir", name));
        let row = match tool {
            "NIMA" => run(&["score", &reference, "--tool", tool, "--format", "json"]),
            _ => run(&["score", &distorted, "--reference", &reference, "--tool", tool, "--format", "json"]),
        };
        rows(&row)[0]["raw_score"].as_f64().unwrap()
    };
    for (tool, name, expected) in [
        ("LPIPS", "I03", 0.7237),
        ("LPIPS", "I04", 0.2572),
        ("LPIPS", "I06", 0.0508),
        ("LPIPS", "I08", 0.0521),
        ("LPIPS", "I19", 0.4253),
        ("DISTS", "I08", 0.0287),
        ("NIMA", "I03", 5.230828),
        ("NIMA", "I08", 4.847747),
    ] {
        let found = score(tool, name);
        assert!((found - expected).abs() < 1e-4, "{tool} of {name}: {found}, not {expected}");
    }
}

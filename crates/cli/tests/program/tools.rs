//! `tools`, `completions`, `--version`.

use crate::support::*;

#[test]
fn the_list_names_every_tool_of_the_paper_and_what_can_run() {
    let output = agenticiqa(&["tools", "list"]);
    let list = stdout(&output);
    for name in ["SSIM", "HaarPSI", "TOPIQ_FR", "QAlign", "Noise", "ENTROPY"] {
        assert!(list.contains(name), "{name} is missing");
    }
    let available = stdout(&agenticiqa(&["tools", "list", "--available"]));
    assert!(available.contains("SSIM") && !available.contains("QAlign"));
    assert_eq!(list, stdout(&agenticiqa(&["tools"])));
}

#[test]
fn show_tells_paper_range_and_scale() {
    let text = stdout(&agenticiqa(&["tools", "show", "ms_ssim"]));
    for part in ["MS-SSIM", "FR", "Simoncelli", "TID2013"] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    assert_eq!(code(&agenticiqa(&["tools", "show", "nonsense"])), 2);
}

#[test]
fn check_passes_and_says_what_is_missing() {
    let output = agenticiqa(&["tools", "check"]);
    assert_eq!(code(&output), 0, "{}", stdout(&output));
    assert!(stdout(&output).contains("templateModel.mat"));
}

#[test]
fn completions_and_version() {
    assert!(stdout(&agenticiqa(&["completions", "bash"])).contains("agenticiqa"));
    assert_eq!(stdout(&agenticiqa(&["--version"])), format!("agenticiqa {}\n", env!("CARGO_PKG_VERSION")));
    assert!(stdout(&agenticiqa(&["--help"])).contains("Examples:"));
}

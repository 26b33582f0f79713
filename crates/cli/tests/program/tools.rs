//! `tools`, `completions` and `--version`.

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
fn every_line_of_the_list_fits_into_100_columns() {
    for arguments in [&["tools", "list"][..], &["tools", "list", "--available"], &["tools"]] {
        let list = stdout(&agenticiqa(arguments));
        for line in list.lines() {
            assert!(line.chars().count() <= 100, "{} columns: {line}", line.chars().count());
        }
    }
    let list = stdout(&agenticiqa(&["tools", "list"]));
    let row = |tool: &str| list.lines().find(|line| line.starts_with(&format!(" {tool} "))).unwrap();
    assert!(row("LPIPS").contains("not installed") && row("QAlign").contains("needs Python"), "{list}");
    // `tools show` has the full reason.
    let reason = stdout(&agenticiqa(&["tools", "show", "QAlign"]));
    assert!(reason.contains("AGENTICIQA_PYTHON"), "{reason}");
    assert!(stdout(&agenticiqa(&["tools", "show", "LPIPS"])).contains("agenticiqa tools install LPIPS"));
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
fn check_takes_names_and_says_what_gets_a_missing_tool() {
    let output = agenticiqa(&["tools", "check", "ssim", "ILNIQE"]);
    let text = stdout(&output);
    assert_eq!((code(&output), text.lines().count()), (0, 4), "{text}");
    assert!(text.contains("SSIM") && text.contains("0.7925") && text.contains("tools install ILNIQE"), "{text}");
    assert_eq!(code(&agenticiqa(&["tools", "check", "nonsense"])), 2);
}

/// docs/tools.md contains the table of the built-in tool list. `UPDATE_DOCS=1` updates it.
#[test]
fn the_table_of_the_documentation_is_that_of_the_list() {
    let table = stdout(&agenticiqa(&["tools", "list", "--format", "markdown"]));
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tools.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (begin, end) = ("<!-- table -->\n", "<!-- end of table -->");
    let (before, rest) = text.split_once(begin).unwrap();
    let (shipped, after) = rest.split_once(end).unwrap();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, format!("{before}{begin}{table}{end}{after}")).unwrap();
    } else {
        assert_eq!(shipped, table, "docs/tools.md is out of date: run scripts/update-docs");
    }
    assert!(table.lines().count() > 28 + 2);
}

#[test]
fn show_says_what_runs_a_tool_and_that_a_scale_is_not_fitted() {
    let mad = stdout(&agenticiqa(&["tools", "show", "MAD"]));
    assert!(mad.contains("native, built in") && mad.contains("not fitted on human scores"), "{mad}");
    let ilniqe = stdout(&agenticiqa(&["tools", "show", "ilniqe"]));
    assert!(ilniqe.contains("/nowhere/agenticiqa/tools/ilniqe-templateModel.mat (not installed)"), "{ilniqe}");
}

#[test]
fn completions_and_version() {
    assert!(stdout(&agenticiqa(&["completions", "bash"])).contains("agenticiqa"));
    assert_eq!(stdout(&agenticiqa(&["--version"])), format!("agenticiqa {}\n", env!("CARGO_PKG_VERSION")));
    assert!(stdout(&agenticiqa(&["--help"])).contains("Examples:"));
}

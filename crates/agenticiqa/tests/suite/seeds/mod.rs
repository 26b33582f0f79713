//! Every scenario of the specification, by its name. docs/seeds.md maps scenarios to tests.

mod certainty;
mod configuration;
mod executor_core;
mod graph;
mod planner_design;
mod state_models;
mod summarizer_core;
pub(crate) mod support;
pub(crate) mod templates;

/// docs/seeds.md names existing tests, and every scenario in it has one. Names start at this module
/// or, for tests elsewhere, at the root of the suite.
#[test]
fn the_table_names_tests_that_exist() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let table = std::fs::read_to_string(root.join("../../docs/seeds.md")).unwrap();
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("| ") && line.contains("::")).collect();
    assert!(rows.len() > 80, "{} rows", rows.len());
    for row in rows {
        for name in row.split('`').filter(|part| part.contains("::")) {
            let (module, test) = name.rsplit_once("::").unwrap();
            let file = format!("{}.rs", module.replace("::", "/"));
            let suite = root.join("tests/suite");
            let files = [suite.join("seeds").join(&file), suite.join(&file)];
            let source = files.iter().find_map(|file| std::fs::read_to_string(file).ok()).unwrap_or_default();
            assert!(source.contains(&format!("fn {test}()")), "{name} does not exist");
        }
    }
}

//! Every scenario of the specification, by its name. docs/seeds.md maps scenarios to tests.

mod certainty;
mod configuration;
mod executor_core;
mod graph;
mod planner_design;
mod state_models;
mod summarizer_core;
pub(crate) mod support;

/// docs/seeds.md names existing tests, and every scenario in it has one.
#[test]
fn the_table_names_tests_that_exist() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let table = std::fs::read_to_string(root.join("../../docs/seeds.md")).unwrap();
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("| ") && line.contains("::")).collect();
    assert!(rows.len() > 80, "{} rows", rows.len());
    for row in rows {
        let name = row.split('`').find(|part| part.contains("::")).unwrap();
        let (module, test) = name.split_once("::").unwrap();
        let source = std::fs::read_to_string(root.join("tests/suite/seeds").join(format!("{module}.rs"))).unwrap();
        assert!(source.contains(&format!("fn {test}()")), "{name} does not exist");
    }
}

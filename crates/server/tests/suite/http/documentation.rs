//! The table of endpoints in docs/server.md.

use std::fmt::Write;

use crate::http::support::repository;

const BEGIN: &str = "<!-- endpoints -->\n";
const END: &str = "<!-- /endpoints -->";

/// docs/server.md contains the list of endpoints. `UPDATE_DOCS=1` updates it.
#[test]
fn the_endpoints_of_the_documentation_are_those_of_the_router() {
    let mut table = "| endpoint | description |\n| --- | --- |\n".to_owned();
    for call in agenticiqa_server::calls() {
        writeln!(table, "| `{} {}` | {} |", call.method.to_uppercase(), call.path, call.summary).unwrap();
    }
    let path = repository("docs/server.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (shipped, after) = rest.split_once(END).unwrap();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, format!("{before}{BEGIN}{table}{END}{after}")).unwrap();
    } else {
        assert_eq!(shipped, table, "docs/server.md is out of date: run scripts/update-docs");
    }
}

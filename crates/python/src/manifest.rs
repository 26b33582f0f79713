//! Reads manifests like `agenticiqa batch`.

use std::path::PathBuf;

use agenticiqa::batch::{Input, Line, PathRules, open_lines};
use pyo3::prelude::*;

use crate::errors::Problem;

/// Returns name, number and fields (as JSON) of every line of a JSON Lines, CSV or Parquet
/// manifest.
#[pyfunction]
#[pyo3(signature = (path, root=None))]
pub fn manifest(py: Python<'_>, path: PathBuf, root: Option<PathBuf>) -> PyResult<Vec<(String, u64, String)>> {
    let read = py.detach(|| -> Result<Vec<_>, Problem> {
        let paths = PathRules::new(root.as_deref(), Some(&path));
        let lines = open_lines(&Input::file(&path), &paths)?;
        let row = |line: Line| (line.name, line.number, serde_json::Value::Object(line.fields).to_string());
        lines.map(|line| Ok(row(line?))).collect()
    });
    Ok(read?)
}

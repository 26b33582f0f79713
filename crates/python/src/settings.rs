//! Loads the settings from the same places as the command line.

use std::ffi::CString;
use std::path::{Path, PathBuf};

use agenticiqa::config::{Environment, Overrides, Settings};
use agenticiqa::vlm::Provider;
use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;
use serde_json::json;

use crate::errors::Problem;

/// Loads all layers of the settings. API keys are read from the environment when a model is called.
pub fn load(config: Option<&Path>, overrides: &Overrides) -> Result<(Settings, Environment), Problem> {
    let environment = Environment::load()?;
    let settings = Settings::load(config, &environment, overrides)?;
    if !settings.ignored.is_empty() {
        let names: Vec<&str> = settings.ignored.iter().map(|source| source.field.as_str()).collect();
        let message = format!(
            "the working folder is not trusted, so these of its settings are ignored: {}; check them, then set \
             AGENTICIQA_TRUST=1",
            names.join(", ")
        );
        let message = CString::new(message.replace('\0', " ")).unwrap_or_default();
        Python::attach(|py| PyErr::warn(py, &py.get_type::<PyUserWarning>(), &message, 1))
            .map_err(|error| Problem::Settings(error.to_string()))?;
    }
    Ok((settings, environment))
}

/// Returns the environment variables for the keys and addresses of all providers.
#[pyfunction]
pub fn provider_variables() -> Vec<&'static str> {
    let variables = |provider: Provider| provider.key_variables().iter().chain(provider.base_url_variables()).copied();
    Provider::ALL.into_iter().flat_map(variables).collect()
}

/// Returns the backends and rate limits of the settings as JSON. Needs no API key.
#[pyfunction]
#[pyo3(signature = (config=None, backend=None, overrides=Vec::new()))]
pub fn settings(
    config: Option<PathBuf>,
    backend: Option<String>,
    overrides: Vec<(String, String)>,
) -> PyResult<String> {
    let overrides = Overrides { backend, assignments: overrides, ..Overrides::default() };
    let (settings, _) = load(config.as_deref(), &overrides)?;
    let backends = settings.models.roles().map(|(_, role)| role.backend.to_string());
    Ok(json!({"backends": backends, "limits": settings.models.limits}).to_string())
}

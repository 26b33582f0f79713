//! Installs the weights of learned tools, like `agenticiqa tools install`.

use std::path::PathBuf;
use std::sync::mpsc::channel;

use agenticiqa::config::Overrides;
use agenticiqa::setup;
use agenticiqa::tools::install::{Installer, Package, State, named};
use pyo3::prelude::*;

use crate::agent;
use crate::errors::Problem;
use crate::{settings, threads};

/// Installs tools that are not installed yet, or all if `force`. Returns their files.
#[pyfunction]
#[pyo3(signature = (names, source=Vec::new(), force=false, config=None))]
pub fn install(
    py: Python<'_>,
    names: Vec<String>,
    source: Vec<PathBuf>,
    force: bool,
    config: Option<PathBuf>,
) -> PyResult<Vec<PathBuf>> {
    let (sender, mut receiver) = channel();
    let work = async move { drop(sender.send(installed(names, source, force, config).await)) };
    let task = agent::runtime()?.spawn(work);
    let done = threads::wait(py, &mut receiver).inspect_err(|_| task.abort())?;
    Ok(done.ok_or_else(|| Problem::Other("the installation failed: please report it".to_owned()))??)
}

async fn installed(
    names: Vec<String>,
    source: Vec<PathBuf>,
    force: bool,
    config: Option<PathBuf>,
) -> Result<Vec<PathBuf>, Problem> {
    let (settings, _) = settings::load(config.as_deref(), &Overrides::default())?;
    let data = settings.tools_folder()?;
    let wanted = named(&names, &setup::registry(&settings)?)?;
    let is_missing = |package: &&Package| force || package.state(data) != State::Installed;
    let missing: Vec<Package> = wanted.iter().filter(is_missing).cloned().collect();
    if !missing.is_empty() {
        let mirror = settings.pipeline.tools.pypi_mirror.clone();
        Installer::new(data).with_mirror(mirror).with_files(source).install(&missing, &|_| ()).await?;
    }
    Ok(wanted.iter().flat_map(|package| package.files(data)).collect())
}

//! A built-in metric that needs a model file, which is read on the first run.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use agenticiqa_metrics::{Ilniqe, Measurement, Metric};
use sha2::{Digest as _, Sha256};

use super::engine::Engine;
use super::{Availability, Failure, Remedy, ToolInput};

/// The model file of IL-NIQE, as its authors call it.
const MODEL: &str = "templateModel.mat";

/// A metric that is ready to run, and the model it uses.
#[derive(Debug)]
struct Loaded {
    metric: Box<dyn Metric>,
    digest: String,
}

/// Engine of IL-NIQE, whose model belongs to its authors and is not part of the program.
#[derive(Debug)]
pub(super) struct FromModelFile {
    metric: &'static dyn Metric,
    path: Option<PathBuf>,
    loaded: OnceLock<Result<Loaded, String>>,
}

impl FromModelFile {
    /// Creates the engine with a file that may not exist yet.
    pub fn new(metric: &'static dyn Metric, path: Option<PathBuf>) -> Self {
        Self { metric, path, loaded: OnceLock::new() }
    }

    /// Creates the engine with a file that must exist and be valid.
    pub fn given(metric: &'static dyn Metric, path: &Path) -> Result<Self, String> {
        let given = Self::new(metric, Some(path.to_owned()));
        match given.load() {
            Ok(_) => Ok(given),
            Err(reason) => Err(reason.clone()),
        }
    }

    fn load(&self) -> Result<&Loaded, &String> {
        let path = self.path.as_deref().unwrap_or(Path::new(""));
        self.loaded.get_or_init(|| read(path)).as_ref()
    }
}

fn read(path: &Path) -> Result<Loaded, String> {
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    let metric = Ilniqe::from_mat(&bytes).map_err(|error| error.to_string())?;
    let digest = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Loaded { metric: Box::new(metric), digest })
}

impl Engine for FromModelFile {
    fn availability(&self) -> Availability {
        // A loaded model stays usable even if its file is removed.
        let there = self.loaded.get().is_some() || self.path.as_ref().is_some_and(|path| path.is_file());
        if there {
            return Availability::Ready;
        }
        let (package, file) = (self.metric.info().name.to_owned(), MODEL.to_owned());
        let reason = format!("{MODEL}, which its authors publish, is not installed");
        Availability::Missing { reason, remedy: Some(Remedy::InstallFrom { package, file }) }
    }

    fn fingerprint(&self) -> String {
        self.load().map(|loaded| loaded.digest.clone()).unwrap_or_default()
    }

    fn measure(&self, input: &ToolInput<'_>) -> Result<Measurement, Failure> {
        if let Availability::Missing { reason, .. } = self.availability() {
            return Err(Failure::Tool(reason));
        }
        let path = self.path.as_deref().unwrap_or(Path::new(""));
        let failed = |reason: &String| Failure::Tool(format!("{}: {reason}", path.display()));
        self.load().map_err(failed)?.metric.measure(input.pair()).map_err(Failure::from)
    }

    fn metric(&self) -> Option<&dyn Metric> {
        Some(self.metric)
    }
}

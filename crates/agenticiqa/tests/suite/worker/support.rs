//! A worker with a replacement for pyiqa, its images, and its traces.

use std::path::{Path, PathBuf};
use std::time::Duration;

use agenticiqa::metrics::{Image, Pair};
use agenticiqa::tools::{Failure, Registry, ToolResources, Worker, WorkerScore, WorkerSection, WorkerSettings};
use tempfile::TempDir;

/// Any Python 3.9 or newer. The replacements need no packages.
pub const PYTHON: &str = "python3";

/// The folder of the replacements for Torch and pyiqa.
pub fn python_path() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/worker");
    let paths = ["stand_in_pyiqa", "stand_in_torch"].map(|name| root.join(name));
    std::env::join_paths(paths).unwrap().into_string().unwrap()
}

/// A worker, and the folder for communication between a test and its metrics.
pub struct Stage {
    pub worker: Worker,
    pub home: TempDir,
}

pub fn settings(home: &Path) -> WorkerSettings {
    let variables = [
        ("PYTHONPATH", python_path()),
        ("STAND_IN_HOME", home.display().to_string()),
        ("PYTHONDONTWRITEBYTECODE", "1".to_owned()),
    ];
    WorkerSettings {
        timeout: Duration::from_secs(60),
        variables: variables.map(|(name, value)| (name.to_owned(), value)).to_vec(),
        ..WorkerSettings::new(PYTHON)
    }
}

impl Stage {
    pub fn new() -> Self {
        Self::with(|_| {})
    }

    /// Creates a worker with other settings.
    pub fn with(change: impl FnOnce(&mut WorkerSettings)) -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut settings = settings(home.path());
        change(&mut settings);
        Self { worker: Worker::new(settings), home }
    }

    /// Returns the score of one image.
    pub fn score(&self, metric: &str, image: &Image) -> Result<f64, String> {
        let measured = self.worker.measure(&WorkerSection::new(metric), &[Pair::single(image)]).pop().unwrap();
        number(measured)
    }

    /// Returns the created metrics, each with its process ID.
    pub fn created(&self) -> Vec<(String, u32)> {
        let log = std::fs::read_to_string(self.home.path().join("created")).unwrap_or_default();
        let entry = |line: &str| line.split_once(' ').map(|(name, id)| (name.to_owned(), id.parse().unwrap()));
        log.lines().filter_map(entry).collect()
    }

    pub fn registry(&self, tools: &str) -> Registry {
        Registry::new(tools, &ToolResources { worker: self.worker.clone(), ..ToolResources::default() }).unwrap()
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }
}

pub fn number(measured: Result<WorkerScore, Failure>) -> Result<f64, String> {
    match measured {
        Ok(measured) => Ok(measured.score),
        Err(Failure::Tool(reason)) => Err(reason),
        Err(other) => panic!("{other:?} is the fault of the tool"),
    }
}

/// An image in which neighboring samples differ; the first sample is `first`.
pub fn picture(width: usize, height: usize, first: u8) -> Image {
    let samples = (0..width * height * 3).map(|i| (i * 37 % 251) as u8).collect::<Vec<_>>();
    let mut samples = samples;
    samples[0] = first;
    Image::from_rgb8(width, height, samples).unwrap()
}

/// Returns whether a process exists and is not a zombie.
pub fn is_running(id: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    status.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

/// Waits until a condition is true, with a time limit.
pub fn until(what: &str, is_so: impl Fn() -> bool) {
    for _ in 0..3000 {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("never so: {what}");
}

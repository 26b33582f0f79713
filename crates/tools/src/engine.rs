//! Engines run tools: pixels in, raw score out. Each kind of engine has its own file.

use std::path::Path;
use std::sync::Arc;

use agenticiqa_metrics::{Measurement, Metric, Pair};

use super::{Availability, Failure, Remedy};

/// The input of a tool: pixels, and the files that contain exactly these pixels, if any.
#[derive(Debug, Clone)]
pub struct ToolInput<'a> {
    pair: Pair<'a>,
    image_file: Option<&'a Path>,
    reference_file: Option<&'a Path>,
}

impl<'a> ToolInput<'a> {
    /// Creates an input from pixels without files, such as a region of an image.
    pub fn new(pair: Pair<'a>) -> Self {
        Self { pair, image_file: None, reference_file: None }
    }

    /// Adds the files from which the pixels were decoded.
    pub fn with_files(self, image: Option<&'a Path>, reference: Option<&'a Path>) -> Self {
        Self { image_file: image, reference_file: reference, ..self }
    }

    /// Returns the pixels.
    pub fn pair(&self) -> &Pair<'a> {
        &self.pair
    }

    /// Returns the file of the image, if there is one.
    pub fn image_file(&self) -> Option<&'a Path> {
        self.image_file
    }

    /// Returns the file of the reference, if there is one.
    pub fn reference_file(&self) -> Option<&'a Path> {
        self.reference_file
    }
}

/// Computes the raw score of a tool.
pub(super) trait Engine: std::fmt::Debug + Send + Sync {
    /// Returns whether the engine can run. Called often, so it loads no model and caches slow
    /// checks.
    fn availability(&self) -> Availability;

    /// Identifies what the score depends on besides the tool's name and the release, such as the
    /// digest of a model file.
    fn fingerprint(&self) -> String {
        String::new()
    }

    /// Starts loading what the engine needs, without blocking.
    fn prepare(&self) {}

    /// Measures the input: the raw score, and a map if it was requested and the tool has one.
    fn measure(&self, input: &ToolInput<'_>) -> Result<Measurement, Failure>;

    /// Returns whether measuring only waits for another process. Such tools do not run on the
    /// compute threads.
    fn waits(&self) -> bool {
        false
    }

    /// Returns whether its scores come with a prediction interval.
    fn has_interval(&self) -> bool {
        false
    }

    /// Returns whether the tool has a quality map.
    fn has_map(&self) -> bool {
        self.metric().is_some_and(|metric| metric.info().has_map)
    }

    /// Returns the built-in metric, if the engine is one.
    fn metric(&self) -> Option<&dyn Metric> {
        None
    }
}

/// A metric of `agenticiqa-metrics` that needs no files.
#[derive(Debug)]
pub(super) struct Native(pub &'static dyn Metric);

impl Engine for Native {
    fn availability(&self) -> Availability {
        Availability::Ready
    }

    fn measure(&self, input: &ToolInput<'_>) -> Result<Measurement, Failure> {
        self.0.measure(input.pair()).map_err(Failure::from)
    }

    fn metric(&self) -> Option<&dyn Metric> {
        Some(self.0)
    }
}

/// Engine of a tool that cannot run on this machine.
#[derive(Debug)]
pub(super) struct Absent {
    /// Why it cannot run.
    pub reason: String,
    /// How to make it run.
    pub remedy: Option<Remedy>,
}

impl Absent {
    /// Creates an engine that only reports why it cannot run.
    pub fn because(reason: impl Into<String>) -> Arc<dyn Engine> {
        Arc::new(Self { reason: reason.into(), remedy: None })
    }

    /// Creates the engine of a tool whose weights are not installed.
    pub fn without_weights(package: &str) -> Arc<dyn Engine> {
        let remedy = Some(Remedy::Install { package: package.to_owned() });
        Arc::new(Self { reason: "its weights are not installed".to_owned(), remedy })
    }
}

impl Engine for Absent {
    fn availability(&self) -> Availability {
        Availability::Missing { reason: self.reason.clone(), remedy: self.remedy.clone() }
    }

    fn measure(&self, _: &ToolInput<'_>) -> Result<Measurement, Failure> {
        Err(Failure::Tool(self.reason.clone()))
    }
}

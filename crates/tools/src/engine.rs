//! What runs a tool: pixels in, the tool's own number out. One file a kind of engine.

use std::path::Path;
use std::sync::Arc;

use agenticiqa_metrics::{Measurement, Metric, Pair};

use super::{Availability, Failure, Remedy};

/// What a tool is given: the pixels, and the files that hold just these pixels where there are any.
#[derive(Debug, Clone)]
pub struct ToolInput<'a> {
    pair: Pair<'a>,
    image_file: Option<&'a Path>,
    reference_file: Option<&'a Path>,
}

impl<'a> ToolInput<'a> {
    /// Pixels that are no whole file, such as a region.
    pub fn new(pair: Pair<'a>) -> Self {
        Self { pair, image_file: None, reference_file: None }
    }

    /// The files that were decoded to these pixels.
    pub fn with_files(self, image: Option<&'a Path>, reference: Option<&'a Path>) -> Self {
        Self { image_file: image, reference_file: reference, ..self }
    }

    /// The pixels.
    pub fn pair(&self) -> &Pair<'a> {
        &self.pair
    }

    /// The file of the image.
    pub fn image_file(&self) -> Option<&'a Path> {
        self.image_file
    }

    /// The file of the reference.
    pub fn reference_file(&self) -> Option<&'a Path> {
        self.reference_file
    }
}

/// What computes a tool's raw score.
pub(super) trait Engine: std::fmt::Debug + Send + Sync {
    /// Whether it can run here. Asked often: loads no model, and what takes longer than a look is found out once.
    fn availability(&self) -> Availability;

    /// What its scores depend on besides the tool's name and the release, such as the digest of a model file.
    fn fingerprint(&self) -> String {
        String::new()
    }

    /// Begins to load what it needs, elsewhere: the caller does not wait.
    fn prepare(&self) {}

    /// The tool's own number, and a map where one is asked for and it has one.
    fn measure(&self, input: &ToolInput<'_>) -> Result<Measurement, Failure>;

    /// Whether measuring is waiting for another process. Such a tool is not run on the threads that compute.
    fn waits(&self) -> bool {
        false
    }

    /// Whether it gives a map.
    fn has_map(&self) -> bool {
        self.metric().is_some_and(|metric| metric.info().has_map)
    }

    /// The built-in metric behind it.
    fn metric(&self) -> Option<&dyn Metric> {
        None
    }
}

/// A metric of the metrics crate that needs nothing.
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

/// A tool that cannot run here.
#[derive(Debug)]
pub(super) struct Absent {
    /// Why it cannot run.
    pub reason: String,
    /// What would make it run.
    pub remedy: Option<Remedy>,
}

impl Absent {
    /// An engine that only reports why it cannot run.
    pub fn because(reason: impl Into<String>) -> Arc<dyn Engine> {
        Arc::new(Self { reason: reason.into(), remedy: None })
    }

    /// A tool whose weights are not installed.
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

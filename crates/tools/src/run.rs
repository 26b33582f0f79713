//! Runs a tool: raw score, score from 1 to 5, time and map, or the reason for a failure.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use agenticiqa_metrics::{Error as MetricError, Map, Measurement};
use serde::Serializer;
use serde_json::value::RawValue;

use super::{Scale, Tool, ToolInput};

/// Result of one run of one tool.
#[derive(Debug, Clone)]
pub struct ToolRun {
    /// The tool's name.
    pub tool: String,
    /// The raw score, on the tool's own scale.
    pub raw_score: Option<f64>,
    /// The score from 1 to 5; `None` for plain measurements.
    pub normalized_score: Option<f64>,
    /// The interval around the raw score, on the same scale, for tools that compute one.
    pub interval: Option<(f64, f64)>,
    /// Run time of the metric alone, in seconds.
    pub execution_time: f64,
    /// The reason why there is no score.
    pub error: Option<Failure>,
    /// The quality map, if it was requested and the tool has one.
    pub map: Option<Map>,
}

impl ToolRun {
    /// Creates the result of a failed run.
    pub fn failed(tool: &Tool, failure: Failure, execution_time: f64) -> Self {
        let (tool, error) = (tool.name().to_owned(), Some(failure));
        Self { tool, raw_score: None, normalized_score: None, interval: None, execution_time, error, map: None }
    }
}

/// Reasons why a tool returned no score.
#[derive(Debug, Clone, PartialEq)]
pub enum Failure {
    /// The tool cannot handle the image.
    Input(String),
    /// The tool does not apply to this kind of image; for example, a PNG has no JPEG tables.
    NotApplicable(String),
    /// The tool itself failed.
    Tool(String),
}

impl Failure {
    /// Returns the reason as text.
    pub fn message(&self) -> &str {
        match self {
            Self::Input(message) | Self::NotApplicable(message) | Self::Tool(message) => message,
        }
    }
}

impl From<MetricError> for Failure {
    fn from(error: MetricError) -> Self {
        let message = error.to_string();
        match error {
            MetricError::ModelMissing { .. } | MetricError::ModelInvalid { .. } => Self::Tool(message),
            MetricError::Undefined { .. } => Self::NotApplicable(message),
            _ => Self::Input(message),
        }
    }
}

impl Tool {
    /// Runs the tool. A failure is reported in the result; it is never a panic or a default score.
    pub fn run(&self, input: &ToolInput<'_>) -> ToolRun {
        let start = Instant::now();
        let outcome = self.measure(input);
        let execution_time = start.elapsed().as_secs_f64();
        let tool = self.name().to_owned();
        match outcome {
            Ok(measurement) => {
                let (raw_score, interval, map) = (Some(measurement.score), measurement.interval, measurement.map);
                let normalized_score = self.scale().normalize(measurement.score);
                ToolRun { tool, raw_score, normalized_score, interval, execution_time, error: None, map }
            }
            Err(failure) => ToolRun::failed(self, failure, execution_time),
        }
    }

    /// Warns, once per process, that the scale of the tool was not fitted to human scores.
    pub fn warn_of_linear_scale(&self) {
        let fitted = self.metadata().fitted_on.is_some();
        if matches!(self.scale(), Scale::Linear { .. }) && !fitted && is_first(self.name()) {
            let tool = self.name();
            tracing::warn!(tool, "scale not fitted to human scores: using a linear scale over the usual range");
        }
    }

    /// Returns the raw score.
    pub(super) fn raw_score(&self, input: &ToolInput<'_>) -> Result<f64, Failure> {
        self.measure(input).map(|measurement| measurement.score)
    }

    fn measure(&self, input: &ToolInput<'_>) -> Result<Measurement, Failure> {
        self.engine().measure(input).and_then(|measurement| match measurement.score {
            score if score.is_nan() => Err(Failure::Tool(format!("{} returned no number", self.name()))),
            _ => Ok(measurement),
        })
    }
}

/// Returns whether this process has not yet warned about the scale of a tool.
fn is_first(tool: &str) -> bool {
    static WARNED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    WARNED.lock().unwrap_or_else(PoisonError::into_inner).insert(tool.to_owned())
}

/// Serializes a raw score. JSON has no infinity (PSNR of identical images), so infinity is written
/// as `1e999`, which parsers of IEEE doubles read as infinity.
pub fn raw_number<S: Serializer>(score: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    use serde::Serialize;
    match score {
        Some(score) if score.is_infinite() => {
            let text = if *score > 0.0 { "1e999" } else { "-1e999" };
            let number = RawValue::from_string(text.to_owned()).map_err(serde::ser::Error::custom)?;
            number.serialize(serializer)
        }
        score => score.serialize(serializer),
    }
}

#[cfg(test)]
mod tests {
    use agenticiqa_metrics::{Image, Pair};

    use super::*;
    use crate::Registry;

    #[test]
    fn failures_are_told_apart() {
        let registry = Registry::builtin().unwrap();
        let image = Image::from_gray8(4, 4, vec![9; 16]).unwrap();
        let small = registry.get("SSIM").unwrap().run(&ToolInput::new(Pair::new(&image, &image).unwrap()));
        assert!(matches!(small.error, Some(Failure::Input(ref reason)) if reason.contains("at least 11x11")));
        let learned = registry.get("LPIPS").unwrap().run(&ToolInput::new(Pair::single(&image)));
        assert!(matches!(learned.error, Some(Failure::Tool(_))));
        assert_eq!((learned.raw_score, learned.normalized_score), (None, None));
    }

    #[test]
    fn a_linear_scale_is_warned_of_once() {
        #[derive(Clone, Default)]
        struct Lines(std::sync::Arc<Mutex<Vec<u8>>>);
        impl std::io::Write for Lines {
            fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
                self.0.lock().unwrap().extend_from_slice(bytes);
                Ok(bytes.len())
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let lines = Lines::default();
        let writer = lines.clone();
        let logs = tracing_subscriber::fmt().with_writer(move || writer.clone()).finish();
        let registry = Registry::builtin().unwrap();
        tracing::subscriber::with_default(logs, || {
            for name in ["PSNR-Y", "PSNR-Y", "SSIM"] {
                registry.get(name).unwrap().warn_of_linear_scale();
            }
        });
        let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
        assert_eq!(text.matches("linear scale").count(), 1, "{text}");
        assert!(text.contains("WARN") && text.contains("PSNR-Y"), "{text}");
    }

    #[test]
    fn infinity_is_written_as_a_number() {
        #[derive(serde::Serialize)]
        struct Row(#[serde(serialize_with = "raw_number")] Option<f64>);
        let json = |score| serde_json::to_string(&Row(score)).unwrap();
        assert_eq!(json(Some(f64::INFINITY)), "1e999");
        assert_eq!(json(Some(0.5)), "0.5");
        assert_eq!(json(None), "null");
    }
}

//! No-reference metrics and plain measurements: one file each, and one line in [`METRICS`].

mod entropy;

pub use entropy::Entropy;

use crate::Metric;

/// Every no-reference metric with its authors' parameters.
pub(crate) static METRICS: &[&dyn Metric] = &[&Entropy::DEFAULT];

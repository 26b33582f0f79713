//! No-reference metrics and plain measurements: one file each, and one line in [`METRICS`].

mod brisque;
mod entropy;
mod niqe;
mod piqe;

pub use brisque::Brisque;
pub use entropy::Entropy;
pub use niqe::Niqe;
pub use piqe::Piqe;

use crate::Metric;

/// Every no-reference metric with its authors' parameters.
pub(crate) static METRICS: &[&dyn Metric] = &[&Brisque::DEFAULT, &Niqe::DEFAULT, &Piqe::DEFAULT, &Entropy::DEFAULT];

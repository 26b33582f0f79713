//! Full-reference metrics: one file each, and one line in [`METRICS`].

mod mad;
mod psnr;
mod ssim;
mod vif;

pub use mad::Mad;
pub use psnr::{Psnr, PsnrY};
pub use ssim::Ssim;
pub use vif::Vif;

use crate::Metric;

/// Every full-reference metric with its authors' parameters.
pub(crate) static METRICS: &[&dyn Metric] =
    &[&Psnr::DEFAULT, &PsnrY::DEFAULT, &Ssim::DEFAULT, &Vif::DEFAULT, &Mad::DEFAULT];

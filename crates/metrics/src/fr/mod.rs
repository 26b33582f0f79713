//! Full-reference metrics: one file each, and one line in [`METRICS`].

mod fsim;
mod psnr;
mod ssim;
mod vsi;

pub use fsim::Fsim;
pub use psnr::{Psnr, PsnrY};
pub use ssim::Ssim;
pub use vsi::Vsi;

use crate::Metric;

/// Every full-reference metric with its authors' parameters.
pub(crate) static METRICS: &[&dyn Metric] =
    &[&Psnr::DEFAULT, &PsnrY::DEFAULT, &Ssim::DEFAULT, &Fsim::DEFAULT, &Vsi::DEFAULT];

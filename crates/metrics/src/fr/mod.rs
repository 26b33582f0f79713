//! Full-reference metrics: one file each, and one line in [`METRICS`].

mod coarse_bands;
mod cw_ssim;
mod ms_ssim;
mod psnr;
mod ssim;
mod structure;

pub use cw_ssim::CwSsim;
pub use ms_ssim::{MsSsim, Pooling};
pub use psnr::{Psnr, PsnrY};
pub use ssim::Ssim;

use crate::Metric;

/// Every full-reference metric with its authors' parameters.
pub(crate) static METRICS: &[&dyn Metric] =
    &[&Psnr::DEFAULT, &PsnrY::DEFAULT, &Ssim::DEFAULT, &MsSsim::DEFAULT, &CwSsim::DEFAULT];

//! Full-reference metrics: one file each, and one line in [`METRICS`].

mod gmsd;
mod haarpsi;
mod mdsi;
mod nlpd;
mod ms_ssim;
mod psnr;
mod ssim;
mod structure;
mod vif;

pub use gmsd::Gmsd;
pub use haarpsi::HaarPsi;
pub use mdsi::Mdsi;
pub use nlpd::Nlpd;
pub use ms_ssim::{MsSsim, Pooling};
pub use psnr::{Psnr, PsnrY};
pub use ssim::Ssim;
pub use vif::Vif;

use crate::Metric;

/// Every full-reference metric with its authors' parameters.
pub(crate) static METRICS: &[&dyn Metric] = &[
    &Psnr::DEFAULT,
    &PsnrY::DEFAULT,
    &Ssim::DEFAULT,
    &Gmsd::DEFAULT,
    &Mdsi::DEFAULT,
    &HaarPsi::DEFAULT,
    &Nlpd::DEFAULT,
];
pub(crate) static METRICS: &[&dyn Metric] = &[&Psnr::DEFAULT, &PsnrY::DEFAULT, &Ssim::DEFAULT, &MsSsim::DEFAULT];
pub(crate) static METRICS: &[&dyn Metric] = &[&Psnr::DEFAULT, &PsnrY::DEFAULT, &Ssim::DEFAULT, &Vif::DEFAULT];

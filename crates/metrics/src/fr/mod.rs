//! Full-reference metrics: one file each, and one line in [`METRICS`].

mod gmsd;
mod haarpsi;
mod mdsi;
mod coarse_bands;
mod cw_ssim;
mod ms_ssim;
mod nlpd;
mod psnr;
mod ssim;
mod structure;
mod vif;

pub use gmsd::Gmsd;
pub use haarpsi::HaarPsi;
pub use mdsi::Mdsi;
pub use cw_ssim::CwSsim;
pub use ms_ssim::{MsSsim, Pooling};
pub use nlpd::Nlpd;
pub use psnr::{Psnr, PsnrY};
pub use ssim::Ssim;
pub use vif::Vif;
mod fsim;
mod psnr;
mod ssim;
mod vsi;

pub use fsim::Fsim;
pub use psnr::{Psnr, PsnrY};
pub use ssim::Ssim;
pub use vsi::Vsi;
#[cfg(feature = "jpegxl")]
mod butteraugli;
mod psnr;
mod ssim;
#[cfg(feature = "jpegxl")]
mod ssimulacra2;

#[cfg(feature = "jpegxl")]
pub use butteraugli::Butteraugli;
pub use psnr::{Psnr, PsnrY};
pub use ssim::Ssim;
#[cfg(feature = "jpegxl")]
pub use ssimulacra2::Ssimulacra2;

use crate::Metric;

/// Every full-reference metric with its authors' parameters.
pub(crate) static METRICS: &[&dyn Metric] = &[
    &Psnr::DEFAULT,
    &PsnrY::DEFAULT,
    &Ssim::DEFAULT,
    &MsSsim::DEFAULT,
    &Gmsd::DEFAULT,
    &Mdsi::DEFAULT,
    &HaarPsi::DEFAULT,
    &Nlpd::DEFAULT,
    &Vif::DEFAULT,
];
pub(crate) static METRICS: &[&dyn Metric] =
    &[&Psnr::DEFAULT, &PsnrY::DEFAULT, &Ssim::DEFAULT, &MsSsim::DEFAULT, &CwSsim::DEFAULT];
pub(crate) static METRICS: &[&dyn Metric] =
    &[&Psnr::DEFAULT, &PsnrY::DEFAULT, &Ssim::DEFAULT, &Fsim::DEFAULT, &Vsi::DEFAULT];
    #[cfg(feature = "jpegxl")]
    &Ssimulacra2::DEFAULT,
    #[cfg(feature = "jpegxl")]
    &Butteraugli::DEFAULT,
];

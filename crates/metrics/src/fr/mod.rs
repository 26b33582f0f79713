//! Full-reference metrics. Each has its own file and one line in `METRICS`.

#[cfg(feature = "jpegxl")]
mod butteraugli;
mod coarse_bands;
mod cw_ssim;
mod fsim;
mod gmsd;
mod haarpsi;
mod mad;
mod mdsi;
mod ms_ssim;
mod nlpd;
mod psnr;
mod ssim;
#[cfg(feature = "jpegxl")]
mod ssimulacra2;
#[cfg(feature = "jpegxl")]
mod ssimulacra2_map;
mod structure;
mod vif;
mod vsi;

#[cfg(feature = "jpegxl")]
pub use butteraugli::Butteraugli;
pub use cw_ssim::CwSsim;
pub use fsim::Fsim;
pub use gmsd::Gmsd;
pub use haarpsi::HaarPsi;
pub use mad::Mad;
pub use mdsi::Mdsi;
pub use ms_ssim::{MsSsim, Pooling};
pub use nlpd::Nlpd;
pub use psnr::{Psnr, PsnrY};
pub use ssim::Ssim;
#[cfg(feature = "jpegxl")]
pub use ssimulacra2::Ssimulacra2;
pub use vif::Vif;
pub use vsi::Vsi;

use crate::Metric;

/// Every full-reference metric with its authors' parameters.
pub(crate) static METRICS: &[&dyn Metric] = &[
    &Psnr::DEFAULT,
    &PsnrY::DEFAULT,
    &Ssim::DEFAULT,
    &MsSsim::DEFAULT,
    &CwSsim::DEFAULT,
    &Fsim::DEFAULT,
    &Vsi::DEFAULT,
    &Gmsd::DEFAULT,
    &Mdsi::DEFAULT,
    &HaarPsi::DEFAULT,
    &Nlpd::DEFAULT,
    &Vif::DEFAULT,
    &Mad::DEFAULT,
    #[cfg(feature = "jpegxl")]
    &Ssimulacra2::DEFAULT,
    #[cfg(feature = "jpegxl")]
    &Butteraugli::DEFAULT,
];

//! Full-reference metrics: one file each, and one line in [`METRICS`].

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
    #[cfg(feature = "jpegxl")]
    &Ssimulacra2::DEFAULT,
    #[cfg(feature = "jpegxl")]
    &Butteraugli::DEFAULT,
];

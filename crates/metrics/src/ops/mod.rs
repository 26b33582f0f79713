//! What metrics share: filters, gradients, transforms, statistics, and the way work is cut into strips.

pub mod convolve;
pub mod fft;
pub mod gamma;
pub mod matrix;
pub mod mscn;
pub mod nss;
pub mod resize;
pub mod strips;
pub mod sum;
pub mod weibull;

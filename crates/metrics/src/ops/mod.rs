//! What metrics share: filters, gradients, transforms, statistics, and the way work is cut into strips.

pub mod convolve;
pub mod fft;
pub mod resample;
pub mod strips;
pub mod sum;

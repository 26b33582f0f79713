//! What metrics share: filters, gradients, transforms, statistics, and the way work is cut into strips.

pub mod convolve;
pub mod fft;
pub mod resize;
pub mod strips;
pub mod sum;

//! What metrics share: filters, gradients, transforms, statistics, and the way work is cut into strips.

pub mod blocks;
pub mod convolve;
pub mod fft;
pub mod histogram;
pub mod lab;
pub mod strips;
pub mod sum;

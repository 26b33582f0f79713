//! Operations shared by metrics: filters, gradients, color spaces, transforms and statistics.
//!
//! | Task | Modules |
//! | --- | --- |
//! | Filter and differentiate | [`convolve`], [`gradient`], [`scharr`], [`steerable`], [`log_gabor`] |
//! | Resize | [`resize`], [`resample`], [`downsample`], [`laplacian`] |
//! | Transform | [`fft`], [`rfft`], [`block_fft`], [`lanes_fft`], [`dct`] |
//! | Convert colors | [`color`], [`lab`] |
//! | Compute statistics | [`moments`], [`nss`], [`mscn`], [`neighbors`], [`histogram`], [`median`], [`weibull`], [`sum`] |
//! | Linear algebra and special functions | [`matrix`], [`jacobi`], [`gamma`], [`elementary`] |
//! | Features of FSIM and VSI | [`phase_congruency`], [`saliency`], [`similarity`], [`weighted_similarity`], [`pool`] |
//! | Split work into blocks and strips | [`strips`], [`rolling`], [`blocks`], [`block_sum`], [`lanes`] |

pub mod block_fft;
pub mod block_sum;
pub mod blocks;
pub mod color;
pub mod convolve;
pub mod dct;
pub mod downsample;
pub mod elementary;
pub mod fft;
pub mod gamma;
pub mod gradient;
pub mod histogram;
pub mod jacobi;
pub mod lab;
pub mod lanes;
pub mod lanes_fft;
pub mod laplacian;
pub mod log_gabor;
pub mod matrix;
pub mod median;
pub mod moments;
pub mod mscn;
pub mod neighbors;
pub mod nss;
pub mod phase_congruency;
pub mod pool;
pub mod resample;
pub mod resize;
pub mod rfft;
pub mod rolling;
pub mod saliency;
pub mod scharr;
pub mod similarity;
pub mod steerable;
pub mod strips;
pub mod sum;
pub mod weibull;
pub mod weighted_similarity;

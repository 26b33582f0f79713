//! The 25 distortions of KADID-10k at five levels, reproducible by seed.
//!
//! Use this crate to make distorted versions of clean images: to test metrics, to train models, or
//! to show what a distortion looks like. [`distort`] applies one [`Kind`] at a level from 1
//! (weakest) to [`LEVELS`] (strongest). The same image, kind, level and seed always produce the
//! same pixels, on every machine.
//!
//! ```
//! use agenticiqa_distort::{Kind, distort};
//! use agenticiqa_metrics::{Image, Psnr};
//!
//! let clean = Image::from_gray8(64, 64, (0..4096).map(|i| (i % 64 * 4) as u8).collect())?;
//! let noisy = distort(&clean, Kind::WhiteNoise, 5, 1)?;
//! assert!(Psnr::default().score(&clean, &noisy)? < 25.0);
//! # Ok::<(), agenticiqa_metrics::Error>(())
//! ```
//!
//! [`Kind::ALL`] lists all kinds; [`Kind::category`] returns the group of a kind, such as blur or
//! compression.
//!
//! # Differences from KADID-10k
//!
//! The kinds, their groups and their strengths are those of H. Lin, V. Hosu, D. Saupe, KADID-10k:
//! a large-scale artificially distorted IQA database, QoMEX 2019. The code is independent.
//!
//! - Strengths always rise with the level. In KADID some do not: mean shift and contrast change
//!   run from one direction through zero to the other, and the first level of Lab saturation
//!   changes nothing. Here the seed chooses the direction.
//! - JPEG is a round trip through its lossy steps (4:2:0 color, DCT, the tables of the standard).
//!   Entropy coding is left out, because it is lossless.
//! - JPEG 2000 has the wavelet, the color transform and the dead-zone quantizer of the standard.
//!   Bisection finds one step size, such that a context model of the coefficients fits the bit
//!   rate. The artifacts are those of the codec; the bytes of a real encoder at the same rate may
//!   differ by some percent.
//! - Denoising thresholds overlapping DCT blocks. KADID used a neural network.
//!
//! Strengths in pixels are meant for images of about 512 x 384, as in KADID.

mod blur;
mod color;
mod jpeg;
mod jpeg2000;
mod lab;
mod noise;
mod palette;
mod random;
mod sharpen;
mod spatial;
#[cfg(test)]
mod tests;
mod tone;
mod wavelet;

use std::fmt;

use agenticiqa_pixels::Pixels;
use agenticiqa_pixels::{Error, Image, Result};
use random::Random;

/// The highest level, which is the strongest.
pub const LEVELS: u8 = 5;

/// The groups of distortions in KADID-10k, with sharpness and contrast as separate groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Category {
    /// Lost detail.
    Blurs,
    /// Colors that are displaced, quantized, too weak or too strong.
    Color,
    /// Compression artifacts.
    Compression,
    /// Noise, and the artifacts of denoising.
    Noise,
    /// Too bright or too dark.
    Brightness,
    /// Displaced pixels or patches, and lost detail in larger pixels.
    Spatial,
    /// Edges with overshoot.
    Sharpness,
    /// Too little or too much contrast.
    Contrast,
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident, $name:literal, $category:ident;)*) => {
        /// A kind of distortion.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Kind {
            $($(#[$doc])* $kind,)*
        }

        impl Kind {
            /// Every kind, in KADID's order.
            pub const ALL: [Self; 25] = [$(Self::$kind),*];

            /// The name in words.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }

            /// The group that the kind belongs to.
            pub const fn category(self) -> Category {
                match self {
                    $(Self::$kind => Category::$category,)*
                }
            }
        }
    };
}

kinds! {
    /// Blur with a Gaussian of sigma 0.1 to 5 px.
    GaussianBlur, "Gaussian blur", Blurs;
    /// Blur with a disc of radius 1 to 8 px, like a lens out of focus.
    LensBlur, "lens blur", Blurs;
    /// Blur along a line of 1 to 10 px in a random direction.
    MotionBlur, "motion blur", Blurs;
    /// Color that spreads into its surroundings and becomes stronger.
    ColorDiffusion, "color diffusion", Color;
    /// The green channel displaced by 1 to 12 px at edges.
    ColorShift, "color shift", Color;
    /// Reduction to 64 to 8 colors.
    ColorQuantization, "color quantization", Color;
    /// HSV saturation times 0.4 to -0.4: pale, gray, then complementary colors.
    Desaturation, "color saturation 1 (HSV)", Color;
    /// Lab chroma times 1.25 to 9.
    Oversaturation, "color saturation 2 (Lab)", Color;
    /// JPEG 2000 at 16:1 to 400:1.
    Jpeg2000, "JPEG2000 compression", Compression;
    /// JPEG at quality 43 to 4.
    Jpeg, "JPEG compression", Compression;
    /// Gaussian noise in R, G and B.
    WhiteNoise, "white noise", Noise;
    /// Gaussian noise in Y, Cb and Cr.
    ColorNoise, "white noise in color components", Noise;
    /// Random black and white samples.
    ImpulseNoise, "impulse noise", Noise;
    /// Gaussian noise that is proportional to the sample.
    MultiplicativeNoise, "multiplicative noise", Noise;
    /// Gaussian noise, then a denoiser.
    Denoise, "denoise", Noise;
    /// A tone curve that lifts the midtones.
    Brighten, "brighten", Brightness;
    /// A tone curve that lowers the midtones.
    Darken, "darken", Brightness;
    /// A constant added to all samples.
    MeanShift, "mean shift", Brightness;
    /// Every pixel replaced by one nearby.
    Jitter, "jitter", Spatial;
    /// Patches of 16x16 copied to nearby places.
    NonEccentricityPatch, "non-eccentricity patch", Spatial;
    /// Larger pixels.
    Pixelate, "pixelate", Spatial;
    /// Reduction to 20 to 7 levels in each channel.
    Quantization, "quantization", Spatial;
    /// Random blocks of 32x32 in one color.
    ColorBlock, "color block", Spatial;
    /// Strong sharpening of lightness.
    HighSharpen, "high sharpen", Sharpness;
    /// A tone curve that is flatter or steeper in the midtones.
    ContrastChange, "contrast change", Contrast;
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Returns the image with a distortion of `kind` at `level` (1 weakest to 5 strongest).
///
/// The same seed produces the same image. Size and bit depth are kept. A gray image becomes RGB if
/// the distortion adds color. Facts about the source file are dropped, because the pixels are no
/// longer those of the file.
///
/// # Errors
///
/// Returns [`Error::LevelOutOfRange`] if `level` is not between 1 and [`LEVELS`].
pub fn distort(image: &Image, kind: Kind, level: u8, seed: u64) -> Result<Image> {
    if !(1..=LEVELS).contains(&level) {
        return Err(Error::LevelOutOfRange { level, highest: LEVELS });
    }
    let index = usize::from(level - 1);
    let pixels = Pixels::read(image);
    let mut random = Random::new(seed ^ ((kind as u64) << 32));
    let distorted = match kind {
        Kind::GaussianBlur => blur::gaussian(&pixels, index),
        Kind::LensBlur => blur::lens(&pixels, index),
        Kind::MotionBlur => blur::motion(&pixels, index, &mut random),
        Kind::ColorDiffusion => color::diffuse(&pixels, index),
        Kind::ColorShift => color::shift(&pixels, index, &mut random),
        Kind::ColorQuantization => palette::quantize(&pixels, index),
        Kind::Desaturation => color::desaturate(&pixels, index),
        Kind::Oversaturation => color::oversaturate(&pixels, index),
        Kind::Jpeg2000 => jpeg2000::compress(&pixels, index),
        Kind::Jpeg => jpeg::compress(&pixels, index),
        Kind::WhiteNoise => noise::white(&pixels, index, &mut random),
        Kind::ColorNoise => noise::in_color_components(&pixels, index, &mut random),
        Kind::ImpulseNoise => noise::impulses(&pixels, index, &mut random),
        Kind::MultiplicativeNoise => noise::multiplicative(&pixels, index, &mut random),
        Kind::Denoise => noise::denoised(&pixels, index, &mut random),
        Kind::Brighten => tone::brighten(&pixels, index),
        Kind::Darken => tone::darken(&pixels, index),
        Kind::MeanShift => tone::shift_mean(&pixels, index, &mut random),
        Kind::Jitter => spatial::jitter(&pixels, index, &mut random),
        Kind::NonEccentricityPatch => spatial::copy_patches(&pixels, index, &mut random),
        Kind::Pixelate => spatial::pixelate(&pixels, index),
        Kind::Quantization => spatial::quantize(&pixels, index),
        Kind::ColorBlock => spatial::color_blocks(&pixels, index, &mut random),
        Kind::HighSharpen => sharpen::sharpen(&pixels, index),
        Kind::ContrastChange => tone::change_contrast(&pixels, index, &mut random),
    };
    distorted.write(image.bit_depth())
}

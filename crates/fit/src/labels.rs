//! Labels of the generated images: which distortions should be found, and how severe.
//!
//! The visibility of a distortion is measured by MDSI (H. Ziaei Nafchi et al., 2016) between the
//! image and its original. The thresholds between severities are the MDSI values at which the mean
//! opinion of the observers of TID2013 (contents 1-12, isotonic regression on MDSI, rank
//! correlation 0.90) falls to 5.75, 5.0, 4.0 and 3.0 of 9. A generator level of 3 or more counts
//! as at least slight: a change of brightness that bothers nobody is still present and should be
//! found.

use agenticiqa_distort::{Category, Kind};
use agenticiqa_metrics::{Image, Mdsi};
use agenticiqa_vision::vocabulary::Distortion;

use crate::error::Error;

/// MDSI at the levels 0, 0.5, 1.5, 2.5, 3.5 and 4.
const VISIBILITY: [(f64, f64); 6] = [(0.0, 0.0), (0.176, 0.5), (0.265, 1.5), (0.327, 2.5), (0.395, 3.5), (0.435, 4.0)];
/// Minimum visibility of the five levels of the generator.
const AT_LEAST: [f64; 5] = [0.0, 0.0, 0.6, 0.9, 1.2];

/// Measures how much an image differs from its original, by MDSI.
pub fn damage(original: &Image, distorted: &Image) -> Result<f64, Error> {
    Ok(Mdsi::default().score(original, distorted)?)
}

/// Returns the visibility of damage from 0 (invisible) to 4.
pub fn visibility(score: f64, level: u8) -> f64 {
    let seen = VISIBILITY
        .windows(2)
        .find(|pair| score < pair[1].0)
        .map_or(4.0, |pair| pair[0].1 + (score - pair[0].0) / (pair[1].0 - pair[0].0) * (pair[1].1 - pair[0].1));
    seen.max(AT_LEAST[usize::from(level.clamp(1, 5) - 1)])
}

/// Returns the category of a kind. Of the spatial kinds, only large pixels have one, because they
/// look like blocks.
pub fn category(kind: Kind) -> Option<Distortion> {
    Some(match kind.category() {
        Category::Blurs => Distortion::Blurs,
        Category::Color => Distortion::Color,
        Category::Compression => Distortion::Compression,
        Category::Noise => Distortion::Noise,
        Category::Brightness => Distortion::Brightness,
        Category::Sharpness => Distortion::Sharpness,
        Category::Contrast => Distortion::Contrast,
        Category::Spatial if kind == Kind::Pixelate => Distortion::Compression,
        Category::Spatial => return None,
    })
}

/// Returns further categories that may be found for a kind because they are present too: a
/// denoised image is soft, a darkened one has less contrast, posterized tones are bands.
pub fn related(kind: Kind) -> &'static [Distortion] {
    match kind {
        Kind::Denoise => &[Distortion::Blurs, Distortion::Compression],
        Kind::Jpeg2000 => &[Distortion::Blurs],
        Kind::Jpeg => &[Distortion::Color],
        Kind::ColorQuantization => &[Distortion::Compression, Distortion::Noise],
        Kind::ColorDiffusion | Kind::Oversaturation => &[Distortion::Contrast, Distortion::Brightness],
        Kind::Brighten | Kind::Darken => &[Distortion::Contrast],
        Kind::ContrastChange => &[Distortion::Brightness],
        Kind::HighSharpen => &[Distortion::Noise, Distortion::Contrast],
        Kind::Jitter => &[Distortion::Blurs, Distortion::Noise],
        Kind::Pixelate => &[Distortion::Blurs, Distortion::Sharpness],
        Kind::Quantization => &[Distortion::Compression, Distortion::Color, Distortion::Noise, Distortion::Contrast],
        Kind::ColorBlock => &[Distortion::Color],
        _ => &[],
    }
}

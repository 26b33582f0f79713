//! What each generated image should be found to have.
//!
//! How visible a distortion is is judged by MDSI (H. Ziaei Nafchi et al., 2016) between the image and its original. Its values at the
//! borders of the severities are those at which the mean opinion of TID2013's observers (contents 1-12, isotonic regression on
//! MDSI, rank correlation 0.90) falls to 5.75, 5.0, 4.0 and 3.0 of 9. A level of 3 or more is at least slight: a change of
//! brightness that nobody minds is still there, and to be found.

use agenticiqa_distort::{Category, Kind};
use agenticiqa_metrics::{Image, Mdsi};
use agenticiqa_vision::vocabulary::Distortion;

use crate::error::Error;

/// MDSI at the levels 0, 0.5, 1.5, 2.5, 3.5 and 4.
const VISIBILITY: [(f64, f64); 6] = [(0.0, 0.0), (0.176, 0.5), (0.265, 1.5), (0.327, 2.5), (0.395, 3.5), (0.435, 4.0)];
/// The least that the five levels of the generator count for.
const AT_LEAST: [f64; 5] = [0.0, 0.0, 0.6, 0.9, 1.2];

/// How much the image differs from its original.
pub fn damage(original: &Image, distorted: &Image) -> Result<f64, Error> {
    Ok(Mdsi::default().score(original, distorted)?)
}

/// How visible damage is, 0 (not at all) to 4.
pub fn visibility(score: f64, level: u8) -> f64 {
    let seen = VISIBILITY
        .windows(2)
        .find(|pair| score < pair[1].0)
        .map_or(4.0, |pair| pair[0].1 + (score - pair[0].0) / (pair[1].0 - pair[0].0) * (pair[1].1 - pair[0].1));
    seen.max(AT_LEAST[usize::from(level.clamp(1, 5) - 1)])
}

/// The category of the specification that a kind belongs to; of the spatial ones, large pixels look like blocks.
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

/// Categories that a kind may be found to have besides its own, because it does: a denoised image is soft, a
/// darkened one has less contrast, posterised tones are bands.
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

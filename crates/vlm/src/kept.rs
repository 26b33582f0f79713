//! The size to which providers shrink an image before their model sees it.
//!
//! The numbers come from the documentation of the providers (2025). A model sees nothing of what
//! shrinking removes: noise, slight blur, blocks. Whoever asks about them sends crops.

use serde::{Deserialize, Serialize};

/// The limits to which an image is shrunk. All of them hold; the smallest wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptSize {
    /// The maximum length of the longer side.
    pub longer: usize,
    /// The maximum length of the shorter side, if there is one.
    pub shorter: Option<usize>,
    /// The maximum number of pixels, if there is one.
    pub pixels: Option<usize>,
}

impl KeptSize {
    /// A server that is not known, such as vLLM, llama.cpp or Ollama: most vision models that run
    /// there keep about a megapixel (1280 patches of 28x28).
    pub const UNKNOWN: Self = Self { longer: 1568, shorter: None, pixels: Some(1_003_520) };
    /// OpenAI, models with tiles: fitted into 2048x2048, then the shorter side to 768.
    pub const OPENAI: Self = Self { longer: 2048, shorter: Some(768), pixels: None };
    /// OpenAI, small models with patches: 1536 patches of 32x32.
    pub const OPENAI_PATCHES: Self = Self { longer: 2048, shorter: None, pixels: Some(1_572_864) };
    /// Anthropic: about 1600 tokens of 750 pixels.
    pub const ANTHROPIC: Self = Self { longer: 1568, shorter: None, pixels: Some(1_200_000) };
    /// Anthropic since Claude 4.7: 4784 tokens.
    pub const ANTHROPIC_LARGE: Self = Self { longer: 2576, shorter: None, pixels: Some(3_588_000) };
    /// Google: tiles of two thirds of the shorter side, each shrunk to 768.
    pub const GOOGLE: Self = Self { longer: 3072, shorter: Some(1152), pixels: None };

    /// Returns the scale at which the model sees an image of this size, at most 1.
    pub fn scale(&self, width: usize, height: usize) -> f64 {
        let ratio = |limit: f64, size: f64| if size > limit { limit / size } else { 1.0 };
        let by_longer = ratio(self.longer as f64, width.max(height) as f64);
        let by_shorter = self.shorter.map_or(1.0, |limit| ratio(limit as f64, width.min(height) as f64));
        let by_pixels = self.pixels.map_or(1.0, |limit| ratio(limit as f64, width as f64 * height as f64).sqrt());
        by_longer.min(by_shorter).min(by_pixels)
    }

    /// Returns the longest side of a square that is not shrunk.
    pub fn square(&self) -> usize {
        let by_pixels = self.pixels.map_or(usize::MAX, |pixels| (pixels as f64).sqrt() as usize);
        self.longer.min(self.shorter.unwrap_or(usize::MAX)).min(by_pixels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_limit_wins() {
        let shown = |kept: KeptSize, (width, height): (usize, usize)| {
            let scale = kept.scale(width, height);
            ((width as f64 * scale).round() as usize, (height as f64 * scale).round() as usize)
        };
        // The examples of the providers: 2048x4096 becomes 768x1536, 4:3 at 1.2 megapixels is 1265x949.
        assert_eq!(shown(KeptSize::OPENAI, (2048, 4096)), (768, 1536));
        assert_eq!(shown(KeptSize::OPENAI, (512, 400)), (512, 400));
        assert_eq!(shown(KeptSize::ANTHROPIC, (4000, 3000)), (1265, 949));
        assert_eq!(shown(KeptSize::ANTHROPIC, (3136, 200)), (1568, 100));
        assert_eq!(shown(KeptSize::GOOGLE, (4000, 3000)), (1536, 1152));
        assert!(KeptSize::UNKNOWN.scale(1000, 1000) >= 1.0 && KeptSize::UNKNOWN.scale(1100, 1000) < 1.0);
        assert_eq!([KeptSize::OPENAI, KeptSize::ANTHROPIC].map(|kept| kept.square()), [768, 1095]);
    }
}

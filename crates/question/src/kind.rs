//! Varieties of faults.

/// A variety of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Motion blur, camera shake.
    Motion,
    /// Out of focus.
    Defocus,
    /// A blur that photos seldom have, such as that of a zoom or of glass.
    RareBlur,
    /// Blocks of a compressed file.
    Blocks,
    /// Steps in gradients.
    Banding,
    /// Visible pixels.
    Pixelation,
    /// Ripples next to edges.
    Ringing,
    /// Salt-and-pepper noise.
    Impulse,
    /// Noise of colors.
    ColorNoise,
    /// Fine, even noise.
    Grain,
    /// A yellow or red cast.
    Warm,
    /// A blue cast.
    Cool,
    /// A green cast.
    Green,
    /// A magenta cast.
    Magenta,
    /// Colored edges.
    Fringing,
    /// A dark subject in front of a bright background.
    Backlight,
    /// Black and white.
    Monochrome,
    /// Colors that are too strong.
    Oversaturated,
}

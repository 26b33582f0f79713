//! Tells images that are no photos: drawings, charts, screenshots, documents, test patterns.

use std::collections::HashMap;

use agenticiqa_metrics::Image;

/// Images that are more unusual than this are no photos.
const STRANGE: f64 = 2.0;
/// Images of few colors that are more unusual than this are no photos.
const STRANGE_OF_FEW_COLORS: f64 = 1.2;
/// The largest number of pixels to look at.
const PIXELS: usize = 1 << 14;
/// An image has few colors if this many of them ...
const COLORS: usize = 16;
/// ... cover this share of it. In 600 photos the largest share was 0.80.
const SHARE: f64 = 0.85;

/// Returns whether an image is too unlike photos to be judged as one.
pub fn is_strange(image: &Image, unusual: f64) -> bool {
    unusual > STRANGE || unusual > STRANGE_OF_FEW_COLORS && has_few_colors(image)
}

/// Returns whether a few exact colors cover most of an image.
fn has_few_colors(image: &Image) -> bool {
    let step = (image.width() * image.height()).div_ceil(PIXELS).isqrt().max(1);
    let mut counts: HashMap<Vec<u32>, usize> = HashMap::new();
    let mut rows = vec![vec![0.0; image.width()]; image.channels()];
    for y in (0..image.height()).step_by(step) {
        for (channel, row) in rows.iter_mut().enumerate() {
            image.read_row(channel, y, row);
        }
        for x in (0..image.width()).step_by(step) {
            *counts.entry(rows.iter().map(|row| row[x].to_bits()).collect()).or_default() += 1;
        }
    }
    let mut counts: Vec<usize> = counts.into_values().collect();
    counts.sort_unstable_by(|first, second| second.cmp(first));
    let (most, all): (usize, usize) = (counts.iter().take(COLORS).sum(), counts.iter().sum());
    most as f64 >= SHARE * all as f64
}

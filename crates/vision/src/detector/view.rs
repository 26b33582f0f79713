//! What the networks see: an image, or parts of it if it is very wide or very high.

use agenticiqa_metrics::ops::resize::{Kernel, to_size};
use agenticiqa_metrics::{Image, Region};

use crate::network::Planes;

/// Sides of the input are multiples of this, the largest stride of the networks.
const STEP: usize = 32;
/// An image whose longer side is more than this many shorter sides is seen in parts.
const LONGEST: f64 = 2.0;
/// Length of a part in shorter sides; neighbors overlap by a third or more.
const PART: f64 = 1.5;
/// An image whose longer side has at least this many pixels is looked at again in tiles.
const LARGE: usize = 1400;
/// Maximum number of parts.
const MOST_PARTS: usize = 16;

/// Returns the parts of an image that are looked at one by one.
pub(super) fn parts(width: usize, height: usize) -> Vec<Region> {
    let whole = Region { x: 0, y: 0, width, height };
    let (longer, shorter) = (width.max(height), width.min(height));
    if longer as f64 <= LONGEST * shorter as f64 {
        return vec![whole];
    }
    // A strip that would need more parts has nothing in it that a network can recognize.
    let length = (PART * shorter as f64).round() as usize;
    let count = (longer - length).div_ceil((length * 2 / 3).max(1)) + 1;
    if count > MOST_PARTS {
        return vec![whole];
    }
    let part = |index: usize| {
        let start = (longer - length) * index / (count - 1);
        if width > height {
            Region { x: start, width: length, ..whole }
        } else {
            Region { y: start, height: length, ..whole }
        }
    };
    (0..count).map(part).collect()
}

/// Returns the tiles of a large image that are looked at again; they overlap by a fifth of the image.
pub(super) fn tiles(width: usize, height: usize) -> Vec<Region> {
    let (longer, shorter) = (width.max(height), width.min(height));
    if longer < LARGE || longer as f64 > LONGEST * shorter as f64 {
        return Vec::new();
    }
    let (wide, high) = (width * 3 / 5, height * 3 / 5);
    let corners = [(0, 0), (width - wide, 0), (0, height - high), (width - wide, height - high)];
    corners.map(|(x, y)| Region { x, y, width: wide, height: high }).to_vec()
}

/// Returns red, green and blue planes of samples from 0 to 255, whose longer side is about `side`.
pub(super) fn of(image: &Image, side: usize, normalize: impl Fn(f32) -> f32) -> Option<Planes> {
    let longer = image.width().max(image.height());
    let fit = |length: usize| ((length * side / STEP + longer / 2) / longer).max(1) * STEP;
    let (width, height) = (fit(image.width()), fit(image.height()));
    // Box averaging down to at most twice the target size comes first, because the exact resize is
    // slow.
    let image = image.shrunk((image.width() / (2 * width)).min(image.height() / (2 * height)));
    let mut samples = Vec::with_capacity(3 * width * height);
    for channel in 0..3 {
        let plane = to_size(&image.channel(channel), width, height, Kernel::Bilinear);
        samples.extend(plane.data().iter().map(|sample| normalize(*sample)));
    }
    Planes::new(3, width, height, samples)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_images_are_seen_in_parts_that_cover_them() {
        assert_eq!(parts(600, 300).len(), 1);
        for (width, height) in [(4000, 1000), (1000, 4000), (601, 300)] {
            let parts = parts(width, height);
            assert!(parts.len() >= 2);
            let (last, first) = (parts.last().unwrap(), parts[0]);
            assert_eq!((first.x, first.y, last.x + last.width, last.y + last.height), (0, 0, width, height));
            let gap = |pair: &[Region]| pair[1].x > pair[0].x + pair[0].width || pair[1].y > pair[0].y + pair[0].height;
            assert!(!parts.windows(2).any(gap));
        }
        assert_eq!(parts(100_000, 10).len(), 1);
        assert_eq!(parts(1, 1).len(), 1);
        assert_eq!(parts(3, 1).len(), 2);
    }

    #[test]
    fn large_images_have_four_tiles_that_overlap() {
        assert!(tiles(1000, 800).is_empty() && tiles(6000, 400).is_empty());
        let tiles = tiles(4000, 3000);
        assert_eq!(tiles.len(), 4);
        assert_eq!(tiles[3], Region { x: 1600, y: 1200, width: 2400, height: 1800 });
    }

    #[test]
    fn planes_have_sides_that_the_network_can_halve() {
        for (width, height, expected) in
            [(600, 400, (512, 352)), (1, 1, (512, 512)), (90, 4000, (32, 512)), (5, 4, (512, 416))]
        {
            let image = Image::from_gray8(width, height, vec![100; width * height]).unwrap();
            let planes = of(&image, 512, |sample| sample).unwrap();
            assert_eq!((planes.width(), planes.height()), expected);
            assert!(planes.data().iter().all(|sample| (sample - 100.0).abs() < 0.01));
        }
    }
}

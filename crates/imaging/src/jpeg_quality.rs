//! Estimates the quality factor of a JPEG file from its quantization tables.
//!
//! The Independent JPEG Group's encoder, and all that follow it (libjpeg-turbo, Pillow,
//! ImageMagick, most cameras' software), scale one base table by a factor from 1 to 100. For an
//! exact scaling, the result is that factor. For other tables (Photoshop, camera makers), it is
//! the factor whose table is nearest in the logarithm of the steps.

use crate::jpeg::Segments;

/// The luma table of ITU-T T.81, annex K, in zigzag order. IJG quality 50 uses it unchanged.
const BASE: [u16; 64] = [
    16, 11, 12, 14, 12, 10, 16, 14, 13, 14, 18, 17, 16, 19, 24, 40, 26, 24, 22, 22, 24, 49, 35, 37, 29, 40, 58, 51, 61,
    60, 57, 51, 56, 55, 64, 72, 92, 78, 64, 68, 87, 69, 55, 56, 80, 109, 81, 87, 95, 98, 103, 104, 103, 62, 77, 113,
    121, 112, 100, 120, 92, 101, 103, 99,
];

/// Returns the IJG quality factor (1..=100) of JPEG data, or `None` if it has no luma quantization
/// table.
pub fn jpeg_quality(bytes: &[u8]) -> Option<f64> {
    let segments = Segments::parse(bytes).ok()?;
    segments.luma_table().map(estimate)
}

/// Returns the quality factor of one luma table in zigzag order.
pub(crate) fn estimate(table: &[u16; 64]) -> f64 {
    // From the best quality down, so that the higher factor wins for equal tables.
    let candidates = (1..=100u32).rev();
    let exact = candidates.clone().find(|&quality| (0..64).all(|i| step(i, quality, 255) == u32::from(table[i])));
    let wide = || candidates.clone().find(|&quality| (0..64).all(|i| step(i, quality, 32767) == u32::from(table[i])));
    let nearest = || candidates.clone().min_by(|&a, &b| distance(table, a).total_cmp(&distance(table, b)));
    f64::from(exact.or_else(wide).or_else(nearest).unwrap_or(1))
}

/// Step `index` of the table for a quality factor. 8-bit tables end at 255, 16-bit tables at
/// 32767.
fn step(index: usize, quality: u32, largest: u32) -> u32 {
    let percent = if quality < 50 { 5000 / quality } else { 200 - 2 * quality };
    ((u32::from(BASE[index]) * percent + 50) / 100).clamp(1, largest)
}

fn distance(table: &[u16; 64], quality: u32) -> f64 {
    let squared = |i: usize| (f64::from(table[i].max(1)) / f64::from(step(i, quality, 255))).ln().powi(2);
    (0..64).map(squared).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scaled(quality: u32) -> [u16; 64] {
        std::array::from_fn(|i| step(i, quality, 255) as u16)
    }

    #[test]
    fn every_factor_of_the_ijg_encoder_is_found_exactly() {
        for quality in 1..=100 {
            assert_eq!(estimate(&scaled(quality)), f64::from(quality));
        }
    }

    #[test]
    fn wide_tables_of_low_quality_are_exact_too() {
        for quality in 1..10 {
            let table = std::array::from_fn(|i| step(i, quality, 32767) as u16);
            assert_eq!(estimate(&table), f64::from(quality));
        }
    }

    #[test]
    fn other_tables_give_the_nearest_factor() {
        let mut table = scaled(80);
        table[5] += 1;
        table[60] -= 2;
        assert_eq!(estimate(&table), 80.0);
        assert_eq!(estimate(&[1; 64]), 100.0);
        assert!(estimate(&[2; 64]) > 90.0);
        assert!(estimate(&[0; 64]) == 100.0);
    }
}

//! Box averages for metrics that simulate a viewing distance: MATLAB's `conv2` with
//! `fspecial('average')`, then every n-th sample.

use multiversion::multiversion;

use crate::image::Samples;
use crate::ops::strips;
use crate::{Image, Plane};

/// The target length in pixels of the shorter side.
const SIDE: f64 = 256.0;

/// Returns the downsampling factor for this size: `max(1, round(min(rows, cols) / 256))`.
pub fn factor(width: usize, height: usize) -> usize {
    (width.min(height) as f64 / SIDE).round().max(1.0) as usize
}

/// The part of an axis that output sample `index` averages. Samples outside the image count as
/// zero.
///
/// `conv2(..., 'same')` places the center of an even kernel after its middle, so a window starts
/// (factor - 1) / 2 samples early.
pub fn window(index: usize, factor: usize, size: usize) -> std::ops::Range<usize> {
    let start = index * factor;
    let before = (factor - 1) / 2;
    start.saturating_sub(before)..(start + factor - before).min(size)
}

/// `conv2(plane, ones(factor) / factor^2, 'same')(1:factor:end, 1:factor:end)` of each channel, on
/// the scale 0..=255.
pub fn box_means(image: &Image, factor: usize) -> [Plane; 3] {
    let red = channel_means(image, 0, factor);
    if image.channels() == 1 {
        return [red.clone(), red.clone(), red];
    }
    [red, channel_means(image, 1, factor), channel_means(image, 2, factor)]
}

fn channel_means(image: &Image, channel: usize, factor: usize) -> Plane {
    let (width, height) = (image.width(), image.height());
    let mut means = Plane::new(width.div_ceil(factor), height.div_ceil(factor));
    let columns = means.width();
    let first = channel * height;
    let full_scale = if image.bit_depth() == 16 { 257.0 } else { 1.0 };
    let scale = 1.0 / (full_scale * (factor * factor) as f64);
    strips::fill_by(&mut means, strips::SMALL, |rows, out| {
        let mut sums = vec![0u32; width];
        for (y, out) in rows.zip(out.chunks_exact_mut(columns)) {
            let window = window(y, factor, height);
            let span = (first + window.start) * width..(first + window.end) * width;
            match image.samples() {
                Samples::Eight(data) => add_rows8(&data[span], &mut sums),
                Samples::Sixteen(data) => add_rows16(&data[span], &mut sums),
            }
            group(&sums, factor, scale, out);
        }
    });
    means
}

/// Adds up each column of these rows.
#[multiversion(targets("x86_64+avx2"))]
fn add_rows8(rows: &[u8], sums: &mut [u32]) {
    sums.fill(0);
    let width = sums.len();
    for four in rows.chunks(4 * width) {
        if let [a, b, c, d] = [0, 1, 2, 3].map(|row| four.get(row * width..(row + 1) * width))
            && let (Some(a), Some(b), Some(c), Some(d)) = (a, b, c, d)
        {
            // The sum of four 8-bit samples fits into 16 bits.
            for ((((sum, &a), &b), &c), &d) in sums.iter_mut().zip(a).zip(b).zip(c).zip(d) {
                *sum += u32::from(u16::from(a) + u16::from(b) + u16::from(c) + u16::from(d));
            }
        } else {
            for row in four.chunks_exact(width) {
                sums.iter_mut().zip(row).for_each(|(sum, &sample)| *sum += u32::from(sample));
            }
        }
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn add_rows16(rows: &[u16], sums: &mut [u32]) {
    sums.fill(0);
    for row in rows.chunks_exact(sums.len()) {
        sums.iter_mut().zip(row).for_each(|(sum, &sample)| *sum += u32::from(sample));
    }
}

/// Adds `factor` neighboring sums for each output sample.
#[multiversion(targets("x86_64+avx2"))]
fn group(sums: &[u32], factor: usize, scale: f64, out: &mut [f32]) {
    match factor {
        1 => sums.iter().zip(out).for_each(|(&sum, out)| *out = (f64::from(sum) * scale) as f32),
        2 => group_by::<2>(sums, scale, out),
        3 => group_by::<3>(sums, scale, out),
        4 => group_by::<4>(sums, scale, out),
        _ => group_any(0, sums, factor, scale, out),
    }
}

#[inline(always)]
fn group_by<const FACTOR: usize>(sums: &[u32], scale: f64, out: &mut [f32]) {
    let before = (FACTOR - 1) / 2;
    let shifted = sums.get(FACTOR - before..).unwrap_or(&[]);
    let (whole, _) = shifted.as_chunks::<FACTOR>();
    let inner = whole.len();
    for (chunk, out) in whole.iter().zip(out.iter_mut().skip(1)) {
        *out = (f64::from(chunk.iter().sum::<u32>()) * scale) as f32;
    }
    group_any(0, sums, FACTOR, scale, &mut out[..1]);
    let rest = (inner + 1).min(out.len());
    group_any(rest, sums, FACTOR, scale, &mut out[rest..]);
}

#[inline(always)]
fn group_any(first: usize, sums: &[u32], factor: usize, scale: f64, out: &mut [f32]) {
    for (x, out) in out.iter_mut().enumerate() {
        let sum: u64 = sums[window(first + x, factor, sums.len())].iter().map(|&sum| u64::from(sum)).sum();
        *out = (sum as f64 * scale) as f32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::color_noise;

    #[test]
    fn equals_convolution_and_decimation() {
        for (width, height) in [(37, 23), (8, 9), (5, 4), (1, 7)] {
            let image = color_noise(width, height, 5);
            let green = image.channel(1);
            for factor in 1..7 {
                let means = &box_means(&image, factor)[1];
                assert_eq!((means.width(), means.height()), (width.div_ceil(factor), height.div_ceil(factor)));
                for (x, y) in [(0, 0), (means.width() - 1, means.height() - 1), (means.width() / 2, 0)] {
                    let mut sum = 0.0;
                    // Sample n of the full convolution sums n - factor + 1 ..= n; the central part
                    // starts at factor / 2.
                    for row in (y * factor + factor / 2 + 1).saturating_sub(factor)..=y * factor + factor / 2 {
                        for column in (x * factor + factor / 2 + 1).saturating_sub(factor)..=x * factor + factor / 2 {
                            sum += if row < height && column < width { green.at(column, row) } else { 0.0 };
                        }
                    }
                    let expected = sum / (factor * factor) as f32;
                    assert!((means.at(x, y) - expected).abs() < 1e-4, "{width}x{height} by {factor} at {x},{y}");
                }
            }
        }
    }

    #[test]
    fn factors_round_half_up() {
        assert_eq!([100, 383, 384, 639, 640, 1080].map(|side| factor(4000, side)), [1, 1, 2, 2, 3, 4]);
    }
}

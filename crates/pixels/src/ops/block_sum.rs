//! Sums over square blocks: the first step of metrics that downsample color images by averaging.
//!
//! Integer sums are exact. The division is left to the metric, which often does not need it.

use multiversion::multiversion;

use crate::{Image, Samples};

/// Returns the factor between code values of the image and the scale 0..=255: 1 or 257.
pub fn sample_scale(image: &Image) -> f64 {
    match image.samples() {
        Samples::Eight(_) => 1.0,
        Samples::Sixteen(_) => 257.0,
    }
}

/// A grid of square blocks over an image, including the zeros beyond its border.
#[derive(Debug, Clone, Copy)]
pub struct Blocks {
    /// Side of a block.
    pub side: usize,
    /// Rows above the image and columns left of it that belong to the first block.
    pub before: usize,
}

impl Blocks {
    /// Number of blocks that cover `size` samples.
    pub fn count(&self, size: usize) -> usize {
        size.div_ceil(self.side)
    }

    /// Required length of a line of column sums.
    pub fn columns(&self, width: usize) -> usize {
        self.count(width) * self.side + self.side
    }

    /// Sums the rows of block row `y` of one channel, column by column. `columns` starts with the
    /// columns left of the image, so block `x` is the sum of `columns[x * side..(x + 1) * side]`.
    pub fn sum_rows(&self, image: &Image, channel: usize, y: usize, columns: &mut [u32]) {
        let (width, height) = (image.width(), image.height());
        let top = (y * self.side).saturating_sub(self.before).min(height);
        let bottom = ((y + 1) * self.side).saturating_sub(self.before).min(height);
        let plane = if image.channels() == 1 { 0 } else { channel };
        let span = (plane * height + top) * width..(plane * height + bottom) * width;
        columns.fill(0);
        let inside = &mut columns[self.before..self.before + width];
        match image.samples() {
            Samples::Eight(data) => add_rows8(&data[span], width, inside),
            Samples::Sixteen(data) => data[span].chunks_exact(width).for_each(|row| add_row16(row, inside)),
        }
    }
}

/// Writes row `y` of the sums of 2x2 samples of one channel, with zeros beyond the image. `sums`
/// has half the image's width, rounded up.
pub fn sum_quads(image: &Image, channel: usize, y: usize, sums: &mut [f32]) {
    let (width, height) = (image.width(), image.height());
    let plane = if image.channels() == 1 { 0 } else { channel };
    let rows = (height - (2 * y).min(height)).min(2);
    let start = (plane * height + (2 * y).min(height)) * width;
    let span = start..start + rows * width;
    match image.samples() {
        Samples::Eight(data) => quads(&data[span], width, sums, quads8),
        Samples::Sixteen(data) => quads(&data[span], width, sums, quads16),
    }
}

/// Calls `whole` with two rows. A missing row counts as zeros, and so does a missing last column.
fn quads<T: Copy + Default + Into<f32>>(
    rows: &[T],
    width: usize,
    sums: &mut [f32],
    whole: impl Fn(&[T], &[T], &mut [f32]),
) {
    let (upper, lower) = rows.split_at(width.min(rows.len()));
    if lower.is_empty() {
        sums.fill(0.0);
        for (sum, pair) in sums.iter_mut().zip(upper.chunks(2)) {
            *sum = pair.iter().map(|&sample| sample.into()).sum();
        }
        return;
    }
    whole(upper, lower, sums);
    if let (1, Some(sum), Some(&upper), Some(&lower)) = (width % 2, sums.last_mut(), upper.last(), lower.last()) {
        *sum = upper.into() + lower.into();
    }
}

/// Reads two samples as one word, so that the loop vectorizes.
#[multiversion(targets("x86_64+avx2"))]
fn quads8(upper: &[u8], lower: &[u8], sums: &mut [f32]) {
    for ((sum, upper), lower) in sums.iter_mut().zip(upper.chunks_exact(2)).zip(lower.chunks_exact(2)) {
        let (upper, lower) = (u16::from_le_bytes([upper[0], upper[1]]), u16::from_le_bytes([lower[0], lower[1]]));
        *sum = f32::from((upper & 255) + (lower & 255) + ((upper >> 8) + (lower >> 8)));
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn quads16(upper: &[u16], lower: &[u16], sums: &mut [f32]) {
    for ((sum, upper), lower) in sums.iter_mut().zip(upper.chunks_exact(2)).zip(lower.chunks_exact(2)) {
        *sum = (f32::from(upper[0]) + f32::from(lower[0])) + (f32::from(upper[1]) + f32::from(lower[1]));
    }
}

/// Adds rows four at a time, so that the sums are read and written a quarter as often.
fn add_rows8(rows: &[u8], width: usize, sums: &mut [u32]) {
    let fours = rows.chunks_exact(4 * width);
    fours.remainder().chunks_exact(width).for_each(|row| add_row8(row, sums));
    fours.for_each(|rows| {
        let (upper, lower) = rows.split_at(2 * width);
        let ((a, b), (c, d)) = (upper.split_at(width), lower.split_at(width));
        add_four_rows8([a, b, c, d], sums);
    });
}

#[multiversion(targets("x86_64+avx2"))]
fn add_four_rows8(rows: [&[u8]; 4], sums: &mut [u32]) {
    let rows = rows[0].iter().zip(rows[1]).zip(rows[2]).zip(rows[3]);
    for (sum, (((&a, &b), &c), &d)) in sums.iter_mut().zip(rows) {
        let four = (u16::from(a) + u16::from(b)) + (u16::from(c) + u16::from(d));
        *sum += u32::from(four);
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn add_row8(row: &[u8], sums: &mut [u32]) {
    for (sum, &sample) in sums.iter_mut().zip(row) {
        *sum += u32::from(sample);
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn add_row16(row: &[u16], sums: &mut [u32]) {
    for (sum, &sample) in sums.iter_mut().zip(row) {
        *sum += u32::from(sample);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_hold_every_sample_once_at_both_depths() {
        let (width, height) = (11, 10);
        let samples: Vec<u8> = (0..width * height).map(|i| (i * 37 % 256) as u8).collect();
        let wide: Vec<u16> = samples.iter().map(|&v| u16::from(v) * 257).collect();
        let eight = Image::from_gray8(width, height, samples.clone()).unwrap();
        let sixteen = Image::from_gray16(width, height, wide).unwrap();
        let blocks = Blocks { side: 6, before: 2 };
        assert_eq!((blocks.count(width), blocks.count(height)), (2, 2));
        for (image, scale) in [(eight, 1), (sixteen, 257)] {
            let mut columns = vec![7; blocks.columns(width)];
            blocks.sum_rows(&image, 2, 1, &mut columns);
            let block: u32 = columns[6..12].iter().sum();
            let rows = (4..10).flat_map(|y| (4..10).map(move |x| y * width + x));
            assert_eq!(block, scale * rows.map(|i| u32::from(samples[i])).sum::<u32>());
            assert_eq!(columns[..2], [0, 0]);
            assert_eq!(f64::from(scale), sample_scale(&image));
        }
    }

    #[test]
    fn quads_are_blocks_of_two() {
        let blocks = Blocks { side: 2, before: 0 };
        for (width, height) in [(8, 4), (7, 5), (1, 1), (33, 2)] {
            let samples: Vec<u8> = (0..3 * width * height).map(|i| (i * 91 % 256) as u8).collect();
            let wide = samples.iter().map(|&v| u16::from(v) * 257).collect();
            let images =
                [Image::from_rgb8(width, height, samples).unwrap(), Image::from_rgb16(width, height, wide).unwrap()];
            for (image, y) in images.iter().flat_map(|image| (0..height.div_ceil(2) + 1).map(move |y| (image, y))) {
                let mut columns = vec![0; blocks.columns(width)];
                blocks.sum_rows(image, 1, y, &mut columns);
                let expected: Vec<f32> = columns.chunks(2).map(|pair| pair.iter().sum::<u32>() as f32).collect();
                let mut sums = vec![5.0; width.div_ceil(2)];
                sum_quads(image, 1, y, &mut sums);
                assert_eq!(sums, expected[..sums.len()]);
            }
        }
    }
}

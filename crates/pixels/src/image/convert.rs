//! Converts samples from the stored form to the form that metrics read.

use multiversion::multiversion;
use rayon::prelude::*;

/// Pixels per task; the interleaved and the separated samples of a task fit the cache together.
const DEINTERLEAVE_STRIP: usize = 1 << 14;

/// Separates interleaved RGB pixels into three consecutive planes, in parallel for large images.
pub fn deinterleave<T: Copy + Default + Send + Sync>(interleaved: &[T]) -> Vec<T> {
    let size = interleaved.len() / 3;
    let mut planes = vec![T::default(); size * 3];
    let (red, rest) = planes.split_at_mut(size);
    let (green, blue) = rest.split_at_mut(size);
    if size <= DEINTERLEAVE_STRIP {
        // Starting threads would take longer than the work itself.
        deinterleave_strip(interleaved, red, green, blue);
        return planes;
    }
    interleaved
        .par_chunks(3 * DEINTERLEAVE_STRIP)
        .zip(red.par_chunks_mut(DEINTERLEAVE_STRIP))
        .zip(green.par_chunks_mut(DEINTERLEAVE_STRIP))
        .zip(blue.par_chunks_mut(DEINTERLEAVE_STRIP))
        .for_each(|(((pixels, red), green), blue)| deinterleave_strip(pixels, red, green, blue));
    planes
}

#[multiversion(targets("x86_64+avx2"))]
fn deinterleave_strip<T: Copy>(pixels: &[T], red: &mut [T], green: &mut [T], blue: &mut [T]) {
    // Blocks of a fixed size compile to a few shuffles; the remaining pixels are copied one by
    // one.
    const BLOCK: usize = 32;
    let (blocks, rest) = pixels.as_chunks::<{ 3 * BLOCK }>();
    let (reds, red_rest) = red.as_chunks_mut::<BLOCK>();
    let (greens, green_rest) = green.as_chunks_mut::<BLOCK>();
    let (blues, blue_rest) = blue.as_chunks_mut::<BLOCK>();
    for (((block, red), green), blue) in blocks.iter().zip(reds).zip(greens).zip(blues) {
        for i in 0..BLOCK {
            red[i] = block[3 * i];
            green[i] = block[3 * i + 1];
            blue[i] = block[3 * i + 2];
        }
    }
    let rest = rest.as_chunks::<3>().0;
    for (((pixel, red), green), blue) in rest.iter().zip(red_rest).zip(green_rest).zip(blue_rest) {
        [*red, *green, *blue] = *pixel;
    }
}

/// MATLAB's `rgb2gray` weights: the first row of the inverse of its YIQ matrix.
const RGB2GRAY: [f64; 3] = [0.298_936_021_293_775_4, 0.587_043_074_451_121_3, 0.114_020_904_255_103_3];

/// The weights times 2^23 as integers, and their remainders times 2^21.
const GRAY_HIGH: [u32; 3] = [gray_high(0), gray_high(1), gray_high(2)];
const GRAY_LOW: [u32; 3] = [gray_low(0), gray_low(1), gray_low(2)];
const GRAY_HIGH_BITS: u32 = 23;
const GRAY_LOW_BITS: u32 = 21;

const fn gray_high(channel: usize) -> u32 {
    (RGB2GRAY[channel] * (1u32 << GRAY_HIGH_BITS) as f64) as u32
}

const fn gray_low(channel: usize) -> u32 {
    let rest = RGB2GRAY[channel] * (1u32 << GRAY_HIGH_BITS) as f64 - gray_high(channel) as f64;
    (rest * (1u32 << GRAY_LOW_BITS) as f64 + 0.5) as u32
}

/// Luma with 44-bit weights in two integer sums. The result equals double precision for every
/// color, in a third of the time.
#[multiversion(targets("x86_64+avx2"))]
pub fn rgb2gray8([red, green, blue]: [&[u8]; 3], row: &mut [f32]) {
    for (((out, &r), &g), &b) in row.iter_mut().zip(red).zip(green).zip(blue) {
        let [r, g, b] = [u32::from(r), u32::from(g), u32::from(b)];
        let low = (r * GRAY_LOW[0] + g * GRAY_LOW[1] + b * GRAY_LOW[2]) >> GRAY_LOW_BITS;
        let high = r * GRAY_HIGH[0] + g * GRAY_HIGH[1] + b * GRAY_HIGH[2] + (1 << (GRAY_HIGH_BITS - 1));
        *out = ((high + low) >> GRAY_HIGH_BITS) as i32 as f32;
    }
}

/// Like [`rgb2gray8`] for 16 bits, on the scale 0..=255.
#[multiversion(targets("x86_64+avx2"))]
pub fn rgb2gray16([red, green, blue]: [&[u16]; 3], row: &mut [f32]) {
    for (((out, &r), &g), &b) in row.iter_mut().zip(red).zip(green).zip(blue) {
        let luma = RGB2GRAY[0] * f64::from(r) + RGB2GRAY[1] * f64::from(g) + RGB2GRAY[2] * f64::from(b);
        *out = ((luma + 0.5).floor() / 257.0) as f32;
    }
}

/// Converts 8-bit samples to `f32`.
#[multiversion(targets("x86_64+avx2"))]
pub fn widen8(samples: &[u8], row: &mut [f32]) {
    for (out, &sample) in row.iter_mut().zip(samples) {
        *out = f32::from(sample);
    }
}

/// Converts 16-bit samples to the scale 0..=255.
#[multiversion(targets("x86_64+avx2"))]
pub fn widen16(samples: &[u16], row: &mut [f32]) {
    for (out, &sample) in row.iter_mut().zip(samples) {
        *out = f32::from(sample) / 257.0;
    }
}

/// Adds 8-bit samples times `weight` to `sums`.
#[multiversion(targets("x86_64+avx2"))]
pub fn add8(weight: f32, samples: &[u8], sums: &mut [f32]) {
    for (sum, &sample) in sums.iter_mut().zip(samples) {
        *sum += weight * f32::from(sample);
    }
}

/// Adds 16-bit samples, on the scale 0..=255, times `weight` to `sums`.
#[multiversion(targets("x86_64+avx2"))]
pub fn add16(weight: f32, samples: &[u16], sums: &mut [f32]) {
    let weight = weight / 257.0;
    for (sum, &sample) in sums.iter_mut().zip(samples) {
        *sum += weight * f32::from(sample);
    }
}

/// The weighted sum of three 8-bit channels.
#[multiversion(targets("x86_64+avx2"))]
pub fn weigh8(weights: [f32; 3], [red, green, blue]: [&[u8]; 3], row: &mut [f32]) {
    for (((out, &r), &g), &b) in row.iter_mut().zip(red).zip(green).zip(blue) {
        *out = weights[0] * f32::from(r) + weights[1] * f32::from(g) + weights[2] * f32::from(b);
    }
}

/// The weighted sum of three 16-bit channels, on the scale 0..=255.
#[multiversion(targets("x86_64+avx2"))]
pub fn weigh16(weights: [f32; 3], [red, green, blue]: [&[u16]; 3], row: &mut [f32]) {
    let weights = weights.map(|weight| weight / 257.0);
    for (((out, &r), &g), &b) in row.iter_mut().zip(red).zip(green).zip(blue) {
        *out = weights[0] * f32::from(r) + weights[1] * f32::from(g) + weights[2] * f32::from(b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks all 16.8 million colors.
    #[test]
    fn gray_of_every_color_is_what_double_precision_gives() {
        let blues: Vec<u8> = (0..=255).collect();
        let mut row = vec![0.0; 256];
        for (r, g) in (0..=255u8).flat_map(|r| (0..=255u8).map(move |g| (r, g))) {
            rgb2gray8([&[r; 256], &[g; 256], &blues], &mut row);
            let start = RGB2GRAY[0] * f64::from(r) + RGB2GRAY[1] * f64::from(g);
            for (&b, &gray) in blues.iter().zip(&row) {
                assert_eq!(gray, (start + RGB2GRAY[2] * f64::from(b) + 0.5).floor() as f32, "{r},{g},{b}");
            }
        }
    }

    #[test]
    fn planes_hold_every_sample_of_the_interleaved_pixels() {
        for size in [1, 31, 32, 33, 95, DEINTERLEAVE_STRIP - 1, 2 * DEINTERLEAVE_STRIP + 77] {
            let pixels: Vec<u16> = (0..size * 3).map(|i| ((i * 40503) >> 3) as u16).collect();
            let planes = deinterleave(&pixels);
            let expected = (0..3).flat_map(|channel| pixels.iter().skip(channel).step_by(3));
            assert!(planes.iter().eq(expected), "{size} pixels");
        }
    }
}

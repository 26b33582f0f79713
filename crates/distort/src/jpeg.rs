//! JPEG as a round trip through its lossy steps: color at half resolution, DCT, and quantization
//! by the tables of ITU-T T.81, annex K, scaled as in the Independent JPEG Group's library.
//!
//! Compared with that library (Pillow, a photo, quality 7 to 43) pixels differ by 0.3 to 0.8
//! levels on average, where compression changes them by 5 to 11.

use agenticiqa_pixels::Pixels;
use agenticiqa_pixels::Plane;
use agenticiqa_pixels::ops::dct::{Block, Dct, SIDE};
use agenticiqa_pixels::ops::strips;

/// Quality factors.
const QUALITY: [u32; 5] = [43, 36, 24, 7, 4];
const LUMA: [u16; 64] = [
    16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56, 14, 17, 22, 29, 51,
    87, 80, 62, 18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92, 49, 64, 78, 87, 103, 121, 120, 101,
    72, 92, 95, 98, 112, 100, 103, 99,
];
const CHROMA: [u16; 64] = [
    17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99, 24, 26, 56, 99, 99, 99, 99, 99, 47, 66, 99, 99, 99,
    99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
    99, 99, 99, 99, 99, 99,
];

pub fn compress(pixels: &Pixels, index: usize) -> Pixels {
    let [luma, cb, cr] = pixels.to_ycc().planes;
    let scale = |table: &[u16; 64]| table.map(|entry| scaled(entry, QUALITY[index]));
    let (width, height) = (luma.width(), luma.height());
    let luma = round_trip(&luma.map(|sample| sample * 255.0 - 128.0), &scale(&LUMA));
    let chroma = |plane: &Plane| {
        let half = halve(&plane.map(|sample| sample * 255.0));
        double(&round_trip(&half, &scale(&CHROMA)), width, height).map(|sample| sample / 255.0)
    };
    let (cb, cr) = (chroma(&cb), chroma(&cr));
    Pixels { planes: [luma.map(|sample| (sample + 128.0) / 255.0), cb, cr] }.to_rgb()
}

fn scaled(entry: u16, quality: u32) -> f32 {
    let scale = if quality < 50 { 5000 / quality } else { 200 - 2 * quality };
    ((u32::from(entry) * scale + 50) / 100).clamp(1, 255) as f32
}

/// Quantizes every block by the table and reconstructs it. Samples are rounded and clipped as in a
/// decoder.
fn round_trip(plane: &Plane, table: &[f32; 64]) -> Plane {
    let (width, height) = (plane.width(), plane.height());
    let dct = Dct::default();
    let bands = strips::map_by(height, SIDE, |rows| {
        let mut band = vec![0.0; rows.len() * width];
        for left in (0..width).step_by(SIDE) {
            let block: Block = std::array::from_fn(|i| {
                plane.at((left + i % SIDE).min(width - 1), (rows.start + i / SIDE).min(height - 1))
            });
            let mut coefficients = dct.forward(&block);
            coefficients.iter_mut().zip(table).for_each(|(value, step)| *value = (*value / step).round() * step);
            let block = dct.inverse(&coefficients);
            for (y, row) in band.chunks_exact_mut(width).enumerate() {
                for (x, out) in row[left..].iter_mut().take(SIDE).enumerate() {
                    *out = block[y * SIDE + x].round().clamp(-128.0, 127.0);
                }
            }
        }
        band
    });
    let mut out = Plane::new(width, height);
    out.data_mut().iter_mut().zip(bands.into_iter().flatten()).for_each(|(out, sample)| *out = sample);
    out
}

/// Means of 2x2 samples, rounded.
fn halve(plane: &Plane) -> Plane {
    let (right, bottom) = (plane.width() - 1, plane.height() - 1);
    Plane::from_fn(plane.width().div_ceil(2), plane.height().div_ceil(2), |x, y| {
        let (x0, y0) = (2 * x, 2 * y);
        let (x1, y1) = ((x0 + 1).min(right), (y0 + 1).min(bottom));
        (0.25 * (plane.at(x0, y0) + plane.at(x1, y0) + plane.at(x0, y1) + plane.at(x1, y1))).round()
    })
}

/// Doubles the size: three parts of the nearest sample, one part of the next, along both axes
/// ("fancy upsampling").
fn double(plane: &Plane, width: usize, height: usize) -> Plane {
    let next =
        |i: usize, size: usize| if i.is_multiple_of(2) { (i / 2).saturating_sub(1) } else { (i / 2 + 1).min(size - 1) };
    Plane::from_fn(width, height, |x, y| {
        let (x0, y0) = (x / 2, y / 2);
        let (x1, y1) = (next(x, plane.width()), next(y, plane.height()));
        let near = 3.0 * plane.at(x0, y0) + plane.at(x1, y0);
        let far = 3.0 * plane.at(x0, y1) + plane.at(x1, y1);
        ((3.0 * near + far) / 16.0).round()
    })
}

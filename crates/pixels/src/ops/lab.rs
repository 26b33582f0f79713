//! CIELAB of sRGB pixels, for the 2-degree observer and the white point D65.

use multiversion::multiversion;

use crate::{Image, Samples};

/// Linear sRGB to XYZ, each row divided by the white point D65 (0.95047, 1, 1.08883).
const NORMALIZED_XYZ: [[f32; 3]; 3] = [
    [0.412_453 / 0.950_47, 0.357_58 / 0.950_47, 0.180_423 / 0.950_47],
    [0.212_671, 0.715_16, 0.072_169],
    [0.019_334 / 1.088_83, 0.119_193 / 1.088_83, 0.950_227 / 1.088_83],
];
/// Below this value, a straight line replaces the cube root.
const LINEAR_LIMIT: f32 = 0.008_856;
const LINEAR_SLOPE: f32 = 7.787;
const LINEAR_OFFSET: f32 = 16.0 / 116.0;

/// Light intensity (0 to 1) of an sRGB sample (0 to 1), after IEC 61966-2-1.
pub fn linear_light(sample: f64) -> f64 {
    if sample <= 0.04045 { sample / 12.92 } else { ((sample + 0.055) / 1.055).powf(2.4) }
}

/// The light intensity of every code value of a bit depth.
#[derive(Debug, Clone)]
pub struct LightTable {
    values: Vec<f32>,
}

impl LightTable {
    /// Creates the table for the bit depth of `image`.
    pub fn new(image: &Image) -> Self {
        let highest = match image.samples() {
            Samples::Eight(_) => u32::from(u8::MAX),
            Samples::Sixteen(_) => u32::from(u16::MAX),
        };
        let value = |code: u32| linear_light(f64::from(code) / f64::from(highest)) as f32;
        Self { values: (0..=highest).map(value).collect() }
    }

    /// Writes the light intensity of row `y` of a channel to `row`. A gray image has the same
    /// values in all channels.
    pub fn read_row(&self, image: &Image, channel: usize, y: usize, row: &mut [f32]) {
        let plane = if image.channels() == 1 { 0 } else { channel };
        let start = (plane * image.height() + y) * image.width();
        let span = start..start + image.width();
        match image.samples() {
            Samples::Eight(data) => self.look_up(&data[span], row),
            Samples::Sixteen(data) => self.look_up(&data[span], row),
        }
    }

    fn look_up<T: Copy + Into<usize>>(&self, codes: &[T], row: &mut [f32]) {
        for (out, &code) in row.iter_mut().zip(codes) {
            *out = self.values.get(code.into()).copied().unwrap_or(1.0);
        }
    }
}

/// Converts rows of linear R, G and B to L*, a* and b*, in place.
#[multiversion(targets("x86_64+avx2"))]
pub fn light_to_lab(red: &mut [f32], green: &mut [f32], blue: &mut [f32]) {
    for ((red, green), blue) in red.iter_mut().zip(green).zip(blue) {
        let light = [*red, *green, *blue];
        let [x, y, z] = NORMALIZED_XYZ.map(|row| {
            let part = row[0] * light[0] + row[1] * light[1] + row[2] * light[2];
            let line = LINEAR_SLOPE * part + LINEAR_OFFSET;
            let root = cube_root(part);
            if part > LINEAR_LIMIT { root } else { line }
        });
        *red = 116.0 * y - 16.0;
        *green = 500.0 * (x - y);
        *blue = 200.0 * (y - z);
    }
}

/// The cube root of a positive number: an estimate from the exponent and two Halley steps, exact
/// to 2e-7.
#[inline(always)]
fn cube_root(value: f32) -> f32 {
    let mut root = f32::from_bits(value.to_bits() / 3 + 0x2a51_37a0);
    for _ in 0..2 {
        let cube = root * root * root;
        root *= (cube + 2.0 * value) / (2.0 * cube + value);
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lab_is_that_of_scikit_image() {
        // skimage.color.rgb2lab(numpy.array([[[...]]], dtype=numpy.uint8)), scikit-image 0.26
        let expected: [([u8; 3], [f32; 3]); 6] = [
            ([0, 0, 0], [0.0, 0.0, 0.0]),
            ([255, 255, 255], [100.0, -0.002_455, 0.004_653]),
            ([255, 0, 0], [53.240_6, 80.092_3, 67.202_8]),
            ([12, 200, 77], [70.815_7, -66.543_5, 48.873_2]),
            ([3, 3, 4], [0.842_3, 0.139_0, -0.378_3]),
            ([90, 120, 250], [54.559_5, 29.272_2, -68.292_7]),
        ];
        for (rgb, lab) in expected {
            let image = Image::from_rgb8(1, 1, rgb.to_vec()).unwrap();
            let table = LightTable::new(&image);
            let mut rows = [[0.0f32]; 3];
            for (channel, row) in rows.iter_mut().enumerate() {
                table.read_row(&image, channel, 0, row);
            }
            let [red, green, blue] = &mut rows;
            light_to_lab(red, green, blue);
            for (row, expected) in rows.iter().zip(lab) {
                assert!((row[0] - expected).abs() < 2e-4, "{rgb:?}: {} instead of {expected}", row[0]);
            }
        }
    }

    #[test]
    fn cube_roots_are_exact_over_the_whole_range() {
        for step in 1..=10_000 {
            let value = step as f32 / 10_000.0;
            assert!((cube_root(value) / value.cbrt() - 1.0).abs() < 3e-7, "{value}");
        }
    }
}

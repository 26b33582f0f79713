//! Color spaces as the authors of FSIM, VSI and SDSP compute them, on the scale 0..=255.

use multiversion::multiversion;

use crate::Plane;
use crate::ops::elementary::pow;
use crate::ops::strips;

/// NTSC luma and chroma (Y, I, Q), as in FSIM.
pub const YIQ: [[f32; 3]; 3] = [[0.299, 0.587, 0.114], [0.596, -0.274, -0.322], [0.211, -0.523, 0.312]];

/// Geusebroek's opponent colors (L, M, N), as in VSI.
pub const LMN: [[f32; 3]; 3] = [[0.06, 0.63, 0.27], [0.30, 0.04, -0.35], [0.34, -0.60, 0.17]];

/// Returns the weighted sum of red, green and blue.
pub fn mix(rgb: &[Plane; 3], weights: [f32; 3]) -> Plane {
    let mut mixed = Plane::new(rgb[0].width(), rgb[0].height());
    strips::for_each_row(&mut mixed, |y, row| {
        let (red, green, blue) = (rgb[0].row(y), rgb[1].row(y), rgb[2].row(y));
        for (((out, &r), &g), &b) in row.iter_mut().zip(red).zip(green).zip(blue) {
            *out = weights[0] * r + weights[1] * g + weights[2] * b;
        }
    });
    mixed
}

/// CIELAB as the authors of SDSP compute it: sRGB primaries, but with the white point D50.
pub fn lab(rgb: &[Plane; 3]) -> [Plane; 3] {
    let (width, height) = (rgb[0].width(), rgb[0].height());
    let mut lab = [(); 3].map(|()| Plane::new(width, height));
    for y in 0..height {
        let [lightness, a, b] = lab.each_mut().map(|plane| plane.row_mut(y));
        lab_row([rgb[0].row(y), rgb[1].row(y), rgb[2].row(y)], [lightness, a, b]);
    }
    lab
}

const XYZ: [[f32; 3]; 3] =
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.072175], [0.0193339, 0.119192, 0.9503041]];
const WHITE: [f32; 3] = [0.9642, 1.0, 0.8251];
/// Below this value, a straight line replaces the cube root.
const LINEAR_BELOW: f32 = 0.008856;
const SLOPE: f32 = 903.3;

#[multiversion(targets("x86_64+avx2"))]
fn lab_row([red, green, blue]: [&[f32]; 3], [lightness, a, b]: [&mut [f32]; 3]) {
    let inputs = red.iter().zip(green).zip(blue);
    for (((&r, &g), &bl), ((lightness, a), b)) in inputs.zip(lightness.iter_mut().zip(a).zip(b)) {
        let linear = [r, g, bl].map(|sample| linear(sample / 255.0));
        let mut root = [0.0; 3];
        for ((root, weights), white) in root.iter_mut().zip(XYZ).zip(WHITE) {
            let value = weights[0] * linear[0] + weights[1] * linear[1] + weights[2] * linear[2];
            *root = cube_root(value / white);
        }
        *lightness = 116.0 * root[1] - 16.0;
        *a = 500.0 * (root[0] - root[1]);
        *b = 200.0 * (root[1] - root[2]);
    }
}

/// The inverse of sRGB's transfer function.
#[inline(always)]
fn linear(sample: f32) -> f32 {
    let curved = pow((sample + 0.055) / 1.055, 2.4);
    if sample <= 0.04045 { sample / 12.92 } else { curved }
}

#[inline(always)]
fn cube_root(value: f32) -> f32 {
    let safe = if value > LINEAR_BELOW { value } else { LINEAR_BELOW };
    let root = pow(safe, 1.0 / 3.0);
    if value > LINEAR_BELOW { root } else { (SLOPE * value + 16.0) / 116.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The conversion in double precision.
    fn expected(rgb: [f64; 3]) -> [f64; 3] {
        let linear = rgb.map(|sample| {
            let sample = sample / 255.0;
            if sample <= 0.04045 { sample / 12.92 } else { ((sample + 0.055) / 1.055).powf(2.4) }
        });
        let root = |row: usize| {
            let value: f64 = (0..3).map(|i| f64::from(XYZ[row][i]) * linear[i]).sum::<f64>() / f64::from(WHITE[row]);
            if value > 0.008856 { value.cbrt() } else { (903.3 * value + 16.0) / 116.0 }
        };
        [116.0 * root(1) - 16.0, 500.0 * (root(0) - root(1)), 200.0 * (root(1) - root(2))]
    }

    #[test]
    fn lab_equals_the_definition_for_dark_and_bright_colors() {
        let levels = [0.0f32, 1.0, 5.5, 10.2, 11.0, 77.25, 128.0, 254.0, 255.0];
        for r in levels {
            for g in levels {
                for b in levels {
                    let planes = [r, g, b].map(|level| Plane::from_fn(1, 1, |_, _| level));
                    let expected = expected([r, g, b].map(f64::from));
                    for (plane, expected) in lab(&planes).iter().zip(expected) {
                        let error = f64::from(plane.at(0, 0)) - expected;
                        assert!(error.abs() < 5e-4, "{r},{g},{b}: off by {error} from {expected}");
                    }
                }
            }
        }
    }
}

//! Colour spaces as the authors of FSIM, VSI and SDSP convert to them, on the scale 0..=255.

use crate::Plane;
use crate::ops::strips;

/// NTSC luma and chroma (Y, I, Q), as in FSIM.
pub const YIQ: [[f32; 3]; 3] = [[0.299, 0.587, 0.114], [0.596, -0.274, -0.322], [0.211, -0.523, 0.312]];

/// Geusebroek's opponent colours (L, M, N), as in VSI.
pub const LMN: [[f32; 3]; 3] = [[0.06, 0.63, 0.27], [0.30, 0.04, -0.35], [0.34, -0.60, 0.17]];

/// The linear mixture of red, green and blue that `weights` gives.
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

//! Scharr's gradient with zeros beyond the border (`conv2(..., 'same')`), as FSIM and VSI use it.

use multiversion::multiversion;

use crate::Plane;
use crate::ops::strips;

/// Returns the plane with a border of zeros, one sample wide.
pub fn padded(plane: &Plane) -> Plane {
    let (width, height) = (plane.width(), plane.height());
    let mut padded = Plane::new(width + 2, height + 2);
    strips::for_each_row(&mut padded, |y, row| {
        if (1..=height).contains(&y) {
            row[1..=width].copy_from_slice(plane.row(y - 1));
        }
    });
    padded
}

/// Writes the squared gradient magnitude of row `y` of the plane before padding.
pub fn squared_magnitude(padded: &Plane, y: usize, out: &mut [f32]) {
    magnitude_row([padded.row(y), padded.row(y + 1), padded.row(y + 2)], out);
}

#[multiversion(targets("x86_64+avx2"))]
fn magnitude_row(rows: [&[f32]; 3], out: &mut [f32]) {
    const SIDE: f32 = 3.0 / 16.0;
    const MIDDLE: f32 = 10.0 / 16.0;
    let width = out.len();
    let [above, here, below] = rows;
    let (a0, a1, a2) = (&above[..width], &above[1..width + 1], &above[2..width + 2]);
    let (h0, h2) = (&here[..width], &here[2..width + 2]);
    let (b0, b1, b2) = (&below[..width], &below[1..width + 1], &below[2..width + 2]);
    for x in 0..width {
        let across = SIDE * (a0[x] - a2[x]) + MIDDLE * (h0[x] - h2[x]) + SIDE * (b0[x] - b2[x]);
        let down = SIDE * (a0[x] - b0[x]) + MIDDLE * (a1[x] - b1[x]) + SIDE * (a2[x] - b2[x]);
        out[x] = across * across + down * down;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ramp_has_its_slope_and_the_border_sees_zeros() {
        let ramp = padded(&Plane::from_fn(5, 4, |x, y| 2.0 * x as f32 + y as f32));
        let mut row = [0.0; 5];
        squared_magnitude(&ramp, 1, &mut row);
        // The kernel spans two samples and its weights sum to one, so the result is twice the
        // slope.
        assert!((row[2] - (16.0 + 4.0)).abs() < 1e-4);
        squared_magnitude(&ramp, 0, &mut row);
        assert!((row[0] - (29.0 * 29.0 + 19.0 * 19.0) / 256.0).abs() < 1e-5);
    }
}

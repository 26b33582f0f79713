//! Halves and enlarges rows.

use multiversion::multiversion;

use crate::Plane;

/// `out[x]` is the mean of two neighbors in `upper` and the two below them in `lower`.
#[multiversion(targets("x86_64+avx2"))]
pub fn mean_of_four(upper: &[f32], lower: &[f32], out: &mut [f32]) {
    for ((out, upper), lower) in out.iter_mut().zip(upper.chunks_exact(2)).zip(lower.chunks_exact(2)) {
        *out = 0.25 * ((upper[0] + upper[1]) + (lower[0] + lower[1]));
    }
}

/// Adds `weight` times row `y` of an enlarged `source` to `out`. Sample `x` is the bilinear value
/// at `origin + step * x`, and likewise for `y`. Beyond the border, the border samples repeat.
pub fn add_bilinear_row(source: &Plane, origin: f32, step: f32, y: usize, weight: f32, out: &mut [f32]) {
    let (above, below, share) = neighbors(origin + step * y as f32, source.height());
    let (upper, lower) = (source.row(above), source.row(below));
    for (x, out) in out.iter_mut().enumerate() {
        let (left, right, across) = neighbors(origin + step * x as f32, source.width());
        let top = upper[left] + across * (upper[right] - upper[left]);
        let bottom = lower[left] + across * (lower[right] - lower[left]);
        *out += weight * (top + share * (bottom - top));
    }
}

/// The two samples around `position` and the weight of the second.
fn neighbors(position: f32, size: usize) -> (usize, usize, f32) {
    let last = size.saturating_sub(1);
    let position = position.clamp(0.0, last as f32);
    let first = position as usize;
    (first, (first + 1).min(last), position - first as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_samples_become_their_mean() {
        let mut out = [0.0; 2];
        mean_of_four(&[1.0, 2.0, 3.0, 4.0], &[5.0, 8.0, 0.0, 1.0], &mut out);
        assert_eq!(out, [4.0, 2.0]);
    }

    #[test]
    fn a_ramp_stays_a_ramp_inside_and_is_held_beyond() {
        let ramp = Plane::from_fn(3, 3, |x, y| (4 * x + y) as f32);
        let mut row = vec![1.0; 6];
        add_bilinear_row(&ramp, -0.25, 0.5, 3, 2.0, &mut row);
        assert_eq!(row, [3.5, 5.5, 9.5, 13.5, 17.5, 19.5]);
    }
}

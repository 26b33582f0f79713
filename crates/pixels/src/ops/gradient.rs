//! Gradients of 3x3 windows.

use std::ops::{Add, Sub};

/// Prewitt's horizontal and vertical differences of a window, not divided by three. The arguments
/// are its three rows.
#[inline(always)]
pub fn prewitt<T: Copy + Add<Output = T> + Sub<Output = T>>(above: &[T], center: &[T], below: &[T]) -> (T, T) {
    let across = (above[2] + below[2] + center[2]) - (above[0] + below[0] + center[0]);
    let down = (below[0] - above[0]) + (below[1] - above[1]) + (below[2] - above[2]);
    (across, down)
}

/// Iterates over the 3x3 windows of three rows, from left to right. Each item is the window's part
/// of the row above, the center row and the row below.
#[inline(always)]
pub fn windows<T>(rows: [&[T]; 3]) -> impl Iterator<Item = ((&[T], &[T]), &[T])> {
    rows[0].windows(3).zip(rows[1].windows(3)).zip(rows[2].windows(3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ramp_has_six_times_its_slope() {
        let row = |y: i32| [0, 1, 2].map(|x| 5 * x - 7 * y);
        assert_eq!(prewitt(&row(0), &row(1), &row(2)), (30, -42));
    }
}

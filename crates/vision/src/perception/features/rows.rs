//! Operations on rows of samples that several statistics share.
//!
//! The models were fitted to sums of rows in single precision, added in the order of the samples,
//! with rows added from top to bottom. To keep these exact results and still use vector
//! instructions, several rows are summed in parallel, on transposed planes.

use multiversion::multiversion;

use agenticiqa_metrics::Plane;

/// Returns, for each row of a plane, the sum of the squared differences between samples one step
/// apart; `turned` is the transposed plane.
#[multiversion(targets("x86_64+avx2"))]
pub fn squared_steps(turned: &Plane, dx: isize, dy: usize) -> Vec<f32> {
    let (width, height) = (turned.height() as isize, turned.width());
    let (left, right) = ((-dx).max(0), (width - dx).min(width));
    let mut sums = vec![0.0; height.saturating_sub(dy)];
    for x in left..right {
        let (from, to) = (turned.row(x as usize), turned.row((x + dx) as usize));
        for ((sum, from), to) in sums.iter_mut().zip(from).zip(to.get(dy..).unwrap_or_default()) {
            *sum += (from - to) * (from - to);
        }
    }
    sums
}

/// Halves a plane by averaging blocks of 2x2 samples.
#[multiversion(targets("x86_64+avx2"))]
pub fn halve(plane: &Plane) -> Plane {
    let mut out = Plane::new(plane.width() / 2, plane.height() / 2);
    for y in 0..out.height() {
        let (upper, _) = plane.row(2 * y).as_chunks::<2>();
        let (lower, _) = plane.row(2 * y + 1).as_chunks::<2>();
        for ((mean, upper), lower) in out.row_mut(y).iter_mut().zip(upper).zip(lower) {
            *mean = 0.25 * ((upper[0] + upper[1]) + (lower[0] + lower[1]));
        }
    }
    out
}

/// Rounds a non-negative sample to the nearest whole number; halves round up.
pub fn nearest(sample: f32) -> u32 {
    let whole = sample as u32;
    whole + u32::from(sample - whole as f32 >= 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_those_of_each_row() {
        let plane = Plane::from_fn(5, 4, |x, y| (x * x + 3 * y * x) as f32);
        let turned = Plane::from_fn(4, 5, |x, y| plane.at(y, x));
        for (dx, dy) in [(1isize, 0usize), (-2, 1), (0, 3), (4, 2), (9, 0), (0, 9)] {
            let sums = squared_steps(&turned, dx, dy);
            assert_eq!(sums.len(), 4usize.saturating_sub(dy));
            for (y, sum) in sums.into_iter().enumerate() {
                let inside = (0..5isize).filter(|x| (0..5).contains(&(x + dx)));
                let step = |x: isize| plane.at(x as usize, y) - plane.at((x + dx) as usize, y + dy);
                assert_eq!(sum, inside.map(|x| step(x).powi(2)).sum::<f32>(), "{dx} {dy} {y}");
            }
        }
    }

    #[test]
    fn the_nearest_whole_number_is_that_of_round() {
        for sample in [0.0, 0.499_999_97, 0.5, 1.499_999_9, 1.5, 2.5, 254.5, 255.0] {
            assert_eq!(nearest(sample) as f32, sample.round(), "{sample}");
        }
    }
}

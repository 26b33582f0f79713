//! Sums that keep precision and do not depend on the instruction set: a fixed number of lanes,
//! added in a fixed order.

use multiversion::multiversion;

const LANES: usize = 8;

/// The sum of `samples` in double precision.
#[multiversion(targets("x86_64+avx2"))]
pub fn sum(samples: &[f32]) -> f64 {
    let mut lanes = [0.0f64; LANES];
    let chunks = samples.chunks_exact(LANES);
    let rest = chunks.remainder();
    for chunk in chunks {
        for (lane, &sample) in lanes.iter_mut().zip(chunk) {
            *lane += f64::from(sample);
        }
    }
    for (lane, &sample) in lanes.iter_mut().zip(rest) {
        *lane += f64::from(sample);
    }
    lanes.iter().sum()
}

/// The sum and the sum of squares of `samples` in double precision.
#[multiversion(targets("x86_64+avx2"))]
pub fn sum_and_squares(samples: &[f32]) -> (f64, f64) {
    let mut lanes = [0.0f64; LANES];
    let mut squares = [0.0f64; LANES];
    let chunks = samples.chunks_exact(LANES);
    let rest = chunks.remainder();
    for chunk in chunks {
        for i in 0..LANES {
            let sample = f64::from(chunk[i]);
            lanes[i] += sample;
            squares[i] += sample * sample;
        }
    }
    for (i, &sample) in rest.iter().enumerate() {
        let sample = f64::from(sample);
        lanes[i] += sample;
        squares[i] += sample * sample;
    }
    (lanes.iter().sum(), squares.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_exact_for_whole_numbers_of_any_count() {
        for count in [0, 1, 7, 8, 9, 1000] {
            let samples: Vec<f32> = (0..count).map(|v| v as f32).collect();
            let expected: f64 = samples.iter().map(|&v| f64::from(v)).sum();
            let squares: f64 = samples.iter().map(|&v| f64::from(v) * f64::from(v)).sum();
            assert_eq!(sum(&samples), expected);
            assert_eq!(sum_and_squares(&samples), (expected, squares));
        }
    }
}

//! The filters of ILNIQE in double precision, because its features include logarithms of tiny
//! gradients.

use multiversion::multiversion;

use crate::Plane;
use crate::ops::convolve::Border;

/// Side and deviation of the window of local contrast.
const CONTRAST: (usize, f64) = (5, 5.0 / 6.0);
/// Side and deviation of the Gaussian before every second sample is dropped.
const DOWNSAMPLING: (usize, f64) = (6, 0.9);
/// Smaller differences from the local mean are rounding errors.
const ROUNDING: f64 = 1e-10;

/// Derivatives along both axes.
pub struct Pair {
    /// From left to right.
    pub across: Plane<f64>,
    /// From top to bottom.
    pub down: Plane<f64>,
}

/// Derivatives of a Gaussian, cut off at three deviations.
pub struct Derivative {
    gaussian: Vec<f64>,
    slope: Vec<f64>,
}

impl Derivative {
    /// Creates the filters for this standard deviation.
    pub fn new(sigma: f64) -> Self {
        let reach = (3.0 * sigma).ceil() as i32;
        let gaussian = |x: i32| (-f64::from(x * x) / 2.0 / sigma / sigma).exp();
        Self {
            gaussian: (-reach..=reach).map(gaussian).collect(),
            slope: (-reach..=reach).map(|x| f64::from(x) * gaussian(x)).collect(),
        }
    }

    /// Returns the derivatives of a plane that is zero beyond its borders. Their sign does not
    /// matter: every feature derived from them is symmetric.
    pub fn apply(&self, plane: &Plane<f64>) -> Pair {
        let across = separable(plane, &self.slope, &self.gaussian, Border::Zero);
        let down = separable(plane, &self.gaussian, &self.slope, Border::Zero);
        Pair { across, down }
    }
}

/// Subtracts the local mean and divides by the local deviation plus one. The result is 0 where the
/// sample equals its mean up to rounding.
pub fn normalize(plane: &Plane<f64>) -> Plane<f64> {
    let kernel = gaussian(CONTRAST.0, CONTRAST.1);
    let mean = separable(plane, &kernel, &kernel, Border::Replicate);
    let square = separable(&plane.map(|value| value * value), &kernel, &kernel, Border::Replicate);
    Plane::from_fn(plane.width(), plane.height(), |x, y| {
        let difference = plane.at(x, y) - mean.at(x, y);
        let deviation = (square.at(x, y) - mean.at(x, y).powi(2)).abs().sqrt();
        if difference.abs() < ROUNDING { 0.0 } else { difference / (deviation + 1.0) }
    })
}

/// Returns every second sample of every second row, after a Gaussian.
pub fn downsample(plane: &Plane<f64>) -> Plane<f64> {
    let kernel = gaussian(DOWNSAMPLING.0, DOWNSAMPLING.1);
    let smooth = separable(plane, &kernel, &kernel, Border::Replicate);
    Plane::from_fn(plane.width().div_ceil(2), plane.height().div_ceil(2), |x, y| smooth.at(2 * x, 2 * y))
}

fn gaussian(size: usize, sigma: f64) -> Vec<f64> {
    let center = (size as f64 - 1.0) / 2.0;
    let weights: Vec<f64> = (0..size).map(|i| (-(i as f64 - center).powi(2) / (2.0 * sigma * sigma)).exp()).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}

/// Correlates with `horizontal` and `vertical`, centered as in `imfilter`.
fn separable(plane: &Plane<f64>, horizontal: &[f64], vertical: &[f64], border: Border) -> Plane<f64> {
    let (width, height) = (plane.width(), plane.height());
    let (left, above) = ((horizontal.len() - 1) / 2, (vertical.len() - 1) / 2);
    let zeros = vec![0.0; width];
    let mut filtered = Plane::new(width, height);
    let mut padded = vec![0.0; width + horizontal.len() - 1];
    for y in 0..height {
        let tap = |j: usize| border.index((y + j) as isize - above as isize, height);
        let taps: Vec<&[f64]> =
            (0..vertical.len()).map(|j| tap(j).map_or(zeros.as_slice(), |y| plane.row(y))).collect();
        correlate(vertical, &taps, &mut padded[left..left + width]);
        for x in (0..left).chain(left + width..padded.len()) {
            let inside = border.index(x as isize - left as isize, width);
            padded[x] = inside.map_or(0.0, |inside| padded[left + inside]);
        }
        let shifted: Vec<&[f64]> = (0..horizontal.len()).map(|i| &padded[i..i + width]).collect();
        correlate(horizontal, &shifted, filtered.row_mut(y));
    }
    filtered
}

#[multiversion(targets("x86_64+avx2"))]
fn correlate(kernel: &[f64], rows: &[&[f64]], out: &mut [f64]) {
    const BLOCK: usize = 28;
    let width = out.len();
    for start in (0..width).step_by(BLOCK) {
        let end = (start + BLOCK).min(width);
        let mut total = [0.0; BLOCK];
        for (&weight, row) in kernel.iter().zip(rows) {
            total.iter_mut().zip(&row[start..end]).for_each(|(total, &sample)| *total += weight * sample);
        }
        out[start..end].copy_from_slice(&total[..end - start]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ramp_has_the_same_slope_everywhere_inside() {
        let ramp = Plane::from_fn(40, 30, |x, y| 2.0 * x as f64 - 3.0 * y as f64);
        let derivative = Derivative::new(1.66);
        let pair = derivative.apply(&ramp);
        let norm: f64 = derivative.gaussian.iter().sum::<f64>()
            * derivative.slope.iter().enumerate().map(|(i, slope)| (i as f64 - 5.0) * slope).sum::<f64>();
        assert_eq!(derivative.slope.len(), 11);
        assert!((pair.across.at(20, 15) / norm - 2.0).abs() < 1e-12);
        assert!((pair.down.at(8, 8) / norm + 3.0).abs() < 1e-12);
    }

    #[test]
    fn an_even_kernel_is_centered_left_of_its_middle_and_flat_stays_flat() {
        let impulse = Plane::from_fn(12, 12, |x, y| if (x, y) == (6, 6) { 1.0 } else { 0.0 });
        let small = downsample(&impulse);
        let kernel = gaussian(6, 0.9);
        // Output (2, 2) lies at input (4, 4); the impulse is two samples further, tap 4 of 0..6.
        assert!((small.at(2, 2) - kernel[4] * kernel[4]).abs() < 1e-15);
        let flat = Plane::from_fn(9, 7, |_, _| 41.3);
        assert!(downsample(&flat).data().iter().all(|value| (value - 41.3).abs() < 1e-12));
        assert!(normalize(&flat).data().iter().all(|&value| value == 0.0));
    }
}

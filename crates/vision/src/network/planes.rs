//! Planes of equal size, the data that flows through the network.

use rayon::prelude::*;

/// Planes of equal size, one after the other, each row by row.
#[derive(Debug, Clone, PartialEq)]
pub struct Planes {
    channels: usize,
    width: usize,
    height: usize,
    data: Vec<f32>,
}

impl Planes {
    /// Creates planes from samples; `None` if there are none or their number does not match.
    pub fn new(channels: usize, width: usize, height: usize, data: Vec<f32>) -> Option<Self> {
        (channels * width * height == data.len() && !data.is_empty()).then_some(Self { channels, width, height, data })
    }

    /// Creates planes from samples whose number is known to match.
    pub(crate) fn of(channels: usize, width: usize, height: usize, data: Vec<f32>) -> Self {
        debug_assert_eq!(channels * width * height, data.len());
        Self { channels, width, height, data }
    }

    /// Returns the number of planes.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// Returns the width of each plane in samples.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the height of each plane in samples.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Returns all samples, plane after plane.
    pub fn data(&self) -> &[f32] {
        &self.data
    }

    pub(crate) fn data_mut(&mut self) -> &mut [f32] {
        &mut self.data
    }

    pub(crate) fn into_data(self) -> Vec<f32> {
        self.data
    }

    /// Iterates over the planes.
    pub fn iter(&self) -> impl Iterator<Item = &[f32]> {
        self.data.chunks_exact(self.width * self.height)
    }

    /// Returns the mean and standard deviation of each plane.
    pub fn moments(&self) -> Vec<(f64, f64)> {
        self.data.par_chunks_exact(self.width * self.height).map(moments).collect()
    }
}

fn moments(plane: &[f32]) -> (f64, f64) {
    let count = plane.len() as f64;
    let (mut sum, mut squares) = (0.0, 0.0);
    // Short sums in single precision, which the compiler vectorizes; their totals in double.
    for part in plane.chunks(256) {
        let (one, two) = short_sums(part);
        sum += f64::from(one);
        squares += f64::from(two);
    }
    let mean = sum / count;
    (mean, (squares / count - mean * mean).max(0.0).sqrt())
}

fn short_sums(part: &[f32]) -> (f32, f32) {
    const LANES: usize = 16;
    let (mut sums, mut squares) = ([0.0f32; LANES], [0.0f32; LANES]);
    let whole = part.chunks_exact(LANES);
    let rest = whole.remainder();
    for samples in whole {
        for lane in 0..LANES {
            sums[lane] += samples[lane];
            squares[lane] += samples[lane] * samples[lane];
        }
    }
    let sum = sums.iter().sum::<f32>() + rest.iter().sum::<f32>();
    (sum, squares.iter().sum::<f32>() + rest.iter().map(|sample| sample * sample).sum::<f32>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_each_plane() {
        let planes =
            Planes::new(2, 3, 7, (0..42).map(|i| if i < 21 { 2.5 } else { (i - 21) as f32 }).collect()).unwrap();
        let moments = planes.moments();
        assert_eq!(moments[0], (2.5, 0.0));
        assert!((moments[1].0 - 10.0).abs() < 1e-9 && (moments[1].1 - (440.0f64 / 12.0).sqrt()).abs() < 1e-6);
        assert_eq!(Planes::new(1, 2, 2, vec![0.0; 3]), None);
    }
}

//! An array of weights.

use crate::{Error, Result};

/// An array of numbers in row-major order.
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    shape: Vec<usize>,
    values: Vec<f32>,
}

impl Tensor {
    /// Creates a tensor from numbers in row-major order; `None` if their count does not match the
    /// shape.
    pub fn new(shape: &[usize], values: Vec<f32>) -> Option<Self> {
        (volume(shape)? == values.len()).then(|| Self { shape: shape.to_vec(), values })
    }

    /// Creates a one-dimensional tensor.
    pub fn vector(values: Vec<f32>) -> Self {
        Self { shape: vec![values.len()], values }
    }

    /// Creates a tensor with one number per channel of images [n, channels, height, width].
    pub fn channels(values: Vec<f32>) -> Self {
        Self { shape: vec![1, values.len(), 1, 1], values }
    }

    /// Creates the kernel of a depthwise convolution with the same 3 by 3 window for every
    /// channel.
    pub(crate) fn windows(window: [f32; 9], channels: usize) -> Self {
        Self { shape: vec![channels, 1, 3, 3], values: vec![window; channels].into_flattened() }
    }

    /// Creates a tensor from little-endian 32-bit numbers; `None` if their count does not match
    /// the shape.
    pub(crate) fn from_bytes(shape: &[usize], bytes: &[u8]) -> Option<Self> {
        if volume(shape)?.checked_mul(size_of::<f32>())? != bytes.len() {
            return None;
        }
        let numbers = bytes.chunks_exact(size_of::<f32>());
        let values = numbers.filter_map(|number| Some(f32::from_le_bytes(number.try_into().ok()?))).collect();
        Self::new(shape, values)
    }

    /// Returns the size of every dimension.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Returns the numbers.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// Returns the tensor if it has this shape.
    pub(crate) fn with_shape(self, name: &str, expected: &[usize]) -> Result<Self> {
        if self.shape == expected {
            return Ok(self);
        }
        Err(Error::Shape { name: name.to_owned(), found: self.shape, expected: expected.to_vec() })
    }

    /// Converts a kernel [height, width, in, out] of JAX or Keras to [out, in, height, width].
    pub(crate) fn kernel(&self, name: &str) -> Result<Self> {
        let &[height, width, inputs, outputs] = self.shape.as_slice() else {
            return Err(Error::Shape { name: name.to_owned(), found: self.shape.clone(), expected: vec![0; 4] });
        };
        let (taps, channels) = (height * width, inputs * outputs);
        let mut values = Vec::with_capacity(self.values.len());
        for output in 0..outputs {
            for input in 0..inputs {
                values.extend((0..taps).map(|tap| self.values[tap * channels + input * outputs + output]));
            }
        }
        Ok(Self { shape: vec![outputs, inputs, height, width], values })
    }

    /// Converts a depthwise kernel [height, width, channels, 1] to [height, width, 1, channels],
    /// without moving the numbers.
    pub(crate) fn depthwise(mut self) -> Self {
        self.shape.swap(2, 3);
        self
    }

    /// Multiplies each slice along the first dimension by its factor.
    pub(crate) fn scale_first(mut self, factors: &[f64]) -> Self {
        let length = self.values.len() / factors.len().max(1);
        for (part, factor) in self.values.chunks_exact_mut(length.max(1)).zip(factors) {
            part.iter_mut().for_each(|value| *value = (f64::from(*value) * factor) as f32);
        }
        self
    }
}

/// Returns the number of elements of a shape; `None` if it overflows.
pub(crate) fn volume(shape: &[usize]) -> Option<usize> {
    shape.iter().try_fold(1_usize, |volume, &extent| volume.checked_mul(extent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_is_turned_from_taps_first_to_outputs_first() {
        // Two taps, three inputs, two outputs; each number is its own index.
        let values = (0..12).map(|place| place as f32).collect();
        let kernel = Tensor::new(&[1, 2, 3, 2], values).unwrap().kernel("k").unwrap();
        assert_eq!(kernel.shape(), [2, 3, 1, 2]);
        assert_eq!(kernel.values(), [0., 6., 2., 8., 4., 10., 1., 7., 3., 9., 5., 11.]);
    }

    #[test]
    fn counts_have_to_fit_the_shape() {
        assert!(Tensor::new(&[2, 2], vec![0.0; 3]).is_none());
        assert!(Tensor::new(&[usize::MAX, 2], vec![]).is_none());
        assert!(Tensor::from_bytes(&[1], &[0; 5]).is_none());
        assert!(Tensor::vector(vec![1.0]).kernel("k").is_err());
    }
}

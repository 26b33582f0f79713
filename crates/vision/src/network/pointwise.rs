//! Pointwise convolution (kernels of 1x1), computed as a matrix product.

use rten_gemm::{BiasVector, GemmExecutor, GemmInputA, GemmInputB, GemmOptions, PackedAMatrix};
use rten_tensor::NdTensorView;

use crate::network::weights::Numbers;
use crate::network::{Planes, Unusable};

/// Weights packed for the matrix product, and one bias per output.
pub(crate) struct Pointwise {
    weights: PackedAMatrix<f32>,
    bias: Vec<f32>,
}

impl Pointwise {
    pub(crate) fn new(weights: &[f32], bias: &[f32]) -> Self {
        let matrix = NdTensorView::from_data([bias.len(), weights.len() / bias.len().max(1)], weights);
        Self { weights: GemmExecutor::new().prepack_a(matrix), bias: bias.to_vec() }
    }

    /// Splits a convolution into several with at most `count` outputs each.
    pub(crate) fn in_groups(numbers: &Numbers, count: usize) -> Vec<Self> {
        let inputs = numbers.weights.len() / numbers.bias.len().max(1);
        let groups = numbers.weights.chunks(count * inputs).zip(numbers.bias.chunks(count));
        groups.map(|(weights, bias)| Self::new(weights, bias)).collect()
    }

    /// Returns the number of output planes.
    pub(crate) fn outputs(&self) -> usize {
        self.bias.len()
    }

    /// Writes the output planes, without an activation.
    pub(crate) fn run(&self, input: &Planes, output: &mut [f32]) -> Result<(), Unusable> {
        let samples = NdTensorView::from_data([input.channels(), input.width() * input.height()], input.data());
        let options = GemmOptions { bias: Some(BiasVector::Column(&self.bias)), ..GemmOptions::default() };
        GemmExecutor::new()
            .gemm(output, GemmInputA::Packed(&self.weights), GemmInputB::Unpacked(samples), options)
            .map_err(|error| Unusable(error.to_string()))
    }
}

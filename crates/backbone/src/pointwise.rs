//! Convolution by kernels of one sample: a product of matrices.

use rten_gemm::{BiasVector, GemmExecutor, GemmInputA, GemmInputB, GemmOptions, PackedAMatrix};
use rten_tensor::NdTensorView;

use crate::weights::Numbers;
use crate::{Planes, Unusable};

/// Weights in the order in which the product reads them, and the bias of each output.
pub(crate) struct Pointwise {
    weights: PackedAMatrix<f32>,
    bias: Vec<f32>,
}

impl Pointwise {
    pub(crate) fn new(product: &GemmExecutor, numbers: &Numbers) -> Self {
        let Numbers { weights, bias } = numbers;
        let matrix = NdTensorView::from_data([bias.len(), weights.len() / bias.len()], weights.as_slice());
        Self { weights: product.prepack_a(matrix), bias: bias.clone() }
    }

    /// The planes that come out; nothing is clamped.
    pub(crate) fn run(&self, product: &GemmExecutor, input: &Planes) -> Result<Planes, Unusable> {
        let area = input.width() * input.height();
        let mut output = Planes::zeros(self.bias.len(), input.width(), input.height());
        let samples = NdTensorView::from_data([input.channels(), area], input.data());
        let options = GemmOptions { bias: Some(BiasVector::Column(&self.bias)), ..GemmOptions::default() };
        product
            .gemm(output.data_mut(), GemmInputA::Packed(&self.weights), GemmInputB::Unpacked(samples), options)
            .map_err(|error| Unusable(error.to_string()))?;
        Ok(output)
    }
}

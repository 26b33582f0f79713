//! Networks whose features metrics compare.

pub(crate) mod alexnet;
pub(crate) mod mobilenet;
pub(crate) mod vgg;

use crate::onnx::{Attribute, Graph, Value};
use crate::{Result, Tensor, numpy::Checkpoint};

/// A feature map that a metric uses.
#[derive(Debug)]
pub(crate) struct Layer {
    /// [images, channels, height, width].
    pub(crate) features: Value,
    pub(crate) channels: usize,
    /// Stride of the map: position i covers the pixels from i * stride on.
    pub(crate) stride: i64,
}

/// Kernel and bias of a convolution.
#[derive(Debug)]
pub(crate) struct Convolution {
    pub(crate) kernel: Tensor,
    pub(crate) bias: Tensor,
}

impl Convolution {
    /// Reads the convolution at a path of a JAX checkpoint, with the shape that the network
    /// expects.
    fn read(checkpoint: &Checkpoint<'_>, path: &str, size: usize, inputs: usize, outputs: usize) -> Result<Self> {
        let name = format!("{path}/kernel");
        let kernel = checkpoint.tensor(&name)?.with_shape(&name, &[size, size, inputs, outputs])?.kernel(&name)?;
        let name = format!("{path}/bias");
        Ok(Self { kernel, bias: checkpoint.tensor(&name)?.with_shape(&name, &[outputs])? })
    }

    /// Adds the convolution to a graph.
    pub(crate) fn apply(&self, graph: &mut Graph, input: &Value, stride: i64, padding: i64, groups: usize) -> Value {
        let (kernel, bias) = (graph.tensor(&self.kernel), graph.tensor(&self.bias));
        let size = self.kernel.shape()[3] as i64;
        let attributes = [
            ("group", Attribute::Integer(groups as i64)),
            ("kernel_shape", Attribute::Integers(&[size, size])),
            ("pads", Attribute::Integers(&[padding; 4])),
            ("strides", Attribute::Integers(&[stride, stride])),
        ];
        graph.node("Conv", &[input, &kernel, &bias], &attributes)
    }
}

/// Multiplies images by a factor and adds an offset, one of each per channel.
pub(crate) fn scale(graph: &mut Graph, input: &Value, factors: &[f32], offsets: &[f32]) -> Value {
    let factors = graph.tensor(&Tensor::channels(factors.to_vec()));
    let offsets = graph.tensor(&Tensor::channels(offsets.to_vec()));
    let product = graph.node("Mul", &[input, &factors], &[]);
    graph.node("Add", &[&product, &offsets], &[])
}

/// Max pooling over `size` times `size` neighbors with stride 2.
fn max_pool(graph: &mut Graph, input: &Value, size: i64) -> Value {
    let attributes = [("kernel_shape", Attribute::Integers(&[size, size])), ("strides", Attribute::Integers(&[2, 2]))];
    graph.node("MaxPool", &[input], &attributes)
}

//! MobileNet (Howard et al., 2017) as in Keras 2.1: a border of one zero on every side, even at
//! stride 2. Later versions pad only the right and the bottom, which gives different numbers with
//! the same weights.

use super::Convolution;
use crate::hdf5::File;
use crate::onnx::{Graph, Value};
use crate::{Result, Tensor};

/// For each of the 13 blocks: inputs, outputs, stride.
const BLOCKS: [(usize, usize, i64); 13] = [
    (32, 64, 1),
    (64, 128, 2),
    (128, 128, 1),
    (128, 256, 2),
    (256, 256, 1),
    (256, 512, 2),
    (512, 512, 1),
    (512, 512, 1),
    (512, 512, 1),
    (512, 512, 1),
    (512, 512, 1),
    (512, 1024, 2),
    (1024, 1024, 1),
];
/// Number of channels of the last map.
pub(crate) const FEATURES: usize = 1024;
/// Epsilon of batch normalization in Keras.
const STABILITY: f64 = 1e-3;

/// Returns the last feature map.
pub(crate) fn features(graph: &mut Graph, file: &File<'_>, picture: &Value) -> Result<Value> {
    let first = normalized(file, "conv1", "kernel:0", &[3, 3, 3, 32])?;
    let convolved = first.apply(graph, picture, 2, 1, 1);
    let mut value = clip(graph, &convolved);
    for (index, &(inputs, outputs, stride)) in BLOCKS.iter().enumerate() {
        let block = index + 1;
        let depthwise = normalized(file, &format!("conv_dw_{block}"), "depthwise_kernel:0", &[3, 3, inputs, 1])?;
        let convolved = depthwise.apply(graph, &value, stride, 1, inputs);
        value = clip(graph, &convolved);
        let pointwise = normalized(file, &format!("conv_pw_{block}"), "kernel:0", &[1, 1, inputs, outputs])?;
        let convolved = pointwise.apply(graph, &value, 1, 0, 1);
        value = clip(graph, &convolved);
    }
    Ok(value)
}

fn clip(graph: &mut Graph, value: &Value) -> Value {
    let (lowest, highest) = (graph.number(0.0), graph.number(6.0));
    graph.node("Clip", &[value, &lowest, &highest], &[])
}

/// Reads a convolution and folds the following batch normalization into it, since both are linear.
fn normalized(file: &File<'_>, layer: &str, weights: &str, shape: &[usize; 4]) -> Result<Convolution> {
    let name = format!("{layer}/{layer}/{weights}");
    let kernel = file.tensor(&name)?.with_shape(&name, shape)?;
    let depthwise = weights.starts_with("depthwise");
    let kernel = if depthwise { kernel.depthwise() } else { kernel }.kernel(&name)?;
    let channels = kernel.shape()[0];
    let statistic = |statistic: &str| {
        let name = format!("{layer}_bn/{layer}_bn/{statistic}:0");
        file.tensor(&name)?.with_shape(&name, &[channels])
    };
    let (gamma, beta) = (statistic("gamma")?, statistic("beta")?);
    let (mean, variance) = (statistic("moving_mean")?, statistic("moving_variance")?);
    let factors: Vec<f64> = gamma
        .values()
        .iter()
        .zip(variance.values())
        .map(|(&gamma, &variance)| f64::from(gamma) / (f64::from(variance) + STABILITY).sqrt())
        .collect();
    let offsets = beta.values().iter().zip(mean.values()).zip(&factors);
    let bias = offsets.map(|((&beta, &mean), factor)| (f64::from(beta) - f64::from(mean) * factor) as f32).collect();
    Ok(Convolution { kernel: kernel.scale_first(&factors), bias: Tensor::vector(bias) })
}

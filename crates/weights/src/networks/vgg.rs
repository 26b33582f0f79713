//! VGG16 (Simonyan, Zisserman, ICLR 2015) up to its last convolution.
//!
//! **Reach**: position k of the last map (stride 16) depends on pixels 16k-90 to 16k+105 with the
//! network's own pools, and on 16k-105 to 16k+105 with the pools of DISTS, which also cover one
//! position to the left.

use super::{Convolution, Layer, max_pool};
use crate::onnx::{Attribute, Graph, Value};
use crate::{Result, Tensor, numpy::Checkpoint};

/// For each of the five stages: number of convolutions, channels.
const STAGES: [(usize, usize); 5] = [(2, 64), (2, 128), (3, 256), (3, 512), (3, 512)];

/// Pooling between stages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pool {
    /// Maximum of four, as in training.
    Max,
    /// Root of a weighted mean of nine squares (Hénaff, Simoncelli, 2016), as in DISTS.
    SquareMean,
}

/// Returns the maps at the end of every stage.
pub(crate) fn layers(
    graph: &mut Graph,
    checkpoint: &Checkpoint<'_>,
    pictures: &Value,
    pool: Pool,
) -> Result<Vec<Layer>> {
    let mut layers: Vec<Layer> = Vec::new();
    let (mut value, mut inputs, mut index) = (pictures.clone(), 3, 0);
    for (stage, &(convolutions, channels)) in STAGES.iter().enumerate() {
        if stage > 0 {
            value = match pool {
                Pool::Max => max_pool(graph, &value, 2),
                Pool::SquareMean => square_mean_pool(graph, &value, inputs),
            };
        }
        for _ in 0..convolutions {
            let convolution = Convolution::read(checkpoint, &format!("VGG16_0/Conv_{index}"), 3, inputs, channels)?;
            let convolved = convolution.apply(graph, &value, 1, 1, 1);
            value = graph.node("Relu", &[&convolved], &[]);
            (inputs, index) = (channels, index + 1);
        }
        layers.push(Layer { features: value.clone(), channels, stride: 1 << stage });
    }
    Ok(layers)
}

/// Pools with a Hann window of 3 by 3 positions, stride 2 and a border of zeros.
fn square_mean_pool(graph: &mut Graph, input: &Value, channels: usize) -> Value {
    const STABILITY: f32 = 1e-12;
    const WINDOW: [f32; 9] = [1.0, 2.0, 1.0, 2.0, 4.0, 2.0, 1.0, 2.0, 1.0];
    let kernel = graph.tensor(&Tensor::windows(WINDOW.map(|weight| weight / 16.0), channels));
    let squares = graph.node("Mul", &[input, input], &[]);
    let attributes = [
        ("group", Attribute::Integer(channels as i64)),
        ("kernel_shape", Attribute::Integers(&[3, 3])),
        ("pads", Attribute::Integers(&[1; 4])),
        ("strides", Attribute::Integers(&[2, 2])),
    ];
    let means = graph.node("Conv", &[&squares, &kernel], &attributes);
    let stability = graph.number(STABILITY);
    let positive = graph.node("Add", &[&means, &stability], &[]);
    graph.node("Sqrt", &[&positive], &[])
}

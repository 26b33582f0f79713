//! LPIPS 0.1, learned perceptual image patch similarity.
//!
//! **What it measures**: the distance between the features of a network, position by position,
//! weighted by what people see.
//! **Range and direction**: 0 (identical) to about 1; lower is better.
//! **Reference**: Zhang, Isola, Efros, Shechtman, Wang, CVPR 2018; linear weights of version 0.1.
//! **Deviations**: none; native size.
//!
//! The features of each layer are normalized to unit length. Their squared differences are
//! weighted and averaged over all positions, and the layers are added. A tile computes the sum and
//! the count of each layer (`statistics`); the head adds the tiles and divides.

use crate::numpy::Checkpoint;
use crate::onnx::{Attribute, Extent, Graph, Value};
use crate::tiles::{Inner, count, join, part, row, sum};
use crate::{
    Result,
    networks::{Layer, alexnet, scale, vgg},
};

/// Mean and deviation of the training images of the networks, for values from -1 to 1.
const SHIFT: [f32; 3] = [-0.030, -0.088, -0.188];
const SCALE: [f32; 3] = [0.458, 0.448, 0.450];
/// Added to the length of a vector, which may be zero.
const STABILITY: f32 = 1e-10;
const LAYERS: usize = 5;

/// The network that computes the features.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Backbone {
    AlexNet,
    Vgg,
}

/// Builds the model that maps two images [1, 3, height, width] with values from 0 to 1 to the
/// statistics [1, 10] of a tile.
pub(crate) fn model(checkpoint: &Checkpoint<'_>, backbone: Backbone) -> Result<Vec<u8>> {
    let mut graph = Graph::new("lpips");
    let pair = pair(&mut graph);
    let inner = Inner::input(&mut graph);
    // Maps 0..1 to -1..1, then normalizes with mean and deviation of the training images.
    let factors = SCALE.map(|scale| 2.0 / scale);
    let offsets = [0, 1, 2].map(|channel| -(1.0 + SHIFT[channel]) / SCALE[channel]);
    let scaled = scale(&mut graph, &pair, &factors, &offsets);
    let layers = match backbone {
        Backbone::AlexNet => alexnet::layers(&mut graph, checkpoint, &scaled)?,
        Backbone::Vgg => vgg::layers(&mut graph, checkpoint, &scaled, vgg::Pool::Max)?,
    };
    let (mut sums, mut counts) = (Vec::new(), Vec::new());
    for (index, layer) in layers.iter().enumerate() {
        let differences = differences(&mut graph, checkpoint, index, layer)?;
        let counted = inner.of(&mut graph, &differences, layer.stride);
        counts.push(count(&mut graph, &counted, 1));
        let flat = row(&mut graph, &counted);
        sums.push(sum(&mut graph, &flat, 1));
    }
    let all: Vec<&Value> = sums.iter().chain(&counts).collect();
    let statistics = join(&mut graph, &all, 1);
    graph.output("statistics", &statistics, &[Extent::Is(1), Extent::Is(2 * LAYERS as i64)]);
    Ok(graph.finish())
}

/// Builds the head that maps the statistics [tiles, 10] to the score.
pub(crate) fn head() -> Vec<u8> {
    let mut graph = Graph::new("lpips-head");
    let statistics = graph.input("statistics", &[Extent::Any("tiles"), Extent::Is(2 * LAYERS as i64)]);
    let totals = sum(&mut graph, &statistics, 0);
    let sums = part(&mut graph, &totals, 1, 0, LAYERS);
    let counts = part(&mut graph, &totals, 1, LAYERS, 2 * LAYERS);
    let means = graph.node("Div", &[&sums, &counts], &[]);
    let score = sum(&mut graph, &means, 1);
    graph.output("score", &score, &[Extent::Is(1), Extent::Is(1)]);
    graph.finish()
}

/// Concatenates the inputs `reference` and `distorted`.
pub(crate) fn pair(graph: &mut Graph) -> Value {
    let picture = [Extent::Is(1), Extent::Is(3), Extent::Any("height"), Extent::Any("width")];
    let (reference, distorted) = (graph.input("reference", &picture), graph.input("distorted", &picture));
    join(graph, &[&reference, &distorted], 0)
}

/// Computes the weighted squared differences [1, 1, height, width] of a layer.
fn differences(graph: &mut Graph, checkpoint: &Checkpoint<'_>, index: usize, layer: &Layer) -> Result<Value> {
    let name = format!("NetLinLayer_{index}/Conv_0/kernel");
    let weights = checkpoint.tensor(&name)?.with_shape(&name, &[1, 1, layer.channels, 1])?.kernel(&name)?;
    let attributes = [("axes", Attribute::Integers(&[1]))];
    let lengths = graph.node("ReduceL2", &[&layer.features], &attributes);
    let stability = graph.number(STABILITY);
    let lengths = graph.node("Add", &[&lengths, &stability], &[]);
    let inverse = graph.node("Reciprocal", &[&lengths], &[]);
    let directions = graph.node("Mul", &[&layer.features, &inverse], &[]);
    let reference = part(graph, &directions, 0, 0, 1);
    let distorted = part(graph, &directions, 0, 1, 2);
    let difference = graph.node("Sub", &[&reference, &distorted], &[]);
    let square = graph.node("Mul", &[&difference, &difference], &[]);
    let weights = graph.tensor(&weights);
    Ok(graph.node("Conv", &[&square, &weights], &[("kernel_shape", Attribute::Integers(&[1, 1]))]))
}

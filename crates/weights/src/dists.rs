//! DISTS, deep image structure and texture similarity.
//!
//! **What it measures**: whether textures have the same statistics and structures are in the same
//! place; tolerates resampled texture.
//! **Range and direction**: 0 (identical) to about 1; lower is better.
//! **Reference**: Ding, Ma, Wang, Simoncelli, TPAMI 2020; weights of the authors' package 0.1.
//! **Deviations**: variances and covariances are computed from centered values, so that flat
//! images do not lose precision; native size.
//!
//! Each channel of six maps (the first is the image itself) has a mean, a variance and a
//! covariance with the other image. A tile computes them for its own pixels (`statistics`); the
//! head merges the tiles (Chan, Golub, LeVeque, 1983) and compares the images.

use crate::lpips::pair;
use crate::networks::{Layer, scale, vgg};
use crate::onnx::{Attribute, Extent, Graph, Value};
use crate::tiles::{Inner, count, join, part, row, sum};
use crate::{Result, Tensor, numpy, torch};

/// Mean and deviation of the training images of the network, for values from 0 to 1.
const MEAN: [f32; 3] = [0.485, 0.456, 0.406];
const DEVIATION: [f32; 3] = [0.229, 0.224, 0.225];
/// Channels of the six maps.
const CHANNELS: [usize; 6] = [3, 64, 128, 256, 512, 512];
const ALL: usize = 1475;
/// Number of columns of the statistics: counts of the maps; then, for all channels, the means of
/// both images, the variances of both, and the covariances.
const COLUMNS: usize = CHANNELS.len() + 5 * ALL;
/// Stabilizes the comparison of means and of variances.
const STABILITY: f32 = 1e-6;

/// Builds the model that maps two images [1, 3, height, width] with values from 0 to 1 to the
/// statistics of a tile.
pub(crate) fn model(checkpoint: &numpy::Checkpoint<'_>) -> Result<Vec<u8>> {
    let mut graph = Graph::new("dists");
    let pictures = pair(&mut graph);
    let inner = Inner::input(&mut graph);
    let factors = DEVIATION.map(|deviation| 1.0 / deviation);
    let offsets = [0, 1, 2].map(|channel| -MEAN[channel] / DEVIATION[channel]);
    let scaled = scale(&mut graph, &pictures, &factors, &offsets);
    let mut layers = vec![Layer { features: pictures, channels: CHANNELS[0], stride: 1 }];
    layers.extend(vgg::layers(&mut graph, checkpoint, &scaled, vgg::Pool::SquareMean)?);
    let (mut counts, mut means, mut variances, mut covariances) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for layer in &layers {
        let counted = inner.of(&mut graph, &layer.features, layer.stride);
        counts.push(count(&mut graph, &counted, 2 * layer.channels));
        let mean = mean(&mut graph, &counted);
        let centered = graph.node("Sub", &[&counted, &mean], &[]);
        let squares = graph.node("Mul", &[&centered, &centered], &[]);
        variances.push(self::mean(&mut graph, &squares));
        let (reference, distorted) = (part(&mut graph, &centered, 0, 0, 1), part(&mut graph, &centered, 0, 1, 2));
        let products = graph.node("Mul", &[&reference, &distorted], &[]);
        covariances.push(self::mean(&mut graph, &products));
        means.push(mean);
    }
    let mut columns = counts;
    for maps in [means, variances, covariances] {
        let channels = join(&mut graph, &maps.iter().collect::<Vec<_>>(), 1);
        columns.push(row(&mut graph, &channels));
    }
    let statistics = join(&mut graph, &columns.iter().collect::<Vec<_>>(), 1);
    graph.output("statistics", &statistics, &[Extent::Is(1), Extent::Is(COLUMNS as i64)]);
    Ok(graph.finish())
}

/// Builds the head that maps the statistics of all tiles to the score.
pub(crate) fn head(weights: &torch::Checkpoint<'_>) -> Result<Vec<u8>> {
    let (alpha, beta) = importance(weights)?;
    let mut graph = Graph::new("dists-head");
    let statistics = graph.input("statistics", &[Extent::Any("tiles"), Extent::Is(COLUMNS as i64)]);
    let merged = merge(&mut graph, &statistics);
    let texture = similarity(&mut graph, [&merged.products, &merged.squares]);
    let structure = similarity(&mut graph, [&merged.covariances, &merged.variances]);
    let (alpha, beta) = (graph.tensor(&alpha), graph.tensor(&beta));
    let texture = graph.node("Mul", &[&texture, &alpha], &[]);
    let structure = graph.node("Mul", &[&structure, &beta], &[]);
    let both = graph.node("Add", &[&texture, &structure], &[]);
    let alike = sum(&mut graph, &both, 1);
    let one = graph.number(1.0);
    let score = graph.node("Sub", &[&one, &alike], &[]);
    graph.output("score", &score, &[Extent::Is(1), Extent::Is(1)]);
    Ok(graph.finish())
}

/// Statistics of each channel of the whole image, [1, channels] each.
struct Merged {
    /// Mean of the reference times mean of the distorted image.
    products: Value,
    /// Sum of the squares of both means.
    squares: Value,
    covariances: Value,
    /// Sum of the variances of both images.
    variances: Value,
}

/// Merges tiles, weighted by their share of the positions. Differences between the mean of a tile
/// and that of the image add to the variance.
fn merge(graph: &mut Graph, statistics: &Value) -> Merged {
    let maps = CHANNELS.len();
    let counts = part(graph, statistics, 1, 0, maps);
    let totals = sum(graph, &counts, 0);
    let shares = graph.node("Div", &[&counts, &totals], &[]);
    let map_of_channel: Vec<i64> =
        CHANNELS.iter().enumerate().flat_map(|(map, &channels)| vec![map as i64; channels]).collect();
    let map_of_channel = graph.integers(&map_of_channel);
    let shares = graph.node("Gather", &[&shares, &map_of_channel], &[("axis", Attribute::Integer(1))]);
    let mut columns = (0..5).map(|block| maps + block * ALL);
    let mut next = |graph: &mut Graph| {
        let start = columns.next().unwrap_or(COLUMNS);
        part(graph, statistics, 1, start, start + ALL)
    };
    let [reference, distorted, reference_variance, distorted_variance, covariance] =
        std::array::from_fn(|_| next(graph));
    let (reference, reference_offset) = overall(graph, &reference, &shares);
    let (distorted, distorted_offset) = overall(graph, &distorted, &shares);
    let mut spread = |within: &Value, first: &Value, second: &Value| {
        let between = graph.node("Mul", &[first, second], &[]);
        let both = graph.node("Add", &[within, &between], &[]);
        let weighed = graph.node("Mul", &[&both, &shares], &[]);
        sum(graph, &weighed, 0)
    };
    let reference_variance = spread(&reference_variance, &reference_offset, &reference_offset);
    let distorted_variance = spread(&distorted_variance, &distorted_offset, &distorted_offset);
    let covariances = spread(&covariance, &reference_offset, &distorted_offset);
    let reference_square = graph.node("Mul", &[&reference, &reference], &[]);
    let distorted_square = graph.node("Mul", &[&distorted, &distorted], &[]);
    Merged {
        products: graph.node("Mul", &[&reference, &distorted], &[]),
        squares: graph.node("Add", &[&reference_square, &distorted_square], &[]),
        covariances,
        variances: graph.node("Add", &[&reference_variance, &distorted_variance], &[]),
    }
}

/// Returns the means of the image, and the difference of each tile from them.
fn overall(graph: &mut Graph, means: &Value, shares: &Value) -> (Value, Value) {
    let weighed = graph.node("Mul", &[means, shares], &[]);
    let mean = sum(graph, &weighed, 0);
    let offset = graph.node("Sub", &[means, &mean], &[]);
    (mean, offset)
}

/// Computes `(2 mixed + c) / (own + c)`, which is 1 if both images have the same statistics.
fn similarity(graph: &mut Graph, [mixed, own]: [&Value; 2]) -> Value {
    let (two, stability) = (graph.number(2.0), graph.number(STABILITY));
    let twice = graph.node("Mul", &[mixed, &two], &[]);
    let numerator = graph.node("Add", &[&twice, &stability], &[]);
    let denominator = graph.node("Add", &[own, &stability], &[]);
    graph.node("Div", &[&numerator, &denominator], &[])
}

/// Computes the mean over all positions, [images, channels, 1, 1].
fn mean(graph: &mut Graph, maps: &Value) -> Value {
    graph.node("ReduceMean", &[maps], &[("axes", Attribute::Integers(&[2, 3]))])
}

/// Returns the weights of texture and structure of every channel; together they sum to 1.
fn importance(weights: &torch::Checkpoint<'_>) -> Result<(Tensor, Tensor)> {
    let read = |name: &str| weights.tensor(name)?.with_shape(name, &[1, ALL, 1, 1]);
    let (alpha, beta) = (read("alpha")?, read("beta")?);
    let total: f64 = alpha.values().iter().chain(beta.values()).map(|&weight| f64::from(weight)).sum();
    let share = |tensor: &Tensor| {
        let shares = tensor.values().iter().map(|&weight| (f64::from(weight) / total) as f32).collect();
        Tensor::vector(shares)
    };
    Ok((share(&alpha), share(&beta)))
}

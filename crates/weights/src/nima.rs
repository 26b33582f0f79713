//! NIMA, neural image assessment: the aesthetic model of idealo.
//!
//! **What it measures**: the distribution of human ratings of a photo, as shares of the ratings 1
//! to 10.
//! **Range and direction**: the expected rating, 1 to 10; higher is better.
//! **Reference**: Talebi, Milanfar, TIP 2018; weights `weights_mobilenet_aesthetic_0.07` of
//! idealo's image-quality-assessment, trained on AVA.
//! **Deviations**: none; images are 224 by 224, resized to the nearest pixel like Keras'
//! `load_img`.

use crate::hdf5::File;
use crate::networks::{mobilenet, scale};
use crate::onnx::{Attribute, Extent, Graph};
use crate::{Result, networks::mobilenet::FEATURES};

const RATINGS: usize = 10;
const SIDE: i64 = 224;

/// Builds the model that maps an image [1, 3, 224, 224] with values from 0 to 1 to the shares of
/// the ratings.
pub(crate) fn model(file: &File<'_>) -> Result<Vec<u8>> {
    let mut graph = Graph::new("nima");
    let picture = graph.input("image", &[Extent::Is(1), Extent::Is(3), Extent::Is(SIDE), Extent::Is(SIDE)]);
    let scaled = scale(&mut graph, &picture, &[2.0; 3], &[-1.0; 3]);
    let features = mobilenet::features(&mut graph, file, &scaled)?;
    let means = graph.node("GlobalAveragePool", &[&features], &[]);
    let means = graph.node("Flatten", &[&means], &[]);
    let name = "dense_1/dense_1/kernel:0";
    let weights = graph.tensor(&file.tensor(name)?.with_shape(name, &[FEATURES, RATINGS])?);
    let name = "dense_1/dense_1/bias:0";
    let bias = graph.tensor(&file.tensor(name)?.with_shape(name, &[RATINGS])?);
    let ratings = graph.node("Gemm", &[&means, &weights, &bias], &[]);
    let shares = graph.node("Softmax", &[&ratings], &[("axis", Attribute::Integer(1))]);
    graph.output("ratings", &shares, &[Extent::Is(1), Extent::Is(RATINGS as i64)]);
    Ok(graph.finish())
}

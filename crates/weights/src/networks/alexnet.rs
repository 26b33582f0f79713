//! AlexNet (Krizhevsky, "One weird trick", 2014) up to its fifth convolution, as in torchvision.
//!
//! **Positions**: the first convolution has stride 4 and covers pixels 4i-2 to 4i+8; both pools
//! have stride 2, cover 2i to 2i+2, and have no padding. Position i of a map with stride s
//! therefore starts near pixel s * i for any image size, and maps end earlier than the image.
//! **Reach**: position k of the last map (stride 16) depends on pixels 16k-66 to 16k+96.

use super::{Convolution, Layer, max_pool};
use crate::onnx::{Graph, Value};
use crate::{Result, numpy::Checkpoint};

/// For each of the five convolutions: size, inputs, outputs, stride, padding.
const CONVOLUTIONS: [(usize, usize, usize, i64, i64); 5] =
    [(11, 3, 64, 4, 2), (5, 64, 192, 1, 2), (3, 192, 384, 1, 1), (3, 384, 256, 1, 1), (3, 256, 256, 1, 1)];
/// Convolutions that are followed by a pool.
const POOLED: [usize; 2] = [0, 1];

/// Returns the maps after every rectifier.
pub(crate) fn layers(graph: &mut Graph, checkpoint: &Checkpoint<'_>, pictures: &Value) -> Result<Vec<Layer>> {
    let mut layers = Vec::new();
    let (mut value, mut map_stride) = (pictures.clone(), 1);
    for (index, &(size, inputs, channels, stride, padding)) in CONVOLUTIONS.iter().enumerate() {
        let convolution = Convolution::read(checkpoint, &format!("AlexNet_0/Conv_{index}"), size, inputs, channels)?;
        let convolved = convolution.apply(graph, &value, stride, padding, 1);
        let features = graph.node("Relu", &[&convolved], &[]);
        map_stride *= stride;
        value = features.clone();
        layers.push(Layer { features, channels, stride: map_stride });
        if POOLED.contains(&index) {
            value = max_pool(graph, &value, 3);
            map_stride *= 2;
        }
    }
    Ok(layers)
}

//! Architecture of EfficientNet-Lite0 (Google, 2020; M. Tan, Q. Le, "EfficientNet", ICML 2019),
//! without its last stage and its head.
//!
//! The stem is followed by six stages of inverted residual blocks: a pointwise convolution expands
//! the channels, a depthwise convolution filters them, and a pointwise convolution projects them
//! back. Lite0 uses ReLU6 and no squeeze-and-excitation. Padding is TensorFlow's "same".

/// One convolution of the network, with its normalization folded in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Convolution {
    /// Number of input planes.
    pub inputs: usize,
    /// Number of output planes.
    pub outputs: usize,
    /// Side of the kernel in samples.
    pub side: usize,
    /// Stride in samples.
    pub stride: usize,
    /// Whether each plane is convolved separately.
    pub depthwise: bool,
}

impl Convolution {
    /// Returns the number of weights, without the biases.
    pub fn weights(&self) -> usize {
        let inputs = if self.depthwise { 1 } else { self.inputs };
        self.outputs * inputs * self.side * self.side
    }
}

/// The first convolution.
pub(crate) const STEM: Convolution = Convolution { inputs: 3, outputs: 32, side: 3, stride: 2, depthwise: false };

/// For each stage: number of blocks, side and stride of the depthwise convolution, expansion
/// factor, output planes.
const LAYOUT: [(usize, usize, usize, usize, usize); 6] =
    [(1, 3, 1, 1, 16), (2, 3, 2, 6, 24), (2, 5, 2, 6, 40), (3, 3, 2, 6, 80), (3, 5, 1, 6, 112), (4, 5, 2, 6, 192)];

/// Number of planes of the stem and of all stages.
pub const PLANES: usize = 32 + 16 + 24 + 40 + 80 + 112 + 192;

/// An inverted residual block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block {
    pub expand: Option<Convolution>,
    pub depthwise: Convolution,
    pub project: Convolution,
    /// Whether the input is added to the output.
    pub residual: bool,
    /// Whether this is the last block of its stage.
    pub last: bool,
}

/// Returns all blocks, in order.
pub(crate) fn blocks() -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut inputs = STEM.outputs;
    for (count, side, stride, widening, outputs) in LAYOUT {
        for index in 0..count {
            let wide = inputs * widening;
            let pointwise = |inputs, outputs| Convolution { inputs, outputs, side: 1, stride: 1, depthwise: false };
            let stride = if index == 0 { stride } else { 1 };
            blocks.push(Block {
                expand: (widening > 1).then(|| pointwise(inputs, wide)),
                depthwise: Convolution { inputs: wide, outputs: wide, side, stride, depthwise: true },
                project: pointwise(wide, outputs),
                residual: index > 0,
                last: index + 1 == count,
            });
            inputs = outputs;
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns all convolutions in the order of the weights file.
    fn convolutions() -> Vec<Convolution> {
        let blocks = blocks();
        let inner = blocks.iter().flat_map(|block| block.expand.into_iter().chain([block.depthwise, block.project]));
        std::iter::once(STEM).chain(inner).collect()
    }

    #[test]
    fn the_network_has_its_published_size() {
        let numbers: usize = convolutions().iter().map(|convolution| convolution.weights() + convolution.outputs).sum();
        // The whole network has 4 652 008 parameters, with two normalization parameters where one
        // bias is left here; subtract the last stage, the head and the classifier.
        let last = 192 * 1152 + 1152 * 9 + 1152 * 320 + 2 * (1152 + 1152 + 320);
        let head = 320 * 1280 + 2 * 1280 + 1280 * 1000 + 1000;
        let biases: usize = convolutions().iter().map(|convolution| convolution.outputs).sum();
        assert_eq!(numbers + biases + last + head, 4_652_008);
        let stages = blocks().into_iter().filter(|block| block.last).map(|block| block.project.outputs);
        assert_eq!(STEM.outputs + stages.sum::<usize>(), PLANES);
    }
}

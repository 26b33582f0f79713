//! The shape of EfficientNet-Lite0 (Google, 2020; M. Tan, Q. Le, "EfficientNet", ICML 2019), without its last stage and its head.
//!
//! A stem, then six stages of inverted residual blocks: a pointwise convolution widens, a depthwise one looks around, a
//! pointwise one narrows again. Lite0 has ReLU6 and no squeeze-and-excitation. Padding is TensorFlow's "same".

/// One convolution of the network, with its normalization folded in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Convolution {
    /// Planes that go in.
    pub inputs: usize,
    /// Planes that come out.
    pub outputs: usize,
    /// Side of the kernel.
    pub side: usize,
    /// Step from one output to the next.
    pub stride: usize,
    /// Whether every plane is looked at alone.
    pub depthwise: bool,
}

impl Convolution {
    /// Weights, without the bias of each output.
    pub fn weights(&self) -> usize {
        let inputs = if self.depthwise { 1 } else { self.inputs };
        self.outputs * inputs * self.side * self.side
    }
}

/// Planes of the stem.
pub(crate) const STEM: Convolution = Convolution { inputs: 3, outputs: 32, side: 3, stride: 2, depthwise: false };

/// Blocks of a stage, side and stride of its depthwise convolution, factor of widening, planes that come out.
const LAYOUT: [(usize, usize, usize, usize, usize); 6] =
    [(1, 3, 1, 1, 16), (2, 3, 2, 6, 24), (2, 5, 2, 6, 40), (3, 3, 2, 6, 80), (3, 5, 1, 6, 112), (4, 5, 2, 6, 192)];

/// The stem and the six stages.
pub const STAGES: usize = 1 + LAYOUT.len();

/// Planes of all stages together.
pub const CHANNELS: usize = 32 + 16 + 24 + 40 + 80 + 112 + 192;

/// An inverted residual block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block {
    pub expand: Option<Convolution>,
    pub depthwise: Convolution,
    pub project: Convolution,
    /// Whether what went in is added to what comes out.
    pub residual: bool,
    /// Whether it is the last of its stage.
    pub last: bool,
}

/// All blocks, in order.
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

/// All convolutions in the order in which the network runs them and the file of weights holds them.
pub fn convolutions() -> Vec<Convolution> {
    let blocks = blocks();
    let inner = blocks.iter().flat_map(|block| block.expand.into_iter().chain([block.depthwise, block.project]));
    std::iter::once(STEM).chain(inner).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_network_has_its_published_size() {
        let numbers: usize = convolutions().iter().map(|convolution| convolution.weights() + convolution.outputs).sum();
        // 4 652 008 of the whole network, whose normalizations have two numbers where one bias is left here, less the last
        // stage, the head and the thousand names.
        let last = 192 * 1152 + 1152 * 9 + 1152 * 320 + 2 * (1152 + 1152 + 320);
        let head = 320 * 1280 + 2 * 1280 + 1280 * 1000 + 1000;
        let biases: usize = convolutions().iter().map(|convolution| convolution.outputs).sum();
        assert_eq!(numbers + biases + last + head, 4_652_008);
        assert_eq!(
            blocks().iter().filter(|block| block.last).map(|block| block.project.outputs).sum::<usize>() + 32,
            CHANNELS
        );
    }
}

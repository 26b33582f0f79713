//! A depthwise convolution, with the pointwise convolution that expands its input.

use rayon::prelude::*;

use crate::network::activation::Activation;
use crate::network::architecture::Convolution;
use crate::network::buffer_pool::BufferPool;
use crate::network::depthwise::{Geometry, Scratch, depthwise};
use crate::network::pointwise::Pointwise;
use crate::network::weights::Numbers;
use crate::network::{Planes, Unusable};

/// Number of samples expanded and convolved together, small enough to stay in the cache between
/// the two steps.
const TOGETHER: usize = 1 << 20;

/// A depthwise convolution whose input is expanded a group of planes at a time.
pub(crate) struct Expanded {
    /// Expansion in groups of `together` planes; empty if the input is not expanded.
    expand: Vec<Pointwise>,
    together: usize,
    shape: Convolution,
    numbers: Numbers,
    /// Functions before and after the depthwise convolution.
    activations: (Activation, Activation),
}

impl Expanded {
    /// `side` is the usual side of the input, for which the group size is chosen.
    pub(crate) fn new(
        expand: Option<&Numbers>,
        shape: Convolution,
        numbers: Numbers,
        activations: (Activation, Activation),
        side: usize,
    ) -> Self {
        // At least two groups, so that two threads have work.
        let together = (TOGETHER / (side * side)).clamp(1, shape.inputs.div_ceil(2));
        let expand = expand.map(|numbers| Pointwise::in_groups(numbers, together)).unwrap_or_default();
        Self { expand, together, shape, numbers, activations }
    }

    pub(crate) fn run(&self, input: &Planes, room: &BufferPool) -> Result<Planes, Unusable> {
        let geometry = Geometry::new((input.width(), input.height()), &self.shape);
        let (width, height) = geometry.outputs;
        let mut seen = room.planes(self.shape.outputs, width, height);
        let together = self.together;
        let (area, taps) = (input.width() * input.height(), self.shape.side * self.shape.side);
        let Numbers { weights, bias } = &self.numbers;
        let kernels = weights.par_chunks(together * taps).zip(bias.par_chunks(together));
        let groups = seen.data_mut().par_chunks_mut(together * width * height).zip(kernels).enumerate();
        groups.try_for_each_init(
            || Scratch::new(&geometry),
            |scratch, (group, (out, kernels))| {
                let size = kernels.1.len() * area;
                let Some(expand) = self.expand.get(group) else {
                    let planes = &input.data()[group * together * area..][..size];
                    depthwise(planes, &geometry, kernels, self.activations, scratch, out);
                    return Ok(());
                };
                let mut wide = room.take(size);
                expand.run(input, &mut wide)?;
                depthwise(&wide, &geometry, kernels, self.activations, scratch, out);
                room.give(wide);
                Ok(())
            },
        )?;
        Ok(seen)
    }
}

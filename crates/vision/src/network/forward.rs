//! The network and its forward pass.

use std::sync::OnceLock;

use rayon::prelude::*;

use crate::network::Planes;
use crate::network::architecture::{self, Convolution, STEM};
use crate::network::buffer_pool::BufferPool;
use crate::network::depthwise::{Geometry, Scratch, depthwise, full};
use crate::network::pointwise::Pointwise;
use crate::network::weights::{self, Numbers, Unusable};

/// EfficientNet-Lite0 without its last stage and its head.
pub struct Backbone {
    stem: Numbers,
    blocks: Vec<Block>,
    room: BufferPool,
}

/// Number of samples expanded and convolved together, small enough to stay in the cache between
/// the two steps.
const TOGETHER: usize = 1 << 20;
/// Side of the images for which the group size is chosen.
const USUAL_SIDE: usize = 384;

struct Block {
    /// Expansion in groups of `together` planes; empty if the block does not expand.
    expand: Vec<Pointwise>,
    together: usize,
    shape: Convolution,
    depthwise: Numbers,
    project: Pointwise,
    residual: bool,
    last: bool,
}

impl std::fmt::Debug for Backbone {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Backbone").field("blocks", &self.blocks.len()).finish_non_exhaustive()
    }
}

impl Backbone {
    /// Returns the network with the built-in weights, which are read once per process.
    pub fn builtin() -> Result<&'static Self, Unusable> {
        static NETWORK: OnceLock<Result<Backbone, Unusable>> = OnceLock::new();
        NETWORK.get_or_init(|| Self::read(weights::BUILTIN)).as_ref().map_err(Clone::clone)
    }

    /// Reads the weights of a file. Damaged files are rejected.
    pub fn read(bytes: &[u8]) -> Result<Self, Unusable> {
        let mut numbers = weights::Reader::new(bytes)?;
        let stem = numbers.next(&STEM)?;
        let mut blocks = Vec::new();
        let mut side = USUAL_SIDE / STEM.stride;
        for block in architecture::blocks() {
            let expand = block.expand.map(|shape| numbers.next(&shape)).transpose()?;
            // At least two groups, so that two threads have work.
            let together = (TOGETHER / (side * side)).clamp(1, block.depthwise.inputs.div_ceil(2));
            side = side.div_ceil(block.depthwise.stride);
            blocks.push(Block {
                expand: expand.map(|numbers| Pointwise::in_groups(&numbers, together)).unwrap_or_default(),
                together,
                shape: block.depthwise,
                depthwise: numbers.next(&block.depthwise)?,
                project: numbers.next(&block.project).map(|numbers| Pointwise::new(&numbers.weights, &numbers.bias))?,
                residual: block.residual,
                last: block.last,
            });
        }
        numbers.finish()?;
        Ok(Self { stem, blocks, room: BufferPool::default() })
    }

    /// Runs the network on an image of three planes (red, green and blue from -1 to 1) and returns
    /// the mean and standard deviation of each plane of the stem and of all stages.
    pub fn look(&self, image: &Planes) -> Result<Vec<(f64, f64)>, Unusable> {
        if image.channels() != STEM.inputs {
            return Err(Unusable(format!("it needs three planes, not {}", image.channels())));
        }
        let mut current = full(image, &STEM, &self.stem.weights, &self.stem.bias, &self.room);
        let mut moments = current.moments();
        for block in &self.blocks {
            let mut next = block.run(&current, &self.room)?;
            if block.residual {
                next.data_mut().iter_mut().zip(current.data()).for_each(|(sum, before)| *sum += before);
            }
            self.room.give(std::mem::replace(&mut current, next).into_data());
            if block.last {
                moments.extend(current.moments());
            }
        }
        self.room.give(current.into_data());
        Ok(moments)
    }
}

impl Block {
    fn run(&self, input: &Planes, room: &BufferPool) -> Result<Planes, Unusable> {
        let geometry = Geometry::new((input.width(), input.height()), &self.shape);
        let (width, height) = geometry.outputs;
        let mut seen = room.planes(self.shape.outputs, width, height);
        let together = self.together;
        let (area, taps) = (input.width() * input.height(), self.shape.side * self.shape.side);
        let Numbers { weights, bias } = &self.depthwise;
        let kernels = weights.par_chunks(together * taps).zip(bias.par_chunks(together));
        let groups = seen.data_mut().par_chunks_mut(together * width * height).zip(kernels).enumerate();
        groups.try_for_each_init(
            || Scratch::new(&geometry),
            |scratch, (group, (out, kernels))| {
                let size = kernels.1.len() * area;
                let Some(expand) = self.expand.get(group) else {
                    let planes = &input.data()[group * together * area..][..size];
                    depthwise(planes, &geometry, kernels, scratch, out);
                    return Ok(());
                };
                let mut wide = room.take(size);
                expand.run(input, &mut wide)?;
                depthwise(&wide, &geometry, kernels, scratch, out);
                room.give(wide);
                Ok(())
            },
        )?;
        let mut output = room.planes(self.project.outputs(), width, height);
        self.project.run(&seen, output.data_mut())?;
        room.give(seen.into_data());
        Ok(output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::PLANES;

    fn pattern(width: usize, height: usize) -> Planes {
        let samples = (0..3 * width * height).map(|i| (i % 977) as f32 / 488.0 - 1.0).collect();
        Planes::new(3, width, height, samples).unwrap()
    }

    #[test]
    fn odd_sizes_and_tiny_pictures_pass() {
        for (width, height) in [(1, 1), (33, 7), (97, 65)] {
            let seen = Backbone::builtin().unwrap().look(&pattern(width, height)).unwrap();
            assert_eq!(seen.len(), PLANES);
            assert!(seen.iter().all(|(mean, spread)| mean.is_finite() && spread.is_finite()));
        }
        let gray = Planes::new(1, 8, 8, vec![0.0; 64]).unwrap();
        assert!(Backbone::builtin().unwrap().look(&gray).unwrap_err().to_string().contains("three planes"));
    }

    #[test]
    fn damaged_weights_are_refused() {
        let mut bytes = weights::BUILTIN.to_vec();
        bytes[5000] ^= 1;
        assert!(Backbone::read(&bytes).unwrap_err().to_string().contains("checksum"));
        assert!(Backbone::read(&bytes[..10]).unwrap_err().to_string().contains("too short"));
    }
}

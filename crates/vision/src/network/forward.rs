//! The network and its forward pass.

use std::sync::OnceLock;

use crate::network::Planes;
use crate::network::activation::Activation;
use crate::network::architecture::{self, STEM};
use crate::network::buffer_pool::BufferPool;
use crate::network::depthwise::full;
use crate::network::expanded::Expanded;
use crate::network::pointwise::Pointwise;
use crate::network::weights::{self, Numbers, Unusable};

/// EfficientNet-Lite0 without its last stage and its head.
pub struct Backbone {
    stem: Numbers,
    blocks: Vec<Block>,
    room: BufferPool,
}

/// Side of the images for which the group size is chosen.
const USUAL_SIDE: usize = 384;

/// Functions before and after the filters of a block.
const RELU6: (Activation, Activation) = (Activation::Relu6, Activation::Relu6);

struct Block {
    filter: Expanded,
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
            let depthwise = numbers.next(&block.depthwise)?;
            let filter = Expanded::new(expand.as_ref(), block.depthwise, depthwise, RELU6, side);
            side = side.div_ceil(block.depthwise.stride);
            blocks.push(Block {
                filter,
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
        let mut current = full(image, &STEM, (&self.stem.weights, &self.stem.bias), Activation::Relu6, &self.room);
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
        let seen = self.filter.run(input, room)?;
        let mut output = room.planes(self.project.outputs(), seen.width(), seen.height());
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

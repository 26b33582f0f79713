//! The network: its weights, and the way of a picture through it.

use std::sync::OnceLock;

use rten_gemm::GemmExecutor;

use crate::Planes;
use crate::architecture::{self, Convolution, STAGES, STEM};
use crate::depthwise::{depthwise, full};
use crate::pointwise::Pointwise;
use crate::weights::{self, Numbers, Unusable};

/// EfficientNet-Lite0 up to its last stage but one.
pub struct Backbone {
    stem: Numbers,
    blocks: Vec<Block>,
}

struct Block {
    expand: Option<Pointwise>,
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
    /// The network with the weights that are built in, read once.
    pub fn builtin() -> Result<&'static Self, Unusable> {
        static NETWORK: OnceLock<Result<Backbone, Unusable>> = OnceLock::new();
        NETWORK.get_or_init(|| Self::read(weights::BUILTIN)).as_ref().map_err(Clone::clone)
    }

    /// The network with the weights of a file; a damaged file is refused.
    pub fn read(bytes: &[u8]) -> Result<Self, Unusable> {
        let product = GemmExecutor::new();
        let mut numbers = weights::read(bytes)?.into_iter();
        let mut next = || numbers.next().ok_or_else(|| Unusable("weights are missing".to_owned()));
        let stem = next()?;
        let mut blocks = Vec::new();
        for block in architecture::blocks() {
            let expand = block.expand.map(|_| next()).transpose()?.map(|numbers| Pointwise::new(&product, &numbers));
            let depthwise = next()?;
            let project = Pointwise::new(&product, &next()?);
            let (shape, residual, last) = (block.depthwise, block.residual, block.last);
            blocks.push(Block { expand, shape, depthwise, project, residual, last });
        }
        Ok(Self { stem, blocks })
    }

    /// What each stage sees of a picture of three planes, red, green and blue, from -1 to 1.
    pub fn stages(&self, picture: Planes) -> Result<Vec<Planes>, Unusable> {
        if picture.channels() != STEM.inputs {
            return Err(Unusable(format!("it needs three planes, not {}", picture.channels())));
        }
        let product = GemmExecutor::new();
        let mut stages = Vec::with_capacity(STAGES);
        let mut current = full(&picture, &STEM, &self.stem.weights, &self.stem.bias);
        stages.push(current.clone());
        for block in &self.blocks {
            let mut next = block.run(&product, &current)?;
            if block.residual {
                next.data_mut().iter_mut().zip(current.data()).for_each(|(sum, before)| *sum += before);
            }
            current = next;
            if block.last {
                stages.push(current.clone());
            }
        }
        Ok(stages)
    }
}

impl Block {
    fn run(&self, product: &GemmExecutor, input: &Planes) -> Result<Planes, Unusable> {
        let wide = self.expand.as_ref().map(|expand| expand.run(product, input)).transpose()?;
        let Numbers { weights, bias } = &self.depthwise;
        let seen = depthwise(wide.as_ref().unwrap_or(input), &self.shape, weights, bias);
        self.project.run(product, &seen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(width: usize, height: usize) -> Planes {
        let samples = (0..3 * width * height).map(|i| (i % 977) as f32 / 488.0 - 1.0).collect();
        Planes::new(3, width, height, samples).unwrap()
    }

    /// Mean and (sample) deviation of the last plane of each stage, as PyTorch 2.15 computes them with the published weights.
    const TORCH: [(f64, f64); STAGES] = [
        (0.0000, 0.0000),
        (-3.5013, 4.2824),
        (-13.9840, 7.1021),
        (10.5958, 7.5424),
        (0.9746, 2.0416),
        (5.3259, 2.9640),
        (-6.7875, 1.2517),
    ];

    #[test]
    fn every_stage_sees_what_it_sees_in_torch() {
        let stages = Backbone::builtin().unwrap().stages(pattern(96, 64)).unwrap();
        for (stage, (mean, deviation)) in stages.iter().zip(TORCH) {
            let count = (stage.width() * stage.height()) as f64;
            let (ours, spread) = *stage.moments().last().unwrap();
            let spread = spread * (count / (count - 1.0)).sqrt();
            // Half precision of the weights.
            assert!(
                (ours - mean).abs() < 0.04 && (spread - deviation).abs() < 0.04,
                "{ours} {mean}, {spread} {deviation}"
            );
        }
    }

    #[test]
    fn odd_sizes_and_tiny_pictures_pass() {
        for (width, height) in [(1, 1), (33, 7), (97, 65)] {
            let stages = Backbone::builtin().unwrap().stages(pattern(width, height)).unwrap();
            assert_eq!(stages.len(), STAGES);
            assert!(stages.iter().all(|stage| stage.data().iter().all(|sample| sample.is_finite())));
        }
        let grey = Planes::new(1, 8, 8, vec![0.0; 64]).unwrap();
        assert!(Backbone::builtin().unwrap().stages(grey).unwrap_err().to_string().contains("three planes"));
    }

    #[test]
    fn damaged_weights_are_refused() {
        let mut bytes = weights::BUILTIN.to_vec();
        bytes[5000] ^= 1;
        assert!(Backbone::read(&bytes).unwrap_err().to_string().contains("checksum"));
        assert!(Backbone::read(&bytes[..10]).unwrap_err().to_string().contains("too short"));
    }
}

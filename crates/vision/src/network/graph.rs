//! A network that a file describes layer by layer, and its forward pass.
//!
//! Value 0 is the image; value n is the output of layer n. Weights have 8 or 16 bits and one scale
//! per output, so that the files stay small.

use rayon::prelude::*;
use serde::Deserialize;

use crate::network::activation::Activation;
use crate::network::architecture::Convolution;
use crate::network::buffer_pool::BufferPool;
use crate::network::depthwise::full;
use crate::network::expanded::Expanded;
use crate::network::pointwise::Pointwise;
use crate::network::resample::{doubled, max_halved};
use crate::network::weights::Numbers;
use crate::network::{Planes, Unusable};

/// Description of a network in a file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Description {
    /// Bits of each weight, 8 or 16.
    bits: u8,
    layers: Vec<Layer>,
    /// Numbers of the values that the network returns.
    outputs: Vec<usize>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Layer {
    operation: Operation,
    inputs: Vec<usize>,
    activation: Activation,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Operation {
    Convolution {
        outputs: usize,
        side: usize,
        stride: usize,
        depthwise: bool,
    },
    Add,
    /// Multiplies each plane by one number.
    Scale,
    /// The mean of each plane.
    Mean,
    Concatenate,
    Double,
    MaxHalve,
    /// Appends planes of zeros.
    Widen {
        outputs: usize,
    },
}

/// Planes of the image.
const COLORS: usize = 3;
/// Largest number of planes, side and stride that a file may ask for.
const MOST: (usize, usize, usize) = (4096, 5, 2);

/// A network that is ready to run.
pub(crate) struct Graph {
    steps: Vec<Step>,
    /// For each step: the values that nothing needs afterwards.
    done: Vec<Vec<usize>>,
    outputs: Vec<usize>,
    room: BufferPool,
}

struct Step {
    work: Work,
    inputs: Vec<usize>,
    output: usize,
    activation: Activation,
}

enum Work {
    Pointwise(Pointwise),
    Depthwise(Expanded),
    Full(Convolution, Numbers),
    Add,
    Scale,
    Mean,
    Concatenate,
    Double,
    MaxHalve,
    Widen(usize),
}

/// Planes and strides of a value.
#[derive(Clone, Copy)]
struct Shape {
    channels: usize,
    /// Side for a usual image.
    side: usize,
}

impl Graph {
    /// Creates a network from its description and takes its weights from the front of `bytes`. `side`
    /// is the usual side of an image.
    pub(crate) fn new(description: &Description, bytes: &mut &[u8], side: usize) -> Result<Self, Unusable> {
        let Description { bits, layers, outputs } = description;
        let mut shapes = vec![Shape { channels: COLORS, side }];
        let mut steps = Vec::new();
        // An expansion that only a depthwise convolution reads is computed with it.
        let mut waiting: Vec<Option<(Numbers, usize, Activation)>> = vec![None; layers.len() + 1];
        for (place, layer) in layers.iter().enumerate() {
            let inputs = layer.inputs.iter().map(|input| shapes.get(*input).copied());
            let inputs = inputs.collect::<Option<Vec<Shape>>>().ok_or_else(|| damaged("a layer reads a later one"))?;
            let (shape, convolution) = layer.shape(&inputs)?;
            shapes.push(shape);
            let output = place + 1;
            let mut step = Step { work: Work::Add, inputs: layer.inputs.clone(), output, activation: layer.activation };
            step.work = match (layer.operation, convolution) {
                (_, Some(convolution)) => {
                    let numbers = take(bytes, &convolution, *bits)?;
                    if convolution.depthwise {
                        let before = waiting[layer.inputs[0]].take();
                        let (expand, activation) = match before {
                            Some((numbers, input, activation)) => {
                                step.inputs = vec![input];
                                (Some(numbers), activation)
                            }
                            None => (None, Activation::Linear),
                        };
                        let activations = (activation, step.activation);
                        step.activation = Activation::Linear;
                        Work::Depthwise(Expanded::new(
                            expand.as_ref(),
                            convolution,
                            numbers,
                            activations,
                            inputs[0].side,
                        ))
                    } else if convolution.side > 1 || convolution.stride > 1 {
                        Work::Full(convolution, numbers)
                    } else if joins(layers, outputs, output) {
                        waiting[output] = Some((numbers, layer.inputs[0], layer.activation));
                        continue;
                    } else {
                        Work::Pointwise(Pointwise::new(&numbers.weights, &numbers.bias))
                    }
                }
                (Operation::Add, _) => Work::Add,
                (Operation::Scale, _) => Work::Scale,
                (Operation::Mean, _) => Work::Mean,
                (Operation::Concatenate, _) => Work::Concatenate,
                (Operation::Double, _) => Work::Double,
                (Operation::MaxHalve, _) => Work::MaxHalve,
                (Operation::Widen { outputs }, _) => Work::Widen(outputs),
                (Operation::Convolution { .. }, None) => return Err(damaged("a convolution has no shape")),
            };
            steps.push(step);
        }
        if outputs.is_empty() || outputs.iter().any(|output| *output == 0 || *output > layers.len()) {
            return Err(damaged("it returns nothing"));
        }
        let done = done(&steps, outputs);
        Ok(Self { steps, done, outputs: outputs.clone(), room: BufferPool::default() })
    }

    /// Runs the network on an image of three planes.
    pub(crate) fn run(&self, image: Planes) -> Result<Vec<Planes>, Unusable> {
        if image.channels() != COLORS {
            return Err(Unusable(format!("it needs three planes, not {}", image.channels())));
        }
        let last = self.steps.iter().map(|step| step.output).max().unwrap_or_default();
        let mut values: Vec<Option<Planes>> = vec![None; last + 1];
        values[0] = Some(image);
        for (step, done) in self.steps.iter().zip(&self.done) {
            let inputs = step.inputs.iter().map(|input| values[*input].as_ref());
            let inputs = inputs.collect::<Option<Vec<&Planes>>>().ok_or_else(|| damaged("a value is missing"))?;
            let output = step.run(&inputs, &self.room)?;
            values[step.output] = Some(output);
            for place in done {
                // The image is not from the pool, which would grow with every run.
                if let Some(value) = values[*place].take().filter(|_| *place > 0) {
                    self.room.give(value.into_data());
                }
            }
        }
        let outputs = self.outputs.iter().map(|output| values[*output].take());
        outputs.collect::<Option<Vec<Planes>>>().ok_or_else(|| damaged("a value is missing"))
    }

    /// The number of buffers that wait for a run.
    #[cfg(test)]
    pub(crate) fn waiting(&self) -> usize {
        self.room.waiting()
    }

    /// Takes back planes that [`run`](Self::run) returned.
    pub(crate) fn give(&self, planes: Vec<Planes>) {
        planes.into_iter().for_each(|planes| self.room.give(planes.into_data()));
    }
}

/// Returns whether only one depthwise convolution reads a value.
fn joins(layers: &[Layer], outputs: &[usize], value: usize) -> bool {
    let mut readers = layers.iter().filter(|layer| layer.inputs.contains(&value));
    let depthwise = |layer: &Layer| matches!(layer.operation, Operation::Convolution { depthwise: true, .. });
    readers.next().is_some_and(depthwise) && readers.next().is_none() && !outputs.contains(&value)
}

/// Returns the values that nothing reads after each step.
fn done(steps: &[Step], outputs: &[usize]) -> Vec<Vec<usize>> {
    let mut done = vec![Vec::new(); steps.len()];
    for (place, step) in steps.iter().enumerate() {
        for value in &step.inputs {
            let later = steps[place + 1..].iter().any(|step| step.inputs.contains(value));
            if !later && !outputs.contains(value) && !done[place].contains(value) {
                done[place].push(*value);
            }
        }
    }
    done
}

impl Layer {
    /// Returns the shape of the output and, for a convolution, its own.
    fn shape(&self, inputs: &[Shape]) -> Result<(Shape, Option<Convolution>), Unusable> {
        let Some(&first) = inputs.first() else { return Err(damaged("a layer reads nothing")) };
        let two = |same: bool| match inputs {
            [one, two] if !same || one.channels == two.channels => Ok(first),
            _ => Err(damaged("planes of a layer do not fit")),
        };
        let one = || if inputs.len() == 1 { Ok(first) } else { Err(damaged("a layer reads too much")) };
        let shape = match self.operation {
            Operation::Convolution { outputs, side, stride, depthwise } => {
                let first = one()?;
                let fits = outputs > 0 && outputs <= MOST.0 && (1..=MOST.1).contains(&side) && side % 2 == 1;
                if !fits || !(1..=MOST.2).contains(&stride) || depthwise && outputs != first.channels {
                    return Err(damaged("a convolution makes no sense"));
                }
                let shape = Shape { channels: outputs, side: first.side.div_ceil(stride) };
                return Ok((shape, Some(Convolution { inputs: first.channels, outputs, side, stride, depthwise })));
            }
            Operation::Add | Operation::Scale => two(true)?,
            Operation::Concatenate => {
                Shape { channels: inputs.iter().map(|input| input.channels).sum(), side: two(false)?.side }
            }
            Operation::Mean => Shape { side: 1, ..one()? },
            Operation::Double => Shape { side: 2 * first.side, ..one()? },
            Operation::MaxHalve => Shape { side: first.side.div_ceil(2), ..one()? },
            Operation::Widen { outputs } if (first.channels..=MOST.0).contains(&outputs) => {
                Shape { channels: outputs, ..one()? }
            }
            Operation::Widen { .. } => return Err(damaged("a layer drops planes")),
        };
        Ok((shape, None))
    }
}

impl Step {
    fn run(&self, inputs: &[&Planes], room: &BufferPool) -> Result<Planes, Unusable> {
        let first = inputs[0];
        let like = |channels: usize| room.planes(channels, first.width(), first.height());
        let mut output = match &self.work {
            Work::Pointwise(pointwise) => {
                let mut output = like(pointwise.outputs());
                pointwise.run(first, output.data_mut())?;
                output
            }
            Work::Depthwise(expanded) => expanded.run(first, room)?,
            // Applies the activation itself.
            Work::Full(shape, numbers) => {
                return Ok(full(first, shape, (&numbers.weights, &numbers.bias), self.activation, room));
            }
            Work::Add => {
                let mut output = like(first.channels());
                if first.data().len() != inputs[1].data().len() {
                    return Err(damaged("planes of a layer do not fit"));
                }
                let (one, two) = (first.data().par_chunks(CHUNK), inputs[1].data().par_chunks(CHUNK));
                output.data_mut().par_chunks_mut(CHUNK).zip(one.zip(two)).for_each(|(out, (one, two))| {
                    out.iter_mut().zip(one.iter().zip(two)).for_each(|(out, (one, two))| *out = one + two);
                });
                output
            }
            Work::Scale => {
                // The factors come first or second.
                let (planes, factors) =
                    if first.data().len() >= inputs[1].data().len() { (first, inputs[1]) } else { (inputs[1], first) };
                if factors.data().len() != planes.channels() {
                    return Err(damaged("planes of a layer do not fit"));
                }
                let area = planes.width() * planes.height();
                let mut output = room.planes(planes.channels(), planes.width(), planes.height());
                let scaled = planes.data().par_chunks(area).zip(factors.data());
                output.data_mut().par_chunks_mut(area).zip(scaled).for_each(|(out, (plane, factor))| {
                    out.iter_mut().zip(plane).for_each(|(out, sample)| *out = sample * factor);
                });
                output
            }
            Work::Mean => {
                let mut means = room.planes(first.channels(), 1, 1);
                let found = first.moments().into_iter().map(|(mean, _)| mean as f32);
                means.data_mut().iter_mut().zip(found).for_each(|(mean, found)| *mean = found);
                means
            }
            Work::Concatenate => {
                let mut output = like(inputs.iter().map(|input| input.channels()).sum());
                let mut rest = output.data_mut();
                for input in inputs {
                    let part = rest.split_at_mut_checked(input.data().len());
                    let (out, after) = part.ok_or_else(|| damaged("planes of a layer do not fit"))?;
                    out.copy_from_slice(input.data());
                    rest = after;
                }
                if !rest.is_empty() {
                    return Err(damaged("planes of a layer do not fit"));
                }
                output
            }
            Work::Double => doubled(first, room),
            Work::MaxHalve => max_halved(first, room),
            Work::Widen(outputs) => {
                let mut output = like(*outputs);
                let (out, zeros) = output.data_mut().split_at_mut(first.data().len());
                out.copy_from_slice(first.data());
                zeros.fill(0.0);
                output
            }
        };
        if self.activation != Activation::Linear {
            output.data_mut().par_chunks_mut(CHUNK).for_each(|samples| self.activation.apply(samples));
        }
        Ok(output)
    }
}

/// Samples that a thread processes together in a layer without neighbors.
const CHUNK: usize = 1 << 14;

/// Takes the numbers of a convolution: scales and biases of 32 bits, and its weights.
fn take(bytes: &mut &[u8], shape: &Convolution, bits: u8) -> Result<Numbers, Unusable> {
    let mut next = |length: usize| {
        let (taken, rest) = bytes.split_at_checked(length).ok_or_else(|| damaged("it ends early"))?;
        *bytes = rest;
        Ok(taken)
    };
    let floats = |bytes: &[u8]| bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    let scales: Vec<f32> = floats(next(4 * shape.outputs)?);
    let bias: Vec<f32> = floats(next(4 * shape.outputs)?);
    let mut weights: Vec<f32> = match bits {
        8 => next(shape.weights())?.iter().map(|byte| f32::from(*byte as i8)).collect(),
        16 => {
            let pairs = next(2 * shape.weights())?.as_chunks::<2>().0;
            pairs.iter().map(|bytes| f32::from(i16::from_le_bytes(*bytes))).collect()
        }
        _ => return Err(damaged("its weights have an unknown size")),
    };
    for (row, scale) in weights.chunks_exact_mut(shape.weights() / shape.outputs).zip(&scales) {
        row.iter_mut().for_each(|weight| *weight *= scale);
    }
    if scales.iter().chain(&bias).all(|number| number.is_finite()) {
        Ok(Numbers { weights, bias })
    } else {
        Err(damaged("a number makes no sense"))
    }
}

fn damaged(what: &str) -> Unusable {
    Unusable(format!("its file is damaged ({what})"))
}

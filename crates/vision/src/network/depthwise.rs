//! Depthwise convolution (one kernel per plane), and the full convolution of the stem.

use multiversion::multiversion;
use rayon::prelude::*;

use crate::network::Planes;
use crate::network::activation::Activation;
use crate::network::architecture::Convolution;
use crate::network::buffer_pool::BufferPool;

/// Number of outputs computed together.
const TOGETHER: usize = 64;
/// Samples per vector register.
const LANES: usize = 16;

/// Memory layout of the samples and outputs of one plane.
///
/// The plane gets a border of zeros (TensorFlow's "same", smaller half first) and is split into
/// phases: sample (x, y) of phase (p, q) is sample (x * stride + p, y * stride + q). For any
/// stride, the outputs of a plane are then sums of slices of phases: row after row, with extra
/// sums between rows for the positions beyond the right border.
pub(crate) struct Geometry {
    side: usize,
    stride: usize,
    width: usize,
    height: usize,
    before: (usize, usize),
    /// Width and height of the output.
    pub outputs: (usize, usize),
    /// Samples per row of a phase.
    row: usize,
    /// Rows per phase.
    rows: usize,
}

impl Geometry {
    pub(crate) fn new((width, height): (usize, usize), convolution: &Convolution) -> Self {
        let Convolution { side, stride, .. } = *convolution;
        let outputs = (width.div_ceil(stride), height.div_ceil(stride));
        let before = |size: usize, outputs: usize| ((outputs - 1) * stride + side).saturating_sub(size) / 2;
        let before = (before(width, outputs.0), before(height, outputs.1));
        let reach = (side - 1) / stride;
        let (row, rows) = (outputs.0 + reach, outputs.1 + reach);
        Self { side, stride, width, height, before, outputs, row, rows }
    }

    /// Returns the number of sums of a plane, rounded up to whole groups.
    fn sums(&self) -> usize {
        (self.outputs.1 * self.row).next_multiple_of(TOGETHER)
    }

    /// Returns phases of zeros. They extend past the last row, because sums that are not outputs
    /// read there.
    fn phases(&self) -> Vec<Vec<f32>> {
        vec![vec![0.0; self.rows * self.row + self.row + TOGETHER]; self.stride * self.stride]
    }

    /// Applies `activation` to a plane and splits it into its phases. The border stays zero.
    fn split(&self, plane: &[f32], activation: Activation, phases: &mut [Vec<f32>]) {
        for (y, row) in plane.chunks_exact(self.width).enumerate() {
            let y = y + self.before.1;
            if y / self.stride >= self.rows {
                break;
            }
            for phase in 0..self.stride {
                let first = (phase + self.stride - self.before.0 % self.stride) % self.stride;
                let x = (first + self.before.0) / self.stride;
                let start = y / self.stride * self.row;
                let out = &mut phases[y % self.stride * self.stride + phase][start + x..start + self.row];
                activation.copy(row.get(first..).unwrap_or_default(), self.stride, out);
            }
        }
    }

    /// Returns the samples that tap `at` of the kernel multiplies, starting with those of the
    /// first output.
    fn met<'a>(&self, phases: &'a [Vec<f32>], at: usize) -> &'a [f32] {
        let (x, y) = (at % self.side, at / self.side);
        let phase = &phases[y % self.stride * self.stride + x % self.stride];
        &phase[y / self.stride * self.row + x / self.stride..]
    }
}

/// Working memory for convolving one plane after another.
pub(crate) struct Scratch {
    phases: Vec<Vec<f32>>,
    sums: Vec<f32>,
}

impl Scratch {
    pub(crate) fn new(geometry: &Geometry) -> Self {
        Self { phases: geometry.phases(), sums: vec![0.0; geometry.sums()] }
    }
}

/// Convolves each plane with its kernel. `before` is applied to the planes, `after` to the results.
pub(crate) fn depthwise(
    planes: &[f32],
    geometry: &Geometry,
    (weights, bias): (&[f32], &[f32]),
    (before, after): (Activation, Activation),
    scratch: &mut Scratch,
    out: &mut [f32],
) {
    let Scratch { phases, sums } = scratch;
    let kernels = weights.chunks_exact(geometry.side * geometry.side).zip(bias);
    let planes = planes.chunks_exact(geometry.width * geometry.height).zip(kernels);
    for (out, (plane, (kernel, bias))) in out.chunks_exact_mut(geometry.outputs.0 * geometry.outputs.1).zip(planes) {
        geometry.split(plane, before, phases);
        let taps: Vec<_> = kernel.iter().enumerate().map(|(at, weight)| (*weight, geometry.met(phases, at))).collect();
        weigh(&taps, *bias, sums);
        write(sums, geometry, after, out);
    }
}

/// Convolves all planes with the kernel of each output and applies `after`.
pub(crate) fn full(
    input: &Planes,
    convolution: &Convolution,
    (weights, bias): (&[f32], &[f32]),
    after: Activation,
    room: &BufferPool,
) -> Planes {
    let geometry = Geometry::new((input.width(), input.height()), convolution);
    let (width, height) = geometry.outputs;
    let mut output = room.planes(convolution.outputs, width, height);
    let side = convolution.side * convolution.side;
    let mut planes = vec![geometry.phases(); convolution.inputs];
    planes.iter_mut().zip(input.iter()).for_each(|(phases, plane)| geometry.split(plane, Activation::Linear, phases));
    let kernels = weights.par_chunks_exact(convolution.inputs * side).zip(bias);
    output.data_mut().par_chunks_exact_mut(width * height).zip(kernels).for_each_init(
        || vec![0.0; geometry.sums()],
        |sums, (out, (kernel, bias))| {
            let tap = |(at, weight): (usize, &f32)| (*weight, geometry.met(&planes[at / side], at % side));
            let taps: Vec<_> = kernel.iter().enumerate().map(tap).collect();
            weigh(&taps, *bias, sums);
            write(sums, &geometry, after, out);
        },
    );
    output
}

/// Copies the outputs out of the sums and applies `after`.
fn write(sums: &[f32], geometry: &Geometry, after: Activation, out: &mut [f32]) {
    for (out, sums) in out.chunks_exact_mut(geometry.outputs.0).zip(sums.chunks(geometry.row)) {
        after.copy(sums, 1, out);
    }
}

/// Computes weighted sums that stay in registers over all taps.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn weigh(taps: &[(f32, &[f32])], bias: f32, sums: &mut [f32]) {
    let (groups, _) = sums.as_chunks_mut::<TOGETHER>();
    for (index, group) in groups.iter_mut().enumerate() {
        // Arrays as wide as registers; the compiler would keep longer ones in memory.
        let mut together = [[bias; LANES]; TOGETHER / LANES];
        for (weight, samples) in taps {
            let Some(samples) = samples.get(index * TOGETHER..).and_then(|rest| rest.first_chunk::<TOGETHER>()) else {
                continue;
            };
            let (samples, _) = samples.as_chunks::<LANES>();
            for (together, samples) in together.iter_mut().zip(samples) {
                *together = std::array::from_fn(|lane| together[lane] + weight * samples[lane]);
            }
        }
        group.copy_from_slice(together.as_flattened());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RELU6: Activation = Activation::Relu6;

    /// Reference implementation, sample by sample.
    fn plainly(input: &Planes, convolution: &Convolution, weights: &[f32], bias: &[f32], clamp: bool) -> Vec<f32> {
        let (width, height) = (input.width() as isize, input.height() as isize);
        let Convolution { outputs, side, stride, depthwise, .. } = *convolution;
        let (columns, rows) = (input.width().div_ceil(stride), input.height().div_ceil(stride));
        let before = |size: usize, outputs: usize| (((outputs - 1) * stride + side).saturating_sub(size) / 2) as isize;
        let (left, top) = (before(input.width(), columns), before(input.height(), rows));
        let planes: Vec<&[f32]> = input.iter().collect();
        let mut out = Vec::new();
        for channel in 0..outputs {
            let inputs = if depthwise { vec![channel] } else { (0..convolution.inputs).collect() };
            for (y, x) in (0..rows).flat_map(|y| (0..columns).map(move |x| (y, x))) {
                let mut sum = bias[channel];
                for (nth, plane) in inputs.iter().enumerate() {
                    for (ky, kx) in (0..side).flat_map(|ky| (0..side).map(move |kx| (ky, kx))) {
                        let (sx, sy) = ((x * stride + kx) as isize - left, (y * stride + ky) as isize - top);
                        if (0..width).contains(&sx) && (0..height).contains(&sy) {
                            let sample = planes[*plane][(sy * width + sx) as usize];
                            let sample = if clamp { sample.clamp(0.0, 6.0) } else { sample };
                            sum += weights[((channel * inputs.len() + nth) * side + ky) * side + kx] * sample;
                        }
                    }
                }
                out.push(sum.clamp(0.0, 6.0));
            }
        }
        out
    }

    fn by_plane(input: &Planes, convolution: &Convolution, weights: &[f32], bias: &[f32]) -> Planes {
        let geometry = Geometry::new((input.width(), input.height()), convolution);
        let mut output = BufferPool::default().planes(convolution.outputs, geometry.outputs.0, geometry.outputs.1);
        let mut scratch = Scratch::new(&geometry);
        depthwise(input.data(), &geometry, (weights, bias), (RELU6, RELU6), &mut scratch, output.data_mut());
        output
    }

    fn pattern(count: usize, step: usize) -> Vec<f32> {
        (0..count).map(|i| (i * step % 101) as f32 / 16.0 - 2.0).collect()
    }

    #[test]
    fn every_side_stride_and_odd_size_follows_the_definition() {
        for (side, stride, width, height) in [
            (3, 1, 37, 5),
            (3, 2, 64, 33),
            (3, 2, 33, 64),
            (5, 1, 7, 40),
            (5, 2, 35, 18),
            (5, 2, 36, 19),
            (5, 2, 1, 1),
            (3, 1, 1, 3),
        ] {
            for depthwise in [true, false] {
                let convolution = Convolution { inputs: 3, outputs: 3, side, stride, depthwise };
                let input = Planes::new(3, width, height, pattern(3 * width * height, 37)).unwrap();
                let (weights, bias) = (pattern(convolution.weights(), 7), [0.5, -1.0, 1.0]);
                let output = if depthwise {
                    by_plane(&input, &convolution, &weights, &bias)
                } else {
                    full(&input, &convolution, (&weights, &bias), RELU6, &BufferPool::default())
                };
                let expected = plainly(&input, &convolution, &weights, &bias, depthwise);
                assert_eq!(output.data().len(), expected.len());
                for (ours, expected) in output.data().iter().zip(expected) {
                    assert!((ours - expected).abs() < 1e-3, "{side} {stride} {width}x{height}: {ours} {expected}");
                }
            }
        }
    }
}

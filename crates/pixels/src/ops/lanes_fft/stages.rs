//! The stages of Stockham's transform: twiddled butterflies that write their outputs in order.

use archmage::prelude::*;
use magetypes::simd::backends::F32x8Backend;

use super::butterflies::{Point, Root, Value, butterfly2, butterfly3, butterfly4, butterfly5, butterfly6, butterfly8};
use super::{Source, root};

/// The radices with a dedicated butterfly.
pub const BUTTERFLIES: [usize; 6] = [2, 3, 4, 5, 6, 8];

/// One stage: groups of butterflies of `radix` inputs, each repeated for `stride` neighbors.
#[derive(Debug, Clone)]
pub struct Stage {
    radix: usize,
    stride: usize,
    /// `radix - 1` factors for each group.
    twiddles: Vec<Root>,
    /// The `radix` roots of unity.
    roots: Vec<Root>,
}

impl Stage {
    /// Creates a stage for signals that still have `rest` samples together, `stride` apart.
    pub fn new(radix: usize, rest: usize, stride: usize) -> Self {
        let groups = rest / radix;
        let twiddles = (0..groups).flat_map(|group| (1..radix).map(move |k| root(group * k, rest))).collect();
        Self { radix, stride, twiddles, roots: (0..radix).map(|k| root(k, radix)).collect() }
    }

    /// Whether the stage can read directly from a source.
    pub fn reads_sources(&self) -> bool {
        self.stride == 1 && BUTTERFLIES.contains(&self.radix)
    }

    /// Runs the first stage of a transform, reading from `source`.
    pub fn run_from<S: Source>(&self, source: &S, to: &mut [Point]) {
        let (radix, twiddles) = (self.radix, self.twiddles.as_slice());
        incant!(first(radix, twiddles, source, to), [v3, neon, wasm128, scalar]);
    }

    /// Runs a stage.
    pub fn run(&self, from: &[Point], to: &mut [Point]) {
        incant!(later(self, from, to), [v3, neon, wasm128, scalar]);
    }
}

/// Copies the samples of `source` to `to`.
pub fn read<S: Source>(source: &S, to: &mut [Point]) {
    incant!(copy(source, to), [v3, neon, wasm128, scalar]);
}

#[magetypes(v3, neon, wasm128, scalar)]
fn copy<S: Source>(token: Token, source: &S, to: &mut [Point]) {
    for (index, out) in to.iter_mut().enumerate() {
        source.value(token, index).store(out);
    }
}

// A closure inherits the instruction set of the function around it; a named function would not.
#[allow(clippy::redundant_closure)]
#[magetypes(v3, neon, wasm128, scalar)]
fn first<S: Source>(token: Token, radix: usize, twiddles: &[Root], source: &S, to: &mut [Point]) {
    match radix {
        2 => run_first(token, twiddles, source, to, |values| butterfly2(values)),
        3 => run_first(token, twiddles, source, to, |values| butterfly3(values)),
        4 => run_first(token, twiddles, source, to, |values| butterfly4(values)),
        5 => run_first(token, twiddles, source, to, |values| butterfly5(values)),
        6 => run_first(token, twiddles, source, to, |values| butterfly6(values)),
        _ => run_first(token, twiddles, source, to, |values| butterfly8(values)),
    }
}

#[allow(clippy::redundant_closure)]
#[magetypes(v3, neon, wasm128, scalar)]
fn later(token: Token, stage: &Stage, from: &[Point], to: &mut [Point]) {
    match stage.radix {
        2 => run_later(token, stage, from, to, |values| butterfly2(values)),
        3 => run_later(token, stage, from, to, |values| butterfly3(values)),
        4 => run_later(token, stage, from, to, |values| butterfly4(values)),
        5 => run_later(token, stage, from, to, |values| butterfly5(values)),
        6 => run_later(token, stage, from, to, |values| butterfly6(values)),
        8 => run_later(token, stage, from, to, |values| butterfly8(values)),
        _ => run_any(token, stage, from, to),
    }
}

#[inline(always)]
fn run_first<T: F32x8Backend, const RADIX: usize>(
    token: T,
    twiddles: &[Root],
    source: &impl Source,
    to: &mut [Point],
    butterfly: impl Fn([Value<T>; RADIX]) -> [Value<T>; RADIX],
) {
    let span = to.len() / RADIX;
    let groups = to.as_chunks_mut::<RADIX>().0.iter_mut().zip(twiddles.chunks_exact(RADIX - 1));
    for (group, (out, twiddles)) in groups.enumerate() {
        let values = butterfly(std::array::from_fn(|j| source.value(token, j * span + group)));
        values[0].store(&mut out[0]);
        for k in 1..RADIX {
            values[k].times(twiddles[k - 1]).store(&mut out[k]);
        }
    }
}

#[inline(always)]
fn run_later<T: F32x8Backend, const RADIX: usize>(
    token: T,
    stage: &Stage,
    from: &[Point],
    to: &mut [Point],
    butterfly: impl Fn([Value<T>; RADIX]) -> [Value<T>; RADIX],
) {
    let (span, stride) = (from.len() / RADIX, stage.stride);
    let groups = to.chunks_exact_mut(RADIX * stride).zip(stage.twiddles.chunks_exact(RADIX - 1));
    for (group, (mut rest, twiddles)) in groups.enumerate() {
        let inputs: [&[Point]; RADIX] = std::array::from_fn(|j| &from[j * span + group * stride..][..stride]);
        let outputs: [&mut [Point]; RADIX] = std::array::from_fn(|_| {
            let (part, others) = std::mem::take(&mut rest).split_at_mut(stride);
            rest = others;
            part
        });
        // The last stage has one group, and all its factors are 1.
        let twiddled = span > stride;
        for index in 0..stride {
            let values = butterfly(std::array::from_fn(|j| Value::load(token, &inputs[j][index])));
            values[0].store(&mut outputs[0][index]);
            for k in 1..RADIX {
                let value = if twiddled { values[k].times(twiddles[k - 1]) } else { values[k] };
                value.store(&mut outputs[k][index]);
            }
        }
    }
}

/// Runs a stage of any odd radix by the definition. Outputs `k` and `radix - k` share their
/// products.
#[inline(always)]
fn run_any<T: F32x8Backend>(token: T, stage: &Stage, from: &[Point], to: &mut [Point]) {
    let (radix, stride) = (stage.radix, stage.stride);
    let (span, half) = (from.len() / radix, radix / 2);
    let zero = Value::load(token, &Point::default());
    let mut sums = vec![zero; half];
    let mut differences = vec![zero; half];
    for (group, twiddles) in (0..span / stride).zip(stage.twiddles.chunks_exact(radix - 1)) {
        for neighbor in 0..stride {
            let input = |j: usize| Value::load(token, &from[j * span + group * stride + neighbor]);
            let first = input(0);
            let mut total = first;
            for j in 0..half {
                let (low, high) = (input(j + 1), input(radix - 1 - j));
                sums[j] = low.plus(high);
                differences[j] = low.minus(high);
                total = total.plus(sums[j]);
            }
            let mut store = |k: usize, value: Value<T>| value.store(&mut to[(group * radix + k) * stride + neighbor]);
            store(0, total);
            for k in 1..=half {
                let (mut even, mut odd) = (first, zero);
                for j in 0..half {
                    let Root { cos, sin } = stage.roots[(j + 1) * k % radix];
                    even = even.plus(sums[j].scale(cos));
                    odd = odd.minus(differences[j].scale(sin));
                }
                store(k, even.add_turned(odd).times(twiddles[k - 1]));
                store(radix - k, even.sub_turned(odd).times(twiddles[radix - k - 1]));
            }
        }
    }
}

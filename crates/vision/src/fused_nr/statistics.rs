//! Statistics of tone and color of what the network sees.
//!
//! `scripts/training/view.py` computes the same numbers for training.

use crate::network::Planes;

/// Number of statistics.
pub const STATISTICS: usize = 33;

const LUMA_QUANTILES: [f64; 9] = [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99];
const CHROMA_QUANTILES: [f64; 6] = [0.1, 0.25, 0.5, 0.75, 0.9, 0.99];

/// Returns the statistics of the input of the network.
///
/// Every second pixel of every second row counts; differences use all pixels. Luma and chroma are
/// from 0 to 1.
pub(super) fn statistics(seen: &Planes) -> Vec<f32> {
    let (width, height) = (seen.width(), seen.height());
    let channels: Vec<&[f32]> = seen.iter().collect();
    let sample = |channel: usize, at: usize| channels[channel][at] * 128.0 + 127.0;
    let luma: Vec<f32> = (0..width * height)
        .map(|at| (0.299 * sample(0, at) + 0.587 * sample(1, at) + 0.114 * sample(2, at)) / 255.0)
        .collect();
    let few = Few::of(width, height, &luma, &sample);
    let count = few.luma.len() as f64;
    let mean = |values: &[f32]| values.iter().map(|value| f64::from(*value)).sum::<f64>() / count;
    let deviation = |values: &[f32]| {
        let middle = mean(values);
        (values.iter().map(|value| (f64::from(*value) - middle).powi(2)).sum::<f64>() / count).sqrt()
    };
    let share = |counts: &dyn Fn(f32) -> bool, values: &[f32]| {
        (values.iter().filter(|value| counts(**value)).count() as f64 / count).sqrt()
    };
    let levels = quantiles(&few.luma, &LUMA_QUANTILES);
    let (darkest, lightest) = (levels[3] as f32, levels[5] as f32);
    let quarter = |values: &[f32], inside: &dyn Fn(f32) -> bool| {
        let of = few.luma.iter().zip(values).filter(|(luma, _)| inside(**luma));
        let (count, sum) = of.fold((0.0, 0.0), |(count, sum), (_, value)| (count + 1.0, sum + f64::from(*value)));
        sum / f64::max(count, 1.0)
    };
    let (dark, light) = (|luma: f32| luma <= darkest, |luma: f32| luma >= lightest);
    let mut numbers = levels.clone();
    numbers.extend([
        mean(&few.luma),
        deviation(&few.luma),
        share(&|luma| luma < 25.0 / 255.0, &few.luma),
        share(&|luma| luma > 235.0 / 255.0, &few.luma),
        share(&|largest| largest >= 250.0, &few.largest),
        share(&|largest| largest <= 5.0, &few.largest),
    ]);
    numbers.extend(quantiles(&few.chroma, &CHROMA_QUANTILES));
    numbers.extend([
        mean(&few.u),
        mean(&few.v),
        deviation(&few.u),
        deviation(&few.v),
        quarter(&few.u, &dark),
        quarter(&few.v, &dark),
        quarter(&few.u, &light),
        quarter(&few.v, &light),
    ]);
    numbers.extend(differences(&luma, width, height));
    numbers.push(few.middle() - mean(&few.luma));
    debug_assert_eq!(numbers.len(), STATISTICS);
    numbers.into_iter().map(|number| number as f32).collect()
}

/// Every second pixel of every second row.
struct Few {
    width: usize,
    height: usize,
    luma: Vec<f32>,
    u: Vec<f32>,
    v: Vec<f32>,
    chroma: Vec<f32>,
    largest: Vec<f32>,
}

impl Few {
    fn of(width: usize, height: usize, luma: &[f32], sample: &dyn Fn(usize, usize) -> f32) -> Self {
        let (columns, rows) = (width.div_ceil(2), height.div_ceil(2));
        let new = || Vec::with_capacity(columns * rows);
        let mut few =
            Self { width: columns, height: rows, luma: new(), u: new(), v: new(), chroma: new(), largest: new() };
        for y in (0..height).step_by(2) {
            for x in (0..width).step_by(2) {
                let at = y * width + x;
                let [red, green, blue] = [0, 1, 2].map(|channel| sample(channel, at));
                let (u, v) = (0.564 * (blue / 255.0 - luma[at]), 0.713 * (red / 255.0 - luma[at]));
                few.luma.push(luma[at]);
                few.u.push(u);
                few.v.push(v);
                few.chroma.push((u * u + v * v).sqrt());
                few.largest.push(red.max(green).max(blue));
            }
        }
        few
    }

    /// Returns the mean luma of the middle, half of each side.
    fn middle(&self) -> f64 {
        let (left, top) = (self.width / 4, self.height / 4);
        let (mut count, mut sum) = (0.0, 0.0);
        for y in top..self.height - top {
            for x in left..self.width - left {
                count += 1.0;
                sum += f64::from(self.luma[y * self.width + x]);
            }
        }
        sum / f64::max(count, 1.0)
    }
}

/// Returns the sorted values at these shares of their number.
fn quantiles(values: &[f32], shares: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f32::total_cmp);
    shares.iter().map(|share| f64::from(sorted[(share * (sorted.len() - 1) as f64 + 0.5) as usize])).collect()
}

/// Returns the logarithms of the mean absolute differences along rows, along columns, and of the
/// second difference.
fn differences(luma: &[f32], width: usize, height: usize) -> [f64; 3] {
    let (mut along, mut down, mut second) = ((0.0, 0.0_f64), (0.0, 0.0_f64), (0.0, 0.0_f64));
    let add = |total: &mut (f64, f64), difference: f32| {
        total.0 += 1.0;
        total.1 += f64::from(difference.abs());
    };
    for y in 0..height {
        for x in 0..width {
            let at = y * width + x;
            if x + 1 < width {
                add(&mut along, luma[at + 1] - luma[at]);
            }
            if y + 1 < height {
                add(&mut down, luma[at + width] - luma[at]);
            }
            if x > 0 && y > 0 && x + 1 < width && y + 1 < height {
                let around = luma[at - 1] + luma[at + 1] + luma[at - width] + luma[at + width];
                add(&mut second, 4.0 * luma[at] - around);
            }
        }
    }
    [along, down, second].map(|(count, sum)| (255.0 * sum / f64::max(count, 1.0) + 0.1).ln())
}

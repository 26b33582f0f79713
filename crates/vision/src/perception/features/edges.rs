//! Edges: their width, steepness and overshoot.

use multiversion::multiversion;

use super::rows::squared_steps;
use super::{Features, Statistic};
use crate::perception::view::Tile;
use agenticiqa_metrics::Plane;

/// Maximum distance over which an edge is followed to either side, in pixels.
const REACH: usize = 12;
/// Distance beyond its ends that is searched for an overshoot, in pixels.
const BEYOND: usize = 4;
/// An edge must be steeper than this multiple of the root mean square slope of its tile.
const STEEPER: f32 = 1.5;
/// Bounds of that threshold, in levels per pixel.
const THRESHOLD: (f32, f32) = (3.0, 24.0);
/// Minimum height of an edge, in levels.
const LEAST_HEIGHT: f32 = 16.0;

/// Unweighted sums over edges.
#[derive(Default)]
pub struct Edges {
    count: f64,
    width: f64,
    slope: f64,
    overshoot: f64,
    both_overshoot: f64,
    pixels: f64,
    /// Sums of the widths in horizontal and in vertical scans.
    widths: [f64; 2],
    counts: [f64; 2],
    narrow: f64,
}

impl Statistic for Edges {
    fn measure(tile: &Tile) -> Self {
        let mut edges = Self { pixels: tile.luma.data().len() as f64, ..Self::default() };
        edges.scan(&tile.luma, &tile.turned, 0);
        edges.scan(&tile.turned, &tile.luma, 1);
        edges
    }

    fn merge(&mut self, other: Self) {
        self.count += other.count;
        self.width += other.width;
        self.slope += other.slope;
        self.overshoot += other.overshoot;
        self.both_overshoot += other.both_overshoot;
        self.pixels += other.pixels;
        self.narrow += other.narrow;
        (0..2).for_each(|i| self.widths[i] += other.widths[i]);
        (0..2).for_each(|i| self.counts[i] += other.counts[i]);
    }

    fn write(&self, features: &mut Features) {
        let count = self.count.max(1.0);
        features.push("edge_width", self.width / count);
        features.push("edge_slope", self.slope / count);
        features.push("edge_narrow", self.narrow / count);
        features.push("overshoot", self.overshoot / count);
        features.push("overshoot_both", self.both_overshoot / count);
        features.push("edge_density", 100.0 * self.count / self.pixels.max(1.0));
        let mean = |i: usize| self.widths[i] / self.counts[i].max(1.0);
        features.push("edge_width_spread", ((mean(0) + 1.0) / (mean(1) + 1.0)).ln().abs());
    }
}

impl Edges {
    /// Adds the edges that the rows of a plane cross; `turned` is the transposed plane.
    fn scan(&mut self, plane: &Plane, turned: &Plane, direction: usize) {
        let width = plane.width();
        let energy: f64 = squared_steps(turned, 1, 0).into_iter().map(f64::from).sum();
        let mean = energy / ((width - 1) * plane.height()) as f64;
        let threshold = (STEEPER * mean.sqrt() as f32).clamp(THRESHOLD.0, THRESHOLD.1);
        let mut flags = vec![0; width.saturating_sub(3)];
        for y in 0..plane.height() {
            let row = plane.row(y);
            flag_edges(row, threshold, &mut flags);
            for x in (0..flags.len()).filter(|&x| flags[x] != 0) {
                self.add_edge(row, x + 1, row[x + 2] - row[x + 1], direction);
            }
        }
    }

    /// Adds the edge between `x` and `x + 1`.
    fn add_edge(&mut self, row: &[f32], x: usize, step: f32, direction: usize) {
        let sign = step.signum();
        let mut left = x;
        while left > 0 && x - left < REACH && (row[left] - row[left - 1]) * sign > 0.0 {
            left -= 1;
        }
        let mut right = x + 1;
        while right + 1 < row.len() && right - x < REACH && (row[right + 1] - row[right]) * sign > 0.0 {
            right += 1;
        }
        let height = (row[right] - row[left]) * sign;
        if height < LEAST_HEIGHT {
            return;
        }
        // How far the signal returns just after it has passed the edge.
        let back_right = (right + 1..row.len().min(right + 1 + BEYOND)).map(|i| (row[right] - row[i]) * sign);
        let back_left = (left.saturating_sub(BEYOND)..left).map(|i| (row[i] - row[left]) * sign);
        let (right_back, left_back) = (back_right.fold(0.0, f32::max) / height, back_left.fold(0.0, f32::max) / height);
        self.count += 1.0;
        self.width += (right - left) as f64;
        self.narrow += f64::from(u8::from(right - left <= 2));
        self.slope += f64::from(step.abs() / height);
        self.overshoot += f64::from(0.5 * (right_back.min(1.0) + left_back.min(1.0)));
        self.both_overshoot += f64::from(right_back.min(left_back).min(1.0));
        self.widths[direction] += (right - left) as f64;
        self.counts[direction] += 1.0;
    }
}

/// Marks the steps that are steeper than the threshold and than both adjacent steps, starting at
/// the second sample.
#[multiversion(targets("x86_64+avx2"))]
fn flag_edges(row: &[f32], threshold: f32, flags: &mut [u8]) {
    for (flag, near) in flags.iter_mut().zip(row.array_windows::<4>()) {
        let [before, step, after] = [near[1] - near[0], near[2] - near[1], near[3] - near[2]].map(f32::abs);
        *flag = u8::from(step > threshold) & u8::from(step >= before) & u8::from(step > after);
    }
}

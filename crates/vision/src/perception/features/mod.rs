//! Measurements of an image alone, as named numbers. Fitting and detection use this same code.

mod color;
mod detail;
mod direction;
mod edges;
mod grid;
mod levels;
mod noise;
mod rows;
mod scene;
mod tone;

use std::collections::HashMap;

use rayon::prelude::*;

use super::view::{Tile, View};

/// Named, finite numbers in a fixed order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Features {
    names: Vec<&'static str>,
    values: Vec<f64>,
}

impl Features {
    /// Adds a number; a value that is not finite counts as 0.
    pub fn push(&mut self, name: &'static str, value: f64) {
        self.names.push(name);
        self.values.push(if value.is_finite() { value } else { 0.0 });
    }

    /// Returns the names, in order.
    pub fn names(&self) -> &[&'static str] {
        &self.names
    }

    /// Returns the numbers, in order.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Returns the number with that name; 0 if there is none.
    pub fn get(&self, name: &str) -> f64 {
        self.names.iter().position(|other| *other == name).map_or(0.0, |at| self.values[at])
    }

    /// Returns all numbers by name.
    pub fn by_name(&self) -> HashMap<&'static str, f64> {
        self.names.iter().copied().zip(self.values.iter().copied()).collect()
    }

    /// Appends the numbers of `other`.
    pub fn extend(&mut self, other: &Self) {
        self.names.extend(&other.names);
        self.values.extend(&other.values);
    }
}

/// A statistic that is measured per tile and then merged.
pub(super) trait Statistic: Default + Send {
    /// Measures one tile.
    fn measure(tile: &Tile) -> Self;
    /// Adds the statistic of another part of the image.
    fn merge(&mut self, other: Self);
    /// Writes the features of the statistic.
    fn write(&self, features: &mut Features);
}

/// Measures all features of an image alone.
pub fn measure(view: &View<'_>) -> Features {
    let mut features = Features::default();
    let found: Vec<Found> = view.tiles().map(|tile| Found::measure(&tile)).collect();
    let mut total = Found::default();
    for tile in found {
        total.merge(tile);
    }
    total.write(&mut features);
    features
}

/// All statistics of a part of the image.
#[derive(Default)]
struct Found {
    noise: noise::Noise,
    detail: detail::Detail,
    direction: direction::Direction,
    edges: edges::Edges,
    grid: grid::Grid,
    levels: levels::Levels,
    tone: tone::Tone,
    color: color::Color,
    scene: scene::Scene,
}

impl Statistic for Found {
    fn measure(tile: &Tile) -> Self {
        Self {
            noise: Statistic::measure(tile),
            detail: Statistic::measure(tile),
            direction: Statistic::measure(tile),
            edges: Statistic::measure(tile),
            grid: Statistic::measure(tile),
            levels: Statistic::measure(tile),
            tone: Statistic::measure(tile),
            color: Statistic::measure(tile),
            scene: Statistic::measure(tile),
        }
    }

    fn merge(&mut self, other: Self) {
        self.noise.merge(other.noise);
        self.detail.merge(other.detail);
        self.direction.merge(other.direction);
        self.edges.merge(other.edges);
        self.grid.merge(other.grid);
        self.levels.merge(other.levels);
        self.tone.merge(other.tone);
        self.color.merge(other.color);
        self.scene.merge(other.scene);
    }

    fn write(&self, features: &mut Features) {
        self.noise.write(features);
        self.detail.write(features);
        self.direction.write(features);
        self.edges.write(features);
        self.grid.write(features);
        self.levels.write(features);
        self.tone.write(features);
        self.color.write(features);
        self.scene.write(features);
    }
}

/// Returns the value below which `share` of the sorted values lie; 0 if there are none.
pub(super) fn quantile(sorted: &[f32], share: f64) -> f64 {
    let at = (sorted.len().saturating_sub(1) as f64 * share).round() as usize;
    sorted.get(at).copied().map_or(0.0, f64::from)
}

/// Returns the logarithm of a ratio of two non-negative numbers, regularized where both are near
/// zero.
pub(super) fn log_ratio(numerator: f64, denominator: f64, stability: f64) -> f64 {
    ((numerator + stability) / (denominator + stability)).ln()
}

//! What is measured of an image alone: named numbers, the same code for fitting and for judging.

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

/// Named numbers in a fixed order; every one is finite.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Features {
    names: Vec<&'static str>,
    values: Vec<f64>,
}

impl Features {
    /// Adds a number; what is not finite counts as 0.
    pub fn push(&mut self, name: &'static str, value: f64) {
        self.names.push(name);
        self.values.push(if value.is_finite() { value } else { 0.0 });
    }

    /// The names, in order.
    pub fn names(&self) -> &[&'static str] {
        &self.names
    }

    /// The numbers, in order.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The number of that name; 0 if there is none.
    pub fn get(&self, name: &str) -> f64 {
        self.names.iter().position(|other| *other == name).map_or(0.0, |at| self.values[at])
    }

    /// All numbers by name.
    pub fn by_name(&self) -> HashMap<&'static str, f64> {
        self.names.iter().copied().zip(self.values.iter().copied()).collect()
    }

    /// The numbers of `other` after these.
    pub fn extend(&mut self, other: &Self) {
        self.names.extend(&other.names);
        self.values.extend(&other.values);
    }
}

/// A statistic that is taken of each tile and summed up.
pub(super) trait Statistic: Default + Send {
    /// Of one tile.
    fn measure(tile: &Tile) -> Self;
    /// Of two parts of the image together.
    fn merge(&mut self, other: Self);
    /// The numbers that it stands for.
    fn write(&self, features: &mut Features);
}

/// Everything that is measured of an image alone.
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

/// The value below which `share` of the sorted values lie; 0 if there is none.
pub(super) fn quantile(sorted: &[f32], share: f64) -> f64 {
    let at = (sorted.len().saturating_sub(1) as f64 * share).round() as usize;
    sorted.get(at).copied().map_or(0.0, f64::from)
}

/// The logarithm of a ratio of two that are not negative, tame where both are near nothing.
pub(super) fn log_ratio(numerator: f64, denominator: f64, stability: f64) -> f64 {
    ((numerator + stability) / (denominator + stability)).ln()
}

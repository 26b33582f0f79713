//! Finds the sky: smooth, blue or bright, at the top, and lighter than what lies below.

use super::layout::{Block, Cell, Layout};

/// Gradients of clouds stay below this, in gray levels over two pixels.
const SMOOTH: f64 = 24.0;
/// Cells of a sky differ from the one above by at most this many gray levels.
const STEP: f64 = 45.0;
/// Minimum share of the width and of the height that a sky has.
const NARROWEST: f64 = 0.3;
const LOWEST: f64 = 0.08;
/// From this probability on there is a sky.
pub const THRESHOLD: f64 = 0.6;

/// The sky of an image.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sky {
    /// The largest rectangle below the upper border that is sky in every column but a few.
    pub block: Block,
    /// The row of cells where most columns stop to be sky.
    pub horizon: usize,
    /// The probability that it is a sky.
    pub probability: f64,
}

/// Finds the sky of an image. The probability may be below [`THRESHOLD`].
pub fn find(layout: &Layout) -> Option<Sky> {
    let depths: Vec<usize> = (0..layout.columns).map(|column| depth(layout, column)).collect();
    let block = largest(&depths)?;
    let wide = (block.right - block.left) as f64 / layout.columns as f64;
    let high = block.bottom as f64 / layout.rows as f64;
    if wide < NARROWEST || high < LOWEST {
        return None;
    }
    let mut sorted = depths.clone();
    sorted.sort_unstable();
    let horizon = sorted[sorted.len() / 2].max(block.bottom);
    if horizon >= layout.rows {
        // Nothing lies below: a wall, water or a picture of nothing looks like that too.
        return None;
    }
    let probability = probability(layout, block, horizon, &depths);
    Some(Sky { block, horizon, probability })
}

/// Returns how many cells of a column are sky, from the top.
fn depth(layout: &Layout, column: usize) -> usize {
    let alike = |row: usize| row == 0 || layout.at(column, row).distance(layout.at(column, row - 1)) < STEP;
    (0..layout.rows).take_while(|row| is_like_sky(layout.at(column, *row)) && alike(*row)).count()
}

fn is_like_sky(cell: &Cell) -> bool {
    let blue = cell.blue > 12.0 && cell.luma > 30.0;
    let white = cell.luma > 120.0 && cell.blue > -25.0 && cell.red_green.abs() < 25.0;
    let dusk = cell.luma > 90.0 && cell.red_green > 10.0 && cell.blue > -110.0;
    cell.edge < SMOOTH && (blue || white || dusk)
}

/// Returns the largest rectangle below the upper border. A tenth of its columns may end earlier:
/// masts and branches reach into the sky.
fn largest(depths: &[usize]) -> Option<Block> {
    let mut best: Option<(usize, Block)> = None;
    for left in 0..depths.len() {
        let mut sorted: Vec<usize> = Vec::new();
        for (right, depth) in depths.iter().enumerate().skip(left) {
            let place = sorted.partition_point(|one| one < depth);
            sorted.insert(place, *depth);
            let bottom = sorted[sorted.len() / 10];
            let area = bottom * (right + 1 - left);
            if bottom > 0 && best.is_none_or(|(most, _)| area > most) {
                best = Some((area, Block { left, top: 0, right: right + 1, bottom }));
            }
        }
    }
    best.map(|(_, block)| block)
}

/// Weights of the constant and of the measurements in [`probability`]: a logistic regression on photos
/// with a labeled sky, and on photos of things indoors and of faces (`agenticiqa-fit regions` tests it on
/// others).
const WEIGHTS: [f64; 11] = [-1.11, 0.77, 2.05, 1.17, 0.61, 0.56, 1.28, -1.57, -0.20, -0.37, 0.86];

/// Returns the probability that a block at the upper border is a sky.
fn probability(layout: &Layout, block: Block, horizon: usize, depths: &[usize]) -> f64 {
    let rows = |from: usize, to: usize, left: usize, right: usize| -> Vec<&Cell> {
        let places = (from..to).flat_map(|row| (left..right).map(move |column| (column, row)));
        places.map(|(column, row)| layout.at(column, row)).collect()
    };
    let sky = rows(0, block.bottom, block.left, block.right);
    let below = rows(horizon, layout.rows, 0, layout.columns);
    let mean = |cells: &[&Cell], of: fn(&Cell) -> f64| {
        cells.iter().map(|cell| of(cell)).sum::<f64>() / cells.len().max(1) as f64
    };
    let light = mean(&sky, |cell| cell.luma);
    let spread = sky.iter().map(|cell| (cell.luma - light).powi(2)).sum::<f64>() / sky.len().max(1) as f64;
    let detail = |cells: &[&Cell]| (1.0 + mean(cells, |cell| cell.edge)).ln();
    let evidence = [
        mean(&sky, |cell| cell.blue) / 50.0,
        (light - mean(&below, |cell| cell.luma)) / 100.0,
        detail(&below) - detail(&sky),
        depths.iter().filter(|depth| **depth > 0).count() as f64 / depths.len().max(1) as f64,
        (block.right - block.left) as f64 / layout.columns as f64,
        block.bottom as f64 / layout.rows as f64,
        light / 100.0,
        mean(&sky, |cell| cell.red_green) / 50.0,
        detail(&sky),
        spread.sqrt() / 30.0,
    ];
    let margin = WEIGHTS[0] + WEIGHTS[1..].iter().zip(evidence).map(|(weight, value)| weight * value).sum::<f64>();
    1.0 / (1.0 + (-margin).exp())
}

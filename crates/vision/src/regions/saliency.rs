//! Guesses the subject without a detector: what is sharp, differs in color from the border and lies
//! near the center.

use super::layout::{Block, Cell, Layout};

/// Weights of sharpness and of color.
const DETAIL: f64 = 0.6;
const COLOR: f64 = 0.4;
/// Width of the bias to the center, as a share of the image.
const CENTER: f64 = 0.6;

/// The place that stands out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Salient {
    /// The bounding box of its cells.
    pub block: Block,
    /// The probability that it is the subject.
    pub probability: f64,
}

/// Finds the place that stands out; nothing in an image that looks the same everywhere.
pub fn find(layout: &Layout) -> Option<Salient> {
    let scores = smooth(layout, &scores(layout)?);
    let (threshold, separation) = otsu(&scores);
    let inside: Vec<bool> = scores.iter().map(|score| *score > threshold).collect();
    let cells = largest_component(layout, &scores, &inside)?;
    let block = trimmed(layout, &scores, &cells);
    let area = (block.right - block.left) as f64 * (block.bottom - block.top) as f64 / scores.len() as f64;
    let connected = cells.len() as f64 / inside.iter().filter(|inside| **inside).count().max(1) as f64;
    let within: f64 = cells.iter().map(|index| scores[*index]).sum();
    let without = (scores.iter().sum::<f64>() - within) / (scores.len() - cells.len()).max(1) as f64;
    let stands_out = (within / cells.len().max(1) as f64 / without.max(f64::MIN_POSITIVE)).ln();
    let evidence = [separation, connected, stands_out, area, area * area];
    let margin = WEIGHTS[0] + WEIGHTS[1..].iter().zip(evidence).map(|(weight, value)| weight * value).sum::<f64>();
    Some(Salient { block, probability: 1.0 / (1.0 + (-margin).exp()) })
}

/// Weights of the constant and of the measurements: a logistic regression on photos whose first subject was
/// labeled with a box (`agenticiqa-fit regions` tests it on others).
const WEIGHTS: [f64; 6] = [-1.47, 0.32, 0.50, 0.48, 0.32, 0.22];

/// Returns how much each cell stands out, from 0 to about 1.
fn scores(layout: &Layout) -> Option<Vec<f64>> {
    let detail: Vec<f64> = layout.cells.iter().map(|cell| cell.edge * cell.acuity.min(1.0)).collect();
    let border = border(layout);
    let color: Vec<f64> = layout.cells.iter().map(|cell| cell.distance(&border)).collect();
    let highest = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
    let (most_detail, most_color) = (highest(&detail), highest(&color));
    if most_detail < 4.0 && most_color < 12.0 {
        return None;
    }
    let score = |index: usize| {
        let x = (index % layout.columns) as f64 / layout.columns.max(2) as f64 - 0.5;
        let y = (index / layout.columns) as f64 / layout.rows.max(2) as f64 - 0.5;
        let near = (-(x * x + y * y) / (2.0 * CENTER * CENTER)).exp();
        let seen = DETAIL * (detail[index] / most_detail.max(4.0)).sqrt() + COLOR * color[index] / most_color.max(12.0);
        seen * near
    };
    Some((0..layout.cells.len()).map(score).collect())
}

/// Returns the mean cell of the border.
fn border(layout: &Layout) -> Cell {
    let edge = |index: &usize| {
        let (column, row) = (index % layout.columns, index / layout.columns);
        row == 0 || column == 0 || row + 1 == layout.rows || column + 1 == layout.columns
    };
    let cells: Vec<&Cell> = (0..layout.cells.len()).filter(edge).map(|index| &layout.cells[index]).collect();
    let mean = |of: fn(&Cell) -> f64| cells.iter().map(|cell| of(cell)).sum::<f64>() / cells.len().max(1) as f64;
    Cell {
        luma: mean(|cell| cell.luma),
        red_green: mean(|cell| cell.red_green),
        blue: mean(|cell| cell.blue),
        ..Cell::default()
    }
}

/// Averages each cell with its neighbors.
fn smooth(layout: &Layout, scores: &[f64]) -> Vec<f64> {
    let near = |center: usize, count: usize| center.saturating_sub(1)..(center + 2).min(count);
    let mean = |index: usize| {
        let (column, row) = (index % layout.columns, index / layout.columns);
        let rows = near(row, layout.rows);
        let around = rows.flat_map(|row| near(column, layout.columns).map(move |column| (column, row)));
        let (count, sum) = around
            .fold((0.0, 0.0), |(count, sum), (column, row)| (count + 1.0, sum + scores[row * layout.columns + column]));
        sum / count
    };
    (0..scores.len()).map(mean).collect()
}

/// Returns the threshold between two groups by N. Otsu's method (1979), and how well it separates
/// them, from 0 to 1.
fn otsu(scores: &[f64]) -> (f64, f64) {
    let mut sorted = scores.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let count = sorted.len() as f64;
    let total: f64 = sorted.iter().sum();
    let mean = total / count;
    let variance: f64 = sorted.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / count;
    let (mut below, mut best) = (0.0, (mean, 0.0));
    for (index, score) in sorted.iter().enumerate().take(sorted.len().saturating_sub(1)) {
        below += score;
        let low = (index + 1) as f64;
        let high = count - low;
        let between = low * high / (count * count) * (below / low - (total - below) / high).powi(2);
        if between > best.1 {
            best = (*score, between);
        }
    }
    (best.0, if variance > 0.0 { (best.1 / variance).min(1.0) } else { 0.0 })
}

/// Returns the connected cells with the largest sum of scores.
fn largest_component(layout: &Layout, scores: &[f64], inside: &[bool]) -> Option<Vec<usize>> {
    let mut seen = vec![false; inside.len()];
    let mut best: Option<(f64, Vec<usize>)> = None;
    for start in 0..inside.len() {
        if !inside[start] || seen[start] {
            continue;
        }
        seen[start] = true;
        let mut found = vec![start];
        let mut next = 0;
        while let Some(&index) = found.get(next) {
            next += 1;
            let (column, row) = (index % layout.columns, index / layout.columns);
            let near = [
                (column > 0).then(|| index - 1),
                (column + 1 < layout.columns).then_some(index + 1),
                (row > 0).then(|| index - layout.columns),
                (row + 1 < layout.rows).then_some(index + layout.columns),
            ];
            for neighbor in near.into_iter().flatten() {
                if inside[neighbor] && !std::mem::replace(&mut seen[neighbor], true) {
                    found.push(neighbor);
                }
            }
        }
        let sum: f64 = found.iter().map(|index| scores[*index]).sum();
        if best.as_ref().is_none_or(|(most, _)| sum > *most) {
            best = Some((sum, found));
        }
    }
    best.map(|(_, found)| found)
}

/// Returns the box that holds all but the outermost 3% of the scores on each side.
fn trimmed(layout: &Layout, scores: &[f64], cells: &[usize]) -> Block {
    let span = |place: fn(usize, usize) -> usize, count: usize| {
        let mut sums = vec![0.0; count];
        cells.iter().for_each(|index| sums[place(*index, layout.columns)] += scores[*index]);
        let tail = 0.03 * sums.iter().sum::<f64>();
        let end = |order: Vec<usize>| {
            let mut sum = 0.0;
            let beyond = |index: &usize| {
                sum += sums[*index];
                sum > tail
            };
            order.into_iter().find(beyond)
        };
        let first = end((0..count).collect()).unwrap_or(0);
        let last = end((0..count).rev().collect()).unwrap_or(count - 1);
        (first, last + 1)
    };
    let (left, right) = span(|index, columns| index % columns, layout.columns);
    let (top, bottom) = span(|index, columns| index / columns, layout.rows);
    Block { left, top, right, bottom }
}

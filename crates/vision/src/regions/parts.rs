//! Parts that are most or least of something, and what surrounds a box.

use agenticiqa_metrics::Region;

use super::layout::{Block, Cell, Layout};
use super::meaning::Extreme;

/// A part has a quarter of the width and of the height of the image.
const SHARE: usize = 4;
/// A rest that has a smaller share of the image than this says nothing about a background.
const SMALLEST_REST: f64 = 0.05;
/// A part that differs from the mean by this much is clearly the extreme one: gray levels of light,
/// and the logarithm of detail.
const CLEAR: [f64; 2] = [25.0, 0.7];

/// Returns the part that is most of something, and how clear that is, from 0 to 1.
pub fn extreme(layout: &Layout, which: Extreme) -> Option<(Block, f64)> {
    let light = matches!(which, Extreme::Darkest | Extreme::Brightest);
    let value = |cell: &Cell| if light { cell.luma } else { (1.0 + cell.edge * cell.acuity).ln() };
    let size = |count: usize| (count / SHARE).max(1);
    let (wide, high) = (size(layout.columns), size(layout.rows));
    let mean = |block: &Block| {
        let rows = block.top..block.bottom;
        let places = rows.flat_map(|row| (block.left..block.right).map(move |column| (column, row)));
        places.map(|(column, row)| value(layout.at(column, row))).sum::<f64>() / (wide * high) as f64
    };
    let starts = (0..=layout.rows - high).flat_map(|top| (0..=layout.columns - wide).map(move |left| (left, top)));
    let blocks = starts.map(|(left, top)| Block { left, top, right: left + wide, bottom: top + high });
    let sign = if matches!(which, Extreme::Darkest | Extreme::Softest) { -1.0 } else { 1.0 };
    let (block, found) = blocks
        .map(|block| (block, mean(&block)))
        .reduce(|best, next| if sign * next.1 > sign * best.1 { next } else { best })?;
    let overall = layout.cells.iter().map(value).sum::<f64>() / layout.cells.len() as f64;
    let difference = (found - overall).abs() / CLEAR[usize::from(!light)];
    Some((block, difference.min(1.0)))
}

/// Returns the largest rectangle above, below, left or right of a box.
pub fn rest(around: &Region, width: usize, height: usize) -> Option<Region> {
    let (right, bottom) = (around.x + around.width, around.y + around.height);
    let sides = [
        Region { x: 0, y: 0, width, height: around.y },
        Region { x: 0, y: 0, width: around.x, height },
        Region { x: right, y: 0, width: width - right, height },
        Region { x: 0, y: bottom, width, height: height - bottom },
    ];
    let area = |region: &Region| region.width * region.height;
    let largest = sides.into_iter().reduce(|best, next| if area(&next) > area(&best) { next } else { best })?;
    (area(&largest) as f64 >= SMALLEST_REST * (width * height) as f64).then_some(largest)
}

/// Returns the box with the softest edges, and its index: fine detail is compared, not contrast.
pub fn softest(layout: &Layout, places: &[Region]) -> Option<(usize, f64)> {
    let acuity = |place: &Region| {
        let edges: Vec<f64> = layout.within(place).filter(|cell| cell.acuity > 0.0).map(|cell| cell.acuity).collect();
        (!edges.is_empty()).then(|| edges.iter().sum::<f64>() / edges.len() as f64)
    };
    let known: Vec<(usize, f64)> =
        places.iter().enumerate().filter_map(|(index, place)| Some((index, acuity(place)?))).collect();
    let mean = known.iter().map(|(_, value)| value).sum::<f64>() / known.len().max(1) as f64;
    let (index, value) = known.into_iter().reduce(|best, next| if next.1 < best.1 { next } else { best })?;
    Some((index, ((mean - value) / mean.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use agenticiqa_metrics::Image;

    #[test]
    fn the_darkest_the_brightest_and_the_sharpest_part_are_found() {
        let value = |x: usize, y: usize| match (x / 80, y / 60) {
            (0, 0) => 10,
            (3, 3) => 250,
            (3, 0) => [90, 160][x / 2 % 2],
            _ => 125,
        };
        let samples = (0..320 * 240).map(|index| value(index % 320, index / 320)).collect();
        let layout = Layout::of(&Image::from_gray8(320, 240, samples).unwrap());
        let found = |which| layout.region(extreme(&layout, which).unwrap().0);
        assert_eq!(found(Extreme::Darkest), Region { x: 0, y: 0, width: 80, height: 60 });
        assert_eq!(found(Extreme::Brightest), Region { x: 240, y: 180, width: 80, height: 60 });
        assert_eq!(found(Extreme::Sharpest), Region { x: 240, y: 0, width: 80, height: 60 });
    }

    #[test]
    fn the_rest_is_the_largest_rectangle_outside() {
        let subject = Region { x: 60, y: 20, width: 30, height: 80 };
        assert_eq!(rest(&subject, 100, 100), Some(Region { x: 0, y: 0, width: 60, height: 100 }));
        assert_eq!(rest(&Region { x: 1, y: 1, width: 98, height: 98 }, 100, 100), None);
    }
}

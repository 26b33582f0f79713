//! Quality map: the score of each tile of an image.

use rayon::prelude::*;

use super::{Error, Model, measure};
use agenticiqa_metrics::{Image, Plane, Region};

/// Tiles along the shorter side, if the image is large enough.
const ALONG: usize = 5;
/// Maximum number of tiles along the longer side.
const MOST: usize = 12;
/// Minimum side of a tile in pixels; smaller tiles show too little to be scored.
const SMALLEST: usize = 96;

/// Returns a plane with one score per tile.
pub fn map(model: &Model, image: &Image) -> Result<Plane, Error> {
    let (width, height) = (image.width(), image.height());
    let side = (width.min(height) / ALONG).max(SMALLEST);
    let (columns, rows) = ((width / side).clamp(1, MOST), (height / side).clamp(1, MOST));
    let tiles: Vec<Region> = (0..rows)
        .flat_map(|row| (0..columns).map(move |column| (column, row)))
        .map(|(column, row)| {
            let (x, y) = (width * column / columns, height * row / rows);
            let (right, lower) = (width * (column + 1) / columns, height * (row + 1) / rows);
            Region { x, y, width: right - x, height: lower - y }
        })
        .collect();
    let scores: Vec<f32> = tiles
        .par_iter()
        .map(|tile| Ok(model.read(&measure(&image.crop(tile)?)?).judgment.score as f32))
        .collect::<Result<_, Error>>()?;
    Plane::from_vec(columns, rows, scores).ok_or(Error::Empty)
}

//! Objects: what MobileNetV3-CenterNet sees.
//!
//! The network returns a map of logits for each class, with a peak at the center of each object,
//! and the distances from the center to the edges of the box, in samples of the input.

use agenticiqa_metrics::Image;

use super::boxes::Found;
use super::{Error, Model, names, view};
use crate::network::activation::sigmoid;
use crate::network::{Planes, Unusable};

/// Longer side of the input.
pub(super) const SIDE: usize = 512;
/// Samples of the input per sample of the maps.
const STRIDE: f32 = 4.0;
/// Peaks below this probability are noise. It is lower than what is returned, because a face is
/// more likely where a person may be.
const LOWEST: f32 = 0.1;
/// Maximum number of peaks.
const MOST: usize = 500;

/// Finds objects in an image. Their probability is not known yet.
pub(super) fn find(model: &Model, image: &Image) -> Result<Vec<Found>, Error> {
    let view = view::of(image, SIDE, |sample| sample).ok_or(Error::Empty)?;
    let scale = (image.width() as f32 / view.width() as f32, image.height() as f32 / view.height() as f32);
    let outputs = model.objects.run(view)?;
    let found = match outputs.as_slice() {
        [logits, edges] if edges.channels() == 4 && logits.channels() <= names::OBJECTS => read(logits, edges),
        _ => return Err(Unusable("the network of objects has other outputs".to_owned()).into()),
    };
    model.objects.give(outputs);
    let (width, height) = (image.width() as f32, image.height() as f32);
    Ok(found.into_iter().map(|found| found.scaled(scale).within((0.0, 0.0), (width, height))).collect())
}

/// Returns the boxes of all peaks.
fn read(logits: &Planes, edges: &Planes) -> Vec<Found> {
    let (width, height) = (logits.width(), logits.height());
    let lowest = (LOWEST / (1.0 - LOWEST)).ln();
    let mut peaks = Vec::new();
    for (class, plane) in logits.iter().enumerate() {
        for (place, logit) in plane.iter().enumerate().filter(|(_, logit)| **logit >= lowest) {
            if is_peak(plane, width, height, place) {
                peaks.push((class, place, *logit));
            }
        }
    }
    peaks.sort_by(|a, b| b.2.total_cmp(&a.2).then((a.0, a.1).cmp(&(b.0, b.1))));
    peaks.truncate(MOST);
    let area = width * height;
    let found = |(class, place, logit): (usize, usize, f32)| {
        let (x, y) = ((place % width) as f32 * STRIDE, (place / width) as f32 * STRIDE);
        let edge = |index: usize| edges.data()[index * area + place];
        Found {
            class,
            left: x - edge(0),
            top: y - edge(1),
            right: x + edge(2),
            bottom: y + edge(3),
            peak: sigmoid(logit),
            probability: 0.0,
        }
    };
    peaks.into_iter().map(found).collect()
}

/// Returns whether no neighbor is larger.
fn is_peak(plane: &[f32], width: usize, height: usize, place: usize) -> bool {
    let (x, y) = (place % width, place / width);
    let rows = y.saturating_sub(1)..=(y + 1).min(height - 1);
    let columns = x.saturating_sub(1)..=(x + 1).min(width - 1);
    rows.into_iter().all(|y| columns.clone().all(|x| plane[y * width + x] <= plane[place]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peak_becomes_a_box() {
        let mut logits = vec![-9.0; 2 * 5 * 4];
        logits[20 + 2 * 5 + 3] = 0.0;
        logits[20 + 2 * 5 + 2] = -1.0;
        let edges: Vec<f32> = [1.0, 2.0, 3.0, 4.0].iter().flat_map(|edge| vec![*edge; 20]).collect();
        let found = read(&Planes::new(2, 5, 4, logits).unwrap(), &Planes::new(4, 5, 4, edges).unwrap());
        let edges = Found { class: 1, left: 11.0, top: 6.0, right: 15.0, bottom: 12.0, peak: 0.5, probability: 0.0 };
        assert_eq!(found, [edges]);
    }
}

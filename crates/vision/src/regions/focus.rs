//! Is something in focus while the rest is not? A soft background behind a sharp subject is a choice
//! of the photographer and no fault.

use agenticiqa_metrics::{Image, Region};

use super::layout::Layout;
use super::saliency;

/// The sharpest twentieth of the cells of a photo whose subject is in focus has at least this much
/// detail: gradient times curvature.
const SHARP: f64 = 24.0;
/// Cells with less than this part of that detail are out of focus.
const SOFT: f64 = 0.25;
/// At least this share of the cells is out of focus if the background is.
const MOST: f64 = 0.5;
/// The subject has at least this part of the detail of the sharpest cells.
const OF_SUBJECT: f64 = 0.6;

/// How detail is spread over an image.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Focus {
    /// The detail of the sharpest twentieth of the image.
    pub sharpest: f64,
    /// The detail of the sharpest part of the subject.
    pub subject: f64,
    /// The share of the image that has hardly any detail.
    pub soft: f64,
}

impl Focus {
    /// Measures an image. `subject` is where its subject is, if that is known.
    pub fn of(image: &Image, subject: Option<Region>) -> Self {
        let layout = Layout::of(image);
        let salient = || saliency::find(&layout).map(|salient| layout.region(salient.block));
        let detail: Vec<f64> = layout.cells.iter().map(|cell| cell.edge * cell.acuity).collect();
        let sharpest = top(detail.iter().copied());
        let of_subject = subject.or_else(salient).map_or(0.0, |region| {
            let within = |(index, detail): (usize, &f64)| layout.is_within(index, &region).then_some(*detail);
            top(detail.iter().enumerate().filter_map(within))
        });
        let soft = detail.iter().filter(|detail| **detail < SOFT * sharpest).count();
        Self { sharpest, subject: of_subject, soft: soft as f64 / detail.len().max(1) as f64 }
    }

    /// Whether the subject is sharp and much of the rest is not.
    pub fn is_intended(&self) -> bool {
        self.sharpest >= SHARP && self.soft >= MOST && self.subject >= OF_SUBJECT * self.sharpest
    }
}

/// Returns the mean of the highest twentieth.
pub(super) fn top(values: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_unstable_by(|a, b| b.total_cmp(a));
    let count = (sorted.len() / 20).max(3).min(sorted.len());
    sorted.iter().take(count).sum::<f64>() / count.max(1) as f64
}

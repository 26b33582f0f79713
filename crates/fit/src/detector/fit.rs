//! Fits how likely candidates are, and where a whole face ends, to labeled photos.

use std::fmt::Write as _;

use agenticiqa_vision::detector::Candidate;

use super::Photo;
use super::report::overlap;
use crate::linear::{least_squares, logistic};

/// Penalties on large weights.
const PENALTY: f64 = 1.0;
/// Overlap at which a candidate is the labeled subject.
const SAME: f64 = 0.5;
/// Overlap at which the box of a face is fitted to the label.
const NEAR: f64 = 0.25;
/// A candidate that overlaps a subject less than `SAME` but more than this is neither right nor wrong.
const UNCLEAR: f64 = 0.2;

/// Returns the weights as they stand in the sources.
pub fn fit(photos: &[Photo]) -> String {
    let mut text = String::new();
    let (rows, targets) = examples(photos, |candidate| candidate.name != "face");
    text += &weights("objects", &rows, &logistic(&rows, &targets, PENALTY), &targets);
    let (rows, targets) = examples(photos, |candidate| candidate.name == "face");
    text += &weights("faces", &rows, &logistic(&rows, &targets, PENALTY), &targets);
    let (rows, edges) = outlines(photos);
    let _ = writeln!(text, "outlines of {} faces:", rows.len());
    for side in 0..4 {
        let targets: Vec<f64> = edges.iter().map(|edges| edges[side]).collect();
        let _ = writeln!(text, "    {},", rounded(&least_squares(&rows, &targets, PENALTY)));
    }
    text
}

fn weights(name: &str, rows: &[Vec<f64>], fitted: &[f64], targets: &[bool]) -> String {
    let right = targets.iter().filter(|target| **target).count();
    format!("{name}: {} candidates, {right} labeled\n    {}\n", rows.len(), rounded(fitted))
}

fn rounded(weights: &[f64]) -> String {
    let each: Vec<String> = weights.iter().map(|weight| format!("{weight:.3}")).collect();
    format!("[{}]", each.join(", "))
}

/// Returns the measurements of candidates, and whether they are labeled. At most three things of a
/// photo are labeled, so a candidate without a label counts only if its class has none.
fn examples(photos: &[Photo], wanted: impl Fn(&Candidate) -> bool) -> (Vec<Vec<f64>>, Vec<bool>) {
    let (mut rows, mut targets) = (Vec::new(), Vec::new());
    for photo in photos {
        for candidate in photo.candidates.iter().filter(|candidate| wanted(candidate)) {
            let of_class = |name: &str| photo.labels.subjects.iter().any(|subject| subject.class() == Some(name));
            let best = photo
                .labels
                .subjects
                .iter()
                .filter(|subject| subject.class() == Some(candidate.name) && !subject.group())
                .map(|subject| overlap(photo.edges(candidate.edges), subject))
                .fold(0.0, f64::max);
            let people = photo.labels.shows_people() && matches!(candidate.name, "person" | "face");
            let target = best >= SAME;
            if !target && (people || of_class(candidate.name)) && (best > UNCLEAR || best == 0.0 || people) {
                continue;
            }
            rows.push(candidate.measurements.iter().map(|value| f64::from(*value)).collect());
            targets.push(target);
        }
    }
    (rows, targets)
}

/// Returns the shapes of faces, and where the edges of their labels are, in sizes of the box of the
/// network from its center.
fn outlines(photos: &[Photo]) -> (Vec<Vec<f64>>, Vec<[f64; 4]>) {
    let (mut rows, mut edges) = (Vec::new(), Vec::new());
    for photo in photos {
        let faces =
            || photo.labels.subjects.iter().filter(|subject| subject.class() == Some("face") && !subject.group());
        for subject in faces() {
            let near = |candidate: &&Candidate| overlap(photo.edges(candidate.edges), subject) >= NEAR;
            let best = photo.candidates.iter().filter(|candidate| candidate.name == "face").find(near);
            let Some((inner, shape)) = best.and_then(|candidate| candidate.shape.as_ref()) else { continue };
            let [left, top, right, bottom] = inner.map(f64::from);
            let size = (right - left).max(bottom - top);
            let (x, y) = ((left + right) / 2.0, (top + bottom) / 2.0);
            let [label_left, label_top, width, height] = subject.place;
            let label = [
                label_left * photo.width - x,
                label_top * photo.height - y,
                (label_left + width) * photo.width - x,
                (label_top + height) * photo.height - y,
            ];
            rows.push(shape.iter().map(|value| f64::from(*value)).collect());
            edges.push(label.map(|edge| edge / size));
        }
    }
    (rows, edges)
}

//! Boxes of things that were found, and which of them are the same thing.

use std::cmp::Ordering;

use agenticiqa_metrics::Region;

/// Overlap of two boxes of the same class that are the same thing.
const SAME: f32 = 0.5;
/// Overlap of two boxes of different classes that are the same thing.
const OTHER: f32 = 0.7;
/// Share of a box inside another of the same class that makes it a part of that.
const INSIDE: f32 = 0.9;

/// Something that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Found {
    /// Place in [`CLASSES`](super::CLASSES).
    pub class: usize,
    pub left: f32,
    pub top: f32,
    pub right: f32,
    pub bottom: f32,
    /// What the network says, as a probability.
    pub peak: f32,
    /// How likely it is that it is there.
    pub probability: f32,
}

impl Found {
    pub(super) fn area(&self) -> f32 {
        (self.right - self.left).max(0.0) * (self.bottom - self.top).max(0.0)
    }

    /// Returns the area that two boxes share.
    pub(super) fn shared(&self, other: &Self) -> f32 {
        let width = self.right.min(other.right) - self.left.max(other.left);
        let height = self.bottom.min(other.bottom) - self.top.max(other.top);
        width.max(0.0) * height.max(0.0)
    }

    /// Returns the shared area as a share of the area of both.
    pub(super) fn overlap(&self, other: &Self) -> f32 {
        let shared = self.shared(other);
        shared / (self.area() + other.area() - shared).max(f32::MIN_POSITIVE)
    }

    /// Scales a box from one size of the image to another.
    pub(super) fn scaled(self, (x, y): (f32, f32)) -> Self {
        Self { left: self.left * x, right: self.right * x, top: self.top * y, bottom: self.bottom * y, ..self }
    }

    /// Moves a box from a part of the image to the image.
    pub(super) fn moved(self, part: &Region) -> Self {
        let (x, y) = (part.x as f32, part.y as f32);
        Self { left: self.left + x, right: self.right + x, top: self.top + y, bottom: self.bottom + y, ..self }
    }

    /// Moves a box from the image to a part of it.
    pub(super) fn moved_back(self, part: &Region) -> Self {
        let (x, y) = (part.x as f32, part.y as f32);
        Self { left: self.left - x, right: self.right - x, top: self.top - y, bottom: self.bottom - y, ..self }
    }

    /// Cuts off what is above or left of a place, or below or right of another.
    pub(super) fn within(self, first: (f32, f32), last: (f32, f32)) -> Self {
        Self {
            left: self.left.clamp(first.0, last.0),
            right: self.right.clamp(first.0, last.0),
            top: self.top.clamp(first.1, last.1),
            bottom: self.bottom.clamp(first.1, last.1),
            ..self
        }
    }
}

/// Sorts by probability and keeps only the most probable box of each thing. Faces are parts of
/// persons, not the same thing.
pub(super) fn without_doubles<T>(mut found: Vec<T>, place: impl Fn(&T) -> &Found) -> Vec<T> {
    found.sort_by(|a, b| most_probable_first(place(a), place(b)));
    let mut kept: Vec<T> = Vec::new();
    for one in found {
        let candidate = place(&one);
        let double = kept.iter().map(&place).any(|known| {
            let overlap = known.overlap(candidate);
            if known.class == candidate.class {
                overlap > SAME || known.shared(candidate) > INSIDE * candidate.area() && overlap > 0.25
            } else {
                overlap > OTHER && candidate.class != super::FACE && known.class != super::FACE
            }
        });
        if !double {
            kept.push(one);
        }
    }
    kept
}

/// Orders by probability; equal ones by class and place, so that the order is always the same.
fn most_probable_first(a: &Found, b: &Found) -> Ordering {
    let place = |found: &Found| (found.class, found.top, found.left);
    b.probability.total_cmp(&a.probability).then_with(|| place(a).partial_cmp(&place(b)).unwrap_or(Ordering::Equal))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(class: usize, left: f32, right: f32, probability: f32) -> Found {
        Found { class, left, right, top: 0.0, bottom: 10.0, peak: 0.5, probability }
    }

    #[test]
    fn one_box_of_each_thing_is_kept() {
        let face = super::super::FACE;
        let all = [found(0, 0.0, 10.0, 0.5), found(0, 1.0, 10.0, 0.9), found(0, 20.0, 30.0, 0.4)];
        let more = [found(3, 1.0, 11.0, 0.8), found(face, 1.0, 10.0, 0.3), found(5, 6.0, 16.0, 0.2)];
        let kept = without_doubles(all.into_iter().chain(more).collect(), |found| found);
        let kept: Vec<_> = kept.iter().map(|found| (found.class, found.probability)).collect();
        assert_eq!(kept, [(0, 0.9), (0, 0.4), (face, 0.3), (5, 0.2)]);
    }

    #[test]
    fn overlap_is_that_of_the_areas() {
        let (one, two) = (found(0, 0.0, 10.0, 1.0), found(0, 5.0, 15.0, 1.0));
        assert!((one.overlap(&two) - 1.0 / 3.0).abs() < 1e-6);
        assert_eq!(one.overlap(&found(0, 10.0, 12.0, 1.0)), 0.0);
        assert_eq!(found(0, 3.0, 3.0, 1.0).overlap(&found(0, 3.0, 3.0, 1.0)), 0.0);
    }
}

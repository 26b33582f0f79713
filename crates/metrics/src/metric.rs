//! The [`Metric`] trait, its input ([`Pair`]) and its output ([`Measurement`]).

use std::fmt;

use crate::{Error, Image, Plane, Result};

/// Whether a metric needs a reference image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Compares an image with its reference (FR).
    FullReference,
    /// Rates an image alone (NR).
    NoReference,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FullReference => "FR",
            Self::NoReference => "NR",
        })
    }
}

/// Which end of a metric's scale is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// A higher score is better.
    HigherIsBetter,
    /// A lower score is better.
    LowerIsBetter,
    /// A plain measurement: neither end of the scale is better.
    Neutral,
}

/// Facts about a metric. Help texts, documentation and checks are derived from them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Info {
    /// The name, spelled as in the paper.
    pub name: &'static str,
    /// Full-reference or no-reference.
    pub kind: Kind,
    /// Which end of the scale is better.
    pub direction: Direction,
    /// Lowest and highest possible score; infinite if there is no bound.
    pub range: (f64, f64),
    /// The unit of the score; empty if it has none.
    pub unit: &'static str,
    /// What it measures, in one sentence.
    pub summary: &'static str,
    /// Authors, title and venue of the defining paper.
    pub paper: &'static str,
    /// Whether the metric can compute a map.
    pub has_map: bool,
    /// The minimum width and height in pixels.
    pub minimum_side: usize,
}

/// The input of a metric: an image, its reference if there is one, and whether to compute a map.
#[derive(Debug, Clone, Copy)]
pub struct Pair<'a> {
    reference: Option<&'a Image>,
    distorted: &'a Image,
    wants_map: bool,
}

impl<'a> Pair<'a> {
    /// Creates a pair of a reference and an image, which must have the same size.
    pub fn new(reference: &'a Image, distorted: &'a Image) -> Result<Self> {
        let size = |image: &Image| (image.width(), image.height());
        if size(reference) != size(distorted) {
            return Err(Error::SizeMismatch { reference: size(reference), distorted: size(distorted) });
        }
        Ok(Self { reference: Some(reference), distorted, wants_map: false })
    }

    /// Creates a pair without a reference.
    pub fn single(image: &'a Image) -> Self {
        Self { reference: None, distorted: image, wants_map: false }
    }

    /// Requests a map in addition to the score.
    pub fn with_map(self) -> Self {
        Self { wants_map: true, ..self }
    }

    /// Whether a map is requested.
    pub fn wants_map(&self) -> bool {
        self.wants_map
    }

    /// The image to be rated.
    pub fn distorted(&self) -> &'a Image {
        self.distorted
    }

    /// The reference image, if there is one.
    pub fn reference(&self) -> Option<&'a Image> {
        self.reference
    }

    /// Returns the reference and the image after checking their size against `info`.
    pub fn both(&self, info: &Info) -> Result<(&'a Image, &'a Image)> {
        let reference = self.reference.ok_or(Error::ReferenceMissing { metric: info.name })?;
        Ok((reference, self.single_checked(info)?))
    }

    /// Returns the image after checking its size against `info`.
    pub fn single_checked(&self, info: &Info) -> Result<&'a Image> {
        let (width, height) = (self.distorted.width(), self.distorted.height());
        if width.min(height) < info.minimum_side {
            return Err(Error::TooSmall { metric: info.name, minimum: info.minimum_side, width, height });
        }
        Ok(self.distorted)
    }
}

/// A map of the damage: one number per location, on the metric's local scale.
#[derive(Debug, Clone, PartialEq)]
pub struct Map {
    /// The local values. The plane may be smaller than the image, but covers the same area.
    pub plane: Plane,
    /// The value of a flawless location.
    pub best: f32,
    /// The value at which a location is displayed as fully damaged.
    pub worst: f32,
}

/// The output of a metric: a score, and a map if it was requested and the metric has one.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// The score on the metric's own scale.
    pub score: f64,
    /// Lower and upper end of the 90% prediction interval of the mean opinion score, on the same
    /// scale. Only set for scores that provide one.
    pub interval: Option<(f64, f64)>,
    /// The map, if any.
    pub map: Option<Map>,
}

impl Measurement {
    /// Creates a measurement with a score only.
    pub fn new(score: f64) -> Self {
        Self { score, interval: None, map: None }
    }

    /// Adds a prediction interval.
    pub fn with_interval(self, low: f64, high: f64) -> Self {
        Self { interval: Some((low, high)), ..self }
    }

    /// Adds a map.
    pub fn with_map(self, plane: Plane, best: f32, worst: f32) -> Self {
        Self { map: Some(Map { plane, best, worst }), ..self }
    }
}

/// An image quality metric.
pub trait Metric: Send + Sync + fmt::Debug {
    /// Returns facts about the metric: name, kind, direction, range, paper.
    fn info(&self) -> &'static Info;

    /// Measures an image, or compares an image with its reference.
    fn measure(&self, pair: &Pair<'_>) -> Result<Measurement>;
}

/// Adds the method `score(reference, distorted)` to a full-reference metric, usable without
/// importing the trait.
macro_rules! full_reference {
    ($metric:ty) => {
        impl $metric {
            /// Returns the score of `distorted` compared with `reference`.
            pub fn score(&self, reference: &$crate::Image, distorted: &$crate::Image) -> $crate::Result<f64> {
                let pair = $crate::Pair::new(reference, distorted)?;
                Ok($crate::Metric::measure(self, &pair)?.score)
            }
        }
    };
}

/// Adds the method `score(image)` to a no-reference metric, usable without importing the trait.
macro_rules! no_reference {
    ($metric:ty) => {
        impl $metric {
            /// Returns the score of `image`.
            pub fn score(&self, image: &$crate::Image) -> $crate::Result<f64> {
                Ok($crate::Metric::measure(self, &$crate::Pair::single(image))?.score)
            }
        }
    };
}

pub(crate) use {full_reference, no_reference};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_different_size_are_refused() {
        let small = Image::from_gray8(2, 2, vec![0; 4]).unwrap();
        let large = Image::from_gray8(3, 2, vec![0; 6]).unwrap();
        let error = Pair::new(&small, &large).unwrap_err();
        assert!(error.to_string().starts_with("the reference is 2x2 but the image is 3x2"));
    }
}

//! What every metric is: facts about itself, and a measurement of an image or a pair.

use std::fmt;

use crate::{Error, Image, Plane, Result, fr, nr};

/// Whether a metric compares with a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Compares an image with its reference.
    FullReference,
    /// Judges an image alone.
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

/// Which way quality lies on a metric's scale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// A higher score is better.
    HigherIsBetter,
    /// A lower score is better.
    LowerIsBetter,
    /// A plain measurement: neither end is better.
    Neutral,
}

/// Facts about a metric, from which help, documentation and checks derive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Info {
    /// The name, as papers spell it.
    pub name: &'static str,
    /// With or without reference.
    pub kind: Kind,
    /// Which way quality lies.
    pub direction: Direction,
    /// Lowest and highest possible score; infinite where there is no bound.
    pub range: (f64, f64),
    /// The unit of the score, empty where it has none.
    pub unit: &'static str,
    /// What it measures, in one sentence.
    pub summary: &'static str,
    /// Authors, title and place of the defining paper.
    pub paper: &'static str,
    /// Whether it gives a map.
    pub has_map: bool,
    /// The smallest side in pixels that it can measure.
    pub minimum_side: usize,
}

/// What is measured: an image, its reference if there is one, and whether a map is wanted.
#[derive(Debug, Clone, Copy)]
pub struct Pair<'a> {
    reference: Option<&'a Image>,
    distorted: &'a Image,
    wants_map: bool,
}

impl<'a> Pair<'a> {
    /// An image and its reference; they must be of one size.
    pub fn new(reference: &'a Image, distorted: &'a Image) -> Result<Self> {
        let size = |image: &Image| (image.width(), image.height());
        if size(reference) != size(distorted) {
            return Err(Error::SizeMismatch { reference: size(reference), distorted: size(distorted) });
        }
        Ok(Self { reference: Some(reference), distorted, wants_map: false })
    }

    /// An image alone.
    pub fn single(image: &'a Image) -> Self {
        Self { reference: None, distorted: image, wants_map: false }
    }

    /// The same pair, with a map wanted beside the score.
    pub fn with_map(self) -> Self {
        Self { wants_map: true, ..self }
    }

    /// Whether a map is wanted.
    pub fn wants_map(&self) -> bool {
        self.wants_map
    }

    /// The image that is judged.
    pub fn distorted(&self) -> &'a Image {
        self.distorted
    }

    /// The reference, if there is one.
    pub fn reference(&self) -> Option<&'a Image> {
        self.reference
    }

    /// Reference and image, once the size is checked against what `info` asks for.
    pub fn both(&self, info: &Info) -> Result<(&'a Image, &'a Image)> {
        let reference = self.reference.ok_or(Error::ReferenceMissing { metric: info.name })?;
        Ok((reference, self.single_checked(info)?))
    }

    /// The image, once its size is checked against what `info` asks for.
    pub fn single_checked(&self, info: &Info) -> Result<&'a Image> {
        let (width, height) = (self.distorted.width(), self.distorted.height());
        if width.min(height) < info.minimum_side {
            return Err(Error::TooSmall { metric: info.name, minimum: info.minimum_side, width, height });
        }
        Ok(self.distorted)
    }
}

/// An image of the damage: one number for each place, on the metric's own local scale.
#[derive(Debug, Clone, PartialEq)]
pub struct Map {
    /// The local values; may be smaller than the image, it covers the same area from edge to edge.
    pub plane: Plane,
    /// The value that a flawless place has.
    pub best: f32,
    /// The value from which a place counts as fully damaged (for display).
    pub worst: f32,
}

/// A score, and a map where one was asked for and the metric has one.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// The score on the metric's own scale.
    pub score: f64,
    /// Lower and upper end of the interval that nine of ten mean opinions are in, on the same scale; for scores that know theirs.
    pub interval: Option<(f64, f64)>,
    /// The map.
    pub map: Option<Map>,
}

impl Measurement {
    /// A score without a map.
    pub fn new(score: f64) -> Self {
        Self { score, interval: None, map: None }
    }

    /// The same score with the interval around it.
    pub fn with_interval(self, low: f64, high: f64) -> Self {
        Self { interval: Some((low, high)), ..self }
    }

    /// The same score with a map.
    pub fn with_map(self, plane: Plane, best: f32, worst: f32) -> Self {
        Self { map: Some(Map { plane, best, worst }), ..self }
    }
}

/// A metric: facts about itself and a way to measure.
pub trait Metric: Send + Sync + fmt::Debug {
    /// Name, kind, direction, range, paper.
    fn info(&self) -> &'static Info;

    /// Measures an image, or an image against its reference.
    fn measure(&self, pair: &Pair<'_>) -> Result<Measurement>;
}

/// Every metric with its authors' parameters, full reference first, in the order of the documentation.
pub fn all() -> impl Iterator<Item = &'static dyn Metric> {
    fr::METRICS.iter().chain(nr::METRICS).copied()
}

/// The metric of that name, without regard to case, `-`, `_` or spaces.
pub fn find(name: &str) -> Option<&'static dyn Metric> {
    let wanted = fold(name);
    all().find(|metric| fold(metric.info().name) == wanted)
}

fn fold(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).flat_map(char::to_lowercase).collect()
}

/// Gives a full-reference metric `score(reference, distorted)` and `measure_pair` without a trait in scope.
macro_rules! full_reference {
    ($metric:ty) => {
        impl $metric {
            /// The score of `distorted` against `reference`.
            pub fn score(&self, reference: &$crate::Image, distorted: &$crate::Image) -> $crate::Result<f64> {
                let pair = $crate::Pair::new(reference, distorted)?;
                Ok($crate::Metric::measure(self, &pair)?.score)
            }
        }
    };
}

/// Gives a no-reference metric `score(image)` without a trait in scope.
macro_rules! no_reference {
    ($metric:ty) => {
        impl $metric {
            /// The score of `image`.
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
    fn names_are_found_in_any_spelling_and_are_unique() {
        assert_eq!(find("ms_ssim").map(|m| m.info().name), find("MS-SSIM").map(|m| m.info().name));
        let mut names: Vec<_> = all().map(|metric| fold(metric.info().name)).collect();
        names.sort();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn pairs_of_different_size_are_refused() {
        let small = Image::from_gray8(2, 2, vec![0; 4]).unwrap();
        let large = Image::from_gray8(3, 2, vec![0; 6]).unwrap();
        let error = Pair::new(&small, &large).unwrap_err();
        assert!(error.to_string().starts_with("the reference is 2x2 but the image is 3x2"));
    }
}

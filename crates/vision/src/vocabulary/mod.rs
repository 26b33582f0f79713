//! Shared vocabulary types: distortions and severities, scores, intervals and quality levels, text
//! and regions. Invalid values cannot be constructed.

mod attribute;
mod distortion;
mod interval;
mod invalid;
mod level;
mod parts;
mod problem;
mod region;
mod value;

pub use attribute::{Attribute, Attributes, Axis, Measured};
pub use distortion::{Distortion, GLOBAL, Severity};
pub use interval::Interval;
pub use invalid::Invalid;
pub use level::QualityLevel;
pub use parts::{Cost, ScoreParts};
pub use problem::Problem;
pub use region::{Origin, RegionBox, drawn};
pub use value::{OneOrMany, RawScore, Score, Seconds, Text};

//! The words that all crates above share: distortions and severities, scores, intervals and levels, text and regions.
//! Values that the specification forbids cannot be made.

mod distortion;
mod interval;
mod invalid;
mod level;
mod region;
mod value;

pub use distortion::{Distortion, GLOBAL, Severity};
pub use interval::Interval;
pub use invalid::Invalid;
pub use level::QualityLevel;
pub use region::RegionBox;
pub use value::{OneOrMany, RawScore, Score, Seconds, Text};

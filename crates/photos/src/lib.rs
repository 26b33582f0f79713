//! Folders of photos: ranks them, groups those of the same scene, proposes which to keep, and writes
//! ratings that other programs read.
//!
//! - [`rank()`] orders photos, best first, by the overall score, an axis, a tool, or an answer.
//! - [`cull()`] groups photos of the same scene and proposes which to keep, with reasons.
//! - [`plan()`] turns decisions into steps; a [`journal::Journal`] does, continues and undoes them.
//! - [`Survey`] measures many photos a few at a time; a [`Cache`] keeps what was measured by content.
//!
//! Nothing here prints or asks: front ends do.

mod cache;
mod capture;
mod cull;
mod decide;
mod group;
pub mod html;
pub mod journal;
mod plan;
mod rank;
mod ranking;
pub mod sidecar;
mod signature;
pub mod similar;
mod study;
mod survey;
mod tasks;
pub mod words;

/// The model of which photo is better.
pub mod better {
    pub use crate::decide::Model;
}

pub use agenticiqa_tools::Source;
pub use cache::Cache;
pub use capture::Taken;
pub use cull::{Culled, Options, Photo, cull};
pub use decide::{Aspect, Decision, Merits, decide, differences};
pub use group::{Shot, groups};
pub use plan::{Actions, Plan, plan};
pub use rank::{By, Top};
pub use ranking::{Criterion, Ranking, Row, rank};
pub use signature::Signature;
pub use study::{Detail, Level, Studies, Study, Subject};
pub use survey::{Failure, Progress, Survey, Task};
pub use tasks::{Answered, ByAnswer, ByTool, Measured};

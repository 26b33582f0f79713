//! Datasets, correlations with human opinions, calibration and reports.

pub mod calibrate;
pub mod dataset;
pub mod eval;
pub mod report;

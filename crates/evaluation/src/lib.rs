//! Measures how well scores and answers agree with people.
//!
//! The input is a file of assessment records, as written by the crate `agenticiqa-batch`, or a
//! manifest of a public dataset. The commands `dataset`, `eval`, `calibrate` and `report` of the
//! program `agenticiqa` use this crate.
//!
//! ```
//! use agenticiqa_evaluation::eval::{Settings, of_records};
//! use serde_json::json;
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("records.jsonl");
//! let records = [(1.2, 10.0), (2.1, 35.0), (3.4, 30.0), (4.4, 88.0), (4.8, 95.0)];
//! let lines = records.iter().enumerate().map(|(id, (score, mos))| {
//!     let result = json!({"quality_score": score});
//!     format!("{}\n", json!({"sample_id": id, "summarizer_result": result, "input": {"mos": mos}}))
//! });
//! std::fs::write(&path, lines.collect::<String>())?;
//!
//! let correlation = of_records(&path, None, &Settings::default())?;
//! let srcc = correlation.evaluated[0].overall.srcc;
//! assert!((srcc.value.unwrap() - 0.9).abs() < 1e-9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Modules
//!
//! - [`dataset`]: converts public datasets to a [`Manifest`](dataset::Manifest) and validates
//!   manifests.
//! - [`eval`]: correlations of scores with opinions ([`of_records`](eval::of_records),
//!   [`of_tools`](eval::of_tools)), accuracy of multiple-choice answers ([`mcq`](eval::mcq())), and
//!   plots.
//! - [`calibrate`]: fits the 1 to 5 scale of tools to opinions.
//! - [`report`]: writes a [`Report`](report::Report) of one or several runs as HTML and Markdown.

pub mod calibrate;
pub mod dataset;
pub mod eval;
pub mod report;

//! Every scenario of the specification, by its name. docs/seeds.md says which test stands for which scenario.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod configuration;
mod executor_core;
mod graph;
mod planner_design;
mod state_models;
mod summarizer_core;
mod support;

//! Tests of the specification by scenario, of providers and their faults, of the worker, of a real
//! vision-chat server, and of the answers to a set of questions with known truth.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod grounded;
mod questions;
mod real_vlm;
mod seeds;
mod verdicts;
mod vlm;
mod worker;

//! The worker's own program and the Rust side of it, with a small package in place of pyiqa. `tools/check_worker.py` does the
//! same with pyiqa itself.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod agent;
mod faults;
mod program;
mod scores;
#[allow(dead_code)]
#[path = "../seeds/support.rs"]
mod seeds_support;
mod support;

//! The worker's own program and the Rust side of it, with a small package in place of pyiqa. `scripts/check_worker.py` does the
//! same with pyiqa itself.

mod agent;
mod faults;
mod program;
mod scores;
#[allow(dead_code)]
mod support;

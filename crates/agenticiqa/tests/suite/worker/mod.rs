//! The worker program and its Rust client, with a small package in place of pyiqa.
//! `scripts/check_worker.py` does the same with the real pyiqa.

mod agent;
mod faults;
mod program;
mod scores;
#[allow(dead_code)]
mod support;

//! The specification scenario by scenario, providers and their faults, the worker, a real vision-chat server.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod real_vlm;
mod seeds;
mod vlm;
mod worker;

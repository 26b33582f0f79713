//! Tests of the specification by scenario, of providers and their faults, of the worker, and of a
//! real vision-chat server.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod real_vlm;
mod seeds;
mod vlm;
mod worker;

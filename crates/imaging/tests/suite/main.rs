//! Tests of files that are accepted and files that are rejected.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod bad_input;
mod color;
mod formats;

//! Files that are read, and files that are refused.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod bad_input;
mod color;
mod formats;

//! What is seen in photographs that were damaged on purpose.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod fused_fr;
mod fused_nr;
mod perception;

//! Detection and scores on photos that were distorted on purpose.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod fused_fr;
mod fused_nr;
mod perception;

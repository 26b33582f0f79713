//! Any text is read as a question.
#![no_main]

#[path = "../../crates/server/tests/suite/mutations/targets.rs"]
#[allow(dead_code, clippy::unwrap_used)]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::question(bytes));

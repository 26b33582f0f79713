//! Any bytes are a list of tools or an error.
#![no_main]

#[path = "../../crates/server/tests/suite/mutations/targets.rs"]
#[allow(dead_code, clippy::unwrap_used)]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::tools(bytes));

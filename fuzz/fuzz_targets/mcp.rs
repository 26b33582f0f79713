//! Any line is a message or gets an error of JSON-RPC.
#![no_main]

#[path = "../../crates/server/tests/suite/mutations/targets.rs"]
#[allow(dead_code, clippy::unwrap_used)]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::mcp(bytes));

//! Runs the program as a user does and checks outputs and exit codes. One module per command or
//! topic.
#![allow(clippy::unwrap_used, clippy::panic)] // helpers outside `#[test]` functions are test code too

mod assess;
mod bad_input;
mod batch;
mod evaluate;
mod hostile;
mod install;
mod learned;
mod regions;
mod report;
mod score;
mod serve;
mod support;
mod tools;
mod user_tools;
mod worker;

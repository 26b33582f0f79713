//! The program as a user calls it: outputs, exit codes, good and bad input. One module a theme.
#![allow(clippy::unwrap_used, clippy::panic)] // what lies outside `#[test]` functions is test code too

mod assess;
mod bad_input;
mod batch;
mod evaluate;
mod install;
mod learned;
mod report;
mod score;
mod serve;
mod support;
mod tools;
mod user_tools;
mod worker;

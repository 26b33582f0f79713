//! The program as a user calls it: outputs, exit codes, good and bad input. One module a theme.

mod bad_input;
mod score;
mod support;
mod tools;

//! Tests of the HTTP API against a real server on a local port.
mod abuse;
mod access;
mod assess;
mod documentation;
mod files;
mod jobs;
mod page;
mod score;
pub mod support;
mod what_if;

//! Integration tests of the server over HTTP and MCP.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod http;
mod mcp;
mod mutations;

//! Server addresses whose secrets are never printed, and HTTP clients with TLS.
//!
//! ```
//! use agenticiqa_http::BaseUrl;
//!
//! let url: BaseUrl = "https://me:secret@host:8000/v1?key=secret".parse()?;
//! assert_eq!(url.to_string(), "https://***@host:8000/v1?***");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The clients for language models and the installer of tools use this crate, because an address in
//! a configuration file may contain a password or a key, and logs and errors must not show it.
//!
//! - [`BaseUrl`] is a checked address. [`BaseUrl::as_str`] returns the full text for requests;
//!   `Display` and `Debug` hide user name, password and query.
//! - [`without_secrets`] hides the same parts in any text.
//! - [`remember`] and [`redacted`] remove known secrets from texts of models, servers and programs.
//! - `client` and `is_loopback` (feature `client`, on by default) set up `reqwest` clients. Without
//!   the feature, reqwest and rustls are not built.
//!
//! The crate does not send requests, retry or limit rates; its callers do.

mod address;
#[cfg(feature = "client")]
mod client;
mod secrets;

pub use address::{BaseUrl, NotAnAddress, without_secrets};
#[cfg(feature = "client")]
pub use client::{client, is_loopback};
pub use secrets::{REDACTED, redacted, remember};

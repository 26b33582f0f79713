//! Addresses whose secrets are never printed, and HTTP clients with TLS.
//!
//! ```
//! use agenticiqa_http::BaseUrl;
//!
//! let url: BaseUrl = "https://me:secret@host:8000/v1?key=secret".parse()?;
//! assert_eq!(url.to_string(), "https://***@host:8000/v1?***");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod address;
#[cfg(feature = "client")]
mod client;

pub use address::{BaseUrl, NotAnAddress, without_secrets};
#[cfg(feature = "client")]
pub use client::{client, is_loopback};

//! Installs the files that tools need (`tools install`): downloads, checks and converts them.
//!
//! A [`Package`] is a tool with an `install` section ([`Installation`]), or the shared library of
//! ONNX Runtime. An [`Installer`] gets the sources from the network (resumable) or from the user's
//! folders, converts them with the recipe of the section, checks the SHA-256 of the result, and
//! moves it into the data folder.

#[cfg(feature = "install")]
mod client;
#[cfg(feature = "install")]
mod download;
mod error;
#[cfg(feature = "install")]
mod installer;
#[cfg(feature = "install")]
mod local;
mod package;
#[cfg(feature = "install")]
mod place;
#[cfg(feature = "install")]
mod recipe;
mod section;
#[cfg(test)]
#[cfg(feature = "install")]
mod tests;

pub use error::Error;
#[cfg(feature = "install")]
pub use installer::{Event, Installer, Listener};
pub use package::{ONNX_RUNTIME, Package, State, named, packages};
pub use section::{Checksum, Installation, Produced, Source};

#[cfg(feature = "install")]
use installer::Files;

//! Errors of installation and removal.

use std::path::PathBuf;

use super::Checksum;

/// Reasons why a package cannot be installed or removed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The user has to get a file.
    #[error("{package} cannot be downloaded: only its authors distribute {file}")]
    NotDownloadable {
        /// The package.
        package: String,
        /// The file.
        file: String,
    },
    /// The server does not have the file or refuses access.
    #[error("{address}: the server answered {status}")]
    Status {
        /// The URL, without secrets.
        address: String,
        /// The HTTP status.
        status: u16,
    },
    /// The connection keeps failing.
    #[error("{address}: {reason}; the downloaded part is kept")]
    Connection {
        /// The URL, without secrets.
        address: String,
        /// The problem.
        reason: String,
    },
    /// The file on the server has another size than the entry says.
    #[error("{address}: {found} bytes where {expected} were expected: this is not the file of the entry")]
    Size {
        /// The URL, without secrets.
        address: String,
        /// The size in the entry.
        expected: u64,
        /// The size of the file on the server.
        found: u64,
    },
    /// A file is damaged or is not the expected one.
    #[error(
        "{place}: wrong checksum: SHA-256 {found}, expected {expected}: the file is damaged or another one, and is not used"
    )]
    Checksum {
        /// The file or URL.
        place: String,
        /// The checksum in the entry.
        expected: Checksum,
        /// The checksum of the file.
        found: Checksum,
    },
    /// The given files and folders do not contain what is needed.
    #[error("{package}: no {wanted} in {places}")]
    NotFound {
        /// The package.
        package: String,
        /// The searched places.
        places: String,
        /// The missing files.
        wanted: String,
    },
    /// The sources could not be converted.
    #[error("{package}: {reason}")]
    Conversion {
        /// The package.
        package: String,
        /// The problem.
        reason: String,
    },
    /// A file or folder cannot be read or written.
    #[error("{}: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
}

impl Error {
    /// Creates an error for a file system operation on `path`.
    #[cfg(feature = "install")]
    pub(super) fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |error| {
            let reason = match error.kind() {
                std::io::ErrorKind::StorageFull => "no space is left on this disk".to_owned(),
                _ => error.to_string(),
            };
            Self::File { path, reason }
        }
    }
}

//! Why an installation failed.

use std::path::PathBuf;

use super::Checksum;

/// Why something could not be installed or removed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The user has to get a file.
    #[error(
        "{package} cannot be downloaded: only its authors hand out {file}"
    )]
    NotDownloadable {
        /// The package.
        package: String,
        /// The file.
        file: String,
    },
    /// The server has no such file, or does not give it away.
    #[error("{address}: the server answered {status}")]
    Status {
        /// The address, without secrets.
        address: String,
        /// The status.
        status: u16,
    },
    /// The connection does not last.
    #[error("{address}: {reason}; the downloaded part is kept")]
    Connection {
        /// The address, without secrets.
        address: String,
        /// What went wrong.
        reason: String,
    },
    /// The server's file is not the one of the entry.
    #[error("{address}: {found} bytes where {expected} were expected: this is not the file of the entry")]
    Size {
        /// The address, without secrets.
        address: String,
        /// The size that the entry names.
        expected: u64,
        /// The size of the server's file.
        found: u64,
    },
    /// A file is damaged, or not the one of the entry.
    #[error(
        "{place}: wrong checksum: SHA-256 {found}, expected {expected}: the file is damaged or another one, and is not used"
    )]
    Checksum {
        /// The file or address.
        place: String,
        /// The checksum of the entry.
        expected: Checksum,
        /// That of the file.
        found: Checksum,
    },
    /// The given files and folders do not contain what is needed.
    #[error("{package}: no {wanted} in {places}")]
    NotFound {
        /// The package.
        package: String,
        /// Where was looked.
        places: String,
        /// What for.
        wanted: String,
    },
    /// The sources could not be converted.
    #[error("{package}: {reason}")]
    Conversion {
        /// The package.
        package: String,
        /// What is wrong.
        reason: String,
    },
    /// A file or folder cannot be read or written.
    #[error("{}: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}

impl Error {
    /// An error of the file system at a place.
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

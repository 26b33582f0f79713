//! Errors of reading image files.

use std::path::PathBuf;

use crate::Format;

/// The result of every fallible call of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an image could not be read; the message is one line that states the reason.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Any of the other errors, with the path of the file.
    #[error("{}: {reason}", path.display())]
    File {
        /// The path of the file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        reason: Box<Error>,
    },
    /// The file does not exist.
    #[error("no such file")]
    NotFound,
    /// The path is a folder.
    #[error("this is a directory, not an image file")]
    Directory,
    /// The path is a named pipe, a device or a socket, which may have no end.
    #[error("this is not a regular file")]
    NotAFile,
    /// The system refused to open or to read the file.
    #[error("the file cannot be read: {0}")]
    Unreadable(std::io::Error),
    /// The file has no bytes.
    #[error("the file is empty")]
    Empty,
    /// The first bytes do not belong to an image format.
    #[error("not an image: it looks like {looks_like}")]
    NotAnImage {
        /// What the first bytes look like.
        looks_like: &'static str,
    },
    /// An image in a format that this crate does not support.
    #[error("{name} images are not supported; convert the file to PNG")]
    UnknownFormat {
        /// The format's name.
        name: &'static str,
    },
    /// The data ends before the image does.
    #[error("the {format} data is truncated: the file ends before the image does")]
    Truncated {
        /// The format of the file.
        format: Format,
    },
    /// The data contradicts itself or the format.
    #[error("the {format} data is damaged: {reason}")]
    Corrupt {
        /// The format of the file.
        format: Format,
        /// The message of the decoder.
        reason: String,
    },
    /// A valid file with an unsupported feature.
    #[error("this kind of {format} is not supported: {feature}; convert it to PNG first")]
    Unsupported {
        /// The format of the file.
        format: Format,
        /// The unsupported feature.
        feature: String,
    },
    /// Width or height is zero.
    #[error("the image has no pixels ({width}x{height})")]
    ZeroSized {
        /// Width in pixels.
        width: u64,
        /// Height in pixels.
        height: u64,
    },
    /// The image has more pixels than the caller allows. Nothing was allocated.
    #[error("the image has {width}x{height} pixels, more than the limit of {max_pixels}")]
    TooLarge {
        /// Width in pixels.
        width: u64,
        /// Height in pixels.
        height: u64,
        /// The limit.
        max_pixels: u64,
    },
    /// The image takes more memory than allowed, or than there is. Nothing was allocated.
    #[error(
        "the image has {width}x{height} pixels and takes about {} MB of memory, more than the {} MB that it may take",
        needed >> 20, limit >> 20
    )]
    NeedsMemory {
        /// Width in pixels.
        width: u64,
        /// Height in pixels.
        height: u64,
        /// The estimated number of bytes.
        needed: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The decoder needs more memory than a file of this size may use.
    #[error("the {format} data asks for more memory than an image of its size needs")]
    Memory {
        /// The format of the file.
        format: Format,
    },
    /// The decoded pixels are not a valid image.
    #[error(transparent)]
    Pixels(#[from] agenticiqa_metrics::Error),
}

impl Error {
    /// Adds the path of the file to the error.
    pub(crate) fn of(self, path: &std::path::Path) -> Self {
        Self::File { path: path.to_path_buf(), reason: Box::new(self) }
    }

    /// Returns the underlying error, without the path of the file.
    pub fn reason(&self) -> &Self {
        match self {
            Self::File { reason, .. } => reason,
            other => other,
        }
    }

    /// An error for damaged data, with the decoder's message on one line.
    pub(crate) fn corrupt(format: Format, reason: impl ToString) -> Self {
        Self::Corrupt { format, reason: one_line(&reason.to_string()) }
    }

    /// An unsupported feature, described on one line.
    pub(crate) fn unsupported(format: Format, feature: impl ToString) -> Self {
        Self::Unsupported { format, feature: one_line(&feature.to_string()) }
    }
}

/// Shortens a text to one line: the messages of decoders may contain line breaks and quoted data.
fn one_line(text: &str) -> String {
    const LONGEST: usize = 160;
    let words: Vec<&str> =
        text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|w| !w.is_empty()).collect();
    words.join(" ").chars().take(LONGEST).collect()
}

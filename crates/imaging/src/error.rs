//! Why a file did not become an image.

use std::path::PathBuf;

use crate::Format;

/// The result of every fallible call of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a file did not become an image; each message is one line that names the reason.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Any of the other reasons, with the file that it is about.
    #[error("{}: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        reason: Box<Error>,
    },
    /// Nothing of that name.
    #[error("no such file")]
    NotFound,
    /// A folder was named where a file is needed.
    #[error("this is a directory, not an image file")]
    Directory,
    /// A device or a socket, which may have no end.
    #[error("this is neither a file nor a pipe")]
    NotAFile,
    /// The system refused to open or to read the file.
    #[error("the file cannot be read: {0}")]
    Unreadable(std::io::Error),
    /// No bytes.
    #[error("the file is empty")]
    Empty,
    /// The first bytes are of no image format.
    #[error("not an image: it looks like {looks_like}")]
    NotAnImage {
        /// What the first bytes look like.
        looks_like: &'static str,
    },
    /// An image, but of a format that this build does not read.
    #[error("{name} images are not read: convert it to PNG first")]
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
    /// The data contradicts itself or its format.
    #[error("the {format} data is damaged: {reason}")]
    Corrupt {
        /// The format of the file.
        format: Format,
        /// What the decoder said.
        reason: String,
    },
    /// A valid file that uses something which is not supported.
    #[error("this kind of {format} is not supported: {feature}; convert it to PNG first")]
    Unsupported {
        /// The format of the file.
        format: Format,
        /// What is not supported.
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
    /// More pixels than the caller allows; nothing was allocated.
    #[error("the image has {width}x{height} pixels, more than the limit of {max_pixels}")]
    TooLarge {
        /// Width in pixels.
        width: u64,
        /// Height in pixels.
        height: u64,
        /// The limit.
        max_pixels: u64,
    },
    /// The decoder needs more memory than a file of this size may claim.
    #[error("the {format} data asks for more memory than an image of its size needs")]
    Memory {
        /// The format of the file.
        format: Format,
    },
    /// The pixels were refused.
    #[error(transparent)]
    Pixels(#[from] agenticiqa_metrics::Error),
}

impl Error {
    /// The same error with the file that it is about in front.
    pub(crate) fn of(self, path: &std::path::Path) -> Self {
        Self::File { path: path.to_path_buf(), reason: Box::new(self) }
    }

    /// The error beneath the name of the file.
    pub fn reason(&self) -> &Self {
        match self {
            Self::File { reason, .. } => reason,
            other => other,
        }
    }

    /// Damaged data, with what the decoder said on one line.
    pub(crate) fn corrupt(format: Format, reason: impl ToString) -> Self {
        Self::Corrupt { format, reason: one_line(&reason.to_string()) }
    }

    /// An unsupported feature, described on one line.
    pub(crate) fn unsupported(format: Format, feature: impl ToString) -> Self {
        Self::Unsupported { format, feature: one_line(&feature.to_string()) }
    }
}

/// Decoders' messages may hold line breaks and quoted data; an error here is one short line.
fn one_line(text: &str) -> String {
    const LONGEST: usize = 160;
    let words: Vec<&str> =
        text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|w| !w.is_empty()).collect();
    words.join(" ").chars().take(LONGEST).collect()
}

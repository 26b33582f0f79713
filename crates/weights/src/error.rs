//! Errors of reading and converting weights.

/// Reasons why the sources cannot be converted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The recipe does not exist.
    #[error("there is no recipe {name}; there are {known}")]
    UnknownRecipe {
        /// The requested name.
        name: String,
        /// The existing names.
        known: String,
    },
    /// A file that the recipe needs was not given.
    #[error("the recipe {recipe} needs the file {file}")]
    MissingSource {
        /// The recipe.
        recipe: &'static str,
        /// The file name, or the names of which one is needed.
        file: String,
    },
    /// An archive is damaged or not an archive.
    #[error("the archive {archive} cannot be read: {problem}; download it again")]
    Archive {
        /// File name of the archive.
        archive: String,
        /// Message of the archive reader.
        problem: String,
    },
    /// An archive does not contain the weights file.
    #[error("the archive {archive} has no file {member}; it is another version than the recipe knows")]
    MissingMember {
        /// File name of the archive.
        archive: String,
        /// Path inside the archive.
        member: String,
    },
    /// A weights file violates its format, or uses a part of it that weights do not need.
    #[error("{format}: {problem} (at byte {position})")]
    Malformed {
        /// The expected format.
        format: &'static str,
        /// Position at which reading stopped.
        position: usize,
        /// The problem at that position.
        problem: String,
    },
    /// An array is missing in the file.
    #[error("{format}: there is no array {name}")]
    MissingArray {
        /// The expected format.
        format: &'static str,
        /// The path of the array.
        name: String,
    },
    /// An array has another shape than the network expects.
    #[error("the array {name} has the shape {found:?}; the network needs {expected:?}")]
    Shape {
        /// The path of the array.
        name: String,
        /// The shape of the array.
        found: Vec<usize>,
        /// The expected shape.
        expected: Vec<usize>,
    },
}

/// Result type of this crate.
pub type Result<T> = std::result::Result<T, Error>;

//! What can be wrong with a source of weights.

/// Why no model came out of the sources.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Nobody wrote this recipe.
    #[error("there is no recipe {name}; there are {known}")]
    UnknownRecipe {
        /// The name that was asked for.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// A file that the recipe reads was not given.
    #[error("the recipe {recipe} needs the file {file}")]
    MissingSource {
        /// The recipe.
        recipe: &'static str,
        /// The file name, or the names of which one is needed.
        file: String,
    },
    /// An archive is damaged or is no archive.
    #[error("the archive {archive} cannot be read: {problem}; download it again")]
    Archive {
        /// File name of the archive.
        archive: String,
        /// What the reader of the archive says.
        problem: String,
    },
    /// An archive lacks the file that the weights are in.
    #[error("the archive {archive} has no file {member}; it is another version than the recipe knows")]
    MissingMember {
        /// File name of the archive.
        archive: String,
        /// Path inside the archive.
        member: String,
    },
    /// A file of weights does not follow its format, or uses a part of it that weights do not need.
    #[error("{format}: {problem} (at byte {position})")]
    Malformed {
        /// What the file should be.
        format: &'static str,
        /// Where reading stopped.
        position: usize,
        /// What is wrong there.
        problem: String,
    },
    /// An array of weights is not in the file.
    #[error("{format}: there is no array {name}")]
    MissingArray {
        /// What the file should be.
        format: &'static str,
        /// The path of the array.
        name: String,
    },
    /// An array of weights has another shape than the network.
    #[error("the array {name} has the shape {found:?}; the network needs {expected:?}")]
    Shape {
        /// The path of the array.
        name: String,
        /// Its shape.
        found: Vec<usize>,
        /// What fits.
        expected: Vec<usize>,
    },
}

/// What a step of a conversion gives.
pub type Result<T> = std::result::Result<T, Error>;

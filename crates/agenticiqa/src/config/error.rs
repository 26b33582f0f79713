//! Errors in the configuration. Each message names the location and the field.

use std::path::PathBuf;

use super::Origin;

/// The reason why the configuration cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An unknown field or an invalid value.
    #[error("{origin}: {field}: {reason}")]
    Invalid {
        /// The location of the value.
        origin: Origin,
        /// The field.
        field: String,
        /// What is wrong, and how to fix it.
        reason: String,
    },
    /// Invalid YAML.
    #[error("{origin}: not valid YAML: {reason}")]
    Syntax {
        /// The location.
        origin: Origin,
        /// The reason.
        reason: String,
    },
    /// A requested file does not exist or cannot be read.
    #[error("{}: cannot be read: {reason}", path.display())]
    Unreadable {
        /// The path of the file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// There is no folder for installed tools.
    #[error("no folder for installed tools: set AGENTICIQA_DATA_DIR, or tools.data_dir in pipeline.yaml")]
    NoDataFolder,
    /// A requested folder contains no configuration.
    #[error("{}: this folder contains neither model_backends.yaml nor pipeline.yaml", path.display())]
    EmptyFolder {
        /// The path of the folder.
        path: PathBuf,
    },
    /// An invalid line in `.env`. The line is not shown, because it may contain a key.
    #[error("{}:{line}: not an assignment: write NAME=value, with quotes around values that contain blanks", path.display())]
    DotEnv {
        /// The path of the file.
        path: PathBuf,
        /// The line number, from 1.
        line: usize,
    },
}

/// Returns the known word that is most similar, if one is similar enough.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let nearest = known.into_iter().map(|candidate| (strsim::damerau_levenshtein(candidate, &word), candidate)).min();
    nearest.filter(|(distance, candidate)| *distance <= candidate.len().div_ceil(3)).map(|(_, candidate)| candidate)
}

/// Returns `, did you mean X?`, or an empty string without a suggestion.
pub(crate) fn did_you_mean(suggestion: Option<&str>) -> String {
    suggestion.map_or_else(String::new, |word| format!(", did you mean {word}?"))
}

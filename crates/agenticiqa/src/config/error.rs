//! What can be wrong with a configuration. Each message names the place and the field, and says what to do.

use std::path::PathBuf;

use super::Origin;

/// Why the configuration cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A field that does not exist or a value that it may not have.
    #[error("{origin}: {field}: {reason}")]
    Invalid {
        /// Where it stands.
        origin: Origin,
        /// The field.
        field: String,
        /// What is wrong and what to do.
        reason: String,
    },
    /// A text that is not YAML.
    #[error("{origin}: not valid YAML: {reason}")]
    Syntax {
        /// Where it stands.
        origin: Origin,
        /// What is wrong.
        reason: String,
    },
    /// A file that was asked for does not exist or cannot be read.
    #[error("{}: cannot be read: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// Nobody has said where tools are installed.
    #[error("no folder for installed tools: set AGENTICIQA_DATA_DIR, or tools.data_dir in pipeline.yaml")]
    NoDataFolder,
    /// A folder that was asked for holds no configuration.
    #[error("{}: this folder holds neither model_backends.yaml nor pipeline.yaml", path.display())]
    EmptyFolder {
        /// The folder.
        path: PathBuf,
    },
    /// A line of `.env` that is no assignment. The line itself may hold a key and is not shown.
    #[error("{}:{line}: not an assignment: write NAME=value, with quotes around values that hold blanks", path.display())]
    DotEnv {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
}

/// `, did you mean X?` for the nearest of the known words, if one is near.
pub(crate) fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let word = word.to_lowercase();
    let nearest = known.into_iter().map(|candidate| (strsim::damerau_levenshtein(candidate, &word), candidate)).min();
    match nearest {
        Some((distance, candidate)) if distance <= candidate.len().div_ceil(3) => {
            format!(", did you mean {candidate}?")
        }
        _ => String::new(),
    }
}

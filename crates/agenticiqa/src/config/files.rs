//! Finds the configuration files.

use std::path::{Path, PathBuf};

use super::{Environment, Error};

/// The names of the two files, without extension.
pub(super) const MODEL_BACKENDS: &str = "model_backends";
/// See [`MODEL_BACKENDS`].
pub(super) const PIPELINE: &str = "pipeline";

/// Returns the configuration files: those requested, else from `./configs/`, else from the user's
/// folder; and whether they were found in the working folder.
pub(super) fn find(asked: Option<&Path>, environment: &Environment) -> Result<(Vec<PathBuf>, bool), Error> {
    if let Some(path) = asked {
        let path = below(environment.directory(), path);
        let metadata = std::fs::metadata(&path)
            .map_err(|error| Error::Unreadable { path: path.clone(), reason: error.to_string() })?;
        if !metadata.is_dir() {
            return Ok((vec![path], false));
        }
        let files = in_folder(&path);
        return if files.is_empty() { Err(Error::EmptyFolder { path }) } else { Ok((files, false)) };
    }
    let local = in_folder(&below(environment.directory(), Path::new("configs")));
    match user_folder(environment) {
        Some(folder) if local.is_empty() => Ok((in_folder(&folder), false)),
        _ => Ok((local, true)),
    }
}

/// `$XDG_CONFIG_HOME/agenticiqa`, or `~/.config/agenticiqa`. Not with variables of `.env`, because
/// this folder is trusted.
pub(super) fn user_folder(environment: &Environment) -> Option<PathBuf> {
    let configured = environment.own("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = configured.or_else(|| environment.own("HOME").map(|home| Path::new(&home).join(".config")))?;
    Some(folder.join("agenticiqa"))
}

/// Returns the user's data folder: `$XDG_DATA_HOME` or `~/.local/share`, `~/Library/Application
/// Support` on macOS, `%LOCALAPPDATA%` on Windows.
pub(super) fn data_folder(environment: &Environment) -> Option<PathBuf> {
    let absolute = |name: &str| environment.lookup(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let of_system = || match std::env::consts::OS {
        "windows" => absolute("LOCALAPPDATA"),
        "macos" => absolute("HOME").map(|home| home.join("Library/Application Support")),
        _ => absolute("HOME").map(|home| home.join(".local/share")),
    };
    Some(absolute("XDG_DATA_HOME").or_else(of_system)?.join("agenticiqa"))
}

fn in_folder(folder: &Path) -> Vec<PathBuf> {
    let file = |name: &str| {
        let spellings = ["yaml", "yml"].map(|extension| folder.join(name).with_extension(extension));
        spellings.into_iter().find(|path| path.exists())
    };
    [MODEL_BACKENDS, PIPELINE].into_iter().filter_map(file).collect()
}

/// Returns `path` relative to `directory`, without a leading `./`.
fn below(directory: &Path, path: &Path) -> PathBuf {
    if directory == Path::new(".") { path.to_owned() } else { directory.join(path) }
}

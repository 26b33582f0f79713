//! Environment variables of the process and of `.env`. The variables of the process are never
//! changed.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use agenticiqa_http::remember;
use agenticiqa_imaging::files::read_limited;
use agenticiqa_vlm::Provider;

use super::trust::{TRUST_VARIABLE, TrustStore, is_named, needs_trust};
use super::{Error, Origin};

/// Environment variables, and the folder for relative paths.
#[derive(Clone)]
pub struct Environment {
    directory: PathBuf,
    /// `None` means the variables of this process.
    variables: Option<BTreeMap<String, String>>,
    dotenv: BTreeMap<String, String>,
    trusted: bool,
}

/// The maximum size of `.env` in bytes.
const LARGEST_DOTENV: u64 = 1 << 20;

impl Environment {
    /// Loads the variables of this process and of `.env` in the working directory. The directory is
    /// trusted if [`TRUST_VARIABLE`](super::TRUST_VARIABLE) or the user's [`TrustStore`] says so.
    pub fn load() -> Result<Self, Error> {
        let directory = PathBuf::from(".");
        let dotenv = read_dotenv(&directory.join(".env"))?;
        let mut loaded = Self { directory, variables: None, dotenv, trusted: false };
        let named = loaded.own(TRUST_VARIABLE).is_some_and(|value| is_named(&value, &loaded.directory));
        let said = || TrustStore::open(&loaded)?.answer(&loaded.directory);
        loaded.trusted = named || said() == Some(true);
        loaded.remember_secrets();
        Ok(loaded)
    }

    /// Returns the same variables, with trust in the working directory or without: whether its
    /// files may name programs and servers.
    pub fn trusting(self, trusted: bool) -> Self {
        Self { trusted, ..self }
    }

    /// Returns whether the working directory is trusted.
    pub fn is_trusted(&self) -> bool {
        self.trusted
    }

    /// Returns the variables of `.env` that are ignored because the working directory is not
    /// trusted.
    pub fn withheld(&self) -> Vec<String> {
        let counts = |name: &&String| !self.trusted && needs_trust(name) && self.own(name).is_none();
        self.dotenv.keys().filter(counts).cloned().collect()
    }

    /// Uses these variables instead of those of the process, and `directory` as the working
    /// directory, which is trusted.
    pub fn with_variables<N: Into<String>, V: Into<String>>(
        directory: impl Into<PathBuf>,
        variables: impl IntoIterator<Item = (N, V)>,
    ) -> Result<Self, Error> {
        let directory = directory.into();
        let variables = variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        let dotenv = read_dotenv(&directory.join(".env"))?;
        let loaded = Self { directory, variables: Some(variables), dotenv, trusted: true };
        loaded.remember_secrets();
        Ok(loaded)
    }

    /// Makes the keys known, so that they are removed from what is written.
    fn remember_secrets(&self) {
        let keys = Provider::ALL.iter().flat_map(|provider| provider.key_variables());
        for value in keys.copied().chain(["AGENTICIQA_TOKEN"]).filter_map(|name| self.lookup(name)) {
            remember(&value);
        }
    }

    /// Returns the value of a variable. The process wins over `.env`, and an empty value counts as
    /// missing.
    pub fn lookup(&self, name: &str) -> Option<String> {
        self.find(name).map(|(value, _)| value)
    }

    /// Returns the value of a variable and its origin.
    pub fn find(&self, name: &str) -> Option<(String, Origin)> {
        let origin = |dotenv| Origin::Variable { name: name.to_owned(), dotenv };
        let in_process = self.own(name).map(|value| (value, origin(false)));
        let counts = self.trusted || !needs_trust(name);
        let in_file = || self.dotenv.get(name).filter(|value| counts && !value.trim().is_empty());
        in_process.or_else(|| in_file().map(|value| (value.clone(), origin(true))))
    }

    /// Returns the value of a variable without looking into `.env`.
    pub(super) fn own(&self, name: &str) -> Option<String> {
        let own = match &self.variables {
            Some(variables) => variables.get(name).cloned(),
            // A value that is not Unicode must be rejected later, not treated as missing.
            None => std::env::var_os(name).map(|value| value.to_string_lossy().into_owned()),
        };
        own.filter(|value| !value.trim().is_empty())
    }

    /// Returns the names of all variables.
    pub fn names(&self) -> Vec<String> {
        let own: Vec<String> = match &self.variables {
            Some(variables) => variables.keys().cloned().collect(),
            None => std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned()).collect(),
        };
        own.into_iter().chain(self.dotenv.keys().cloned()).collect()
    }

    /// The folder for relative paths.
    pub fn directory(&self) -> &Path {
        &self.directory
    }
}

impl fmt::Debug for Environment {
    /// Prints only names, because values may be keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment")
            .field("directory", &self.directory)
            .field("variables", &self.variables.as_ref().map(|variables| variables.keys().collect::<Vec<_>>()))
            .field("dotenv", &self.dotenv.keys().collect::<Vec<_>>())
            .finish()
    }
}

fn read_dotenv(path: &Path) -> Result<BTreeMap<String, String>, Error> {
    let unreadable = |reason: String| Error::Unreadable { path: path.to_owned(), reason };
    let text = match read_limited(path, LARGEST_DOTENV) {
        Ok(bytes) => String::from_utf8(bytes).map_err(|_| unreadable("not a text file (UTF-8)".to_owned()))?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(error) => return Err(unreadable(error.to_string())),
    };
    let text = text.trim_start_matches('\u{feff}');
    dotenvy::from_read_iter(text.as_bytes()).map(|entry| entry.map_err(|error| refused(path, text, &error))).collect()
}

/// Creates an error with the line number. `dotenvy` reports the text of the line, which may be a
/// key.
fn refused(path: &Path, text: &str, error: &dotenvy::Error) -> Error {
    match error {
        dotenvy::Error::LineParse(wrong, _) => {
            let first = wrong.lines().next().unwrap_or_default().trim();
            let line = text.lines().position(|line| line.trim() == first).map_or(1, |index| index + 1);
            Error::DotEnv { path: path.to_owned(), line }
        }
        other => Error::Unreadable { path: path.to_owned(), reason: other.to_string() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(dotenv: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(".env"), dotenv).unwrap();
        folder
    }

    #[test]
    fn the_process_wins_over_the_file_and_empty_counts_as_missing() {
        let folder = folder("\u{feff}# keys\nA=file\nexport B='two words'\nC=\"c\"\nD=\n");
        let variables = [("A", "process"), ("C", " ")];
        let environment = Environment::with_variables(folder.path(), variables).unwrap();
        assert_eq!(environment.lookup("A").as_deref(), Some("process"));
        assert_eq!(environment.lookup("B").as_deref(), Some("two words"));
        assert_eq!(environment.lookup("C").as_deref(), Some("c"));
        assert_eq!(environment.lookup("D"), None);
        let (_, origin) = environment.find("B").unwrap();
        assert_eq!(origin.to_string(), "B in .env");
    }

    #[test]
    fn a_line_that_is_no_assignment_is_named_by_number_and_not_shown() {
        let folder = folder("A=1\n\nOPENAI_API_KEY sk-secret\n");
        let none: [(&str, &str); 0] = [];
        let error = Environment::with_variables(folder.path(), none).unwrap_err();
        assert!(error.to_string().contains(".env:3: not an assignment"), "{error}");
        assert!(!format!("{error} {error:?}").contains("secret"));
    }

    #[test]
    fn debug_output_holds_no_values() {
        let folder = folder("FROM_FILE=sk-secret-1\n");
        let environment = Environment::with_variables(folder.path(), [("GIVEN", "sk-secret-2")]).unwrap();
        let debug = format!("{environment:?}");
        assert!(debug.contains("GIVEN") && debug.contains("FROM_FILE") && !debug.contains("secret"), "{debug}");
    }

    #[test]
    fn the_variables_of_the_process_are_seen() {
        let environment =
            Environment { directory: ".".into(), variables: None, dotenv: BTreeMap::new(), trusted: false };
        assert_eq!(environment.lookup("PATH"), std::env::var("PATH").ok());
        assert!(environment.names().iter().any(|name| name == "PATH"));
    }
}

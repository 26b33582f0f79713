//! The folders from which requests may name files. Links and `..` are resolved before the check.
//! Paths outside are not accessed, so that clients cannot probe which files exist.

use std::io;
use std::path::{Component, Path, PathBuf};

use crate::error::Problem;

/// Advice for clients: what the operator of the server has to do.
pub const ALLOW_FOLDER: &str = "allow a folder (server.allow_roots)";

/// The allowed folders.
#[derive(Debug, Clone, Default)]
pub struct Roots(Vec<Root>);

#[derive(Debug, Clone)]
struct Root {
    /// The path as configured, made absolute.
    named: PathBuf,
    /// The path with links resolved.
    real: PathBuf,
}

/// A folder that cannot be allowed.
#[derive(Debug, thiserror::Error)]
#[error("{} cannot be an allowed folder: {error}", path.display())]
pub struct RootError {
    /// The path of the folder.
    pub path: PathBuf,
    /// The reason.
    pub error: io::Error,
}

impl Roots {
    /// Creates the list of allowed folders. Returns an error if a folder does not exist.
    pub fn new(folders: &[PathBuf]) -> Result<Self, RootError> {
        let root = |folder: &PathBuf| {
            let real = folder.canonicalize()?;
            if !real.is_dir() {
                return Err(io::ErrorKind::NotADirectory.into());
            }
            Ok(Root { named: plain(&std::path::absolute(folder)?), real })
        };
        let root = |folder: &PathBuf| root(folder).map_err(|error| RootError { path: folder.clone(), error });
        folders.iter().map(root).collect::<Result<_, _>>().map(Self)
    }

    /// Returns whether no folder is allowed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Resolves a path from a request and checks it. Relative paths start at the allowed folders.
    pub fn resolve(&self, field: &str, path: &str) -> Result<PathBuf, Problem> {
        if path.trim().is_empty() {
            return Err(Problem::invalid(format!("{field} is empty: name a file")));
        }
        if path.contains('\0') {
            return Err(Problem::picture(format!("{field}: a path holds no NUL")));
        }
        if self.is_empty() {
            return Err(Problem::no_folders(format!(
                "{field}: this server reads no files: send the image itself, or ask the operator to {ALLOW_FOLDER}"
            )));
        }
        let outside = || Problem::forbidden(format!("{field}: this path is outside of the allowed folders"));
        if path.starts_with("\\\\") || path.starts_with("//") {
            return Err(outside());
        }
        let path = Path::new(path);
        let candidates: Vec<PathBuf> = if path.is_absolute() {
            vec![path.to_owned()]
        } else {
            self.0.iter().map(|root| root.real.join(path)).collect()
        };
        let mut missing = None;
        for place in candidates {
            let seen = plain(&place);
            if !self.0.iter().any(|root| seen.starts_with(&root.real) || seen.starts_with(&root.named)) {
                continue;
            }
            match place.canonicalize() {
                Ok(real) if self.holds(&real) => return Ok(real),
                Ok(_) => return Err(outside()),
                Err(error) => missing = Some(error),
            }
        }
        Err(missing.map_or_else(outside, |error| Problem::picture(format!("{field}: {}: {error}", path.display()))))
    }

    /// Returns whether a resolved path is in one of the folders.
    pub fn holds(&self, real: &Path) -> bool {
        self.0.iter().any(|root| real.starts_with(&root.real))
    }
}

/// Removes `.` and `..` from a path without accessing the file system.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(roots: &Roots, path: &str) -> Result<PathBuf, u16> {
        roots.resolve("image_path", path).map_err(|problem| problem.status().as_u16())
    }

    #[test]
    fn only_what_lies_below_a_root_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let (inside, outside) = (folder.path().join("in"), folder.path().join("out"));
        std::fs::create_dir_all(inside.join("deep")).unwrap();
        std::fs::create_dir_all(&outside).unwrap();
        std::fs::write(inside.join("deep/a.png"), "a").unwrap();
        std::fs::write(outside.join("b.png"), "b").unwrap();
        let roots = Roots::new(std::slice::from_ref(&inside)).unwrap();
        let real = inside.canonicalize().unwrap().join("deep/a.png");
        let text = |path: &Path| path.display().to_string();
        assert_eq!(status(&roots, "deep/a.png"), Ok(real.clone()));
        assert_eq!(status(&roots, "deep/../deep/./a.png"), Ok(real.clone()));
        assert_eq!(status(&roots, &text(&inside.join("deep/a.png"))), Ok(real));
        for refused in
            ["../out/b.png", "deep/../../out/b.png", "../out/none.png", "/etc/passwd", "\\\\host\\share\\a.png"]
        {
            assert_eq!(status(&roots, refused), Err(403), "{refused}");
        }
        assert_eq!(status(&roots, &text(&outside.join("b.png"))), Err(403));
        assert_eq!(status(&roots, "//host/share/a.png"), Err(403));
        assert_eq!(status(&roots, "deep/none.png"), Err(400));
        assert_eq!(status(&roots, "deep/a.png\0.txt"), Err(400));
        assert_eq!(status(&roots, " "), Err(422));
        assert_eq!(status(&Roots::default(), "deep/a.png"), Err(403));
    }

    #[cfg(unix)]
    #[test]
    fn links_that_lead_out_are_refused_and_links_within_are_followed() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("in");
        std::fs::create_dir_all(&inside).unwrap();
        std::fs::write(folder.path().join("secret.png"), "s").unwrap();
        std::fs::write(inside.join("a.png"), "a").unwrap();
        let link = |to: &Path, name: &str| std::os::unix::fs::symlink(to, inside.join(name)).unwrap();
        link(&folder.path().join("secret.png"), "out.png");
        link(folder.path(), "up");
        link(&inside.join("a.png"), "same.png");
        let roots = Roots::new(std::slice::from_ref(&inside)).unwrap();
        assert_eq!(status(&roots, "out.png"), Err(403));
        assert_eq!(status(&roots, "up/secret.png"), Err(403));
        assert_eq!(status(&roots, "same.png"), Ok(inside.canonicalize().unwrap().join("a.png")));
    }
}

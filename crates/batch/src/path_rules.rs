//! Resolves the relative paths in files of samples and records.

use std::path::{Path, PathBuf};

/// Where relative paths start.
///
/// With a root, paths are relative to the root only. Otherwise they are relative to the working
/// folder, or, if the file does not exist there, to the folder of the file that names them.
/// Absolute paths are unchanged.
#[derive(Debug, Clone)]
pub struct PathRules {
    root: Option<PathBuf>,
    folder: Option<PathBuf>,
}

impl PathRules {
    /// Resolves below `root` if given, else in the working folder or next to the file `named_in`.
    pub fn new(root: Option<&Path>, named_in: Option<&Path>) -> Self {
        let folder = named_in.and_then(Path::parent).filter(|folder| !folder.as_os_str().is_empty());
        Self { root: root.map(Path::to_owned), folder: folder.map(Path::to_owned) }
    }

    /// Returns the file that `path` means.
    pub fn find(&self, path: &str) -> PathBuf {
        let path = PathBuf::from(path);
        if path.is_absolute() {
            return path;
        }
        if let Some(root) = &self.root {
            return root.join(path);
        }
        match &self.folder {
            Some(folder) if !path.exists() && folder.join(&path).exists() => folder.join(path),
            _ => path,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_start_below_the_root_or_here_or_beside_the_file() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.png"), "").unwrap();
        std::fs::write(folder.path().join("Cargo.toml"), "").unwrap();
        let input = folder.path().join("manifest.jsonl");
        let paths = PathRules::new(None, Some(&input));
        assert_eq!(paths.find("a.png"), folder.path().join("a.png"));
        assert_eq!(paths.find("b.png"), PathBuf::from("b.png"));
        assert_eq!(paths.find("/c.png"), PathBuf::from("/c.png"));
        // Tests run in the folder of the crate. A file there wins over a file next to the input.
        assert_eq!(paths.find("Cargo.toml"), PathBuf::from("Cargo.toml"));
        assert_eq!(PathRules::new(Some(Path::new("root")), Some(&input)).find("a.png"), PathBuf::from("root/a.png"));
    }
}

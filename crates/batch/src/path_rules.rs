//! Where the files of samples are: one rule for everything that reads paths out of a file of samples or records.

use std::path::{Path, PathBuf};

/// Where relative paths start.
///
/// Below a root, if one is given, and nowhere else. Otherwise in the working folder; a file that is not there, but is beside the
/// file that names it, is taken from there. Absolute paths stay as they are.
#[derive(Debug, Clone)]
pub struct PathRules {
    root: Option<PathBuf>,
    beside: Option<PathBuf>,
}

impl PathRules {
    /// Below `root` if it is given; else in the working folder, or beside the file `named_in`.
    pub fn new(root: Option<&Path>, named_in: Option<&Path>) -> Self {
        let beside = named_in.and_then(Path::parent).filter(|folder| !folder.as_os_str().is_empty());
        Self { root: root.map(Path::to_owned), beside: beside.map(Path::to_owned) }
    }

    /// The file that `path` means.
    pub fn find(&self, path: &str) -> PathBuf {
        let path = PathBuf::from(path);
        if path.is_absolute() {
            return path;
        }
        if let Some(root) = &self.root {
            return root.join(path);
        }
        match &self.beside {
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
        // Tests run in the folder of the crate: what is here comes before what is beside the file.
        assert_eq!(paths.find("Cargo.toml"), PathBuf::from("Cargo.toml"));
        assert_eq!(PathRules::new(Some(Path::new("root")), Some(&input)).find("a.png"), PathBuf::from("root/a.png"));
    }
}

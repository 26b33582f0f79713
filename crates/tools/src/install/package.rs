//! Packages: tools with an `install` section, and the library of ONNX Runtime.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::Installation;
use crate::{Backend, Error, Registry};

/// Package name of the shared library of ONNX Runtime.
pub const ONNX_RUNTIME: &str = "onnxruntime";

/// Sources of the ONNX Runtime library for each system, from wheels on PyPI.
const LIBRARIES: &str = include_str!("../../iqa_tools/metadata/onnxruntime.json");

/// Something that can be installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// Name of the tool, or [`ONNX_RUNTIME`].
    pub name: String,
    /// Source of its files.
    pub installation: Installation,
    /// Whether it is a shared library and not a tool.
    pub is_library: bool,
}

/// Installation state of a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// All files are installed.
    Installed,
    /// Some files are missing or have another size.
    Incomplete,
    /// No file is installed.
    Absent,
}

impl Package {
    /// Returns the folder of its files in a data folder.
    pub fn folder(&self, data: &Path) -> PathBuf {
        data.join(if self.is_library { "lib" } else { "tools" })
    }

    /// Returns the paths of its files in a data folder.
    pub fn files(&self, data: &Path) -> impl Iterator<Item = PathBuf> {
        let folder = self.folder(data);
        self.installation.files.keys().map(move |name| folder.join(name))
    }

    /// Returns the installation state by file names and sizes. Checksums are compared during
    /// installation.
    pub fn state(&self, data: &Path) -> State {
        let is_there = |(path, size): (PathBuf, Option<u64>)| match std::fs::metadata(path) {
            Ok(file) => (true, file.is_file() && size.is_none_or(|size| size == file.len())),
            Err(_) => (false, false),
        };
        let sizes = self.installation.files.values().map(|file| file.size);
        let found: Vec<(bool, bool)> = self.files(data).zip(sizes).map(is_there).collect();
        match (found.iter().any(|(some, _)| *some), found.iter().all(|(_, whole)| *whole)) {
            (_, true) => State::Installed,
            (true, false) => State::Incomplete,
            (false, false) => State::Absent,
        }
    }

    /// Returns the path of the file with its license terms.
    #[cfg(feature = "install")]
    pub(super) fn terms_file(&self, data: &Path) -> PathBuf {
        self.folder(data).join(format!("{}.LICENSE.txt", self.name))
    }

    /// Returns license, notice and origin as text, for a file next to the others.
    #[cfg(feature = "install")]
    pub(super) fn terms(&self) -> String {
        let Installation { license, notice, sources, recipe, files } = &self.installation;
        let mut text = format!("{}\nLicense: {license}\n{notice}\n\nMade by the recipe {recipe:?} of:\n", self.name);
        for source in sources {
            let sha256 = source.sha256.as_ref().map(|sha256| format!(", SHA-256 {sha256}")).unwrap_or_default();
            text.push_str(&format!("- {}{sha256}\n", source.url.as_deref().unwrap_or(source.file_name())));
        }
        text.push_str("Files:\n");
        files.keys().for_each(|name| text.push_str(&format!("- {name}\n")));
        text
    }
}

/// Returns all packages for this system: tools in the order of the registry, then the library.
pub fn packages(registry: &Registry) -> Result<Vec<Package>, Error> {
    let tools = registry.iter().filter_map(|tool| {
        let installation = tool.metadata().install.clone()?;
        Some(Package { name: tool.name().to_owned(), installation, is_library: false })
    });
    Ok(tools.chain(library(std::env::consts::OS, std::env::consts::ARCH)?).collect())
}

/// Returns the packages of these names without duplicates. Fails with the reason if a tool cannot
/// be installed.
pub fn named(names: &[String], registry: &Registry) -> Result<Vec<Package>, Error> {
    let available = packages(registry)?;
    let mut wanted: Vec<Package> = Vec::new();
    for name in names {
        let is_library = name.eq_ignore_ascii_case(ONNX_RUNTIME);
        let name = if is_library { ONNX_RUNTIME } else { registry.get(name)?.name() };
        let Some(package) = available.iter().find(|package| package.name == name) else {
            return Err(Error::NothingToInstall { reason: nothing_to_install(name, registry) });
        };
        if !wanted.contains(package) {
            wanted.push(package.clone());
        }
    }
    Ok(wanted)
}

fn nothing_to_install(name: &str, registry: &Registry) -> String {
    match registry.get(name).map(|tool| tool.metadata().backend) {
        Ok(Backend::Native | Backend::Builtin) => format!("{name} is built in: there is nothing to install"),
        Ok(Backend::Worker) => {
            format!("{name} runs in Python: `pip install pyiqa` gets it, its weights come with the first run")
        }
        Ok(Backend::Command) => format!("{name} is a program of yours: it needs no installation"),
        Ok(Backend::Onnx) => format!("the entry of {name} has no install section: put its file where the entry says"),
        Err(_) => format!("{name} is not published for this system: name a library of your own in the settings"),
    }
}

/// Returns the ONNX Runtime library for a system, if there is one.
fn library(system: &str, processor: &str) -> Result<Option<Package>, Error> {
    let wrong = |reason: String| Error::Metadata { file: "onnxruntime.json".to_owned(), reason };
    let mut all: BTreeMap<String, Installation> =
        serde_json::from_str(LIBRARIES).map_err(|error| wrong(error.to_string()))?;
    let package = |installation| Package { name: ONNX_RUNTIME.to_owned(), installation, is_library: true };
    Ok(all.remove(&format!("{system}-{processor}")).map(package))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_usual_system_has_its_library() {
        for (system, processor, file) in [
            ("linux", "x86_64", "libonnxruntime.so"),
            ("linux", "aarch64", "libonnxruntime.so"),
            ("macos", "aarch64", "libonnxruntime.dylib"),
            ("windows", "x86_64", "onnxruntime.dll"),
            ("windows", "aarch64", "onnxruntime.dll"),
        ] {
            let package = library(system, processor).unwrap().unwrap();
            assert_eq!(package.installation.check(), Ok(()));
            assert!(package.installation.files.contains_key(file), "{system} {processor}");
            assert!(package.installation.files.values().all(|file| file.sha256.is_some() && file.member.is_some()));
        }
        assert_eq!(library("plan9", "mips").unwrap(), None);
    }

    #[test]
    fn ilniqe_is_installed_from_a_file_of_the_users() {
        let all = packages(&Registry::builtin().unwrap()).unwrap();
        let ilniqe = all.iter().find(|package| package.name == "ILNIQE").unwrap();
        assert!(!ilniqe.installation.is_downloadable());
        assert_eq!(ilniqe.state(Path::new("/nowhere")), State::Absent);
    }
}

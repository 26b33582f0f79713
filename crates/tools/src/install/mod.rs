//! `tools install`: the files that a tool needs, from where its entry says, checked and put into the data folder.
//!
//! A [`Package`] is what can be installed: a tool with an `install` section ([`Installation`]), or the shared library of
//! ONNX Runtime. An [`Installer`] takes the sources from the network (resumable) or from folders of the user's, converts
//! them by the section's recipe, checks the SHA-256 of what came out and moves it into place.

mod client;
mod download;
mod error;
mod local;
mod package;
mod place;
mod recipe;
mod section;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

pub use error::Error;
pub use package::{ONNX_RUNTIME, Package, State, named, packages};
pub use section::{Checksum, Installation, Produced, Source};

use agenticiqa_http::BaseUrl;

/// What happens during an installation.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// Another process installs into the same folder; this one goes on when that has ended.
    Waiting,
    /// A package is begun.
    Package(&'a Package),
    /// A source is in a place of the user's, or was downloaded before.
    Found {
        /// The source.
        source: &'a Source,
        /// The file.
        path: &'a Path,
    },
    /// A download begins, or goes on.
    Downloading {
        /// The source.
        source: &'a Source,
        /// The bytes that are there already.
        done: u64,
    },
    /// More bytes of the download are there.
    Progress {
        /// How many in all.
        done: u64,
    },
    /// A source has the checksum of the entry.
    Verified {
        /// The source.
        source: &'a Source,
    },
    /// A connection was lost and is tried again.
    Retrying {
        /// Why.
        reason: &'a str,
    },
    /// The sources are converted.
    Converting {
        /// By which recipe.
        recipe: &'a str,
    },
    /// A file is in its place.
    Installed {
        /// The file.
        path: &'a Path,
        /// Its size.
        size: u64,
        /// Its checksum.
        sha256: &'a Checksum,
    },
}

/// Who is told of [`Event`]s.
pub type Listener<'a> = &'a (dyn Fn(&Event<'_>) + Send + Sync);

/// Files by name.
type Files = Vec<(String, Vec<u8>)>;

/// Installs packages into a data folder.
#[derive(Debug, Clone)]
pub struct Installer {
    data: PathBuf,
    mirror: Option<BaseUrl>,
    from: Vec<PathBuf>,
}

impl Installer {
    /// An installer for a data folder, which is made when it is needed.
    pub fn new(data: impl Into<PathBuf>) -> Self {
        Self { data: data.into(), mirror: None, from: Vec::new() }
    }

    /// Asks this server instead of `https://files.pythonhosted.org`.
    pub fn with_mirror(self, mirror: Option<BaseUrl>) -> Self {
        Self { mirror, ..self }
    }

    /// Takes sources, or converted files, from these files and folders, and nothing from the network.
    pub fn with_files(self, from: Vec<PathBuf>) -> Self {
        Self { from, ..self }
    }

    /// Installs packages, one after the other; the first that fails ends it. Those that came before it stay.
    pub async fn install(&self, packages: &[Package], listener: Listener<'_>) -> Result<(), Error> {
        let _lock = place::lock(&self.data, listener).await?;
        let mut downloads = BTreeSet::new();
        for package in packages {
            listener(&Event::Package(package));
            self.install_one(package, &mut downloads, listener).await?;
        }
        // Several packages can share a source: it goes when all are there. After a failure it stays, for the next try.
        for path in downloads {
            let _ = std::fs::remove_file(path);
        }
        Ok(())
    }

    async fn install_one(
        &self,
        package: &Package,
        downloads: &mut BTreeSet<PathBuf>,
        listener: Listener<'_>,
    ) -> Result<(), Error> {
        let produced = if self.from.is_empty() {
            let mut files = Vec::new();
            for source in &package.installation.sources {
                let path = self.download(package, source, listener).await?;
                downloads.insert(path.clone());
                files.push((source.clone(), path));
            }
            convert(package, files, listener).await?
        } else {
            match local::produced(package, &self.from)? {
                Some(files) => files,
                None => {
                    let files = local::sources(package, &self.from)?;
                    files.iter().for_each(|(source, path)| listener(&Event::Found { source, path }));
                    convert(package, files, listener).await?
                }
            }
        };
        place::store(package, &self.data, &produced, listener)
    }

    async fn download(&self, package: &Package, source: &Source, listener: Listener<'_>) -> Result<PathBuf, Error> {
        let (Some(url), Some(expected)) = (&source.url, source.expected()) else {
            return Err(Error::NotDownloadable { package: package.name.clone(), file: source.file_name().to_owned() });
        };
        let address = section::address(url, self.mirror.as_ref());
        let folder = self.data.join("downloads");
        let download = download::Download { source, expected, address: &address, folder: &folder };
        download.fetch(listener).await
    }

    /// Takes the files of a package out of the data folder, except those that `others`, which are installed, need too.
    pub async fn remove(&self, package: &Package, others: &[Package]) -> Result<Vec<PathBuf>, Error> {
        let _lock = place::lock(&self.data, &|_| ()).await?;
        place::remove(package, &self.data, others)
    }
}

/// Converts on a thread for blocking work: it takes seconds of CPU.
async fn convert(package: &Package, sources: Vec<(Source, PathBuf)>, listener: Listener<'_>) -> Result<Files, Error> {
    listener(&Event::Converting { recipe: &package.installation.recipe });
    let (name, section) = (package.name.clone(), package.installation.clone());
    let work = tokio::task::spawn_blocking(move || recipe::convert(&section, &sources));
    let converted = work.await.unwrap_or_else(|error| Err(error.to_string()));
    converted.map_err(|reason| Error::Conversion { package: name, reason })
}

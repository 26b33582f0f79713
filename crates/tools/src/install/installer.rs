//! Gets the sources of packages, converts them and puts them into the data folder.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use agenticiqa_http::BaseUrl;

use super::{Checksum, Error, Package, Source};

/// Progress of an installation.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// Another process is installing into the same folder; this one waits for it.
    Waiting,
    /// A package is started.
    Package(&'a Package),
    /// A source was found among the user's files or among earlier downloads.
    Found {
        /// The source.
        source: &'a Source,
        /// The file.
        path: &'a Path,
    },
    /// A download starts or resumes.
    Downloading {
        /// The source.
        source: &'a Source,
        /// Number of bytes already downloaded.
        done: u64,
    },
    /// More bytes were downloaded.
    Progress {
        /// Total number of bytes downloaded so far.
        done: u64,
    },
    /// The checksum of a source was verified.
    Verified {
        /// The source.
        source: &'a Source,
    },
    /// A connection was lost, and the download is retried.
    Retrying {
        /// Why.
        reason: &'a str,
    },
    /// The sources are being converted.
    Converting {
        /// Name of the recipe.
        recipe: &'a str,
    },
    /// A file was installed.
    Installed {
        /// The file.
        path: &'a Path,
        /// Size in bytes.
        size: u64,
        /// SHA-256 of the file.
        sha256: &'a Checksum,
    },
}

/// Callback that receives [`Event`]s.
pub type Listener<'a> = &'a (dyn Fn(&Event<'_>) + Send + Sync);

/// Files by name.
pub(super) type Files = Vec<(String, Vec<u8>)>;

/// Installs packages into a data folder.
#[derive(Debug, Clone)]
pub struct Installer {
    data: PathBuf,
    mirror: Option<BaseUrl>,
    from: Vec<PathBuf>,
}

impl Installer {
    /// Creates an installer for a data folder. The folder is created when needed.
    pub fn new(data: impl Into<PathBuf>) -> Self {
        Self { data: data.into(), mirror: None, from: Vec::new() }
    }

    /// Downloads from this server instead of `https://files.pythonhosted.org`.
    pub fn with_mirror(self, mirror: Option<BaseUrl>) -> Self {
        Self { mirror, ..self }
    }

    /// Uses sources or converted files from these files and folders, and downloads nothing.
    pub fn with_files(self, from: Vec<PathBuf>) -> Self {
        Self { from, ..self }
    }

    /// Installs packages one after the other and stops at the first failure. Packages installed
    /// before it remain.
    pub async fn install(&self, packages: &[Package], listener: Listener<'_>) -> Result<(), Error> {
        let _lock = super::place::lock(&self.data, listener).await?;
        let mut downloads = BTreeSet::new();
        for package in packages {
            listener(&Event::Package(package));
            self.install_one(package, &mut downloads, listener).await?;
        }
        // Packages can share a source, so it is deleted only when all are installed. After a
        // failure it stays for the next attempt.
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
            match super::local::produced(package, &self.from)? {
                Some(files) => files,
                None => {
                    let files = super::local::sources(package, &self.from)?;
                    files.iter().for_each(|(source, path)| listener(&Event::Found { source, path }));
                    convert(package, files, listener).await?
                }
            }
        };
        super::place::store(package, &self.data, &produced, listener)
    }

    async fn download(&self, package: &Package, source: &Source, listener: Listener<'_>) -> Result<PathBuf, Error> {
        let (Some(url), Some(expected)) = (&source.url, source.expected()) else {
            return Err(Error::NotDownloadable { package: package.name.clone(), file: source.file_name().to_owned() });
        };
        let address = super::section::address(url, self.mirror.as_ref());
        let folder = self.data.join("downloads");
        let download = super::download::Download { source, expected, address: &address, folder: &folder };
        download.fetch(listener).await
    }

    /// Removes the files of a package from the data folder, except those that the installed
    /// packages `others` also need.
    pub async fn remove(&self, package: &Package, others: &[Package]) -> Result<Vec<PathBuf>, Error> {
        let _lock = super::place::lock(&self.data, &|_| ()).await?;
        super::place::remove(package, &self.data, others)
    }
}

/// Converts on a blocking thread, because it takes seconds of CPU time.
async fn convert(package: &Package, sources: Vec<(Source, PathBuf)>, listener: Listener<'_>) -> Result<Files, Error> {
    listener(&Event::Converting { recipe: &package.installation.recipe });
    let (name, section) = (package.name.clone(), package.installation.clone());
    let work = tokio::task::spawn_blocking(move || super::recipe::convert(&section, &sources));
    let converted = work.await.unwrap_or_else(|error| Err(error.to_string()));
    converted.map_err(|reason| Error::Conversion { package: name, reason })
}

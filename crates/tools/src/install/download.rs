//! Resumable downloads that are verified by checksum.
//!
//! Bytes are written to `NAME.part` next to the file. A later run, in this process or another one,
//! requests only the rest. The validator of the file (`ETag` or date) is stored too, so that parts
//! of two versions are never joined.

use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::header::{CONTENT_RANGE, ETAG, HeaderMap, IF_RANGE, LAST_MODIFIED, RANGE};
use reqwest::{Response, StatusCode, Url};
use std::io::Write as _;

use super::client::client;
use super::{Checksum, Error, Event, Listener, Source, local, place};
use agenticiqa_http::without_secrets;

/// Maximum number of attempts without any progress.
const ATTEMPTS: u32 = 4;
/// Pause after a lost connection, doubled each time; short in tests.
const PAUSE: Duration = Duration::from_millis(if cfg!(test) { 2 } else { 250 });

/// One file to download.
pub(super) struct Download<'a> {
    pub source: &'a Source,
    /// Expected checksum and size.
    pub expected: (Checksum, u64),
    /// URL of the file, including secrets.
    pub address: &'a str,
    pub folder: &'a Path,
}

/// Reasons why one attempt did not complete.
enum Setback {
    /// A temporary problem; the next attempt may succeed.
    Lost(String),
    /// A permanent problem.
    Final(Error),
}

impl From<Error> for Setback {
    fn from(error: Error) -> Self {
        Self::Final(error)
    }
}

impl Download<'_> {
    /// Downloads the file and verifies its checksum.
    pub async fn fetch(&self, listener: Listener<'_>) -> Result<PathBuf, Error> {
        let path = self.folder.join(self.source.file_name());
        if local::is(&path, &self.expected)? {
            listener(&Event::Found { source: self.source, path: &path });
            return Ok(path);
        }
        place::make_folder(self.folder)?;
        let resumed = self.have()? > 0;
        let found = match self.complete(listener).await? {
            found if found != self.expected.0 && resumed => {
                // The part from an earlier run may have been damaged.
                self.discard()?;
                self.complete(listener).await?
            }
            found => found,
        };
        if found != self.expected.0 {
            self.discard()?;
            let place = self.shown();
            return Err(Error::Checksum { place, expected: self.expected.0.clone(), found });
        }
        std::fs::rename(self.part(), &path).map_err(Error::file(&path))?;
        let _ = std::fs::remove_file(self.mark());
        listener(&Event::Verified { source: self.source });
        Ok(path)
    }

    /// Downloads all bytes, over several connections if needed, and returns their checksum.
    async fn complete(&self, listener: Listener<'_>) -> Result<Checksum, Error> {
        let url = Url::parse(self.address).map_err(|error| self.lost(error.to_string()))?;
        let client = client(&url).map_err(|reason| self.lost(reason))?;
        let mut failures = 0;
        while self.have()? != self.expected.1 {
            let before = self.have()?;
            listener(&Event::Downloading { source: self.source, done: before });
            match self.attempt(&client, &url, listener).await {
                Ok(()) => {}
                Err(Setback::Final(error)) => return Err(error),
                Err(Setback::Lost(reason)) => {
                    failures = if self.have()? > before { 1 } else { failures + 1 };
                    if failures >= ATTEMPTS {
                        return Err(self.lost(reason));
                    }
                    listener(&Event::Retrying { reason: &reason });
                    tokio::time::sleep(PAUSE * 2u32.pow(failures)).await;
                }
            }
        }
        let part = self.part();
        let hashed = tokio::task::spawn_blocking(move || local::checksum(&part)).await;
        hashed.unwrap_or_else(|error| Err(self.lost(error.to_string())))
    }

    /// Requests the missing bytes over one connection and stores what arrives.
    async fn attempt(&self, client: &reqwest::Client, url: &Url, listener: Listener<'_>) -> Result<(), Setback> {
        let have = self.have()?;
        let mut request = client.get(url.clone());
        if have > 0 {
            request = request.header(RANGE, format!("bytes={have}-"));
            if let Ok(mark) = std::fs::read_to_string(self.mark()) {
                request = request.header(IF_RANGE, mark);
            }
        }
        let response = request.send().await.map_err(lost)?;
        let start = self.start(&response, have)?;
        if start == 0 {
            self.discard()?;
            if let Some(mark) = mark_of(response.headers()) {
                std::fs::write(self.mark(), mark).map_err(Error::file(self.mark()))?;
            }
        }
        self.keep(response, start, listener).await
    }

    /// Returns the offset of the first byte of a response: the end of the part, or 0 if the server
    /// starts over.
    fn start(&self, response: &Response, have: u64) -> Result<u64, Setback> {
        let status = response.status();
        match status {
            StatusCode::PARTIAL_CONTENT => {
                let range = response.headers().get(CONTENT_RANGE).and_then(|range| range.to_str().ok());
                let begins = range.and_then(|range| range.strip_prefix("bytes ")?.split('-').next()?.parse().ok());
                if begins == Some(have) {
                    return Ok(have);
                }
                self.discard()?;
                Err(Setback::Lost("the server sent another part than was asked for".to_owned()))
            }
            StatusCode::RANGE_NOT_SATISFIABLE => {
                self.discard()?;
                Err(Setback::Lost("the server has no such part".to_owned()))
            }
            status if status.is_success() => match response.content_length() {
                Some(found) if found != self.expected.1 => {
                    Err(Error::Size { address: self.shown(), expected: self.expected.1, found }.into())
                }
                _ => Ok(0),
            },
            StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS => Err(Setback::Lost(status.to_string())),
            status if status.is_server_error() => Err(Setback::Lost(format!("the server answered {status}"))),
            _ => Err(Error::Status { address: self.shown(), status: status.as_u16() }.into()),
        }
    }

    /// Appends the body of a response to the part.
    async fn keep(&self, mut response: Response, start: u64, listener: Listener<'_>) -> Result<(), Setback> {
        let part = self.part();
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(&part).map_err(Error::file(&part))?;
        let mut done = start;
        while let Some(chunk) = response.chunk().await.map_err(lost)? {
            done += chunk.len() as u64;
            if done > self.expected.1 {
                self.discard()?;
                return Err(Error::Size { address: self.shown(), expected: self.expected.1, found: done }.into());
            }
            if let Err(error) = file.write_all(&chunk) {
                if error.kind() == std::io::ErrorKind::StorageFull {
                    // A partial file would only take space on a full disk.
                    self.discard()?;
                }
                return Err(Error::file(&part)(error).into());
            }
            listener(&Event::Progress { done });
        }
        if done < self.expected.1 {
            return Err(Setback::Lost(format!("the connection ended after {done} of {} bytes", self.expected.1)));
        }
        file.sync_all().map_err(Error::file(&part))?;
        Ok(())
    }

    /// Returns the size of the part; 0 if it is too long to be valid.
    fn have(&self) -> Result<u64, Error> {
        match std::fs::metadata(self.part()) {
            Ok(part) if part.len() <= self.expected.1 => Ok(part.len()),
            Ok(_) => self.discard().map(|()| 0),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(0),
            Err(error) => Err(Error::file(self.part())(error)),
        }
    }

    fn discard(&self) -> Result<(), Error> {
        for path in [self.part(), self.mark()] {
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(Error::file(path)(error)),
                _ => {}
            }
        }
        Ok(())
    }

    fn part(&self) -> PathBuf {
        self.folder.join(format!("{}.part", self.source.file_name()))
    }

    fn mark(&self) -> PathBuf {
        self.folder.join(format!("{}.mark.part", self.source.file_name()))
    }

    fn shown(&self) -> String {
        without_secrets(self.address)
    }

    fn lost(&self, reason: String) -> Error {
        Error::Connection { address: self.shown(), reason }
    }
}

/// Returns the validator that identifies a version of a file. Weak tags do not guarantee equal
/// bytes.
fn mark_of(headers: &HeaderMap) -> Option<String> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    text(ETAG).filter(|tag| !tag.starts_with("W/")).or_else(|| text(LAST_MODIFIED))
}

/// Describes a connection error without the URL, which may contain a password.
fn lost(error: reqwest::Error) -> Setback {
    let error = error.without_url();
    let mut reason = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(deeper) = cause {
        let text = deeper.to_string();
        if !reason.contains(&text) {
            reason = format!("{reason}: {text}");
        }
        cause = deeper.source();
    }
    Setback::Lost(reason)
}

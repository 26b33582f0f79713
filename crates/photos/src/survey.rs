//! Measures many photos: a few at a time, each one once.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use agenticiqa_imaging::{Decoder, Error as DecodeError};
use agenticiqa_tools::{Digest, Source};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

use crate::Cache;

/// Why a photo has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// It cannot be read or decoded.
    #[error("{}", .0.reason())]
    Image(#[from] DecodeError),
    /// It cannot be measured.
    #[error("{0}")]
    Measure(String),
    /// The survey was stopped before.
    #[error("the run was stopped before")]
    Stopped,
}

/// What is measured of each photo.
pub trait Task: Sync {
    /// The result, which is kept in the cache.
    type Output: Serialize + DeserializeOwned;

    /// Returns what the result depends on besides the content of the file.
    fn key(&self) -> String;

    /// Measures a photo.
    fn measure(&self, source: &Source) -> Result<Self::Output, Failure>;
}

/// How far a survey is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Photos that are done.
    pub done: usize,
    /// All photos.
    pub total: usize,
    /// Those of them whose results were in the cache.
    pub known: usize,
    /// Those of them that failed.
    pub failed: usize,
}

/// How photos are measured.
#[derive(Debug)]
pub struct Survey<'a> {
    /// Decodes the files.
    pub decoder: Decoder,
    /// Keeps the results; without it every photo is measured.
    pub cache: Option<&'a Cache>,
    /// The number of photos in memory at a time. They share the threads of rayon.
    pub workers: usize,
    /// Set it to end a survey early.
    pub stop: &'a AtomicBool,
}

impl Survey<'_> {
    /// Runs a task on every photo and returns what `keep` makes of each result, in the order of the paths.
    /// Only a few photos are in memory at a time, and of the results what `keep` leaves.
    pub fn run<T: Task, R: Send>(
        &self,
        paths: &[PathBuf],
        task: &T,
        keep: &(dyn Fn(&Path, Digest, T::Output) -> R + Sync),
        watch: &(dyn Fn(Progress) + Sync),
    ) -> Vec<Result<R, Failure>> {
        let key = task.key();
        let next = AtomicUsize::new(0);
        let progress = Mutex::new(Progress { total: paths.len(), ..Progress::default() });
        let results: Mutex<Vec<Option<Result<R, Failure>>>> = Mutex::new(paths.iter().map(|_| None).collect());
        let work = || {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(path) = paths.get(index) else { return };
                if self.stop.load(Ordering::Relaxed) {
                    return;
                }
                let (known, result) = self.one(path, task, &key);
                let result = result.map(|(digest, output)| keep(path, digest, output));
                let failed = result.is_err();
                locked(&results)[index] = Some(result);
                let mut progress = locked(&progress);
                progress.done += 1;
                progress.known += usize::from(known);
                progress.failed += usize::from(failed);
                watch(*progress);
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..self.workers.clamp(1, paths.len().max(1)) {
                scope.spawn(work);
            }
        });
        let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        results.into_iter().map(|result| result.unwrap_or(Err(Failure::Stopped))).collect()
    }

    /// Returns the result of one photo, and whether it was in the cache.
    fn one<T: Task>(&self, path: &Path, task: &T, key: &str) -> (bool, Result<(Digest, T::Output), Failure>) {
        let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file);
        let kept = self.cache.zip(metadata.as_ref());
        if let Some((cache, metadata)) = kept
            && let Some(digest) = cache.digest(path, metadata)
            && let Some(output) = cache.get(digest, key)
        {
            return (true, Ok((digest, output)));
        }
        // What is no file has an error of the decoder.
        let Some((cache, metadata)) = kept else {
            let opened = Source::open(&self.decoder, path).map_err(Failure::from);
            return (false, opened.and_then(|source| Ok((source.digest, task.measure(&source)?))));
        };
        match self.read(path, cache, task, key) {
            Ok((known, digest, output)) => {
                cache.remember(path, metadata, digest);
                (known, Ok((digest, output)))
            }
            Err(failure) => (false, Err(failure)),
        }
    }

    /// Reads a photo, and measures it if its content is not known.
    fn read<T: Task>(
        &self,
        path: &Path,
        cache: &Cache,
        task: &T,
        key: &str,
    ) -> Result<(bool, Digest, T::Output), Failure> {
        if let Some(digest) = digest_of(path)
            && let Some(output) = cache.get(digest, key)
        {
            return Ok((true, digest, output));
        }
        let source = Source::open(&self.decoder, path)?;
        let output = task.measure(&source)?;
        cache.put(source.digest, key, &output);
        Ok((false, source.digest, output))
    }
}

/// Returns the digest of a file, which is read in pieces.
pub(crate) fn digest_of(path: &Path) -> Option<Digest> {
    let mut hasher = Sha256::new();
    let mut file = fs::File::open(path).ok()?;
    let mut buffer = vec![0; 1 << 16];
    loop {
        match std::io::Read::read(&mut file, &mut buffer).ok()? {
            0 => return Some(Digest(hasher.finalize().into())),
            count => hasher.update(&buffer[..count]),
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

//! Cache of tool results, so that a tool measures the same pixels only once.
//!
//! The key of a result is made of the SHA-256 of image and reference, the tool, its version and
//! the region. Results stay in memory (bounded, least recently used first out) and, if a folder is
//! configured, on disk across runs. Each result is one small file, written to a temporary name and
//! then renamed, so several processes can share the folder.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use agenticiqa_imaging::files::{read_sealed, write_sealed};
use agenticiqa_metrics::Region;
use moka::sync::Cache;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::Digest;
use agenticiqa_vision::vocabulary::{RawScore, Seconds};

/// The key of a cached result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CacheKey([u8; 32]);

impl CacheKey {
    /// Creates the key of a tool on these pixels. `fingerprint` identifies everything else that
    /// the score depends on; see [`Tool::fingerprint`](crate::Tool::fingerprint).
    pub fn new(
        image: Digest,
        tool: &str,
        fingerprint: &str,
        reference: Option<Digest>,
        region: Option<Region>,
    ) -> Self {
        let mut hasher = Sha256::new();
        hasher.update(image.0);
        hasher.update(reference.map_or([0; 32], |digest| digest.0));
        let Region { x, y, width, height } = region.unwrap_or(Region { x: 0, y: 0, width: 0, height: 0 });
        for number in [x, y, width, height] {
            hasher.update((number as u64).to_le_bytes());
        }
        hasher.update(tool.as_bytes());
        hasher.update(concat!(" ", env!("CARGO_PKG_VERSION"), " "));
        hasher.update(fingerprint.as_bytes());
        Self(hasher.finalize().into())
    }

    fn file(&self, folder: &Path) -> PathBuf {
        let name: String = self.0.iter().map(|byte| format!("{byte:02x}")).collect();
        folder.join(&name[..2]).join(format!("{}.json", &name[2..]))
    }
}

/// A cached result.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CachedRun {
    /// The raw score.
    pub raw_score: RawScore,
    /// The interval around the raw score, for tools that compute one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<(f64, f64)>,
    /// The time of the original run.
    pub execution_time: Seconds,
}

/// Counters of cache hits and misses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CacheStatistics {
    /// Results found in memory.
    pub memory_hits: u64,
    /// Results found on disk.
    pub disk_hits: u64,
    /// Results not found.
    pub misses: u64,
}

/// A cache of tool results in memory and optionally on disk.
#[derive(Debug)]
pub struct ToolCache {
    memory: Cache<CacheKey, CachedRun>,
    disk: Option<PathBuf>,
    memory_hits: AtomicU64,
    disk_hits: AtomicU64,
    misses: AtomicU64,
}

impl ToolCache {
    /// Creates a cache that keeps at most `entries` results in memory, and all results in the
    /// folder `disk` if given.
    pub fn new(entries: u64, disk: Option<PathBuf>) -> Self {
        let zero = AtomicU64::default;
        let memory =
            Cache::builder().max_capacity(entries).eviction_policy(moka::policy::EvictionPolicy::lru()).build();
        Self { memory, disk, memory_hits: zero(), disk_hits: zero(), misses: zero() }
    }

    /// Returns the result of a key, if it is cached.
    pub fn get(&self, key: &CacheKey) -> Option<CachedRun> {
        let (counter, found) = match self.memory.get(key) {
            Some(run) => (&self.memory_hits, Some(run)),
            None => match self.read(key) {
                Some(run) => (&self.disk_hits, Some(run)),
                None => (&self.misses, None),
            },
        };
        counter.fetch_add(1, Ordering::Relaxed);
        found.inspect(|run| self.memory.insert(*key, *run))
    }

    /// Stores a result. If the disk cannot be written, the result is kept in memory and a warning
    /// is logged.
    pub fn insert(&self, key: CacheKey, run: CachedRun) {
        self.memory.insert(key, run);
        if let Some(folder) = &self.disk {
            let file = key.file(folder);
            let written = serde_json::to_vec(&run).map_err(std::io::Error::from);
            if let Err(error) = written.and_then(|json| write_sealed(&file, &json)) {
                tracing::warn!("{}: cannot write the tool cache: {error}", file.display());
            }
        }
    }

    /// Returns the number of cache hits and misses.
    pub fn statistics(&self) -> CacheStatistics {
        CacheStatistics {
            memory_hits: self.memory_hits.load(Ordering::Relaxed),
            disk_hits: self.disk_hits.load(Ordering::Relaxed),
            misses: self.misses.load(Ordering::Relaxed),
        }
    }

    fn read(&self, key: &CacheKey) -> Option<CachedRun> {
        let file = key.file(self.disk.as_deref()?);
        let read = match read_sealed(&file) {
            Err(error) if error.kind() == ErrorKind::NotFound => return None,
            read => read.and_then(|json| serde_json::from_slice(&json).map_err(std::io::Error::from)),
        };
        read.inspect_err(|error| {
            tracing::warn!("{}: cannot use the cached result, measuring again: {error}", file.display());
        })
        .ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(tool: &str) -> CacheKey {
        CacheKey::new(Digest([1; 32]), tool, "", None, None)
    }

    fn run(score: f64) -> CachedRun {
        CachedRun { raw_score: RawScore(score), interval: None, execution_time: Seconds::new(0.1).unwrap() }
    }

    #[test]
    fn keys_differ_in_image_tool_reference_and_region() {
        let region = Region { x: 0, y: 0, width: 1, height: 1 };
        let (one, two) = (Digest([1; 32]), Digest([2; 32]));
        let keys = [
            key("SSIM"),
            key("PSNR"),
            CacheKey::new(two, "SSIM", "", None, None),
            CacheKey::new(one, "SSIM", "another model", None, None),
            CacheKey::new(one, "SSIM", "", Some(two), None),
            CacheKey::new(one, "SSIM", "", None, Some(region)),
        ];
        for (index, key) in keys.iter().enumerate() {
            assert!(!keys[..index].contains(key));
        }
    }

    #[test]
    fn the_disk_keeps_results_across_runs_and_a_damaged_file_is_measured_again() {
        let folder = tempfile::tempdir().unwrap();
        let first = ToolCache::new(10, Some(folder.path().to_owned()));
        assert_eq!(first.get(&key("PSNR")), None);
        first.insert(key("PSNR"), run(f64::INFINITY));
        assert_eq!(first.get(&key("PSNR")), Some(run(f64::INFINITY)));
        let second = ToolCache::new(10, Some(folder.path().to_owned()));
        assert_eq!(second.get(&key("PSNR")), Some(run(f64::INFINITY)));
        assert_eq!(second.statistics(), CacheStatistics { memory_hits: 0, disk_hits: 1, misses: 0 });
        std::fs::write(key("PSNR").file(folder.path()), "{\"raw_sc").unwrap();
        let third = ToolCache::new(10, Some(folder.path().to_owned()));
        assert_eq!(third.get(&key("PSNR")), None);
        third.insert(key("SSIM"), run(0.5));
        let file = key("SSIM").file(folder.path());
        let edited = std::fs::read_to_string(&file).unwrap().replace("0.5", "0.9");
        std::fs::write(&file, edited).unwrap();
        assert_eq!(ToolCache::new(10, Some(folder.path().to_owned())).get(&key("SSIM")), None);
    }

    #[test]
    fn memory_is_bounded() {
        let cache = ToolCache::new(3, None);
        for number in 0..50 {
            cache.insert(key(&format!("tool {number}")), run(1.0));
        }
        cache.memory.run_pending_tasks();
        assert!(cache.memory.entry_count() <= 3);
    }
}

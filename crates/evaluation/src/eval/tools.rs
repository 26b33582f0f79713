//! Runs tools on the samples of a manifest: in parallel, with cached results, each reference
//! decoded once.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agenticiqa_imaging::{Decoder, Picture};
use moka::sync::Cache;
use sha2::{Digest as _, Sha256};

use super::Error;
use super::rows::Absence;
use crate::dataset::{Manifest, Sample};
use agenticiqa_agent::inputs::Digest;
use agenticiqa_agent::state::{RawScore, Seconds};
use agenticiqa_tools::{self, CacheKey, CachedRun, Part, Registry, Tool, ToolCache};

/// The scores of one tool, in the order of the manifest.
#[derive(Debug, Clone)]
pub struct ToolScores {
    /// The name of the tool.
    pub tool: String,
    /// The direction of the raw scores; absent for plain measurements, which are used unchanged.
    pub lower_is_better: Option<bool>,
    /// The raw scores.
    pub scores: Vec<Result<f64, Absence>>,
    /// The first reasons why samples have no score.
    pub failures: Vec<String>,
}

/// The samples of a manifest with the scores of tools.
#[derive(Debug)]
pub struct Scored {
    /// The samples that were scored.
    pub samples: Vec<Sample>,
    /// The scores by tool.
    pub tools: Vec<ToolScores>,
}

/// The number of decoded references to keep. Samples are processed by reference, so a few suffice.
const REFERENCES: u64 = 8;
/// The number of reasons to keep per tool.
const REASONS: usize = 5;

/// Scores the samples of a manifest that `wanted` accepts. Calls `done` after each.
pub fn measure(
    manifest: &Manifest,
    wanted: impl Fn(&Sample) -> bool,
    registry: &Registry,
    names: &[String],
    bench: (&Decoder, &ToolCache),
    done: impl Fn(usize, usize) + Sync,
) -> Result<Scored, Error> {
    let samples: Vec<&Sample> =
        manifest.samples.iter().map(|(_, sample)| sample).filter(|sample| wanted(sample)).collect();
    let tools = select(registry, names)?;
    if let Some(tool) = tools.iter().find(|tool| tool.needs_reference())
        && !samples.is_empty()
        && samples.iter().all(|sample| sample.reference_path.is_none())
    {
        return Err(Error::NoReferences { tool: tool.name().to_owned(), path: manifest.path.clone() });
    }
    let work = Work { manifest, tools: &tools, decoder: bench.0, cache: bench.1, references: Cache::new(REFERENCES) };
    let mut order: Vec<usize> = (0..samples.len()).collect();
    order.sort_by_key(|&index| samples[index].reference_path.as_deref());
    let next = AtomicUsize::new(0);
    let ended = AtomicUsize::new(0);
    let worker = || {
        let mut found = Vec::new();
        while let Some(&index) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
            found.push((index, work.sample(samples[index])));
            done(ended.fetch_add(1, Ordering::Relaxed) + 1, samples.len());
        }
        found
    };
    let mut found: Vec<(usize, Vec<Outcome>)> = side_by_side(samples.len(), worker);
    found.sort_by_key(|(index, _)| *index);
    let series = |place: usize| series(tools[place], found.iter().map(|(index, all)| (samples[*index], &all[place])));
    Ok(Scored { tools: (0..tools.len()).map(series).collect(), samples: samples.into_iter().cloned().collect() })
}

/// Runs `worker` on as many threads as the caller's pool has, each with its own pool of one thread.
///
/// Each image is processed by one thread. On the caller's pool, a thread that waits for a part of
/// one image could steal another image of the same reference, which waits for the result of the
/// first: a deadlock.
fn side_by_side<T: Send>(most: usize, worker: impl Fn() -> Vec<T> + Sync) -> Vec<T> {
    let threads = rayon::current_num_threads().min(most).max(1);
    let alone = || match rayon::ThreadPoolBuilder::new().num_threads(1).build() {
        Ok(pool) => pool.install(&worker),
        Err(_) => worker(),
    };
    std::thread::scope(|scope| {
        let started: Vec<_> = (0..threads).map(|_| scope.spawn(alone)).collect();
        started
            .into_iter()
            .flat_map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

/// A raw score, or the reason why there is none.
type Outcome = Result<f64, String>;

fn series<'a>(tool: &Tool, outcomes: impl Iterator<Item = (&'a Sample, &'a Outcome)>) -> ToolScores {
    let mut failures = Vec::new();
    let mut score = |(sample, outcome): (&Sample, &Outcome)| match outcome {
        Ok(score) if score.is_finite() => Ok(*score),
        Ok(_) => Err(Absence::NotFinite),
        Err(reason) => {
            if failures.len() < REASONS {
                failures.push(format!("{}: {reason}", sample.sample_id));
            }
            Err(Absence::Failed)
        }
    };
    let scores = outcomes.map(&mut score).collect();
    ToolScores { tool: tool.name().to_owned(), lower_is_better: tool.metadata().lower_is_better, scores, failures }
}

fn select<'a>(registry: &'a Registry, names: &[String]) -> Result<Vec<&'a Tool>, Error> {
    let mut chosen: Vec<&Tool> = Vec::new();
    for name in names {
        let tool = registry.runnable(name)?;
        if !chosen.iter().any(|known| known.name() == tool.name()) {
            chosen.push(tool);
        }
    }
    Ok(chosen)
}

/// An image file that is decoded when needed.
struct Photo {
    path: PathBuf,
    bytes: Vec<u8>,
    digest: Digest,
}

impl Photo {
    fn read(path: PathBuf) -> Result<Self, String> {
        let bytes = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let digest = Digest(Sha256::digest(&bytes).into());
        Ok(Self { path, bytes, digest })
    }

    fn decode(&self, decoder: &Decoder) -> Result<Picture, String> {
        decoder.decode(&self.bytes).map_err(|error| format!("{}: {error}", self.path.display()))
    }
}

/// A reference with its pixels.
struct Reference {
    photo: Photo,
    picture: Result<Picture, String>,
}

struct Work<'a> {
    manifest: &'a Manifest,
    tools: &'a [&'a Tool],
    decoder: &'a Decoder,
    cache: &'a ToolCache,
    references: Cache<PathBuf, Arc<Result<Reference, String>>>,
}

impl Work<'_> {
    /// Returns the raw scores of one sample. The image is decoded only if a result is not cached.
    fn sample(&self, sample: &Sample) -> Vec<Outcome> {
        let photo = match Photo::read(self.manifest.resolve(&sample.image_path)) {
            Ok(photo) => photo,
            Err(reason) => return self.tools.iter().map(|_| Err(reason.clone())).collect(),
        };
        let reference = sample.reference_path.as_ref().filter(|_| self.tools.iter().any(|tool| tool.needs_reference()));
        let reference = reference.map(|path| self.reference(self.manifest.resolve(path)));
        let picture = std::cell::OnceCell::new();
        let run = |tool: &&Tool| {
            let against = if tool.needs_reference() { Some(known(reference.as_deref())?) } else { None };
            let digest = against.map(|reference| reference.photo.digest);
            let key = CacheKey::new(photo.digest, tool.name(), &tool.fingerprint(), digest, None);
            if let Some(run) = self.cache.get(&key) {
                return Ok(run.raw_score.0);
            }
            let picture = picture.get_or_init(|| photo.decode(self.decoder)).as_ref().map_err(Clone::clone)?;
            let original = against.map(|reference| reference.picture.as_ref().map_err(Clone::clone)).transpose()?;
            let path = against.map(|reference| reference.photo.path.clone());
            let part = Part::new(picture.image.clone(), original.map(|original| original.image.clone()));
            let run = part.with_files(Some(photo.path.clone()), path).measure(tool, false);
            let raw = run
                .raw_score
                .ok_or_else(|| run.error.map_or("no score".into(), |failure| failure.message().to_owned()))?;
            let execution_time = Seconds::new(run.execution_time).map_err(|error| error.to_string())?;
            self.cache.insert(key, CachedRun { raw_score: RawScore(raw), interval: run.interval, execution_time });
            Ok(raw)
        };
        self.tools.iter().map(run).collect()
    }

    /// Returns a reference, decoded by the first thread that needs it.
    fn reference(&self, path: PathBuf) -> Arc<Result<Reference, String>> {
        let read = || {
            Arc::new(Photo::read(path.clone()).map(|photo| {
                let picture = photo.decode(self.decoder);
                Reference { photo, picture }
            }))
        };
        self.references.get_with(path.clone(), read)
    }
}

fn known(reference: Option<&Result<Reference, String>>) -> Result<&Reference, String> {
    match reference {
        None => Err("it has no reference_path".to_owned()),
        Some(Err(reason)) => Err(reason.clone()),
        Some(Ok(reference)) => Ok(reference),
    }
}

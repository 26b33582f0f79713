//! Measures how many image pairs per second one process scores with SSIM on two threads. This is
//! the baseline for `POST /score` in `scripts/load-server`.
//!
//! Usage: `in_process PHOTO DISTORTED FOLDER SECONDS`. Writes both images at 512x384 to `a.png` and
//! `b.png` in the folder and scores them.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use agenticiqa::imaging::{self, Decoder};
use agenticiqa::metrics::Region;
use agenticiqa::scoring::{Request, Scorer, Selection};
use agenticiqa::tools::Registry;

/// Crops the left part of an image to 4:3 and writes it at 512x384.
fn small(path: &str, folder: &str, name: &str) -> Result<PathBuf, Box<dyn std::error::Error>> {
    let image = Decoder::default().open(path)?.image;
    let part = image.crop(&Region { x: 0, y: 0, width: image.height() * 4 / 3, height: image.height() })?;
    let path = Path::new(folder).join(name);
    std::fs::write(&path, imaging::encode_png(&imaging::shrink(&part, 512)?)?)?;
    Ok(path)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [photo, distorted, folder, seconds] = arguments.as_slice() else {
        return Err("usage: in_process PHOTO DISTORTED FOLDER SECONDS".into());
    };
    let (reference, image) = (small(photo, folder, "a.png")?, small(distorted, folder, "b.png")?);
    let limit = Duration::from_secs_f64(seconds.parse()?);
    let (registry, pairs, start) = (Registry::builtin()?, AtomicU64::new(0), Instant::now());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while start.elapsed() < limit {
                    let request = Request {
                        reference: Some(reference.clone()),
                        selection: Selection::Named(vec!["SSIM".to_owned()]),
                        regions: Vec::new(),
                        maps: false,
                    };
                    let scored = Scorer::new(&registry, Decoder::default(), request).map(|scorer| scorer.score(&image));
                    pairs.fetch_add(u64::from(scored.is_ok_and(|scored| scored.picture.is_ok())), Ordering::Relaxed);
                }
            });
        }
    });
    eprintln!("{:.1} pairs per second", pairs.load(Ordering::Relaxed) as f64 / start.elapsed().as_secs_f64());
    Ok(())
}

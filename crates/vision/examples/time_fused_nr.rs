//! Times Fused-NR on one thread: `time_fused_nr IMAGE...`.
//!
//! Prints the time of the measurements of perception and of all features (milliseconds, best of
//! ten), and a checksum of the numbers that shows whether an optimization changed them.

#![allow(clippy::print_stdout)]

use std::error::Error;
use std::time::Instant;

use agenticiqa_imaging::Decoder;
use agenticiqa_metrics::Image;
use agenticiqa_vision::{fused_nr, perception};

fn main() -> Result<(), Box<dyn Error>> {
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global()?;
    for path in std::env::args().skip(1) {
        let bytes = std::fs::read(&path)?;
        let (measuring, measured) = best(&bytes, perception::measure)?;
        let (all, features) = best(&bytes, fused_nr::measure)?;
        let digest = checksum(measured.values().iter().map(|value| value.to_bits()));
        let all_digest = checksum(features.iter().map(|value| value.to_bits().into()));
        println!("{path}: perception {measuring:.2}, all {all:.2} ms; {digest:016x} {all_digest:016x}");
    }
    Ok(())
}

/// Returns the best time of ten runs and the result. Decodes the image for each run, because an
/// image caches its measurements.
fn best<T, E: Error + 'static>(
    bytes: &[u8],
    work: impl Fn(&Image) -> Result<T, E>,
) -> Result<(f64, T), Box<dyn Error>> {
    let mut least = f64::INFINITY;
    let mut found = work(&Decoder::default().decode(bytes)?.image)?;
    for _ in 0..10 {
        let image = Decoder::default().decode(bytes)?.image;
        let start = Instant::now();
        found = work(&image)?;
        least = least.min(start.elapsed().as_secs_f64() * 1e3);
    }
    Ok((least, found))
}

/// FNV-1a over the numbers.
fn checksum(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.fold(0xcbf2_9ce4_8422_2325, |hash, number| (hash ^ number).wrapping_mul(0x0100_0000_01b3))
}

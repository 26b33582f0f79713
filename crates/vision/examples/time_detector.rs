//! Prints how long the detector takes: `time_detector photo.jpg [REPETITIONS]`. Set
//! `RAYON_NUM_THREADS=1` for one thread.

use std::io::Write as _;
use std::time::Instant;

use agenticiqa_imaging::Decoder;
use agenticiqa_vision::detector;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("usage: time_detector photo.jpg [REPETITIONS]")?;
    let repetitions: usize = arguments.next().map_or(Ok(10), |text| text.parse())?;
    let mut times = Vec::new();
    let mut found = Vec::new();
    for _ in 0..=repetitions {
        // Decoded again, because the result is cached in the image.
        let image = Decoder::default().open(&path)?.image;
        let begun = Instant::now();
        found = detector::detect(&image)?;
        times.push(begun.elapsed().as_secs_f64() * 1000.0);
    }
    // The first run reads the networks.
    let first = times.remove(0);
    times.sort_by(f64::total_cmp);
    let mut out = std::io::stdout();
    let best = times.first().copied().unwrap_or(first);
    writeln!(
        out,
        "first {first:.0} ms, then best {best:.1} ms, median {:.1} ms",
        times.get(times.len() / 2).unwrap_or(&first)
    )?;
    for found in found {
        writeln!(out, "{} {:.2} {}", found.name, found.probability, found.region)?;
    }
    Ok(())
}

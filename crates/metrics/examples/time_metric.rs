//! Times one metric on a synthetic pair:
//! `cargo run --release --example time_metric -- SSIM [width height threads]`.
//!
//! Every run uses new images, so that work shared between metrics is included in the time. The
//! minimum of all runs is printed.

#[path = "../benches/scene/mod.rs"]
mod scene;

use std::time::{Duration, Instant};

use agenticiqa_metrics::{Image, Metric, Pair, find};
use scene::scene;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |index: usize, default: usize| arguments.get(index).map_or(Ok(default), |text| text.parse());
    let name = arguments.first().map_or("SSIM", String::as_str);
    let (width, height, threads) = (number(1, 1920)?, number(2, 1080)?, number(3, 1)?);
    let metric = find(name).ok_or_else(|| format!("unknown metric {name}"))?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let best = pool.install(|| best_of(metric, width, height))?;
    eprintln!("{name} {width}x{height} on {threads} threads: {:.2} ms", best.as_secs_f64() * 1e3);
    Ok(())
}

fn best_of(metric: &dyn Metric, width: usize, height: usize) -> agenticiqa_metrics::Result<Duration> {
    let mut best = Duration::MAX;
    let start = Instant::now();
    for run in 0.. {
        let reference = Image::from_rgb8(width, height, scene(width, height, 0))?;
        let distorted = Image::from_rgb8(width, height, scene(width, height, 24))?;
        let begin = Instant::now();
        metric.measure(&Pair::new(&reference, &distorted)?)?;
        best = best.min(begin.elapsed());
        if run >= 4 && start.elapsed() > Duration::from_secs(3) {
            break;
        }
    }
    Ok(best)
}

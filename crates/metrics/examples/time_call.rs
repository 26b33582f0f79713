//! Times whole calls on borrowed interleaved 8-bit pixels with two threads: conversion to planes,
//! then the metric. Calls from Python are compared with these times
//! (`python -m agenticiqa.bench --only overhead`).

use std::io::{self, Write};
use std::time::Instant;

use agenticiqa_metrics::{Image, Pair, find};

const CALLS: usize = 2000;

fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build()?;
    for (width, height) in [(64, 64), (512, 384)] {
        let samples = |step: usize| -> Vec<u8> { (0..width * height * 3).map(|i| (i * step % 251) as u8).collect() };
        let (image, reference) = (samples(7919), samples(7927));
        for name in ["PSNR", "SSIM"] {
            let metric = find(name).ok_or("no such metric")?;
            let call = || -> agenticiqa_metrics::Result<f64> {
                let start = Instant::now();
                let planes = |pixels| Image::of_rgb8(width, height, pixels);
                let (image, reference) = rayon::join(|| planes(&image), || planes(&reference));
                metric.measure(&Pair::new(&reference?, &image?)?)?;
                Ok(start.elapsed().as_secs_f64())
            };
            let mut least = f64::INFINITY;
            for _ in 0..CALLS {
                least = least.min(pool.install(call)?);
            }
            writeln!(io::stdout(), "{name} at {width}x{height}: {:.1} us", least * 1e6)?;
        }
    }
    Ok(())
}

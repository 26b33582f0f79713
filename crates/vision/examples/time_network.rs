//! Times the network: `time_network SIDE THREADS`. Prints the best time in milliseconds, and mean
//! and deviation of the first plane of each stage.

#![allow(clippy::print_stdout)]

use std::error::Error;
use std::time::Instant;

use agenticiqa_vision::network::{Backbone, Planes};

fn main() -> Result<(), Box<dyn Error>> {
    let numbers: Vec<usize> = std::env::args().skip(1).map(|number| number.parse()).collect::<Result<_, _>>()?;
    let [side, threads] = numbers.as_slice() else { return Err("usage: time_network SIDE THREADS".into()) };
    let samples = (0..3 * side * side).map(|i| (i % 977) as f32 / 488.0 - 1.0).collect();
    let picture = Planes::new(3, *side, *side, samples).ok_or("SIDE must be at least 1")?;
    let start = Instant::now();
    let backbone = Backbone::builtin()?;
    println!("read in {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
    rayon::ThreadPoolBuilder::new().num_threads(*threads).build()?.install(
        || -> Result<(), agenticiqa_vision::network::Unusable> {
            let mut best = f64::INFINITY;
            let mut means: Vec<(f64, f64)> = Vec::new();
            for _ in 0..20 {
                let start = Instant::now();
                means.clear();
                means.extend(backbone.look(&picture)?.first());
                best = best.min(start.elapsed().as_secs_f64());
            }
            println!("{:.1} ms; first plane, mean and deviation: {means:.4?}", best * 1e3);
            Ok(())
        },
    )?;
    Ok(())
}

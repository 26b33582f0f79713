//! Measures how many image pairs per second the tools score:
//! `score_pairs SECONDS TOOL,TOOL... PAIRS.jsonl`
//!
//! Each line of the list has `image_path` and `reference_path`. Files are read and decoded every
//! time. Pairs are scored in parallel on all cores, repeatedly until the time is up.
#![allow(clippy::print_stdout, clippy::unwrap_used)] // a benchmark program

use std::path::Path;
use std::time::{Duration, Instant};

use agenticiqa_imaging::Decoder;
use agenticiqa_metrics::Pair;
use agenticiqa_tools::{Registry, ToolInput};
use rayon::prelude::*;
use serde_json::Value;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let limit = Duration::from_secs_f64(arguments[1].parse().unwrap());
    let registry = Registry::builtin().unwrap();
    let tools: Vec<_> = arguments[2].split(',').map(|name| registry.get(name).unwrap()).collect();
    let list = std::fs::read_to_string(&arguments[3]).unwrap();
    let lines: Vec<Value> = list.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (decoder, start) = (Decoder::default(), Instant::now());
    let (mut scored, mut sum) = (0_u64, 0.0);
    while start.elapsed() < limit {
        let open = |path: &Value| decoder.open(Path::new(path.as_str().unwrap())).unwrap().image;
        sum = lines
            .par_iter()
            .map(|line| {
                let (reference, image) = (open(&line["reference_path"]), open(&line["image_path"]));
                let input = ToolInput::new(Pair::new(&reference, &image).unwrap());
                tools.iter().map(|tool| tool.run(&input).raw_score.unwrap()).sum::<f64>()
            })
            .sum::<f64>();
        scored += lines.len() as u64;
    }
    let seconds = start.elapsed().as_secs_f64();
    println!("{:.2} pairs per second ({scored} in {seconds:.2} s, sum of scores {sum:.6})", scored as f64 / seconds);
}

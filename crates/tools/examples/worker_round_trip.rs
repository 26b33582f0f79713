//! Measures a pair with pyiqa metrics through the worker, several times, and prints scores and
//! times as JSON lines. `scripts/check_worker.py` compares them with pyiqa itself.
//!
//! ```sh
//! cargo run --release -p agenticiqa-tools --example worker_round_trip -- PYTHON REFERENCE DISTORTED REPETITIONS FR:psnr NR:entropy
//! ```

use std::error::Error;
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use agenticiqa_imaging::Decoder;
use agenticiqa_metrics::Pair;
use agenticiqa_tools::{Worker, WorkerSection, WorkerSettings};
use serde_json::json;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [python, reference, distorted, repetitions, metrics @ ..] = &arguments[..] else {
        return Err("usage: worker_round_trip PYTHON REFERENCE DISTORTED REPETITIONS FR:METRIC|NR:METRIC...".into());
    };
    let decoder = Decoder::default();
    let reference = decoder.open(Path::new(reference))?.image;
    let distorted = decoder.open(Path::new(distorted))?.image;
    let repetitions: usize = repetitions.parse()?;
    let worker = Worker::new(WorkerSettings::new(python));
    for metric in metrics {
        let (kind, name) = metric.split_once(':').ok_or("write a metric as FR:psnr or NR:entropy")?;
        let pair = if kind == "FR" { Pair::new(&reference, &distorted)? } else { Pair::single(&distorted) };
        let section = WorkerSection::new(name);
        let (mut total, mut own, mut outcome) = (Vec::new(), Vec::new(), json!({}));
        // The first call creates the metric and is not counted.
        for repetition in 0..=repetitions {
            let start = Instant::now();
            let measured = worker.measure(&section, &[pair]).pop().ok_or("no answer")?;
            let elapsed = start.elapsed().as_secs_f64();
            match measured {
                Ok(measured) => {
                    outcome = json!({"metric": name, "score": measured.score});
                    if repetition > 0 {
                        total.push(elapsed);
                        own.push(measured.seconds);
                    }
                }
                Err(failure) => {
                    outcome = json!({"metric": name, "error": failure.message()});
                    break;
                }
            }
        }
        outcome["seconds"] = json!(total);
        outcome["metric_seconds"] = json!(own);
        writeln!(std::io::stdout(), "{outcome}")?;
    }
    Ok(())
}

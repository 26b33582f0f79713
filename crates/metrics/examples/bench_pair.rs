//! Times metrics on a pair of binary PPM or PGM files (8 bits) and prints one JSON object per
//! line.
//!
//! Usage: `bench_pair REFERENCE DISTORTED THREADS REPETITIONS METRIC...`
//!
//! A line is `{"metric","threads","seconds","cpu_seconds","score"}`, or `{"metric","error"}` for a
//! metric that does not exist or rejects the pair. Each repetition uses new images, so that work
//! shared between metrics is included in the time. Only the measurement is timed, and the minimum
//! of all repetitions is reported. `cpu_seconds` is the processor time of the calling thread,
//! which is reliable on a busy machine too; with one thread it covers all the work (Linux only,
//! otherwise null). `scripts/compare_peers.py` runs this program. To measure peak memory, run one
//! repetition per process.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use agenticiqa_metrics::{Ilniqe, Image, Kind, Metric, Pair, find};

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [reference, distorted, threads, repetitions, metrics @ ..] = arguments.as_slice() else {
        return Err("usage: bench_pair REFERENCE DISTORTED THREADS REPETITIONS METRIC...".into());
    };
    let (threads, repetitions) = (threads.parse::<usize>()?, repetitions.parse::<usize>()?);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let mut out = io::stdout().lock();
    for name in metrics {
        match pool.install(|| best_of(name, reference, distorted, repetitions)) {
            Ok(best) => {
                let (seconds, cpu, score) = (json(best.seconds), json(best.cpu_seconds), json(best.score));
                writeln!(
                    out,
                    r#"{{"metric":"{name}","threads":{threads},"seconds":{seconds},"cpu_seconds":{cpu},"score":{score}}}"#
                )?;
            }
            Err(error) => writeln!(out, r#"{{"metric":"{name}","error":{:?}}}"#, error.to_string())?,
        }
    }
    Ok(())
}

/// The minimum times of all repetitions, and the score.
struct Best {
    seconds: f64,
    cpu_seconds: f64,
    score: f64,
}

fn best_of(name: &str, reference: &str, distorted: &str, repetitions: usize) -> Result<Best, Failure> {
    let model = ilniqe_model(name)?;
    let metric: &dyn Metric = match &model {
        Some(model) => model,
        None => find(name).ok_or("not available")?,
    };
    let mut best = Best { seconds: f64::INFINITY, cpu_seconds: f64::INFINITY, score: f64::NAN };
    for _ in 0..repetitions.max(1) {
        let distorted = read_netpbm(distorted)?;
        let reference = match metric.info().kind {
            Kind::FullReference => Some(read_netpbm(reference)?),
            Kind::NoReference => None,
        };
        let pair = match &reference {
            Some(reference) => Pair::new(reference, &distorted)?,
            None => Pair::single(&distorted),
        };
        let (cpu, begin) = (cpu_seconds(), Instant::now());
        best.score = metric.measure(&pair)?.score;
        best.seconds = best.seconds.min(begin.elapsed().as_secs_f64());
        if let (Some(before), Some(after)) = (cpu, cpu_seconds()) {
            best.cpu_seconds = best.cpu_seconds.min(after - before);
        }
    }
    Ok(best)
}

/// ILNIQE with the model file named by `AGENTICIQA_ILNIQE_MODEL`.
fn ilniqe_model(name: &str) -> Result<Option<Ilniqe>, Failure> {
    match std::env::var_os("AGENTICIQA_ILNIQE_MODEL") {
        Some(path) if name.eq_ignore_ascii_case("ILNIQE") => Ok(Some(Ilniqe::from_mat(&std::fs::read(path)?)?)),
        _ => Ok(None),
    }
}

/// Processor time of this thread so far. The kernel updates it when a thread sleeps.
fn cpu_seconds() -> Option<f64> {
    std::thread::sleep(Duration::from_micros(20));
    let account = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    account.split(' ').next()?.parse::<f64>().ok().map(|nanoseconds| nanoseconds * 1e-9)
}

/// Formats a number as JSON. JSON has no infinity, so PSNR of identical images is null.
fn json(number: f64) -> String {
    if number.is_finite() { number.to_string() } else { "null".into() }
}

/// Reads a `P6` (RGB) or `P5` (gray) file with 8 bits and no comments in its header.
fn read_netpbm(path: &str) -> Result<Image, Failure> {
    let mut bytes = std::fs::read(path).map_err(|error| format!("{path}: {error}"))?;
    let mut end = 0;
    let mut fields = Vec::new();
    for field in bytes.splitn(5, u8::is_ascii_whitespace).take(4) {
        end += field.len() + 1;
        fields.push(String::from_utf8_lossy(field).into_owned());
    }
    let [kind, width, height, maximum] = fields.as_slice() else {
        return Err(format!("{path}: not a binary PPM or PGM file").into());
    };
    let (width, height) = (width.parse()?, height.parse()?);
    if maximum != "255" || bytes.len() < end {
        return Err(format!("{path}: not 8 bits per sample, or truncated").into());
    }
    bytes.drain(..end);
    match kind.as_str() {
        "P6" => Ok(Image::from_rgb8(width, height, bytes)?),
        "P5" => Ok(Image::from_gray8(width, height, bytes)?),
        _ => Err(format!("{path}: not a binary PPM or PGM file").into()),
    }
}

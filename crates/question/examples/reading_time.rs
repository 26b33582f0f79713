//! Measures how long it takes to read questions: one a line on the standard input.
//!
//! ```sh
//! cargo run --release -p agenticiqa-question --example reading_time < questions.txt
//! ```

use std::io::{BufRead, Write};
use std::time::{Duration, Instant};

use agenticiqa_question::meaning::read_all;

/// Each question is read this often.
const ROUNDS: u32 = 20;

fn main() -> std::io::Result<()> {
    let questions: Vec<String> = std::io::stdin().lock().lines().collect::<Result<_, _>>()?;
    // The first reading builds the dictionary.
    let start = Instant::now();
    read_all("Is it sharp?");
    let first = start.elapsed();
    let mut times: Vec<Duration> = Vec::with_capacity(questions.len());
    for question in &questions {
        let start = Instant::now();
        for _ in 0..ROUNDS {
            std::hint::black_box(read_all(std::hint::black_box(question)));
        }
        times.push(start.elapsed() / ROUNDS);
    }
    times.sort_unstable();
    let mean = times.iter().sum::<Duration>() / u32::try_from(times.len().max(1)).unwrap_or(u32::MAX);
    let slowest = times.last().copied().unwrap_or_default();
    writeln!(
        std::io::stdout(),
        "{} questions: mean {mean:.1?}, slowest {slowest:.1?}; the first of a process {first:.1?}",
        times.len()
    )
}

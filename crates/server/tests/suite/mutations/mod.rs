//! Random changes of valid input, the same ones in every run. `scripts/mutate` runs them for longer.

mod seeds;
mod targets;

use std::time::{Duration, Instant};

/// A target: its name, what it does with bytes, and inputs to start from.
struct Target {
    name: &'static str,
    run: fn(&[u8]),
    seeds: fn() -> Vec<Vec<u8>>,
    /// The number of cases of a short run.
    cases: u64,
}

const TARGETS: &[Target] = &[
    Target { name: "question", run: targets::question, seeds: seeds::questions, cases: 1500 },
    Target { name: "record", run: targets::record, seeds: seeds::records, cases: 1500 },
    Target { name: "checkpoint", run: targets::checkpoint, seeds: seeds::checkpoints, cases: 1500 },
    Target { name: "tools", run: targets::tools, seeds: seeds::tool_lists, cases: 400 },
    Target { name: "mcp", run: targets::mcp, seeds: seeds::messages, cases: 10_000 },
    Target { name: "model", run: targets::model, seeds: seeds::models, cases: 40 },
];

/// A deterministic pseudo-random generator (xorshift).
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.roll() % limit.max(1) as u64) as usize
    }
}

/// Texts that parsers treat in a special way.
const TOKENS: [&str; 24] = [
    "null",
    "true",
    "-1",
    "0",
    "1e999",
    "NaN",
    "18446744073709551616",
    "\"",
    "\\u0000",
    "\\ud800",
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\n",
    "\u{feff}",
    "\u{202e}",
    "é",
    "锐",
    "\"\":{},",
    "[[[[[[[[",
    "0.1",
];

/// Changes one to eight places of an input, or joins it with another.
fn mutated(dice: &mut Dice, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = seeds[dice.below(seeds.len())].clone();
    for _ in 0..=dice.below(8) {
        let at = dice.below(bytes.len() + 1);
        match dice.below(9) {
            0 if at < bytes.len() => bytes[at] = dice.roll() as u8,
            1 if at < bytes.len() => bytes[at] ^= 1 << dice.below(8),
            2 => bytes.truncate(at),
            3 => drop(bytes.splice(at..at, TOKENS[dice.below(TOKENS.len())].bytes())),
            4 if at < bytes.len() => {
                let end = (at + 1 + dice.below(64)).min(bytes.len());
                bytes.drain(at..end);
            }
            5 if at < bytes.len() => {
                let end = (at + 1 + dice.below(64)).min(bytes.len());
                let part = bytes[at..end].to_vec();
                let to = dice.below(bytes.len());
                drop(bytes.splice(to..to, part));
            }
            6 => {
                // The length of a number or a list, as binary formats store it.
                let end = (at + 4).min(bytes.len());
                bytes[at..end].fill([0xff, 0x7f, 0x80, 0x00][dice.below(4)]);
            }
            7 => {
                let other = &seeds[dice.below(seeds.len())];
                let part = other[dice.below(other.len())..].to_vec();
                bytes.truncate(at);
                bytes.extend(part);
            }
            _ => {
                let digit = bytes.iter().enumerate().skip(at).find(|(_, byte)| byte.is_ascii_digit()).map(|(at, _)| at);
                if let Some(digit) = digit {
                    drop(bytes.splice(digit..=digit, TOKENS[dice.below(7)].bytes()));
                }
            }
        }
    }
    bytes
}

/// Runs a target for a time, or for its number of cases. Returns the number of cases.
fn run(target: &Target, time: Option<Duration>) -> u64 {
    let seeds = (target.seeds)();
    assert!(!seeds.is_empty());
    seeds.iter().for_each(|seed| (target.run)(seed));
    let begin = match std::env::var("AGENTICIQA_MUTATIONS_SEED") {
        Ok(seed) => seed.parse().unwrap(),
        Err(_) => 0x9e37_79b9_7f4a_7c15,
    };
    let (mut dice, start, mut cases) = (Dice(begin), Instant::now(), 0);
    while time.map_or(cases < target.cases, |time| start.elapsed() < time) {
        let input = mutated(&mut dice, &seeds);
        if std::panic::catch_unwind(|| (target.run)(&input)).is_err() {
            let path = std::env::temp_dir().join(format!("agenticiqa-{}-{cases}", target.name));
            std::fs::write(&path, &input).unwrap();
            panic!("{}: case {cases}, kept in {}", target.name, path.display());
        }
        cases += 1;
    }
    cases
}

#[test]
fn nothing_that_is_read_makes_it_panic() {
    let only = std::env::var("AGENTICIQA_MUTATIONS").ok();
    let time =
        std::env::var("AGENTICIQA_MUTATIONS_SECONDS").ok().map(|text| Duration::from_secs(text.parse().unwrap()));
    for target in TARGETS.iter().filter(|target| only.as_ref().is_none_or(|only| only == target.name)) {
        let cases = run(target, time);
        println!("{}: {cases} cases", target.name);
    }
}

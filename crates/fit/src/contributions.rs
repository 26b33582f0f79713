//! `agenticiqa-fit contributions`: fits what each distortion costs, so that a score is a sum.
//!
//! Two kinds of equations are solved together, with weights that are never negative. A photo says that its
//! score is the clean score minus its costs. A clean photo and a damaged form of it say that the score falls
//! by the difference of their costs; these are known causes, so they count more.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agenticiqa_distort::{Kind, LEVELS, distort};
use agenticiqa_imaging::Decoder;
use agenticiqa_metrics::{Image, Pair};
use agenticiqa_vision::contributions::{Model, Term, Weights, numbers};
use agenticiqa_vision::fused_nr::{self, Reading};
use agenticiqa_vision::perception::Examination;
use agenticiqa_vision::vocabulary::Distortion;
use agenticiqa_vision::{analysis, fused_fr};
use clap::Args;
use rayon::prelude::*;

use crate::error::Error;
use crate::fused_nr::photos::{lines, validation};
use crate::labels;
use crate::samples::hash;

/// Number of categories.
const CATEGORIES: usize = Distortion::ALL.len();
/// For each category the level, and the level of the main problem.
const NUMBERS: usize = 2 * CATEGORIES;
/// Photos with opinions that are damaged: the best.
const CONTENTS: usize = 24;
/// One in this many photos says what its score is made of.
const STEP: usize = 3;
/// Longer side of the photos that are damaged.
const WORKING: usize = 512;
/// Weight of an equation of a damaged form.
const DAMAGED: f64 = 1.0;
/// Steps of the descent.
const ROUNDS: usize = 2000;
/// Quantiles of the spread.
const ENDS: [f64; 2] = [0.05, 0.95];

/// Arguments of `contributions`.
#[derive(Args)]
pub struct Arguments {
    /// Folder with photos, opinions and a manifest.jsonl
    #[arg(long)]
    opinions: PathBuf,
    /// File to write
    #[arg(long)]
    output: PathBuf,
}

type Numbers = [f64; NUMBERS];

/// One equation: `offset` clean scores minus the costs of `numbers` are `score`.
struct Equation {
    offset: f64,
    numbers: Numbers,
    score: f64,
    weight: f64,
}

/// A damaged form of a clean photo: its category, and the fall of the score.
struct Fall {
    category: Option<Distortion>,
    numbers: Numbers,
    fall: f64,
}

/// Fits and writes the weights.
pub fn run(arguments: &Arguments) -> Result<String, Error> {
    let all = lines(&arguments.opinions)?;
    let mut fitted: Vec<_> = all.into_iter().filter(|line| !validation(&line.sample_id)).collect();
    fitted.sort_by(|one, other| other.opinion().total_cmp(&one.opinion()));
    let photos: Vec<Equation> = fitted
        .par_iter()
        .step_by(STEP)
        .map(|line| {
            let image = open(&arguments.opinions.join(&line.image_path))?;
            let (examination, reading) = look(&image)?;
            let score = reading.judgment.score;
            Ok(Equation { offset: 1.0, numbers: row(&examination, Some(&reading)), score, weight: 1.0 })
        })
        .collect::<Result<_, Error>>()?;
    let falls: Vec<(Vec<Fall>, Vec<Fall>)> = fitted[..CONTENTS.min(fitted.len())]
        .par_iter()
        .map(|line| damaged(&line.sample_id, &open(&arguments.opinions.join(&line.image_path))?))
        .collect::<Result<_, Error>>()?;
    let (alone, compared): (Vec<_>, Vec<_>) = falls.into_iter().unzip();
    let (alone, compared): (Vec<Fall>, Vec<Fall>) =
        (alone.into_iter().flatten().collect(), compared.into_iter().flatten().collect());
    let equation = |fall: &Fall| Equation { offset: 0.0, numbers: fall.numbers, score: -fall.fall, weight: DAMAGED };
    let all: Vec<Equation> = photos.into_iter().chain(alone.iter().map(equation)).collect();
    let pairs: Vec<Equation> = compared.iter().map(equation).collect();
    let model = Model { alone: weights(&all, None, &alone), compared: weights(&pairs, Some(5.0), &compared) };
    let text = serde_json::to_string_pretty(&model)? + "\n";
    std::fs::write(&arguments.output, &text).map_err(|error| Error::file(&arguments.output, error))?;
    Ok(text)
}

fn open(path: &Path) -> Result<Image, Error> {
    Ok(Decoder::default().open(path)?.image)
}

fn look(image: &Image) -> Result<(Examination, Arc<Reading>), Error> {
    Ok((analysis::examine(image, None)?, fused_nr::read(image)?))
}

fn row(examination: &Examination, reading: Option<&Reading>) -> Numbers {
    let mut row = [0.0; NUMBERS];
    for (finding, level, main) in numbers(examination, reading) {
        let place = finding.category as usize;
        (row[place], row[CATEGORIES + place]) = (level, main);
    }
    row
}

/// Damages a clean photo in all ways. Returns the falls of the score without and with the photo as a
/// reference.
fn damaged(name: &str, image: &Image) -> Result<(Vec<Fall>, Vec<Fall>), Error> {
    let clean = image.shrunk(image.width().max(image.height()).div_ceil(WORKING));
    let (examination, reading) = look(&clean)?;
    let (before, score) = (row(&examination, Some(&reading)), reading.judgment.score);
    let (mut alone, mut compared) = (Vec::new(), Vec::new());
    for kind in Kind::ALL {
        for level in (1..=LEVELS).filter(|level| (u64::from(*level) + hash(name)).is_multiple_of(2)) {
            let form = distort(&clean, kind, level, hash(name))?;
            let (examination, reading) = look(&form)?;
            let category = labels::category(kind);
            let mut numbers = row(&examination, Some(&reading));
            numbers.iter_mut().zip(before).for_each(|(now, before)| *now -= before);
            alone.push(Fall { category, numbers, fall: score - reading.judgment.score });
            let fall = 5.0 - fused_fr::judge(&Pair::new(&clean, &form)?)?.score;
            let numbers = row(&analysis::examine(&form, Some(&clean))?, None);
            compared.push(Fall { category, numbers, fall });
        }
    }
    Ok((alone, compared))
}

/// Solves the equations with weights that are never negative, by coordinate descent.
fn weights(equations: &[Equation], clean: Option<f64>, falls: &[Fall]) -> Weights {
    let column = |equation: &Equation, place: usize| {
        if place == NUMBERS { equation.offset } else { -equation.numbers[place] }
    };
    let size = NUMBERS + 1;
    let (mut square, mut product) = (vec![vec![0.0; size]; size], vec![0.0; size]);
    for equation in equations {
        for one in 0..size {
            let weighted = equation.weight * column(equation, one);
            product[one] += weighted * equation.score;
            (0..size).for_each(|other| square[one][other] += weighted * column(equation, other));
        }
    }
    let mut solution = vec![0.0; size];
    solution[NUMBERS] = clean.unwrap_or(3.5);
    for _ in 0..ROUNDS {
        for place in 0..size {
            if square[place][place] < 1e-9 || place == NUMBERS && clean.is_some() {
                continue;
            }
            let others: f64 =
                (0..size).filter(|other| *other != place).map(|other| square[place][other] * solution[other]).sum();
            let best = (product[place] - others) / square[place][place];
            solution[place] = if place == NUMBERS { best } else { best.max(0.0) };
        }
    }
    let cost = |fall: &Fall| fall.numbers.iter().zip(&solution).map(|(number, weight)| number * weight).sum::<f64>();
    let terms: BTreeMap<Distortion, Term> = Distortion::ALL
        .into_iter()
        .map(|category| {
            let own = falls.iter().filter(|fall| fall.category == Some(category));
            let mut ratios: Vec<f64> = own
                .map(|fall| (fall.fall, cost(fall)))
                .filter(|(_, cost)| *cost > 0.2)
                .map(|(fall, cost)| fall / cost)
                .collect();
            ratios.sort_by(f64::total_cmp);
            let end = |share: f64| ratios.get((share * ratios.len() as f64) as usize).copied().unwrap_or(1.0).max(0.0);
            let spread = ENDS.map(|share| rounded(end(share)));
            let place = category as usize;
            let spread = [spread[0].min(1.0), spread[1].max(1.0)];
            (category, Term { level: rounded(solution[place]), main: rounded(solution[CATEGORIES + place]), spread })
        })
        .collect();
    Weights { clean: rounded(solution[NUMBERS]), terms }
}

fn rounded(number: f64) -> f64 {
    (1e4 * number).round() / 1e4
}

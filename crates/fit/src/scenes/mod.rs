//! Fits what `agenticiqa cull` decides by: which photos show the same scene, and which of them is better.
//!
//! Pairs are made from photos. The same scene: crops, small moves, exposures, blur and noise of one photo.
//! Another scene: other photos, and the two halves of one photo, which are the same place but not the same
//! picture. Better: a photo against one that was damaged; equal: two crops of one photo.

mod logistic;
mod pairs;

use std::fs;
use std::path::PathBuf;

use agenticiqa_photos::similar::{DIFFERENCES, Model, unit};
use agenticiqa_photos::{Merits, Shot, better, differences, groups};
use clap::Args;

use crate::error::Error;
use logistic::{Example, fit};
use pairs::{Frame, Maker};

/// Of 10,000 pairs of other scenes at most this many may pass for one scene ...
const ALIKE: f64 = 1.0;
/// ... and this many if both photos were taken within seconds, which few pairs were.
const BURST: f64 = 100.0;

/// The weights of scenes are fitted to this many pairs of each kind; the limits come from all pairs.
const EXAMPLES: usize = 3000;

/// Arguments of `scenes`.
#[derive(Args)]
pub struct Arguments {
    /// Folders of photos to fit to
    #[arg(long, required = true, num_args = 1..)]
    photos: Vec<PathBuf>,
    /// Folders of other photos to validate with; of a folder with a manifest.jsonl the best-rated
    #[arg(long, num_args = 1..)]
    others: Vec<PathBuf>,
    /// Number of other photos
    #[arg(long, default_value_t = 60)]
    count: usize,
    /// Folder to write scenes.json and better.json to [default: nothing is written]
    #[arg(long)]
    write: Option<PathBuf>,
}

/// Fits both models, reports on the photos that they were fitted to and on others.
pub fn run(arguments: &Arguments) -> Result<String, Error> {
    let photos = pairs::photos(&arguments.photos, usize::MAX)?;
    let others = pairs::photos(&arguments.others, arguments.count)?;
    let fitted = Maker::default().frames(&photos)?;
    let (scenes, better) = (fit_scenes(&fitted), fit_better(&fitted));
    if let Some(folder) = &arguments.write {
        for (name, json) in
            [("scenes.json", serde_json::to_string(&scenes)?), ("better.json", serde_json::to_string(&better)?)]
        {
            let path = folder.join(name);
            fs::write(&path, json + "\n").map_err(|error| Error::file(&path, error))?;
        }
    }
    let mut text = format!(
        "weights of scenes: {:.2?} + {:.2}, alike from {:.3}, burst from {:.3}\n",
        scenes.weights, scenes.bias, scenes.alike, scenes.burst
    );
    text += &format!("weights of better: {:.2?}, certain from {:.2}\n", better.weights, better.certain);
    text += &report("photos that were fitted to", &fitted, &scenes, &better);
    if !others.is_empty() {
        text += &report("other photos", &Maker::default().frames(&others)?, &scenes, &better);
    }
    Ok(text)
}

/// Returns pairs of frames, and whether they show the same scene.
fn scene_pairs(frames: &[Frame]) -> Vec<(&Frame, &Frame, bool)> {
    let mut pairs = Vec::new();
    for (index, one) in frames.iter().enumerate() {
        for other in &frames[index + 1..] {
            pairs.push((one, other, one.scene == other.scene));
        }
    }
    pairs
}

fn fit_scenes(frames: &[Frame]) -> Model {
    let count = frames.first().map_or(0, |frame| frame.study.signature.seen.len());
    let mut center = vec![0.0; count];
    for frame in frames {
        let seen = unit(frame.study.signature.seen.iter().map(|value| f64::from(*value)).collect());
        center.iter_mut().zip(seen).for_each(|(sum, value)| *sum += value / frames.len() as f64);
    }
    let center = center.into_iter().map(|value| (1000.0 * value).round() as i32).collect();
    let mut model = Model { bias: 0.0, weights: [0.0; DIFFERENCES], alike: 0.5, burst: 0.5, center };
    let pairs = scene_pairs(frames);
    let same = pairs.iter().filter(|pair| pair.2).count().max(1) as f64;
    let example = |(one, other, is_same): &(&Frame, &Frame, bool)| {
        let share = if *is_same { same } else { pairs.len() as f64 - same }.min(EXAMPLES as f64);
        let differences = model.differences(&one.study.signature, &other.study.signature);
        Example { inputs: differences.map(|by| -by).to_vec(), label: f64::from(*is_same), weight: 1.0 / share }
    };
    // Pairs of other scenes are many and much alike: every so many is enough for the weights.
    let few = |wanted: bool| {
        let of: Vec<_> = pairs.iter().filter(|pair| pair.2 == wanted).collect();
        let step = of.len().div_ceil(EXAMPLES).max(1);
        of.into_iter().step_by(step).map(example).collect::<Vec<_>>()
    };
    let (weights, bias) = fit(&[few(true), few(false)].concat(), true);
    model.bias = round(bias);
    for (weight, fitted) in model.weights.iter_mut().zip(weights) {
        *weight = -round(fitted);
    }
    let mut wrong: Vec<f64> = pairs
        .iter()
        .filter(|pair| !pair.2)
        .map(|(one, other, _)| model.probability(&one.study.signature, &other.study.signature))
        .collect();
    wrong.sort_by(|a, b| b.total_cmp(a));
    let limit = |per: f64| wrong.get((wrong.len() as f64 * per / 10_000.0) as usize).copied().unwrap_or(0.5);
    // Rounded up, so that the promise holds.
    let up = |limit: f64| ((1000.0 * limit).ceil() / 1000.0).clamp(0.5, 0.999);
    (model.alike, model.burst) = (up(limit(ALIKE)), up(limit(BURST)));
    model
}

/// Returns pairs of frames of one scene, and the probability that the first is better: 1 against a damaged
/// one, 1/2 between two that are not.
fn better_pairs(frames: &[Frame]) -> Vec<(&Frame, &Frame, f64)> {
    let mut pairs = Vec::new();
    for one in frames.iter().filter(|frame| frame.damage.is_none()) {
        for other in frames.iter().filter(|other| other.scene == one.scene && other.name != one.name) {
            pairs.push((one, other, if other.damage.is_some() { 1.0 } else { 0.5 }));
        }
    }
    pairs
}

fn fit_better(frames: &[Frame]) -> better::Model {
    let pairs = better_pairs(frames);
    let equal = pairs.iter().filter(|pair| pair.2 == 0.5).count().max(1) as f64;
    let example = |(one, other, label): &(&Frame, &Frame, f64)| {
        let share = if *label == 0.5 { equal } else { pairs.len() as f64 - equal };
        let inputs = differences(&Merits::of(&one.study), &Merits::of(&other.study)).to_vec();
        Example { inputs, label: *label, weight: 1.0 / share }
    };
    let (weights, _) = fit(&pairs.iter().map(example).collect::<Vec<_>>(), false);
    let mut fitted = better::Model { weights: [0.0; 5], certain: 0.5 };
    for (weight, value) in fitted.weights.iter_mut().zip(weights) {
        *weight = round(value);
    }
    // Of pairs that are equally good, 5% may be called different.
    let mut sure: Vec<f64> = pairs
        .iter()
        .filter(|pair| pair.2 == 0.5)
        .map(|(one, other, _)| fitted.probability(&Merits::of(&one.study), &Merits::of(&other.study)))
        .collect();
    sure.sort_by(f64::total_cmp);
    let at = sure.get(sure.len() * 95 / 100).copied().unwrap_or(0.9);
    fitted.certain = ((100.0 * at).ceil() / 100.0).clamp(0.6, 0.99);
    fitted
}

fn round(value: f64) -> f64 {
    (100.0 * value).round() / 100.0
}

fn report(title: &str, frames: &[Frame], scenes: &Model, better: &better::Model) -> String {
    let mut text = format!("\n{title}: {} frames\n", frames.len());
    let shots: Vec<&Frame> = frames.iter().filter(|frame| !frame.half).collect();
    let of = |frame: &&Frame, at: Option<i64>| Shot {
        signature: frame.study.signature.clone(),
        taken: at.map(|at| agenticiqa_photos::Taken { at, camera: "one".to_owned() }),
        digest: frame.digest(),
        shape: frame.study.width as f64 / frame.study.height as f64,
    };
    let scene_names: Vec<&String> = {
        let mut names: Vec<&String> = shots.iter().map(|frame| &frame.scene).collect();
        names.sort();
        names.dedup();
        names
    };
    // A minute between scenes, a second between the frames of one.
    let time = |index: usize, frame: &Frame| {
        let scene = scene_names.iter().position(|name| **name == frame.scene).unwrap_or_default();
        1_000_000_000 + 60_000 * scene as i64 + 1000 * (index % 10) as i64
    };
    let timed: Vec<Shot> = shots.iter().enumerate().map(|(index, frame)| of(frame, Some(time(index, frame)))).collect();
    let untimed: Vec<Shot> = shots.iter().map(|frame| of(frame, None)).collect();
    for (name, shots_of) in [("without times", &untimed), ("with times", &timed)] {
        let mut group = vec![0; shots.len()];
        for (number, members) in groups(shots_of, scenes).iter().enumerate() {
            members.iter().for_each(|index| group[*index] = number);
        }
        let (mut right, mut found, mut all) = (0, 0, 0);
        for one in 0..shots.len() {
            for other in one + 1..shots.len() {
                let (same, joined) = (shots[one].scene == shots[other].scene, group[one] == group[other]);
                right += usize::from(same && joined);
                found += usize::from(joined);
                all += usize::from(same);
            }
        }
        text += &format!(
            "groups {name}: precision {:.1}% of {found} pairs, recall {:.1}% of {all} pairs\n",
            percent(right, found),
            percent(right, all)
        );
    }
    let halves: Vec<(&Frame, &Frame)> = frames
        .iter()
        .filter(|frame| frame.half)
        .flat_map(|one| {
            frames
                .iter()
                .filter(move |two| two.half && two.place == one.place && two.name > one.name)
                .map(move |two| (one, two))
        })
        .collect();
    let joined =
        |(one, two): &&(&Frame, &Frame)| scenes.probability(&one.study.signature, &two.study.signature) >= scenes.alike;
    text += &format!(
        "halves of one photo taken for one scene: {} of {}\n",
        halves.iter().filter(joined).count(),
        halves.len()
    );
    let mut kinds: Vec<&str> = frames.iter().filter(|frame| !frame.half).map(|frame| frame.kind.as_str()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    for kind in kinds {
        let of_kind = || frames.iter().filter(|frame| frame.kind == kind);
        let whole = |frame: &Frame| frames.iter().find(|other| other.scene == frame.scene && other.kind == "whole");
        let linked = of_kind().filter(|frame| {
            whole(frame)
                .is_some_and(|whole| scenes.probability(&whole.study.signature, &frame.study.signature) >= scenes.alike)
        });
        let probability = |frame: &Frame| {
            whole(frame).map_or(0.5, |whole| better.probability(&Merits::of(&whole.study), &Merits::of(&frame.study)))
        };
        let sure = of_kind().filter(|frame| probability(frame) >= better.certain).count();
        let wrong = of_kind().filter(|frame| probability(frame) <= 1.0 - better.certain).count();
        let count = of_kind().count();
        text += &format!(
            "{kind:22} found {:3.0}%  worse for certain {:3.0}%  better for certain {:3.0}%  of {count}\n",
            percent(linked.count(), count),
            percent(sure, count),
            percent(wrong, count)
        );
    }
    text
}

fn percent(part: usize, whole: usize) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

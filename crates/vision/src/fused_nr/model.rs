//! The fitted model, its file format, and what it says about the features of an image.
//!
//! File format (little endian): one line of JSON ([`Header`]), then numbers of 32 bits: center and
//! spread of each feature, weights and biases of the hidden layer, weights and biases of the heads,
//! and the SHA-256 of everything before it. `scripts/training/ship.py` writes the file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{COUNT, Unusable};
use crate::model_file;

/// Bytes of the built-in model.
pub(super) static BYTES: &[u8] = include_bytes!("../../models/fused-nr.bin");

/// Version of the file format and of the computation.
const VERSION: u32 = 2;
/// Lowest score of the scale.
pub const WORST: f64 = 1.0;
/// Highest score of the scale.
pub const BEST: f64 = 5.0;

/// What the model judges about an image, apart from its quality. Each head has classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Head {
    /// Very dark, dark, medium, bright, very bright.
    Lighting,
    /// Under, right, over, backlit, mixed.
    Exposure,
    /// Sharp, slightly soft, blurry, very blurry.
    Sharpness,
    /// None, defocus, motion, soft.
    BlurKind,
    /// Whether large parts are blurred on purpose.
    Bokeh,
    /// None, slight, strong.
    Noise,
    /// None, slight, strong.
    Compression,
    /// Low, normal, high.
    Contrast,
    /// Whether there is haze.
    Haze,
    /// Monochrome, dull, normal, vivid.
    Color,
    /// None, warm, cool, green, magenta, other.
    Cast,
    /// Whether edges have halos.
    Sharpened,
    /// The problem that spoils the image most; see [`Problem`](crate::vocabulary::Problem).
    MainProblem,
}

impl Head {
    /// All heads, in the order of the outputs.
    pub const ALL: [Self; 13] = [
        Self::Lighting,
        Self::Exposure,
        Self::Sharpness,
        Self::BlurKind,
        Self::Bokeh,
        Self::Noise,
        Self::Compression,
        Self::Contrast,
        Self::Haze,
        Self::Color,
        Self::Cast,
        Self::Sharpened,
        Self::MainProblem,
    ];

    /// Returns the number of classes.
    pub const fn classes(self) -> usize {
        match self {
            Self::Lighting | Self::Exposure => 5,
            Self::Sharpness | Self::BlurKind | Self::Color => 4,
            Self::Bokeh | Self::Haze | Self::Sharpened => 2,
            Self::Noise | Self::Compression | Self::Contrast => 3,
            Self::Cast => 6,
            Self::MainProblem => 15,
        }
    }

    /// Returns the place of the first class among the outputs. Opinion and quality come first.
    fn offset(self) -> usize {
        2 + Self::ALL.iter().take_while(|head| **head != self).map(|head| head.classes()).sum::<usize>()
    }
}

/// Number of outputs of the heads.
fn outputs() -> usize {
    Head::MainProblem.offset() + Head::MainProblem.classes()
}

/// A score from 1 to 5 with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judgment {
    /// The score.
    pub score: f64,
    /// Lower end of the 90% prediction interval of the mean opinion.
    pub low: f64,
    /// Upper end of the 90% prediction interval of the mean opinion.
    pub high: f64,
    /// How unlike the training images the image is: at most 1 for 95% of them.
    pub unusual: f64,
}

/// Everything that the model says about an image.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// The score and its interval.
    pub judgment: Judgment,
    /// Whether the image is too unlike photos to be judged as one.
    pub strange: bool,
    outputs: Vec<f32>,
}

impl Reading {
    /// Returns the probability of each class of a head.
    pub fn probabilities(&self, head: Head) -> Vec<f64> {
        softmax(&self.outputs[head.offset()..][..head.classes()])
    }

    /// Returns the outputs of the heads: opinion, quality, and the logits of all classes.
    pub fn outputs(&self) -> &[f32] {
        &self.outputs
    }
}

fn softmax(logits: &[f32]) -> Vec<f64> {
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let weights: Vec<f64> = logits.iter().map(|logit| f64::from(logit - largest).exp()).collect();
    let total: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / total).collect()
}

/// How the score follows from the opinion and the quality that the heads predict.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Blend {
    /// Weight of the opinion.
    pub opinion: f64,
    /// Weight of the quality.
    pub quality: f64,
    /// Constant term.
    pub bias: f64,
}

/// Half the width of the interval for images of one group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// The head that decides whether an image belongs to the group.
    pub head: Head,
    /// The most likely class of these images is one of these.
    pub classes: Vec<usize>,
    /// The 90% quantile of the errors in the group.
    pub half: f64,
}

/// The fitted model.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    header: Header,
    /// Typical value of each feature.
    center: Vec<f32>,
    /// Spread of each feature.
    spread: Vec<f32>,
    hidden: Layer,
    heads: Layer,
}

/// A linear layer: one row of weights per output.
#[derive(Debug, Clone, PartialEq)]
struct Layer {
    weights: Vec<f32>,
    biases: Vec<f32>,
}

impl Layer {
    fn of(&self, input: &[f32]) -> Vec<f32> {
        let row = |(weights, bias): (&[f32], &f32)| bias + dot(weights, input);
        self.weights.chunks_exact(input.len()).zip(&self.biases).map(row).collect()
    }
}

/// Returns the sum of products, in sixteen lanes so that it does not depend on the compiler.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<16>(), b.as_chunks::<16>());
    let mut lanes = [0.0_f32; 16];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..16 {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    lanes.iter().sum::<f32>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f32>()
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    version: u32,
    features: usize,
    hidden: usize,
    outputs: usize,
    /// Standardized features are clamped to this many spreads, so that one extreme feature cannot
    /// decide the score of an unusual image.
    farthest: f32,
    blend: Blend,
    /// Half the width of the interval of images of no group.
    half: f64,
    groups: Vec<Group>,
    /// The mean square of standardized features that 95% of the training images stay below.
    common: f64,
    /// What the classes of a head cost if they spoil an image, from 0 to 4: the loss of quality of
    /// labeled photos whose main problem it is.
    costs: BTreeMap<Head, Vec<f64>>,
}

impl Model {
    /// Returns what the model says about the features of an image.
    pub fn read(&self, features: &[f32]) -> Reading {
        let standard = self.standardize(features);
        let mut inputs = standard.clone();
        inputs.extend(self.hidden.of(&standard).iter().map(|sum| sum.max(0.0)));
        let outputs = self.heads.of(&inputs);
        let unusual = mean_square(&standard) / self.header.common;
        let Blend { opinion, quality, bias } = self.header.blend;
        let score = opinion * f64::from(outputs[0]) + quality * f64::from(outputs[1]) + bias;
        let score = score.clamp(WORST, BEST);
        let mut reading =
            Reading { judgment: Judgment { score, low: score, high: score, unusual }, strange: false, outputs };
        let half = self.half(&reading) * unusual.max(1.0);
        (reading.judgment.low, reading.judgment.high) = ((score - half).max(WORST), (score + half).min(BEST));
        reading
    }

    /// Returns what a head shows costs, from 0 to 4, given that it spoils the image.
    pub fn cost(&self, head: Head, reading: &Reading) -> f64 {
        let Some(costs) = self.header.costs.get(&head) else { return 0.0 };
        let costly = costs.iter().zip(reading.probabilities(head)).filter(|(cost, _)| **cost > 0.0);
        let (sum, total) = costly.fold((0.0, 0.0), |(sum, total), (cost, share)| (sum + cost * share, total + share));
        if total > 0.0 { sum / total } else { 0.0 }
    }

    /// Returns half the width of the interval: the largest of the groups that the image belongs to, or
    /// that of no group.
    fn half(&self, reading: &Reading) -> f64 {
        let belongs = |group: &&Group| group.classes.contains(&likeliest(&reading.probabilities(group.head)));
        self.header.groups.iter().filter(belongs).map(|group| group.half).reduce(f64::max).unwrap_or(self.header.half)
    }

    /// Standardizes features: distances from the typical value, in spreads.
    fn standardize(&self, features: &[f32]) -> Vec<f32> {
        let farthest = self.header.farthest;
        let usual = self.center.iter().zip(&self.spread);
        let standard = features.iter().zip(usual).map(|(number, (center, spread))| (number - center) / spread);
        standard.map(|number| number.clamp(-farthest, farthest)).collect()
    }

    /// Returns the SHA-256 of the built-in model, which identifies the scores that it produces.
    pub fn fingerprint() -> String {
        model_file::fingerprint(BYTES)
    }

    /// Opens a model file. Damaged files are rejected.
    pub fn open(bytes: &[u8]) -> Result<Self, Unusable> {
        let damaged = |what: &str| Unusable(format!("its file is damaged ({what})"));
        let (header, numbers): (Header, _) = model_file::open(bytes).map_err(Unusable)?;
        if header.version != VERSION || header.features != COUNT || header.outputs != outputs() {
            return Err(Unusable(format!("it was made for another version ({} features)", header.features)));
        }
        let (numbers, rest) = numbers.as_chunks::<4>();
        let mut numbers = numbers.iter().map(|bytes| f32::from_le_bytes(*bytes));
        let mut take = |count: usize| -> Vec<f32> { numbers.by_ref().take(count).collect() };
        let (count, hidden) = (header.features, header.hidden);
        let model = Self {
            center: take(count),
            spread: take(count),
            hidden: Layer { weights: take(hidden * count), biases: take(hidden) },
            heads: Layer { weights: take(outputs() * (count + hidden)), biases: take(outputs()) },
            header,
        };
        if model.heads.biases.len() != outputs() || !rest.is_empty() || numbers.next().is_some() {
            return Err(damaged("the number of weights is wrong"));
        }
        let lists = [
            &model.center,
            &model.spread,
            &model.hidden.weights,
            &model.hidden.biases,
            &model.heads.weights,
            &model.heads.biases,
        ];
        let finite = lists.iter().all(|list| list.iter().all(|number| number.is_finite()));
        if !finite || model.spread.iter().any(|spread| *spread <= 0.0) || model.header.common <= 0.0 {
            return Err(damaged("a number makes no sense"));
        }
        Ok(model)
    }
}

/// Returns the place of the largest probability.
pub(crate) fn likeliest(probabilities: &[f64]) -> usize {
    let larger = |(best, most): (usize, f64), (place, probability): (usize, &f64)| {
        if *probability > most { (place, *probability) } else { (best, most) }
    };
    probabilities.iter().enumerate().fold((0, f64::NEG_INFINITY), larger).0
}

/// Returns the mean square of standardized features, which is about 1 on the training images.
fn mean_square(standard: &[f32]) -> f64 {
    standard.iter().map(|number| f64::from(number * number)).sum::<f64>() / standard.len().max(1) as f64
}

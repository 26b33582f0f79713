//! What the score and the findings say about generated damage.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use agenticiqa_distort::{Kind, LEVELS, distort};
use agenticiqa_imaging::Decoder;
use agenticiqa_metrics::Image;
use agenticiqa_vision::perception::{self, Examination};
use agenticiqa_vision::vocabulary::{Distortion, Severity};
use agenticiqa_vision::{analysis, fused_nr};
use rayon::prelude::*;

use super::photos::{Photo, validation};
use super::reasons;
use crate::error::Error;
use crate::labels;
use crate::samples::hash;
use crate::statistics::{mean, rank_correlation};

/// Longer side of the photos that are distorted; the distortion levels are meant for it.
const WORKING: usize = 512;

/// How many photos with opinions are distorted: the best of those that are labeled clean.
const CLEAN: usize = 20;

/// A clean photo that nothing was fitted to.
pub struct Content {
    name: String,
    path: PathBuf,
}

/// Returns the clean photos to distort: the best of those with opinions, and those of `folders`.
pub fn contents(photos: &[&Photo], folders: &[PathBuf]) -> Result<Vec<Content>, Error> {
    let clean = |photo: &&&Photo| {
        let label = photo.label.as_ref();
        label.is_some_and(|label| label.main_problem == "none" && label.sharpness == "sharp" && label.noise == "none")
    };
    let mut best: Vec<&&Photo> = photos.iter().filter(clean).collect();
    best.sort_by(|one, other| other.opinion.total_cmp(&one.opinion));
    let best = best.into_iter().take(CLEAN).map(|photo| Content { name: photo.name.clone(), path: photo.path.clone() });
    let others = if folders.is_empty() { Vec::new() } else { crate::corpus::collect(folders, 0, 0)? };
    let others = others.into_iter().filter(|content| validation(&content.name));
    Ok(best.chain(others.map(|content| Content { name: content.name, path: content.path })).collect())
}

/// What one witness found in an image.
#[derive(Clone, Copy)]
struct Found {
    /// Whether the own category was found; `None` if there is none.
    own: Option<bool>,
    /// Number of categories that the image does not have.
    wrong: usize,
    /// Whether the own category costs most; `None` if there is none.
    largest: Option<bool>,
}

impl Found {
    fn new(examination: &Examination, kind: Option<Kind>) -> Self {
        let own = kind.and_then(labels::category);
        let allowed = kind.map_or(&[][..], labels::related);
        let wrong = examination
            .detected()
            .iter()
            .map(|finding| finding.category)
            .filter(|category| Some(*category) != own && !allowed.contains(category))
            .count();
        let costs = examination.parts.as_ref().map(|parts| &parts.costs);
        let largest = costs.and_then(|costs| costs.first()).map(|cost| cost.distortion);
        Self {
            own: own.map(|category| examination.finding(category).severity > Severity::None),
            wrong,
            largest: own.map(|category| largest == Some(category)),
        }
    }
}

/// What was said about one form of a photo.
struct Form {
    score: f64,
    /// By the analyst that users meet.
    analyst: Found,
    /// By perception alone.
    perception: Found,
    strange: bool,
    /// What the analyst found.
    examination: Examination,
}

fn look(image: &Image, kind: Option<Kind>) -> Result<Form, Error> {
    let reading = fused_nr::read(image)?;
    let examination = analysis::examine(image, None)?;
    Ok(Form {
        score: reading.judgment.score,
        analyst: Found::new(&examination, kind),
        perception: Found::new(&perception::examine(image, None)?, kind),
        strange: reading.strange,
        examination,
    })
}

/// Selects what was found by whom.
type Witness = fn(&Form) -> Found;

/// The clean form of a photo, and the levels of each kind.
type Looked = (Form, Vec<Vec<Form>>);

/// Returns the tables of kinds and of categories.
pub fn report(contents: &[Content]) -> Result<String, Error> {
    let looked: Vec<Looked> = contents
        .par_iter()
        .map(|content| {
            let image = Decoder::default().open(&content.path)?.image;
            let clean = image.shrunk(image.width().max(image.height()).div_ceil(WORKING));
            let of = |kind: &Kind| -> Result<Vec<Form>, Error> {
                let form = |level| look(&distort(&clean, *kind, level, hash(&content.name))?, Some(*kind));
                (1..=LEVELS).map(form).collect()
            };
            Ok((look(&clean, None)?, Kind::ALL.iter().map(of).collect::<Result<_, Error>>()?))
        })
        .collect::<Result<_, Error>>()?;
    let examinations = looked.iter().flat_map(|(_, kinds)| kinds.iter().flatten().map(|form| &form.examination));
    Ok(categories(&looked) + &reasons::contradictions(examinations) + &kinds(&looked))
}

/// What the attributes add to perception.
fn categories(looked: &[Looked]) -> String {
    let mut text = format!(
        "\n## Findings in generated distortions of {} photos that were never fitted to\n\n\
         | images (level 3 to 5) | images | found, perception alone | found, with attributes | wrong categories per image, perception alone | with attributes | it costs most |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n",
        looked.len()
    );
    let mut groups: BTreeMap<&str, Vec<&Form>> = BTreeMap::new();
    for (place, kind) in Kind::ALL.iter().enumerate() {
        let name = labels::category(*kind).map_or("spatial distortions", Distortion::name);
        groups.entry(name).or_default().extend(looked.iter().flat_map(|(_, forms)| &forms[place][2..]));
    }
    groups.insert("clean", looked.iter().map(|(clean, _)| clean).collect());
    for (name, forms) in groups {
        let found = |of: Witness| {
            let own: Vec<f64> = forms.iter().filter_map(|form| of(form).own).map(f64::from).collect();
            if own.is_empty() { "-".to_owned() } else { format!("{:.1} %", 100.0 * mean(&own)) }
        };
        let largest: Vec<f64> = forms.iter().filter_map(|form| form.analyst.largest).map(f64::from).collect();
        let largest = if largest.is_empty() { "-".to_owned() } else { format!("{:.1} %", 100.0 * mean(&largest)) };
        let wrong = |of: Witness| mean(&forms.iter().map(|form| of(form).wrong as f64).collect::<Vec<_>>());
        let (perception, analyst): (Witness, Witness) = (|form| form.perception, |form| form.analyst);
        let (alone, together) = (found(perception), found(analyst));
        let (wrong_alone, wrong_together) = (wrong(perception), wrong(analyst));
        let _ = writeln!(
            text,
            "| {name} | {} | {alone} | {together} | {wrong_alone:.2} | {wrong_together:.2} | {largest} |",
            forms.len()
        );
    }
    text
}

/// How the score falls with the level of each kind.
fn kinds(looked: &[Looked]) -> String {
    let mut text = format!(
        "\n## Generated distortions of {} photos that were never fitted to\n\n\
         Rank correlation of the fall of the score with the level, within each photo (mean) and of all photos together; \
         images that are taken for no photos.\n\n\
         | distortion | within a photo | all together | fall at level 5, mean | no photo |\n| --- | ---: | ---: | ---: | ---: |\n",
        looked.len()
    );
    let levels: Vec<f64> = (1..=LEVELS).map(f64::from).collect();
    for (place, kind) in Kind::ALL.iter().enumerate() {
        let falls: Vec<Vec<f64>> = looked
            .iter()
            .map(|(clean, forms)| forms[place].iter().map(|form| clean.score - form.score).collect())
            .collect();
        let within: Vec<f64> = falls.iter().map(|of| rank_correlation(of, &levels)).collect();
        let repeated: Vec<f64> = falls.iter().flat_map(|_| levels.clone()).collect();
        let all = rank_correlation(&falls.concat(), &repeated);
        let last: Vec<f64> = falls.iter().filter_map(|of| of.last().copied()).collect();
        let forms = looked.iter().flat_map(|(_, forms)| &forms[place]);
        let strange = 100.0 * mean(&forms.map(|form| f64::from(form.strange)).collect::<Vec<_>>());
        let _ = writeln!(
            text,
            "| {} | {:.3} | {all:.3} | {:.2} | {strange:.0} % |",
            kind.name(),
            mean(&within),
            mean(&last)
        );
    }
    text
}

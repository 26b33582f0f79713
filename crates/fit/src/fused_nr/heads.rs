//! Compares the features of Fused-NR with perception for detecting distortions: one linear head
//! per category, fitted to generated images and tested on contents that neither has seen.

use std::fmt::Write as _;

use agenticiqa_vision::fused_nr::{COUNT, Linear, Model};
use agenticiqa_vision::perception::{self, MEASURED};
use agenticiqa_vision::vocabulary::Distortion;

use super::ridge::{Rows, Sums};
use super::samples::{Content, Photo};
use crate::error::Error;
use crate::labels;

/// Ridge penalty.
const PENALTY: f64 = 3000.0;
/// Level from which a distortion should be found.
const TO_BE_FOUND: u8 = 3;
/// Allowed share of false alarms.
const FALSE_ALARMS: f64 = 0.05;

/// An image and its level of each category from 0 to 4; `None` if undecided.
struct Example<'a> {
    features: &'a [f32],
    given: [Option<f64>; 7],
    level: u8,
}

/// Returns the comparison as Markdown.
pub fn compare(model: &Model, photos: &[&Photo], contents: &[Content]) -> Result<String, Error> {
    let perception = perception::Model::builtin()?;
    let (seen, unseen) = (examples(photos, contents, false), examples(photos, contents, true));
    let mut text = "\n## Distortions: a linear head on the same numbers against perception\n\nArea under the curve of hits and false alarms, and hits at 5 % false alarms, level 3 to 5 against images without the distortion; contents that neither has seen.\n\n| category | images with it | without | head, area | perception, area | head, hits | perception, hits |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n".to_owned();
    for category in Distortion::ALL {
        let head = fit(model, &seen, category)?;
        let ours = outcome(&unseen, category, |features| head.of(&model.standardize(features)));
        let theirs = outcome(&unseen, category, |features| {
            let measured: Vec<f64> = features[COUNT - MEASURED..].iter().map(|number| f64::from(*number)).collect();
            perception.single.verdicts(&measured)[category as usize].margin
        });
        let _ = writeln!(
            text,
            "| {category} | {} | {} | {:.3} | {:.3} | {:.1} % | {:.1} % |",
            ours.with,
            ours.without,
            ours.area,
            theirs.area,
            100.0 * ours.hits,
            100.0 * theirs.hits
        );
    }
    Ok(text)
}

/// Returns generated images and good photos, of the contents that perception was tested on or of
/// those it was fitted to.
fn examples<'a>(photos: &[&'a Photo], contents: &'a [Content], tested: bool) -> Vec<Example<'a>> {
    let clean = |features: &'a [f32]| Example { features, given: [Some(0.0); 7], level: 0 };
    let mut examples: Vec<Example<'_>> =
        photos.iter().filter(|photo| photo.tested == tested).map(|photo| clean(&photo.features)).collect();
    for content in contents.iter().filter(|content| content.tested == tested) {
        examples.push(clean(&content.features));
        for damaged in &content.damaged {
            let mut given = [Some(0.0); 7];
            labels::related(damaged.kind).iter().for_each(|category| given[*category as usize] = None);
            if let Some(category) = labels::category(damaged.kind) {
                given[category as usize] = Some(damaged.visible);
            }
            examples.push(Example { features: &damaged.features, given, level: damaged.level });
        }
    }
    examples
}

fn fit(model: &Model, examples: &[Example<'_>], category: Distortion) -> Result<Linear, Error> {
    let mut rows = Rows { biased: true, ..Rows::default() };
    for example in examples {
        if let Some(given) = example.given[category as usize] {
            rows.standard.push(model.standardize(example.features));
            rows.targets.push(given);
        }
    }
    Sums::of(&rows, COUNT).solve(PENALTY)
}

struct Outcome {
    with: usize,
    without: usize,
    area: f64,
    hits: f64,
}

fn outcome(examples: &[Example<'_>], category: Distortion, margin: impl Fn(&[f32]) -> f64) -> Outcome {
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for example in examples {
        match example.given[category as usize] {
            Some(given) if given > 0.0 && example.level >= TO_BE_FOUND => with.push(margin(example.features)),
            Some(given) if given == 0.0 && example.level.is_multiple_of(5) => without.push(margin(example.features)),
            _ => {}
        }
    }
    without.sort_by(f64::total_cmp);
    let below = |value: f64| without.partition_point(|other| *other < value) as f64 / without.len().max(1) as f64;
    let area = with.iter().map(|value| below(*value)).sum::<f64>() / with.len().max(1) as f64;
    let hits =
        with.iter().filter(|value| below(**value) >= 1.0 - FALSE_ALARMS).count() as f64 / with.len().max(1) as f64;
    Outcome { with: with.len(), without: without.len(), area, hits }
}
